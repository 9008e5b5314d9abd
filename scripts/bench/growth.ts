// P7: a store with a million resources and ten million entries of history against an empty one: operations on new resources, on
// resources chosen by chance, and the reads that people wait for.
import { audit } from './audit.ts'
import { ms, thousands, type Figure, type Options } from './bench.ts'
import type { Ground } from './ground.ts'
import { keepInFlight, manyInFlight, median, quantile } from './load.ts'
import { openSubject, poolCount, type Subject } from './subject.ts'

const large = 1_000_000
/** Each operation of a resource writes five entries: created, and extended once, a resource has ten. */
const small = 5_000
const operations = 20_000
const inFlight = 1_000

export async function growth({ runs, ground, say }: Options): Promise<Figure[]> {
  const few = await openSubject(await ground.openStore('small'), manyInFlight)
  await make(few, small, say)
  say(`P7: making ${thousands(large)} resources with ${thousands(10 * large)} entries of history`)
  const many = await openSubject(await ground.openStore('large'), manyInFlight)
  await make(many, large, say)

  const news: number[] = []
  const olds: number[] = []
  for (let round = 1; round <= runs; round++) {
    const [newFew, newMany] = [await rate(few, 'create', []), await rate(many, 'create', [])]
    const [oldFew, oldMany] = [await rate(few, 'extend', numbers(few)), await rate(many, 'extend', numbers(many))]
    news.push(newMany / newFew)
    olds.push(oldMany / oldFew)
    say(`P7 round ${round} of ${runs}: new ${news.at(-1)!.toFixed(2)}, by chance ${olds.at(-1)!.toFixed(2)}`)
  }
  const reads = await readTimes(many)
  await few.close()
  await audit(many.store, {
    counts: { 'bench.volume/Available': large + runs * operations, 'bench.pool/Open': poolCount },
  })
  await many.close()
  return [...throughputs(ground, news, olds), ...reads]
}

/** Numbers of resources that are there. */
const made = new WeakMap<Subject, number[]>()
const numbers = (subject: Subject): number[] => made.get(subject)!

async function make(subject: Subject, count: number, say: (text: string) => void): Promise<void> {
  const all: number[] = []
  made.set(subject, all)
  const step = 100_000
  for (let at = 0; at < count; at += step) {
    const part = Math.min(step, count - at)
    await keepInFlight((done) => subject.create((no) => (all.push(no), done())), part, inFlight)
    let next = all.length - part
    await keepInFlight((done) => subject.operate(all[next++]!, 'extend', done), part, inFlight)
    if (count > step) say(`P7: ${thousands(at + part)} of ${thousands(count)} resources are made`)
  }
}

async function rate(subject: Subject, operation: 'create' | 'extend', among: readonly number[]): Promise<number> {
  const chosen = operation === 'create' ? [] : distinct(among, Math.min(operations, among.length / 2))
  const count = operation === 'create' ? operations : chosen.length
  let next = 0
  const run = (done: () => void) =>
    operation === 'create' ? subject.create(() => done()) : subject.operate(chosen[next++]!, operation, done)
  return count / (await keepInFlight(run, count, inFlight))
}

/** So many of them by chance, none twice: an operation on a resource that is busy would be refused. */
function distinct(among: readonly number[], count: number): number[] {
  const chosen = new Set<number>()
  while (chosen.size < count) chosen.add(among[Math.floor(Math.random() * among.length)]!)
  return [...chosen]
}

async function readTimes({ engine, store }: Subject): Promise<Figure[]> {
  const times: Record<string, number[]> = { list: [], history: [], explain: [], counts: [] }
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const began = performance.now()
    const result = await work()
    times[name]!.push(performance.now() - began)
    return result
  }
  const { resources } = await engine.list({ type: 'bench.volume', limit: 1 })
  const first = resources[0]!.no
  for (let i = 0; i < 300; i++) {
    const after = first + Math.floor(Math.random() * large)
    const page = await timed('list', () => engine.list({ type: 'bench.volume', limit: 50, after }))
    const one = page.resources[0] ?? resources[0]!
    await timed('history', () => engine.history(one.type, one.id))
    await timed('explain', () => engine.explain(one.type, one.id))
    await timed('counts', async () => store.counts())
  }
  return Object.entries(times).map(([name, list]) => {
    const p99 = quantile(list, 0.99)
    const most = name === 'counts' ? 5 : 50
    return {
      value: p99,
      what: `P7: ${name} with ${thousands(large)} resources, p99`,
      found: `${ms(p99)} (p50 ${ms(quantile(list, 0.5))})`,
      goal: `below ${most} ms`,
      isMet: p99 < most,
    }
  })
}

function throughputs(ground: Ground, news: readonly number[], olds: readonly number[]): Figure[] {
  const goal = ground.name === 'SQLite' ? 0.5 : 0.75
  const figure = (what: string, list: readonly number[], least: number): Figure => ({
    value: median(list),
    ratio: median(list),
    what: `P7: ${what}, ${thousands(large)} resources and ${thousands(10 * large)} entries of history beside ${thousands(small)}, on ${ground.name}`,
    found: median(list).toFixed(2),
    goal: `${least} of the small store`,
    isMet: median(list) >= least,
  })
  return [
    figure('operations on resources chosen by chance', olds, goal),
    figure('operations on new resources', news, 0.9),
  ]
}
