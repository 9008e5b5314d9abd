// The process of P6. `fill` makes resting resources and begins operations that never get further; it is killed then. `finish` is
// the process after the power has come back: it says when nothing is stuck any more, and how long reads took meanwhile.
// Arguments: the store's place, what to do, resting resources, stuck resources.
import { createEngine } from 'homeostat'
import { openPostgresStore } from 'homeostat/postgres'
import { openSqliteStore } from 'homeostat/sqlite'
import { drivers, lifecycles } from './lifecycle.ts'
import { keepInFlight, manyInFlight, quantile } from './load.ts'

const [place = '', mode = '', restingText = '', stuckText = ''] = process.argv.slice(2)
const resting = Number(restingText)
const stuck = Number(stuckText)
const say = (...words: (string | number)[]) => process.stdout.write(`${words.join(' ')}\n`)
const [url = '', schema] = place.split('#')
const store = place.startsWith('postgres:')
  ? await openPostgresStore({ url, schema })
  : openSqliteStore({ file: place, thread: 'auto' })

let left = stuck
const commit = store.commit.bind(store)
store.commit = (batch) => {
  const tell = <T>(answer: T): T => {
    left -= batch.ended.length
    return answer
  }
  const committing = commit(batch)
  return committing instanceof Promise ? committing.then(tell) : tell(committing)
}

/** The first step of each run is done, the second never. */
const hang = () => new Promise<never>(() => setInterval(() => {}, 1_000))
const volume = mode === 'fill' ? { ...drivers['bench.volume'], format: hang } : drivers['bench.volume']
// Of the runs that are accepted most wait for their turn, as in a cloud that was busy when the power failed.
const engine = createEngine({
  store,
  lifecycles,
  drivers: { ...drivers, 'bench.volume': volume },
  // Where somebody looks meanwhile, commits have their usual size: a larger one keeps the event loop for longer.
  options: mode === 'fill' ? manyInFlight : { concurrency: manyInFlight.concurrency },
})
await engine.start()

if (mode === 'fill') await fill()
else await finish()

async function fill(): Promise<void> {
  const parent = { type: 'bench.pool', id: 'pool' }
  const properties = { sizeGb: 10, label: 'measured' }
  const fail = () => process.exit(1)
  const mustBeAccepted = (work: Promise<{ accepted: boolean }>, then: () => void) =>
    void work.then(({ accepted }) => (accepted ? then() : fail()), fail)
  const pool = { kind: 'importResource', type: 'bench.pool', id: 'pool', status: 'Open', by: 'bench' } as const
  await engine.submit({ ...pool, properties: { region: 'here' } })
  const rests = { kind: 'importResource', type: 'bench.volume', parent, status: 'Available', by: 'bench' } as const
  await keepInFlight((done) => mustBeAccepted(engine.submit({ ...rests, properties }), done), resting, 4_000)
  say('resting')
  const create = (then: () => void) =>
    void engine.create('bench.volume', { parent, properties }, { by: 'bench' }).then(then, fail)
  await keepInFlight(create, stuck, 4_000)
  say('stuck')
}

/** As somebody who looks at it meanwhile: a page of the list, and one resource with what explains it. */
async function finish(): Promise<void> {
  const reads: number[] = []
  const began = performance.now()
  while (left > 0) {
    const asked = performance.now()
    const { resources } = await engine.list({ type: 'bench.volume', limit: 50 })
    const one = resources[reads.length % resources.length]!
    await engine.explain(one.type, one.id)
    reads.push(performance.now() - asked)
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (performance.now() - began > 300_000) break
  }
  say('done', performance.timeOrigin + performance.now(), quantile(reads, 0.5), quantile(reads, 0.99), reads.length)
}

process.stdin.once('data', () => {
  void engine
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
})
