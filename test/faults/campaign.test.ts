// A short selection of npm run faults: real worker processes under load on a primary with a synchronous standby, both kinds of failover, a
// killed primary, killed and frozen workers, cut commits and dead connections; then the auditor. The long ones are run by hand. Both wait
// more than they work: they run side by side.
import { test } from 'vitest'
import { Campaign } from '../../scripts/faults/campaign.ts'
import { isClean } from '../../scripts/faults/judge.ts'
import type { Planned } from '../../scripts/faults/schedule.ts'

const faults: readonly Planned[] = [
  ...[0.3, 0.6, 0.999, 0.999].flatMap((through, index): Planned[] => [
    { atMs: 200 + index * 900, does: 'cutCommit', cut: { side: 'request', through, where: 'after' } },
    { atMs: 500 + index * 900, does: 'cutCommit', cut: { side: 'reply', through, where: 'before' } },
  ]),
  { atMs: 300, does: 'freezeWorker', pick: 0, ms: 2_600 },
  { atMs: 900, does: 'failOver', loss: 'frozen', aliveMs: 500 },
  { atMs: 1_500, does: 'killWorker', pick: 0 },
  { atMs: 2_000, does: 'jumpClock', pick: 0, offMs: 3_600_000 },
  { atMs: 2_500, does: 'killPrimary' },
  { atMs: 3_000, does: 'deadLinks', part: 30, seed: 1 },
  { atMs: 3_500, does: 'failOver', loss: 'killed', aliveMs: 0 },
]

test.concurrent('faults of every kind lose, double and leave nothing', { timeout: 180_000 }, async ({ expect }) => {
  const campaign = new Campaign({ seed: 1, workers: 2, users: 8, atMostMs: 90_000, faults, seconds: 5 })
  const { verdict, done, evidence } = await campaign.run()
  expect(verdict).toEqual({ lost: [], doubled: [], illegal: [], zombieWrites: [], stuck: [], rules: [], strays: [] })
  expect(isClean(verdict)).toBe(true)
  // It was a test: work went on, and every fault was carried out.
  expect(evidence.acknowledged.length).toBeGreaterThan(10)
  expect(done).toMatchObject({
    failOver: 2,
    killPrimary: 1,
    killWorker: 1,
    freezeWorker: 1,
    jumpClock: 1,
    deadLinks: 1,
  })
  expect(done.cutCommit).toBeGreaterThan(0)
})

test.concurrent(
  'control: with an asynchronous standby, a failover loses what was acknowledged, and it is seen',
  { timeout: 180_000 },
  async ({ expect }) => {
    // The old primary wakes up beside the new one, and those who still have it are told "yes".
    const faults: readonly Planned[] = [{ atMs: 500, does: 'failOver', loss: 'frozen', aliveMs: 4_000 }]
    const options = { workers: 2, users: 8, atMostMs: 5_000, faults, seconds: 2, isCareless: true }
    const seeds = [2, 3, 4, 5, 6]
    // Whether anybody is told "yes" in time is a matter of chance: it is tried again, and never is a fault.
    for (const seed of seeds) {
      const { verdict } = await new Campaign({ ...options, seed }).run()
      if (verdict.lost.length > 0) return
    }
    expect.fail(`nothing was lost in ${seeds.length} failovers, or it was not seen`)
  },
)
