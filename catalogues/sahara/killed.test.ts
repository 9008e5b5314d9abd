// kill -9 of a real engine in the middle of 50 mixed operations, twice, on a SQLite file and real processes and files. Afterwards
// nothing is in transition, and what really exists agrees exactly with the records.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openCloud } from './local-cloud.ts'

/** Runs an engine until it has accepted so many operations and is killed, in the middle of the last ones. */
async function killAfter(folder: string, seed: number, wanted: number): Promise<NodeJS.Signals | null> {
  const child = fork(join(import.meta.dirname, 'engine-process.ts'), [folder, `${seed}`, `${wanted}`], {
    execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
  })
  return new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))
}

const settledStatuses = ['Active', 'Error', 'gone']

test('issue 3: killed twice in the middle of 50 operations, everything settles, and the machines agree with the records', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-sahara-killed-'))
  const { world, store, engine } = openCloud(folder)
  try {
    await world.faults.set({ does: 'slow', ms: 25, on: { type: 'sahara.cluster', verb: 'create' } })
    await world.faults.set({ does: 'slow', ms: 25, on: { type: 'sahara.cluster', verb: 'update' } })
    expect(await killAfter(folder, 7, 20)).toBe('SIGKILL')
    expect(await killAfter(folder, 8, 30)).toBe('SIGKILL')

    const all = async () => (await engine.list({ limit: 1_000 })).resources
    expect((await all()).filter(({ run }) => run !== null).length).toBeGreaterThan(0)
    await engine.start()
    const isRest = async () =>
      (await engine.orphans()).length === 0 &&
      (await all()).every(({ run, status }) => run === null && settledStatuses.includes(status))
    for (let looks = 0; looks < 600 && !(await isRest()); looks++) await new Promise((go) => setTimeout(go, 100))

    const resources = await all()
    expect(resources.filter(({ status }) => !settledStatuses.includes(status))).toEqual([])
    expect(await engine.orphans()).toEqual([])
    const truth = await world.truth()
    const machines = truth.filter(({ kind }) => kind === 'instance')
    const living = resources.filter((one) => one.type === 'sahara.instance' && one.status !== 'gone')
    expect(living.length).toBeGreaterThan(0)
    expect(machines.map(({ properties }) => properties['instance'] as string).toSorted()).toEqual(
      living.map(({ id }) => id).toSorted(),
    )
    expect(machines.filter(({ power, pid, sizeBytes }) => power !== 'running' || pid === null || !sizeBytes)).toEqual(
      [],
    )
    const stacks = truth.filter(({ kind }) => kind === 'stack').map(({ name }) => name)
    const ledger = resources.flatMap((one) => one.ledger.map(({ name }) => name))
    expect(stacks.toSorted()).toEqual(ledger.toSorted())

    for (const { no, status, properties } of resources.filter((one) => one.type === 'sahara.cluster')) {
      const groups = living
        .filter(({ parent }) => parent === no)
        .map((one) => (one.properties as { group: string }).group)
      const counted = Object.fromEntries(
        [...new Set(groups)].map((group) => [group, groups.filter((one) => one === group).length]),
      )
      if (status === 'Active')
        expect(counted).toEqual(
          Object.fromEntries(Object.entries(properties['counts'] as object).filter(([, n]) => n > 0)),
        )
    }
    const healed = await Promise.all(
      resources.filter((one) => one.type === 'sahara.cluster').map(({ type, id }) => engine.history(type, id)),
    )
    expect(healed.flat().filter(({ kind }) => kind === 'resumed').length).toBeGreaterThan(0)
  } finally {
    await engine.stop()
    await store.close()
    await world.destroyEverything()
    rmSync(folder, { recursive: true, force: true })
  }
}, 180_000)
