// The program that the kill tests kill: an engine with Blazar's drivers on a SQLite file, which asks itself for mixed operations
// and tells its parent of every answer. An answer that the parent has received is an acknowledgement.
import { join } from 'node:path'
import { createEngine, HomeostatError } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { hurried, seededRandom } from 'homeostat/testing'
import { openLocalWorld } from 'homeostat/worlds'
import { blazar, createDrivers, createWorldBackend, type Backend } from './index.ts'

export interface Orders {
  readonly folder: string
  /** Real files and processes; or nothing at all, a moment later. */
  readonly ground: 'local' | 'nothing'
  readonly seed: number
  readonly operations: number
  /** Named so that no two processes make the same lease. */
  readonly prefix: string
  readonly gapMs: number
}

export type Told =
  | { readonly told: 'accepted'; readonly operation: string; readonly id: string }
  | { readonly told: 'refused'; readonly operation: string; readonly id: string; readonly code: string }
  | { readonly told: 'played' }
  | { readonly told: 'rest' }

const orders = JSON.parse(process.env['BLAZAR_ORDERS']!) as Orders
const random = seededRandom(orders.seed)
const tell = (told: Told) => void process.send?.(told)
const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))

const isTransitional = (status: string) =>
  /^(CREATING|STARTING|UPDATING|TERMINATING|DELETING|IN_PROGRESS)$/.test(status)

const nothing: Backend = {
  resourceTypes: ['host'],
  reserve: () => pause(random.below(20)),
  change: () => pause(random.below(20)),
  onStart: () => pause(random.below(60)),
  onEnd: () => pause(random.below(60)),
  release: () => pause(random.below(20)),
  beforeEnd: () => pause(random.below(20)),
  isEndTold: async () => false,
  look: async () => null,
}
const backend =
  orders.ground === 'nothing'
    ? nothing
    : createWorldBackend(openLocalWorld({ directory: join(orders.folder, 'world') }))

/** The same lifecycles with shorter spans: whoever was killed is not waited for half a minute. */
const lifecycles = Object.fromEntries(
  Object.entries(blazar).map(([name, one]) => [name, hurried(one)]),
) as unknown as typeof blazar

const engine = createEngine({
  store: openSqliteStore({ file: join(orders.folder, 'store.db') }),
  lifecycles,
  drivers: createDrivers(backend),
  options: { pollMs: 300, healEveryMs: 300, sweepEveryMs: 300, inventoryEveryMs: 500, strayGraceMs: 1_000 },
})

const { lease } = engine.client('player')
const made: string[] = []

async function attempt(operation: string, id: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
    tell({ told: 'accepted', operation, id })
  } catch (error) {
    tell({ told: 'refused', operation, id, code: error instanceof HomeostatError ? error.code : String(error) })
  }
}

/** Two in five are new leases, seconds long or for a day; the others concern what was made before, in whatever status it is. */
async function play(n: number): Promise<void> {
  const kind = random.below(10)
  const known = made[random.below(Math.max(1, made.length))]
  if (kind < 4 || known === undefined) {
    const id = `${orders.prefix}${n}`
    made.push(id)
    const startDate = Date.now() + 300 + random.below(1_200)
    const endDate = startDate + (random.below(2) === 0 ? 86_400_000 : 500 + random.below(1_500))
    const reservations = Array.from({ length: 1 + random.below(2) }, () => ({ resourceType: 'host' }))
    const input = { reservations, minutesBeforeEndLease: 0 }
    await attempt('create', id, () => lease.create({ id, properties: { startDate, endDate } }, input))
  } else if (kind < 6) await attempt('delete', known, () => lease.delete(known))
  else if (kind < 7) await attempt('update', known, () => lease.update(known, { name: `n${n}` }))
  else if (kind < 8) await attempt('update', known, () => lease.update(known, { endDate: Date.now() + 86_400_000 }))
  else if (kind < 9) await attempt('start', known, () => lease.start(known))
  else await attempt('end', known, () => lease.end(known))
}

/** Nothing is under way, nothing is to be swept, and no timer is due soon. */
async function isAtRest(): Promise<boolean> {
  const soon = Date.now() + 1_000
  for (let after: number | null = 0; after !== null;) {
    const { resources, next } = await engine.list({ limit: 1_000, after })
    for (const { run, status, ledger, timers } of resources) {
      if (run !== null || isTransitional(status)) return false
      if (ledger.some(({ state }) => state === 'orphaned' || state === 'sweeping')) return false
      if (Object.values(timers).some((due) => due < soon)) return false
    }
    after = next
  }
  return true
}

await engine.start()
for (let n = 0; n < orders.operations; n++) {
  void play(n)
  await pause(random.below(orders.gapMs))
}
tell({ told: 'played' })
while (!(await isAtRest())) await pause(100)
tell({ told: 'rest' })
process.once('message', () => void engine.stop().then(() => process.exit(0)))
