// P4: how long one operation of four durable steps takes when nothing else is going on, beside five bare commits. The same of a process
// that has served for seconds is told too, and judges nothing: until then the engine's code is still being compiled.
import { audit } from './audit.ts'
import { ms, type Figure, type Options } from './bench.ts'
import { median, oneByOne, quantile } from './load.ts'
import { openSubject, poolCount } from './subject.ts'

const operations = 300
const warmUp = 500
/** After so many more the engine's code is compiled, and an operation takes a tenth less. */
const untilWarm = 4_500

export async function latency({ runs, ground, say }: Options): Promise<Figure[]> {
  const bare = await ground.openBare()
  const subject = await openSubject(await ground.openStore('latency'))
  await oneByOne((done) => bare.run(done), warmUp)
  await oneByOne((done) => subject.create(done), warmUp)
  const measure = async (what: string) => {
    const p50: number[] = []
    const p99: number[] = []
    const bares: number[] = []
    for (let round = 1; round <= runs; round++) {
      bares.push(quantile(await oneByOne((done) => bare.run(done), operations), 0.5))
      const took = await oneByOne((done) => subject.create(done), operations)
      p50.push(quantile(took, 0.5))
      p99.push(quantile(took, 0.99))
      say(`P4 ${what} ${round} of ${runs}: bare ${ms(bares.at(-1)!)}, engine ${ms(p50.at(-1)!)}`)
    }
    const ratio = median(p50.map((one, round) => one / bares[round]!))
    return { p50: median(p50), p99: median(p99), bare: median(bares), ratio }
  }
  const { p50, p99, bare: beside, ratio } = await measure('round')
  await oneByOne((done) => subject.create(done), untilWarm)
  const warm = await measure('warm round')
  const made = warmUp + untilWarm + 2 * runs * operations
  await bare.close()
  await audit(subject.store, {
    counts: { 'bench.volume/Available': made, 'bench.pool/Open': poolCount },
    events: { accepted: made, stepDone: 3 * made, landed: made },
  })
  await subject.close()
  return [
    {
      value: p50,
      bare: beside,
      ratio,
      details: { p99, warm: warm.p50, warmRatio: warm.ratio },
      what: `P4: one operation of 4 steps alone on ${ground.name}, p50`,
      found: `${ms(p50)} (p99 ${ms(p99)}) beside 5 bare commits in ${ms(beside)}: ${ratio.toFixed(2)}; warm ${ms(warm.p50)} beside ${ms(warm.bare)}: ${warm.ratio.toFixed(2)}`,
      goal: `at most ${ground.goals.latency} of 5 bare commits`,
      isMet: ratio <= ground.goals.latency,
    },
  ]
}
