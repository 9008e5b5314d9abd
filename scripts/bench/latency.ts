// P4: how long one operation of four durable steps takes when nothing else is going on, beside five bare commits.
import { audit } from './audit.ts'
import { ms, type Figure, type Options } from './bench.ts'
import { median, oneByOne, quantile } from './load.ts'
import { openSubject, poolCount } from './subject.ts'

const operations = 300
/** So short that there can be more of them: single ones differ by 5 percent. */
const roundsPerRun = 3
/** A process that has served for a second: until then the engine's code is still being compiled, and takes a tenth longer. */
const warmUp = 5_000

export async function latency({ runs, ground, say }: Options): Promise<Figure[]> {
  const bare = await ground.openBare()
  const subject = await openSubject(await ground.openStore('latency'))
  await oneByOne((done) => bare.run(done), warmUp)
  await oneByOne((done) => subject.create(done), warmUp)
  const p50: number[] = []
  const p99: number[] = []
  const bares: number[] = []
  const rounds = roundsPerRun * runs
  for (let round = 1; round <= rounds; round++) {
    bares.push(quantile(await oneByOne((done) => bare.run(done), operations), 0.5))
    const took = await oneByOne((done) => subject.create(done), operations)
    p50.push(quantile(took, 0.5))
    p99.push(quantile(took, 0.99))
    say(`P4 round ${round} of ${rounds}: bare ${ms(bares.at(-1)!)}, engine ${ms(p50.at(-1)!)}`)
  }
  const made = warmUp + rounds * operations
  await bare.close()
  await audit(subject.store, {
    counts: { 'bench.volume/Available': made, 'bench.pool/Open': poolCount },
    events: { accepted: made, stepDone: 3 * made, landed: made },
  })
  await subject.close()
  const ratio = median(p50.map((one, round) => one / bares[round]!))
  return [
    {
      value: median(p50),
      bare: median(bares),
      ratio,
      details: { p99: median(p99) },
      what: `P4: one operation of 4 steps alone on ${ground.name}, p50`,
      found: `${ms(median(p50))} (p99 ${ms(median(p99))}) beside 5 bare commits in ${ms(median(bares))}: ${ratio.toFixed(2)}`,
      goal: `at most ${ground.goals.latency} of 5 bare commits`,
      isMet: ratio <= ground.goals.latency,
    },
  ]
}
