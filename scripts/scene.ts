// `npm run scene`: a real scene on a SQLite file. Databases are created by a worker process, which is killed with -9 in the middle;
// another one heals what was left, and everything is checked against the files at the end. Exit code 0 only if the check holds.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteStore } from 'homeostat/sqlite'
import { databases } from '../examples/database.ts'
import { systemClock } from '../src/base/clock.ts'
import { explain } from '../src/decision/explain.ts'
import type { Resource, StoredEvent } from '../src/decision/state.ts'
import { read } from '../src/engine/read.ts'
import { compilePlans } from '../src/lifecycle/compile-plan.ts'
import type { Store } from '../src/store/store.ts'
import { flag, optionsOf } from './options.ts'
import { audit } from './scene/audit.ts'
import { boardLines } from './scene/board.ts'
import type { WorkerSettings } from './scene/messages.ts'
import { paint, Telling } from './scene/telling.ts'
import { killAll, WorkerHandle } from './scene/worker-handle.ts'
import { disksIn } from './scene/world.ts'

const { fast: isFast } = optionsOf('npm run scene', { fast: flag('without pauses, in a temporary folder (for tests)') })
const tell = new Telling({ isFast })
const stamp = new Date().toISOString().slice(0, 19).replaceAll(':', '').replace('T', '-')
const folder = isFast ? mkdtempSync(join(tmpdir(), 'homeostat-scene-')) : join('data', `scene-${stamp}`)
mkdirSync(folder, { recursive: true })

const asked: readonly (readonly [string, number])[] = [
  ['orders', 6],
  ['users', 5],
  ['carts', 7],
  ['photos', 9],
  ['search', 18],
  ['mail', 14],
  ['stock', 22],
  ['prices', 16],
  ['logs', 24],
  ['metrics', 20],
  ['reports', 17],
  ['invoices', 26],
]
const hanging = 'photos'
const type = 'shop.database'
const plans = compilePlans([databases])
const pids = new Map<number, number | null>()
const acknowledged: { operation: string; id: string }[] = []

const workerSettings = (name: string): WorkerSettings => ({
  folder,
  name,
  concurrency: 20,
  gbMs: isFast ? 25 : 130,
  serverMs: isFast ? 150 : 900,
  slowStorageOf: hanging,
  slowStorageMs: isFast ? 300 : 1_200,
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    killAll()
    if (isFast) rmSync(folder, { recursive: true, force: true })
    process.stdout.write('\nStopped. No process is left behind.\n')
    process.exit(signal === 'SIGINT' ? 130 : 143)
  })
}

// The reader has gone away (piped into `head`).
process.stdout.on('error', () => process.exit(1))

// The narrator only reads; everything is done by the workers.

async function all(store: Store): Promise<readonly Resource[]> {
  return store.list({ type, limit: 100, after: 0 })
}

async function one(store: Store, id: string): Promise<Resource> {
  return (await all(store)).find((resource) => resource.id === id)!
}

async function eventsAfter(store: Store, n: number): Promise<readonly StoredEvent[]> {
  return store.events(n, 10_000)
}

async function showBoard(store: Store): Promise<void> {
  tell.board(boardLines(await all(store), { folder, pids }))
}

/** Waits until it holds, with the board in view unless told otherwise. */
async function until(
  store: Store,
  holds: (resources: readonly Resource[]) => boolean,
  isShown: boolean = tell.isLive,
): Promise<void> {
  const begun = performance.now()
  for (;;) {
    const resources = await all(store)
    if (isShown) tell.board(boardLines(resources, { folder, pids }))
    if (holds(resources)) return
    if (performance.now() - begun > 60_000) throw new Error('the scene waited for a minute; this should not happen')
    await sleep(isFast ? 20 : 100)
  }
}

async function why(store: Store, id: string): Promise<readonly string[]> {
  const resource = await one(store, id)
  const pace = {
    leaseMs: 5_000,
    healEveryMs: 500,
    held: () => null,
    isSwept: () => true,
    isAlive: (owner: number) => pids.get(owner) != null,
  }
  const from = { store, plans, clock: systemClock }
  const { because, next } = await read(from, (situation) => explain(plans, situation, resource, pace))
  return next === null ? because : [...because, `Next: ${next.what}`]
}

async function startWorker(name: string): Promise<WorkerHandle> {
  const worker = new WorkerHandle(workerSettings(name))
  const incarnation = await worker.ready
  pids.set(incarnation, worker.pid)
  return worker
}

async function ask(
  worker: WorkerHandle,
  operation: 'create' | 'grow' | 'delete',
  id: string,
  sizeGb = 0,
): Promise<void> {
  await worker.ask(operation, id, sizeGb)
  acknowledged.push({ operation, id })
}

const statusIs = (resources: readonly Resource[], id: string, status: string): boolean =>
  resources.some((resource) => resource.id === id && resource.status === status)
const isMoving = ({ status }: Resource): boolean => plans.kindOf(type, status) === 'transitional'

async function opening(): Promise<void> {
  tell.title('Homeostat: nothing stays stuck in transition')
  tell.say(
    'Homeostat runs the lifecycles of things that take time to make, change and remove. You declare the statuses, the steps and ' +
      'what to do if a process dies in the middle; Homeostat does it, durably, and heals what was left in limbo.',
  )
  tell.say('')
  tell.say(
    'What you will see: a worker process sets up twelve databases (their disks are real files), we kill it with -9 in the middle, ' +
      'and another process puts everything right. At the end the records are compared with the files.',
  )
  tell.aside(`Declared in examples/database.ts. All files are in ${isFast ? folder : `./${relative('.', folder)}`}`)
  await tell.pause(2_500)
}

async function work(store: Store, worker: WorkerHandle): Promise<void> {
  tell.chapter(`1. Worker 1 is process ${worker.pid}. Twelve databases are asked for.`)
  await Promise.all(asked.map(([id, sizeGb]) => ask(worker, 'create', id, sizeGb)))
  tell.say('All twelve requests are acknowledged: from now on none of them may be lost, whatever happens.')
  await until(store, (seen) => ['orders', 'users', 'carts'].every((id) => statusIs(seen, id, 'Ready')))
  await ask(worker, 'grow', 'users', 24)
  await ask(worker, 'delete', 'carts')
  tell.say(`Three are ready. users is asked to grow to 24 GB, carts is asked to go.`)
  for (let i = 0; i < 8; i++) {
    if (tell.isLive) await showBoard(store)
    await tell.pause(100)
  }
}

async function death(store: Store, worker: WorkerHandle): Promise<{ last: number; stuck: readonly Resource[] }> {
  const { pid } = worker
  const how = await worker.kill()
  for (const [no, known] of pids) if (known === pid) pids.set(no, null)
  const moment = new Date().toISOString().slice(11, 23)
  tell.chapter(`2. ${paint('red', `kill -9 ${pid}`)} at ${moment}, in the middle of everything (ended by ${how}).`)
  if (how !== 'SIGKILL') throw new Error('the worker was not ended by the signal')
  const stuck = (await all(store)).filter(isMoving)
  const example = (stuck.find(({ status }) => status === 'Growing') ?? stuck[0]!).id
  await showBoard(store)
  await tell.pause(1_500)
  tell.say(
    `${stuck.length} databases are stuck: half a disk here, a server not started there, and nobody at work. In most control ` +
      'planes they would stay like this until somebody edits the database by hand. Why is that, in the case of ' +
      `${example}?`,
  )
  for (const line of await why(store, example)) tell.line(paint('dim', line))
  await tell.pause(3_000)
  return { last: (await eventsAfter(store, 0)).at(-1)!.n, stuck }
}

async function healing(
  store: Store,
  last: number,
  stuck: readonly Resource[],
): Promise<{ worker: WorkerHandle; healMs: number }> {
  const worker = await startWorker('worker 2')
  const readyAt = performance.now()
  const taken = async () =>
    (await eventsAfter(store, last)).filter(
      ({ kind, detail }) => (kind === 'resumed' || kind === 'healed') && detail?.['found'],
    )
  while ((await taken()).length < stuck.length && performance.now() - readyAt < 30_000) await sleep(5)
  const healMs = Math.round(performance.now() - readyAt)
  tell.chapter(
    `3. Worker 2 is process ${worker.pid}. It saw at once that its predecessor is dead, and took over all ${stuck.length}.`,
  )
  for (const event of await taken()) {
    const resource = stuck.find(({ no }) => no === event.no)!
    tell.line(`${resource.id.padEnd(10)} ${foundWords(event, resource)}`)
  }
  tell.aside(
    `Taken over ${healMs} ms after worker 2 was up. Each line is an event in the database's own history. Why so? The declaration says:`,
  )
  for (const status of new Set(stuck.map((resource) => resource.status)))
    tell.line(paint('dim', `stuck in ${status}: ${plans.get(type)!.heal.get(status)!.words}`))
  await tell.pause(2_500)
  tell.say('')
  await until(store, (seen) => seen.filter(isMoving).every(({ id }) => id === hanging))
  return { worker, healMs }
}

/** What was found and what was done, from the event; at which step, from the record as it was left. */
function foundWords({ from, to, detail }: StoredEvent, { run }: Resource): string {
  const found = `found in ${paint('yellow', from)}, its worker lost:`
  const attempt = detail?.['attempt']
  if (typeof attempt === 'string') return `${found} ${attempt} is attempted again`
  if (from !== to) return `${found} put to ${to}`
  const step = plans.get(type)!.operations.get(run!.operation)!.steps[run!.step]!.name
  return `${found} goes on with ${run!.operation}, at ${step}`
}

async function deleteWins(store: Store, worker: WorkerHandle): Promise<void> {
  tell.chapter(`4. ${hanging} still hangs: its storage does not answer. Delete wins.`)
  for (const line of (await why(store, hanging)).slice(1, 3)) tell.line(paint('dim', line))
  const swept = Promise.withResolvers<string>()
  const seen = Promise.withResolvers<string>()
  worker.onLog = (message, name) => {
    if (message.startsWith('something exists')) seen.resolve(name)
    if (message.startsWith('destroyed what')) swept.resolve(name)
  }
  await ask(worker, 'delete', hanging)
  tell.say(
    'The delete is accepted although a create is under way: it interrupts it, and nothing of the old run begins any more.',
  )
  await until(store, (seen) => statusIs(seen, hanging, 'Gone'), false)
  tell.line(`${hanging.padEnd(10)} Gone`)
  tell.say(
    'But the storage, slow as it is, still carries out what it was once asked for: a disk appears that nobody owns.',
  )
  const orphan = await within(seen.promise)
  tell.line(`found      ${orphan}: an orphan`)
  tell.line(
    `destroyed  ${await within(swept.promise)}, by the sweeper, which compares what exists with what is on record`,
  )
  await tell.pause(1_500)
}

function within<T>(promise: Promise<T>): Promise<T> {
  const late = sleep(30_000, undefined, { ref: false }).then(() =>
    Promise.reject(new Error('the sweeper found nothing')),
  )
  return Promise.race([promise, late])
}

async function outcome(store: Store, begun: number, healMs: number): Promise<boolean> {
  tell.chapter('5. The outcome, checked from outside: the records against the files.')
  const resources = await all(store)
  await showBoard(store)
  const checks = audit({ folder, resources, events: await eventsAfter(store, 0), acknowledged })
  for (const { says, faults } of checks) {
    tell.line(
      faults.length === 0 ? `${paint('green', '✓')} ${says}` : `${paint('red', '✗')} ${says}: ${faults.join(', ')}`,
    )
  }
  const holds = checks.every(({ faults }) => faults.length === 0)
  tell.say('')
  tell.say(
    holds
      ? `${paint(['bold', 'green'], 'Nothing is stuck, nothing is lost, nothing is left over.')} The dead worker's databases were in good hands ` +
          `${healMs} ms after the next one was up; the whole scene took ${Math.round((performance.now() - begun) / 1000)} s.`
      : paint(
          ['bold', 'red'],
          'The check does not hold. This is a bug: please report it with the folder of this scene.',
        ),
  )
  tell.say('')
  tell.say('Where to look next:')
  tell.line(`README.md          what it is, and the lifecycle of these databases`)
  tell.line(`npm test           everything: core, stores, simulation, real crashes`)
  tell.line(`npm run simulate   thousands of crash schedules with the same engine`)
  tell.line(`npm run bench      the measured figures`)
  return holds
}

const begun = performance.now()
await opening()
const first = await startWorker('worker 1')
const store = openSqliteStore({ file: join(folder, 'shop.db'), readonly: true })
await work(store, first)
const { last, stuck } = await death(store, first)
const { worker: second, healMs } = await healing(store, last, stuck)
await deleteWins(store, second)
const ended = await second.stop()
const holds = (await outcome(store, begun, healMs)) && ended === 0 && disksIn(folder).length > 0
await store.close()
if (isFast) rmSync(folder, { recursive: true })
process.exitCode = holds ? 0 : 1
