// P1: operations a second with a thousand in flight, beside the bare group commit of the same machine in the same minute.
import { join } from 'node:path'
import { audit } from './audit.ts'
import { Bare } from './bare.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import { keepInFlight, median } from './load.ts'
import { manyInFlight, openSubject, poolCount } from './subject.ts'

const inFlight = 1_000
const operations = 20_000
const bareOperations = 40_000
const warmUp = 10_000

export async function throughput({ runs, folder, say }: Options): Promise<Figure[]> {
  const bare = new Bare(join(folder, 'bare.db'))
  const subject = await openSubject(join(folder, 'engine.db'), manyInFlight)
  const bares: number[] = []
  const engines: number[] = []
  await keepInFlight((done) => bare.run(done), warmUp, inFlight)
  await keepInFlight((done) => subject.create(done), warmUp, inFlight)
  for (let round = 1; round <= runs; round++) {
    bares.push(perSecond(bareOperations, await keepInFlight((done) => bare.run(done), bareOperations, inFlight)))
    engines.push(perSecond(operations, await keepInFlight((done) => subject.create(done), operations, inFlight)))
    say(`P1 round ${round} of ${runs}: bare ${thousands(bares.at(-1)!)}/s, engine ${thousands(engines.at(-1)!)}/s`)
  }
  const made = warmUp + runs * operations
  const faults = bare.audit(warmUp + runs * bareOperations)
  if (faults.length > 0) throw new Error(`The bare store is wrong: ${faults.join(', ')}`)
  bare.close()
  await audit(subject.store, {
    counts: { 'bench.volume/Available': made, 'bench.pool/Open': poolCount },
    events: { accepted: made, stepDone: 3 * made, landed: made, imported: poolCount },
  })
  await subject.close()
  const ratio = median(engines.map((engine, round) => engine / bares[round]!))
  const value = median(engines)
  return [
    {
      value,
      bare: median(bares),
      ratio,
      details: { steps: 4 * value, lowest: Math.min(...engines), highest: Math.max(...engines) },
      what: 'P1: operations a second on SQLite, 4 durable steps each, 1000 in flight',
      found: `${thousands(value)} (${thousands(4 * value)} steps) of ${thousands(median(bares))} bare: ${ratio.toFixed(2)}`,
      goal: '0.50 of bare; below 0.45 is a regression',
      isMet: ratio >= 0.45,
    },
  ]
}

const perSecond = (count: number, ms: number): number => (count / ms) * 1000
