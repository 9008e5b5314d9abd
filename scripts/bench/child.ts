// A worker process of its own, for what only processes can show: being killed, starting up. Runs the built package, as users do.
// Arguments: the store's place (a file, or a URL with the schema as its hash) and a mode. It says what it has reached, one word and the milliseconds since the process began, a line each.
import { createEngine } from 'homeostat'
import { drivers, lifecycles } from './lifecycle.ts'

const [place = '', mode = ''] = process.argv.slice(2)
const say = (word: string) => process.stdout.write(`${word} ${performance.now().toFixed(1)}\n`)
const inFlight = 200
say('loaded')

let left = inFlight
let hanging = 0
/** The step at which the first process is killed: every run has one durable step behind it. */
const hang = () => {
  if (++hanging === inFlight) say('hanging')
  return new Promise<never>(() => setInterval(() => {}, 1_000))
}
const volume = mode === 'hang' ? { ...drivers['bench.volume'], format: hang } : drivers['bench.volume']

/** Only what is used is loaded, as a program would. */
async function openStore() {
  if (!place.startsWith('postgres:')) return (await import('homeostat/sqlite')).openSqliteStore({ file: place })
  const [url = '', schema] = place.split('#')
  return (await import('homeostat/postgres')).openPostgresStore({ url, schema })
}
const store = await openStore()
const commit = store.commit.bind(store)
/** Tells when so many runs have ended, in the store. */
store.commit = (batch) => {
  const tell = <T>(answer: T): T => {
    left -= batch.ended.length
    if (batch.ended.length > 0 && left <= 0) setImmediate(() => say('done'))
    return answer
  }
  const committing = commit(batch)
  return committing instanceof Promise ? committing.then(tell) : tell(committing)
}
const engine = createEngine({ store, lifecycles, drivers: { ...drivers, 'bench.volume': volume } })
await engine.start()
say('started')

const pool = async () => {
  const decision = await engine.submit({
    kind: 'importResource',
    type: 'bench.pool',
    id: 'pool',
    status: 'Open',
    properties: { region: 'here' },
    by: 'bench',
  })
  if (!decision.accepted) throw new Error(decision.rejection.message)
}
const create = () => {
  const parent = { type: 'bench.pool', id: 'pool' }
  return engine.create('bench.volume', { parent, properties: { sizeGb: 10, label: 'measured' } }, { by: 'bench' })
}
if (mode === 'hang') {
  await pool()
  await Promise.all(Array.from({ length: inFlight }, create))
} else if (mode === 'first') {
  left = 1
  await pool()
  await create()
} else if (mode === 'idle') {
  await pool()
}

// Ends when told to: a process that ends by itself was not killed.
process.stdin.once('data', () => {
  void engine
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
})
