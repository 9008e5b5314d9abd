// PostgreSQL's wire protocol, as far as a proxy must know it to cut between two messages: where each begins and ends, and which exchange
// is a commit of the store.
//   client: [length, version, ...] once, then [type, length, ...]; server: [type, length, ...]

/** Whole messages out of a stream of bytes. */
export class Frames {
  #rest: Buffer = Buffer.alloc(0)
  #isFirstBare: boolean

  /** The first message of a client has no type. */
  constructor(side: 'client' | 'server') {
    this.#isFirstBare = side === 'client'
  }

  push(bytes: Buffer): Buffer[] {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    const found: Buffer[] = []
    for (;;) {
      const lengthAt = this.#isFirstBare ? 0 : 1
      if (this.#rest.length < lengthAt + 4) return found
      const end = lengthAt + this.#rest.readInt32BE(lengthAt)
      if (this.#rest.length < end) return found
      found.push(this.#rest.subarray(0, end))
      this.#rest = this.#rest.subarray(end)
      this.#isFirstBare = false
    }
  }
}

export const typeOf = (frame: Buffer): string => String.fromCharCode(frame[0]!)

/** The prepared statement that a Bind message names. */
function statementOf(frame: Buffer): string {
  if (typeOf(frame) !== 'B') return ''
  const portalEnd = frame.indexOf(0, 5)
  const end = frame.indexOf(0, portalEnd + 1)
  return portalEnd < 0 || end < 0 ? '' : frame.toString('utf8', portalEnd + 1, end)
}

/** The statements that number a commit: an exchange with one of them commits when its Sync arrives. */
const numbering = /^number(Ends)? /
export const isCommit = (exchange: readonly Buffer[]): boolean =>
  exchange.some((frame) => numbering.test(statementOf(frame)))
