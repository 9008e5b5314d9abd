// kill -9 of a real engine process in the middle of mixed operations, twice; after the last restart nothing is in transition, the
// records agree with what really exists, and an independent reader of the event feed finds table 1.4 kept at every moment.
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import { afterAll, expect, test } from 'vitest'
import type { Orders, Told } from './killed-program.ts'

const program = fileURLToPath(new URL('./killed-program.ts', import.meta.url))
const living = new Set<ChildProcess>()
afterAll(() => {
  for (const child of living) child.kill('SIGKILL')
})

type Accepted = Extract<Told, { told: 'accepted' }>
type Records = Awaited<ReturnType<typeof recordsIn>>

/** Runs the program: until it has had so many answers, and is killed; or until it is at rest. */
async function run(orders: Orders, killAfter: number | null): Promise<readonly Accepted[]> {
  const accepted: Accepted[] = []
  const child = fork(program, [], {
    execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
    env: { ...process.env, BLAZAR_ORDERS: JSON.stringify(orders) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  living.add(child)
  let answers = 0
  let isAtRest = false
  child.on('message', (told: Told) => {
    if (told.told === 'accepted') accepted.push(told)
    if (told.told === 'accepted' || told.told === 'refused') answers++
    if (killAfter !== null && answers >= killAfter) child.kill('SIGKILL')
    if (told.told === 'rest') {
      isAtRest = true
      child.send('stop')
    }
  })
  const signal = await new Promise((resolve) => child.once('exit', (_, by) => resolve(by)))
  living.delete(child)
  expect([isAtRest, signal]).toEqual(killAfter === null ? [true, null] : [false, 'SIGKILL'])
  return accepted
}

async function recordsIn(folder: string) {
  const store = openSqliteStore({ file: join(folder, 'store.db'), readonly: true })
  const resources = []
  for (let after = 0; ;) {
    const page = await store.list({ limit: 1_000, after })
    resources.push(...page)
    if (page.length < 1_000) break
    after = page.at(-1)!.no
  }
  const events = []
  for (let after = 0; ;) {
    const page = await store.events(after, 1_000)
    events.push(...page)
    if (page.length < 1_000) break
    after = page.at(-1)!.n
  }
  await store.close()
  return { resources, events }
}

/** Table 1.4, written down once more: reservations, start, end. */
const table: Readonly<Record<string, readonly [RegExp, RegExp, RegExp]>> = {
  CREATING: [/^pending$/, /^UNDONE$/, /^UNDONE$/],
  PENDING: [/^pending$/, /^UNDONE$/, /^UNDONE$/],
  STARTING: [/^(pending|active|error)$/, /^IN_PROGRESS$/, /^UNDONE$/],
  ACTIVE: [/^active$/, /^DONE$/, /^UNDONE$/],
  TERMINATING: [/^(active|deleted|error)$/, /^(DONE|ERROR)$/, /^IN_PROGRESS$/],
  TERMINATED: [/^deleted$/, /^DONE$/, /^DONE$/],
  UPDATING: [/./, /^(UNDONE|DONE|ERROR)$/, /^(UNDONE|DONE|ERROR)$/],
  DELETING: [/./, /^(UNDONE|DONE|ERROR)$/, /^(UNDONE|DONE|ERROR)$/],
  ERROR: [/./, /^(UNDONE|DONE|ERROR)$/, /^(UNDONE|DONE|ERROR)$/],
}

/** Replays the feed by itself: after all that was told of a lease and its children at one moment, its combination must be in the table. */
function judgeFeed({ resources, events }: Records): { readonly judged: number; readonly breaches: readonly string[] } {
  const byNo = new Map(resources.map((one) => [one.no, one]))
  const rootOf = (no: number) => byNo.get(no)?.parent ?? no
  const status = new Map<number, string>()
  const breaches: string[] = []
  let judged = 0
  events.forEach((event, i) => {
    if (event.n !== i + 1) breaches.push(`event ${i + 1} is missing`)
    const before = status.get(event.no) ?? ''
    if (before !== event.from) breaches.push(`event ${event.n} leaves ${event.from}, but it was ${before}`)
    status.set(event.no, event.to)
    const root = rootOf(event.no)
    const next = events[i + 1]
    if (next !== undefined && rootOf(next.no) === root && next.at === event.at) return
    const row = table[status.get(root) ?? '']
    if (row === undefined) return
    judged++
    for (const child of resources.filter(({ parent }) => parent === root)) {
      const type = child.properties['eventType']
      const column =
        child.type === 'blazar.reservation' ? 0 : type === 'start_lease' ? 1 : type === 'end_lease' ? 2 : null
      const is = status.get(child.no) ?? 'nowhere'
      if (column !== null && !row[column].test(is))
        breaches.push(`event ${event.n}: ${child.type} ${child.id} is ${is} under a lease that is ${status.get(root)!}`)
    }
  })
  return { judged, breaches }
}

function judgeRecords({ resources }: Records, accepted: readonly Accepted[]): void {
  const moving = resources.filter(
    ({ run, status }) => run !== null || /^(CREATING|STARTING|UPDATING|TERMINATING|DELETING|IN_PROGRESS)$/.test(status),
  )
  expect(moving.map(({ id, status }) => `${id} ${status}`)).toEqual([])
  const leases = new Map(resources.filter(({ type }) => type === 'blazar.lease').map((one) => [one.id, one.status]))
  for (const { operation, id } of accepted) {
    expect(leases.has(id), `${id} was acknowledged`).toBe(true)
    // A delete that failed leaves ERROR; none is made to fail here.
    if (operation === 'delete') expect([id, leases.get(id)]).toEqual([id, 'gone'])
  }
}

/** In a folder with a world, which is taken away at the end with all its processes. */
async function inFolder(story: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-blazar-killed-'))
  try {
    await story(folder)
  } finally {
    await openLocalWorld({ directory: join(folder, 'world') }).destroyEverything()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

test.concurrent('1.8: 50 mixed operations on real files and processes, killed twice: records and truth agree exactly', () =>
  inFolder(async (folder) => {
    const common = { folder, ground: 'local', gapMs: 60 } as const
    const directory = join(folder, 'world')
    // Whenever it is killed, something is being made; and it has far more to do than it gets to.
    const slow = await openLocalWorld({ directory }).faults.set({ does: 'slow', ms: 200, on: { verb: 'create' } })
    const killed = [
      ...(await run({ ...common, seed: 1, operations: 1_000, prefix: 'a' }, 17)),
      ...(await run({ ...common, seed: 2, operations: 1_000, prefix: 'b' }, 17)),
    ]
    await openLocalWorld({ directory }).faults.clear(slow.id)
    const accepted = [...killed, ...(await run({ ...common, seed: 3, operations: 16, prefix: 'c' }, null))]
    const records = await recordsIn(folder)
    judgeRecords(records, accepted)
    const world = openLocalWorld({ directory })
    const truth = await world.truth()
    const recorded = records.resources
      .filter(({ type, status }) => type === 'blazar.reservation' && (status === 'pending' || status === 'active'))
      .map(
        ({ id, status, properties }) =>
          `${id} ${status === 'active' ? 'running' : 'stopped'} ${properties['amount'] as number}`,
      )
    expect(
      truth.map(({ name, power, sizeBytes }) => `${name.split('/').at(-1)!} ${power} ${sizeBytes! / 2 ** 20}`).sort(),
    ).toEqual(recorded.sort())
    // Signal 0 asks only whether the process is there.
    for (const { power, pid } of truth) if (power === 'running') expect(process.kill(pid!, 0)).toBe(true)
    expect(await world.leaks(records.resources.flatMap(({ ledger }) => ledger.map(({ name }) => name)))).toEqual([])
    const { judged, breaches } = judgeFeed(records)
    expect(breaches).toEqual([])
    expect(judged).toBeGreaterThan(50)
    expect(records.events.some(({ kind }) => kind === 'resumed')).toBe(true)
  }))

test.concurrent('1.4: 200 leases that start and end seconds apart, deleted in any status, killed twice: the table held at every moment', () =>
  inFolder(async (folder) => {
    const common = { folder, ground: 'nothing', gapMs: 8 } as const
    const accepted = [
      ...(await run({ ...common, seed: 4, operations: 1_000, prefix: 'a' }, 160)),
      ...(await run({ ...common, seed: 5, operations: 1_000, prefix: 'b' }, 160)),
      ...(await run({ ...common, seed: 6, operations: 320, prefix: 'c' }, null)),
    ]
    const records = await recordsIn(folder)
    judgeRecords(records, accepted)
    expect(accepted.filter(({ operation }) => operation === 'create').length).toBeGreaterThanOrEqual(200)
    const { judged, breaches } = judgeFeed(records)
    expect(breaches).toEqual([])
    expect(judged).toBeGreaterThan(1_000)
    // The reader would see it if a lease had started without its event, or a number were missing.
    const claim = records.events.findIndex(({ from, to }) => from === 'UNDONE' && to === 'IN_PROGRESS')
    const unclaimed = records.events.map((event, i) => (i === claim ? { ...event, to: 'UNDONE' } : event))
    expect(judgeFeed({ ...records, events: unclaimed }).breaches[0]).toContain(
      'is UNDONE under a lease that is STARTING',
    )
    expect(judgeFeed({ ...records, events: records.events.toSpliced(claim, 1) }).breaches[0]).toContain('is missing')
  }))
