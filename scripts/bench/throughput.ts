// P1, P2: operations a second with a thousand in flight, beside the bare group commit of the same machine in the same minute.
import { audit } from './audit.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import type { BareStore } from './ground.ts'
import { keepInFlight, manyInFlight, median } from './load.ts'
import { openSubject, poolCount } from './subject.ts'

const inFlight = 1_000
/** Of a round, for both: its ends, with fewer in flight, are then the same part of it. */
const operations = 40_000
/** Until both are compiled as far as they ever will be. */
const warmUp = 100_000

export async function throughput({ runs: given, ground, say }: Options): Promise<Figure[]> {
  const figure = ground.name === 'SQLite' ? 'P1' : 'P2'
  // A round takes half a second, and what else the machine does lasts longer.
  const runs = 2 * given + 1
  const limits = [new Limit(await ground.openBare())]
  if (ground.openPlain !== undefined) limits.push(new Limit(await ground.openPlain()))
  const subject = await openSubject(await ground.openStore('throughput'), manyInFlight)
  const engines: number[] = []
  for (const limit of limits) await limit.warm()
  await keepInFlight((done) => subject.create(done), warmUp, inFlight)
  for (let round = 1; round <= runs; round++) {
    await ground.refresh()
    for (const limit of limits) await limit.round()
    engines.push(perSecond(operations, await keepInFlight((done) => subject.create(done), operations, inFlight)))
    const bares = limits.map(({ rounds }) => `${thousands(rounds.at(-1)!)}/s`).join(' and ')
    say(`${figure} round ${round} of ${runs}: bare ${bares}, engine ${thousands(engines.at(-1)!)}/s`)
  }
  const made = warmUp + runs * operations
  for (const limit of limits) await limit.end()
  await audit(subject.store, {
    counts: { 'bench.volume/Available': made, 'bench.pool/Open': poolCount },
    events: { accepted: made, stepDone: 3 * made, landed: made, imported: poolCount },
  })
  await subject.close()
  const [bare, plain] = limits.map((limit) => limit.beside(engines))
  const value = median(engines)
  return [
    {
      value,
      ...bare!,
      details: {
        steps: 4 * value,
        lowest: Math.min(...engines),
        highest: Math.max(...engines),
        ...(plain === undefined ? {} : { plainBare: plain.bare, plainRatio: plain.ratio }),
      },
      what: `${figure}: operations a second on ${ground.name}, 4 durable steps each, 1000 in flight`,
      found: `${thousands(value)} (${thousands(4 * value)} steps) of ${shown(bare!)} bare${
        plain === undefined ? '' : `; of ${shown(plain)} on plain tables`
      }`,
      goal: `${ground.goals.throughput.toFixed(2)} of bare; below ${ground.goals.regression.toFixed(2)} is a regression`,
      isMet: bare!.ratio >= ground.goals.regression,
    },
  ]
}

interface Beside {
  readonly bare: number
  readonly ratio: number
}

const shown = ({ bare, ratio }: Beside): string => `${thousands(bare)} (${ratio.toFixed(2)})`

/** The bare group commit, measured in the same rounds as the engine. */
class Limit {
  readonly rounds: number[] = []
  readonly #store: BareStore
  #made = 0

  constructor(store: BareStore) {
    this.#store = store
  }

  async warm(): Promise<void> {
    await this.#make(warmUp)
  }

  async round(): Promise<void> {
    this.rounds.push(perSecond(operations, await this.#make(operations)))
  }

  async end(): Promise<void> {
    const faults = await this.#store.audit(this.#made)
    if (faults.length > 0) throw new Error(`The bare store is wrong: ${faults.join(', ')}`)
    await this.#store.close()
  }

  beside(engines: readonly number[]): Beside {
    return { bare: median(this.rounds), ratio: median(engines.map((engine, round) => engine / this.rounds[round]!)) }
  }

  #make(count: number): Promise<number> {
    this.#made += count
    return keepInFlight((done) => this.#store.run(done), count, inFlight)
  }
}

const perSecond = (count: number, ms: number): number => (count / ms) * 1000
