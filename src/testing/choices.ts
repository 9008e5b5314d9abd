// Every choice of a simulation, so that a run can be repeated and made smaller. A choice is a small whole number; 0 is always
// the quiet one (no fault, the shortest delay, the first of a list). Each purpose has its own stream: a new draw in one place
// does not shift the others, and taking one choice back leaves the rest where they were.

/** What was not quiet: by stream, the place of the choice and its value. All others are 0. */
export type ChoiceList = Readonly<Record<string, Readonly<Record<number, number>>>>

export interface Stream {
  /** A whole number at least 0 and below `limit`. */
  below(limit: number): number
  /** 1 with this probability, else 0: the quiet one. */
  chance(probability: number): boolean
  /** The place of one of the weights; heavier ones are chosen more often. */
  weighted(weights: readonly number[]): number
}

export class Choices {
  readonly seed: number
  readonly #given: ChoiceList | null
  readonly #streams = new Map<string, ChoiceStream>()
  readonly #isRecording: boolean

  /** Drawn from the seed; or, with a list, exactly that list. */
  constructor(seed: number, { list = null, record = false }: { list?: ChoiceList | null; record?: boolean } = {}) {
    this.seed = seed
    this.#given = list
    this.#isRecording = record
  }

  stream(name: string): Stream {
    let stream = this.#streams.get(name)
    if (stream === undefined) {
      const given = this.#given === null ? null : (this.#given[name] ?? {})
      stream = new ChoiceStream(mixed(this.seed, name), given, this.#isRecording)
      this.#streams.set(name, stream)
    }
    return stream
  }

  /** What was chosen so far and was not quiet. Only when recording. */
  list(): ChoiceList {
    const list: Record<string, Record<number, number>> = {}
    for (const [name, stream] of this.#streams) {
      if (stream.chosen.size > 0) list[name] = Object.fromEntries(stream.chosen)
    }
    return list
  }
}

class ChoiceStream implements Stream {
  readonly chosen = new Map<number, number>()
  readonly #given: Readonly<Record<number, number>> | null
  readonly #isRecording: boolean
  #state: number
  #place = 0

  constructor(state: number, given: Readonly<Record<number, number>> | null, isRecording: boolean) {
    this.#state = state
    this.#given = given
    this.#isRecording = isRecording
  }

  below(limit: number): number {
    if (this.#given !== null) return this.#replayed(limit)
    return this.#keep(limit <= 1 ? 0 : Math.floor(this.#next() * limit))
  }

  chance(probability: number): boolean {
    if (this.#given !== null) return this.#replayed(2) === 1
    return this.#keep(probability > 0 && this.#next() < probability ? 1 : 0) === 1
  }

  weighted(weights: readonly number[]): number {
    if (this.#given !== null) return this.#replayed(weights.length)
    let total = 0
    for (const weight of weights) total += weight
    let left = this.#next() * total
    let place = 0
    while (place < weights.length - 1 && (left -= weights[place]!) >= 0) place++
    return this.#keep(place)
  }

  #replayed(limit: number): number {
    const value = this.#given![this.#place] ?? 0
    return this.#keep(limit <= 1 ? 0 : value % limit)
  }

  #keep(value: number): number {
    if (this.#isRecording && value !== 0) this.chosen.set(this.#place, value)
    this.#place++
    return value
  }

  /** mulberry32. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let word = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A number for a stream: the same for the same seed and name for ever. */
export function mixed(seed: number, name: string): number {
  let word = (seed ^ 0x9e3779b9) >>> 0
  word = Math.imul(word ^ Math.floor(seed / 2 ** 32), 0x85ebca6b) >>> 0
  for (let i = 0; i < name.length; i++) word = Math.imul(word ^ name.charCodeAt(i), 0x01000193) >>> 0
  word = Math.imul(word ^ (word >>> 16), 0x7feb352d) >>> 0
  return (word ^ (word >>> 15)) >>> 0
}

/** How many choices of a list are not quiet. */
export const countChoices = (list: ChoiceList): number =>
  Object.values(list).reduce((sum, stream) => sum + Object.keys(stream).length, 0)
