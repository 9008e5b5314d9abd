// P1, P2: operations a second with a thousand in flight, beside the bare group commit of the same machine in the same minute.
import { audit } from './audit.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import { keepInFlight, manyInFlight, median } from './load.ts'
import { openSubject, poolCount } from './subject.ts'

const inFlight = 1_000
const operations = 20_000
const bareOperations = 40_000
/** Until both are compiled as far as they ever will be. */
const warmUp = 100_000

export async function throughput({ runs: given, ground, say }: Options): Promise<Figure[]> {
  const figure = ground.name === 'SQLite' ? 'P1' : 'P2'
  // A round takes half a second, and what else the machine does lasts longer.
  const runs = 2 * given + 1
  const bare = await ground.openBare()
  const subject = await openSubject(await ground.openStore('throughput'), manyInFlight)
  const bares: number[] = []
  const engines: number[] = []
  await keepInFlight((done) => bare.run(done), warmUp, inFlight)
  await keepInFlight((done) => subject.create(done), warmUp, inFlight)
  for (let round = 1; round <= runs; round++) {
    bares.push(perSecond(bareOperations, await keepInFlight((done) => bare.run(done), bareOperations, inFlight)))
    engines.push(perSecond(operations, await keepInFlight((done) => subject.create(done), operations, inFlight)))
    say(
      `${figure} round ${round} of ${runs}: bare ${thousands(bares.at(-1)!)}/s, engine ${thousands(engines.at(-1)!)}/s`,
    )
  }
  const made = warmUp + runs * operations
  const faults = await bare.audit(warmUp + runs * bareOperations)
  if (faults.length > 0) throw new Error(`The bare store is wrong: ${faults.join(', ')}`)
  await bare.close()
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
      what: `${figure}: operations a second on ${ground.name}, 4 durable steps each, 1000 in flight`,
      found: `${thousands(value)} (${thousands(4 * value)} steps) of ${thousands(median(bares))} bare: ${ratio.toFixed(2)}`,
      goal: `${ground.goals.throughput.toFixed(2)} of bare; below ${ground.goals.regression.toFixed(2)} is a regression`,
      isMet: ratio >= ground.goals.regression,
    },
  ]
}

const perSecond = (count: number, ms: number): number => (count / ms) * 1000
