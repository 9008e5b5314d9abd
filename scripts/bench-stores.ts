// Measures the stores alone: SQLite's bare group commit beside the store's commit, with batches shaped as the engine makes them.
// node scripts/bench-stores.ts [operations] [rounds] [in flight] [--large]
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { systemRandom } from '../src/base/random.ts'
import type { EndedRun, Event, EventKind, KeyRecord, Resource, Run } from '../src/decision/state.ts'
import { openSqliteStore } from '../src/sqlite.ts'
import { sampleResource, sampleRun } from '../src/testing/store-samples.ts'
import type { Batch, Guard, KindOf, Store, Write } from '../src/store/store.ts'

const args = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const operations = Number(args[0] ?? 40_000)
const rounds = Number(args[1] ?? 5)
const inFlight = Number(args[2] ?? 1000)
const folder = mkdtempSync(join(tmpdir(), 'bench-stores-'))
let files = 0
const newFile = () => join(folder, `${files++}.db`)
const at = 1_700_000_000_000

/** Insert an operation, then four times insert a step and update the operation; all that are in flight move by one in a commit. */
function bare(): number {
  const db = new DatabaseSync(newFile())
  db.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table op (id integer primary key, status text, cursor integer, at integer) strict;
    create table step (op integer, n integer, result text, at integer, primary key (op, n)) strict, without rowid`)
  const insertOp = db.prepare('insert into op values (?, ?, ?, ?)')
  const insertStep = db.prepare('insert into step values (?, ?, ?, ?)')
  const updateOp = db.prepare('update op set status = ?, cursor = ?, at = ? where id = ?')
  const begin = db.prepare('begin immediate')
  const commit = db.prepare('commit')
  let next = 1
  let flying: { id: number; cursor: number }[] = []
  const start = performance.now()
  for (;;) {
    while (flying.length < inFlight && next <= operations) flying.push({ id: next++, cursor: -1 })
    if (flying.length === 0) break
    begin.run()
    for (const op of flying) {
      op.cursor++
      if (op.cursor === 0) insertOp.run(op.id, 'running', 0, at)
      else {
        insertStep.run(op.id, op.cursor, '{"ok":true}', at)
        updateOp.run(op.cursor === 4 ? 'done' : 'running', op.cursor, at, op.id)
      }
    }
    commit.run()
    flying = flying.filter((op) => op.cursor < 4)
  }
  const seconds = (performance.now() - start) / 1000
  db.close()
  return operations / seconds
}

/** The same as PERFORMANCE.md measures it: each operation an async function that awaits its four steps and their commits. */
async function bareAsync(): Promise<number> {
  const db = new DatabaseSync(newFile())
  db.exec(`pragma journal_mode = wal; pragma synchronous = full;
    create table op (id integer primary key, status text, cursor integer, at integer) strict;
    create table step (op integer, n integer, result text, at integer, primary key (op, n)) strict, without rowid`)
  const insertOp = db.prepare('insert into op values (?, ?, ?, ?)')
  const insertStep = db.prepare('insert into step values (?, ?, ?, ?)')
  const updateOp = db.prepare('update op set status = ?, cursor = ?, at = ? where id = ?')
  const begin = db.prepare('begin immediate')
  const end = db.prepare('commit')
  let queue: { id: number; n: number; result: unknown; resolve: () => void }[] = []
  const flush = () => {
    const batch = queue
    queue = []
    begin.run()
    for (const { id, n, result } of batch) {
      if (n === 0) insertOp.run(id, 'running', 0, at)
      else {
        insertStep.run(id, n, JSON.stringify(result), at)
        updateOp.run(n === 4 ? 'done' : 'running', n, at, id)
      }
    }
    end.run()
    for (const { resolve } of batch) resolve()
  }
  const submit = (id: number, n: number, result: unknown) =>
    new Promise<void>((resolve) => {
      if (queue.push({ id, n, result, resolve }) === 1) setImmediate(flush)
    })
  const step = async () => ({ ok: true })
  const operation = async (id: number) => {
    await submit(id, 0, null)
    for (let n = 1; n <= 4; n++) await submit(id, n, await step())
  }
  let next = 1
  const start = performance.now()
  const worker = async () => {
    while (next <= operations) await operation(next++)
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  const seconds = (performance.now() - start) / 1000
  db.close()
  return operations / seconds
}

/** Microseconds of processor time, of all threads. */
function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return user + system
}

const kinds: KindOf = (_type, status) => (status === 'available' ? 'stable' : 'transitional')
const statuses = ['provisioning', 'configuring', 'attaching', 'verifying']
const properties = { size: 10, zone: 'zone-a', image: 'debian-12', flavour: 'medium', notes: 'x'.repeat(120) }
const noLinks = {}
const none: readonly never[] = []
let counter = 0
const nextNo = () => 2 ** 32 + ++counter

function parents(store: Store, count: number): Resource[] {
  const made = Array.from({ length: count }, () => resource(nextNo(), null, 'available', null))
  commit(store, {
    ...empty(),
    writes: made.map((after) => ({ before: null, after })),
    events: made.map((one) => event(one, 'imported', '')),
  })
  return made
}

/** Parts that are empty are shared, as the core shares them. */
const nothing = { links: noLinks, queue: none, ledger: none, timers: noLinks }
const resource = (no: number, parent: number | null, status: string, run: Run | null): Resource =>
  sampleResource(no, { ...nothing, tenant: '', parent, status, run, properties, since: at, createdAt: at })
const newRun = (begun: number, previous: string): Run =>
  sampleRun({ begun, previous, by: 'user:ann', acceptedAt: at, deadlineAt: at + 60_000, results: noLinks })

const event = (of: Resource, kind: EventKind, from: string): Event => ({
  no: of.no,
  at,
  kind,
  from,
  to: of.status,
  revision: of.revision,
  epoch: of.epoch,
  begun: of.epoch,
  by: 'worker-1',
  detail: null,
})

interface OpenBatch {
  writes: Write[]
  guards: Guard[]
  events: Event[]
  ended: EndedRun[]
  keys: KeyRecord[]
  late: never[]
  incidents: never[]
}
const empty = (): OpenBatch => ({ writes: [], guards: [], events: [], ended: [], keys: [], late: [], incidents: [] })

function commit(store: Store, batch: Batch): void {
  const answer = store.commit(batch)
  if (answer instanceof Promise || !answer.committed) throw new Error(`not committed: ${JSON.stringify(answer)}`)
}

/** One more step of an operation; the states are made beforehand, so that only the store is on the clock. */
function advance(batch: OpenBatch, before: Resource): Resource {
  const run = before.run!
  if (run.step === 3) {
    const after = { ...before, status: 'available', run: null, revision: before.revision + 1, since: at }
    batch.writes.push({ before, after })
    batch.events.push(event(after, 'landed', before.status))
    const ended = {
      operation: run.operation,
      kind: run.kind,
      outcome: 'succeeded',
      acceptedAt: at,
      endedAt: at,
      by: run.by,
    } as const
    batch.ended.push({ no: before.no, begun: run.begun, status: 'available', ...ended })
    return after
  }
  const step = run.step + 1
  const results = { ...run.results, [statuses[run.step]!]: { ok: true } }
  const after = {
    ...before,
    status: statuses[step]!,
    since: at,
    revision: before.revision + 1,
    run: { ...run, step, steps: [...run.steps, step], results, attempt: 1, deadlineAt: at + 60_000 },
  }
  batch.writes.push({ before, after })
  batch.events.push(event(after, 'stepDone', before.status))
  return after
}

/** Operations a second of `begin` followed by four steps, all in flight moving by one in a commit. */
function operate(
  store: Store,
  count: number,
  begin: (batch: OpenBatch) => Resource,
): { perSecond: number; cpu: number } {
  let inStore = 0
  let cpu = 0
  let begun = 0
  let flying: Resource[] = []
  for (;;) {
    const batch = empty()
    const now: Resource[] = flying.map((before) => advance(batch, before))
    const loading = performance.now()
    for (let free = inFlight - now.length; free > 0 && begun < count; free--, begun++) now.push(begin(batch))
    if (batch.writes.length === 0) break
    const from = performance.now()
    const used = process.cpuUsage()
    commit(store, batch)
    cpu += cpuSince(used)
    // Creating loads nothing; extending does, and that is the store's work too.
    inStore += performance.now() - (batch.guards.length > 0 ? from : loading)
    flying = now.filter((one) => one.run !== null)
  }
  return { perSecond: count / (inStore / 1000), cpu: cpu / count }
}

function creating(store: Store): (batch: OpenBatch) => Resource {
  const family = parents(store, 100)
  return (batch) => {
    const parent = family[counter % 100]!
    const no = nextNo()
    const after = resource(no, parent.no, statuses[0]!, newRun(1, ''))
    batch.writes.push({ before: null, after })
    batch.guards.push({ guard: 'revision', no: parent.no, revision: parent.revision })
    batch.events.push(event(after, 'accepted', ''))
    batch.keys.push({ key: `key-${no}`, hash: 'abcdefgh', no, begun: 1, at })
    return after
  }
}

/** An operation on a resource that exists and rests: it is loaded first. */
function extending(store: Store, from: number, pool: number): (batch: OpenBatch) => Resource {
  const busy = new Set<number>()
  return (batch) => {
    let no = 0
    do no = from + systemRandom.below(pool)
    while (busy.has(no))
    busy.add(no)
    if (busy.size > inFlight * 4) for (const one of busy) if (busy.delete(one) && busy.size <= inFlight * 2) break
    const answer = store.load([{ ask: 'resource', no }]) as readonly (Resource | null)[]
    const before = answer[0]!
    const after = {
      ...before,
      status: statuses[0]!,
      epoch: before.epoch + 1,
      revision: before.revision + 1,
      run: newRun(before.epoch + 1, before.status),
    }
    batch.writes.push({ before, after })
    batch.events.push(event(after, 'accepted', before.status))
    batch.keys.push({ key: `key-${no}-${after.epoch}`, hash: 'abcdefgh', no, begun: after.epoch, at })
    return after
  }
}

const quantile = (values: number[], at: number) => values.toSorted((a, b) => a - b)[Math.floor(values.length * at)]!
const median = (values: number[]) => quantile(values, 0.5)
const show = (value: number) => (value < 1000 ? value.toFixed(1) : Math.round(value).toLocaleString('en'))

function open(): Store {
  const store = openSqliteStore({ file: newFile() })
  void store.useKinds(kinds)
  return store
}

async function small(): Promise<void> {
  const tight: Round[] = []
  const bares: Round[] = []
  const stores: Round[] = []
  for (let round = 0; round < rounds; round++) {
    let used = process.cpuUsage()
    tight.push({ perSecond: bare(), cpu: cpuSince(used) / operations })
    used = process.cpuUsage()
    bares.push({ perSecond: await bareAsync(), cpu: cpuSince(used) / operations })
    const store = open()
    stores.push(operate(store, operations, creating(store)))
    await store.close()
  }
  // On a machine that others use too, the best rounds and the processor time tell more than the middle ones.
  const line = (what: string, of: (rounds: Round[]) => number, isRate: boolean) => {
    const [store, withPromises, without] = [of(stores), of(bares), of(tight)]
    const ratio = (other: number) => (isRate ? store / other : other / store).toFixed(3)
    console.log(
      `${what}: store ${show(store)}, bare ${show(withPromises)} (${ratio(withPromises)}), without promises ${show(without)} (${ratio(without)})`,
    )
  }
  line(
    'operations/s, median',
    (some) =>
      quantile(
        some.map((one) => one.perSecond),
        0.5,
      ),
    true,
  )
  line(
    'operations/s, best tenth',
    (some) =>
      quantile(
        some.map((one) => one.perSecond),
        0.9,
      ),
    true,
  )
  line(
    'cpu us/operation, median',
    (some) =>
      quantile(
        some.map((one) => one.cpu),
        0.5,
      ),
    false,
  )
  line(
    'cpu us/operation, best tenth',
    (some) =>
      quantile(
        some.map((one) => one.cpu),
        0.1,
      ),
    false,
  )
}

interface Round {
  readonly perSecond: number
  /** Microseconds of processor time an operation. */
  readonly cpu: number
}

async function large(): Promise<void> {
  const fill = (store: Store, count: number) => {
    const first = counter + 2 ** 32 + 101
    const result = operate(store, count, creating(store))
    return { first, result }
  }
  const little = open()
  const smallPool = fill(little, 20_000)
  const big = open()
  const bigPool = fill(big, 1_000_000)
  console.log(
    `created 1,000,000: ${show(bigPool.result.perSecond)}/s, first 20,000: ${show(smallPool.result.perSecond)}/s`,
  )
  const ratios: number[] = []
  for (let round = 0; round < rounds; round++) {
    const few = operate(little, operations, extending(little, smallPool.first, 20_000))
    const many = operate(big, operations, extending(big, bigPool.first, 1_000_000))
    const created = operate(big, operations, creating(big)).perSecond
    const [a, b] = [few.perSecond, many.perSecond]
    ratios.push(b / a)
    console.log(`cpu us/operation ${few.cpu.toFixed(1)}, ${many.cpu.toFixed(1)}`)
    console.log(
      `round ${round}: extend of 20,000 ${show(a)}, of 1,000,000 ${show(b)}, ratio ${(b / a).toFixed(3)}; create among them ${show(created)}`,
    )
  }
  console.log(`median ratio ${median(ratios).toFixed(3)}`)
  const some = () => bigPool.first + systemRandom.below(1_000_000)
  const reads: readonly [string, number, () => unknown][] = [
    ['load', 2000, () => big.load([{ ask: 'resource', no: some() }])],
    [
      'list of a type and status, 100',
      200,
      () => big.list({ type: 'volume', status: ['available'], limit: 100, after: some() }),
    ],
    ['list of a type, 100', 200, () => big.list({ type: 'volume', limit: 100, after: some() })],
    ['list of all, 100', 200, () => big.list({ limit: 100, after: some() })],
    ['history of one, 100', 500, () => big.history(some(), null, 100)],
    ['events, 100', 500, () => big.events(systemRandom.below(5_000_000), 100)],
    ['due timers', 500, () => big.work({ work: 'timers' }, at, 100)],
    ['overdue', 500, () => big.work({ work: 'overdue' }, at, 100)],
    ['counts', 5, () => big.counts()],
  ]
  for (const [what, times, read] of reads) {
    const took = Array.from({ length: times }, () => {
      const start = performance.now()
      read()
      return performance.now() - start
    })
    console.log(`${what}: p50 ${quantile(took, 0.5).toFixed(3)} ms, p99 ${quantile(took, 0.99).toFixed(3)} ms`)
  }
  await little.close()
  await big.close()
}

if (process.argv.includes('--large')) await large()
else await small()
rmSync(folder, { recursive: true })
