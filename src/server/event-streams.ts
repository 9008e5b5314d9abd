// Events for many at once, as server-sent events. One reader follows the feed for all streams and hands each page to those that are up
// to date; whoever is behind reads for himself, a page at a time, when his connection has taken the last one. Nothing is kept per
// client but what his connection has not taken yet: a client that takes nothing for a while is cut, and comes back with the
// number of the last event he saw.
import type { ServerResponse } from 'node:http'
import type { Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { StoredEvent } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import type { Gate } from './gate.ts'
import { sees, type Principal } from './principal.ts'
import { cloudEventOf, type Ref, type Wire } from './wire.ts'

export interface StreamLimits {
  readonly perPrincipal: number
  readonly total: number
  /** A connection that has not taken what it was sent within this time is cut. */
  readonly stallMs: number
  /** A sign of life when there is nothing to tell. */
  readonly heartbeatMs: number
  /** More than this is never waiting in a connection. */
  readonly bufferBytes: number
}

export interface StreamsOptions {
  readonly engine: Engine
  readonly wire: Wire
  readonly gate: Gate
  readonly clock: Clock
  readonly log: Log
  readonly limits: StreamLimits
}

export interface Wanted {
  readonly after: number
  readonly type?: string | undefined
  readonly id?: string | undefined
  /** Left out: all. */
  readonly kinds?: readonly string[] | undefined
}

const pageSize = 200
/** How soon a stream ends whose token was revoked in another process. */
const recheckMs = 1_000

export class EventStreams {
  readonly #options: StreamsOptions
  readonly #streams = new Set<EventStream>()
  /** The reader that all streams share; its answer ends it. */
  #reading: Promise<() => Promise<void>> | null = null
  #cancelWatch: () => void = () => {}

  constructor(options: StreamsOptions) {
    this.#options = options
  }

  get open(): number {
    return this.#streams.size
  }

  /** Throws `streams_exhausted`. */
  admit(principal: Principal): void {
    const { perPrincipal, total } = this.#options.limits
    const { name, tenant } = principal
    const isOwn = (one: EventStream) => one.principal.name === name && one.principal.tenant === tenant
    const own = [...this.#streams].filter(isOwn).length
    if (this.#streams.size < total && own < perPrincipal) return
    throw new HomeostatError('streams_exhausted', 'Too many event streams are open. Close one, or come back later.')
  }

  begin(response: ServerResponse, principal: Principal, wanted: Wanted): void {
    const stream = new EventStream(this.#options, response, principal, wanted, () => {
      this.#streams.delete(stream)
      if (this.#streams.size === 0) void this.#rest()
    })
    if (this.#streams.size === 0) this.#watch()
    this.#streams.add(stream)
    this.#read()
    stream.run()
  }

  /** A token or session may have ended, here or in another process: its streams end now. Each is asked about once. */
  async recheck(): Promise<void> {
    const { gate, clock } = this.#options
    const byCredential = new Map<string, EventStream[]>()
    for (const stream of this.#streams) {
      const { credential } = stream.principal
      byCredential.set(credential, [...(byCredential.get(credential) ?? []), stream])
    }
    for (const streams of byCredential.values()) {
      const { principal } = streams[0]!
      const isOld = principal.expiresAt !== null && principal.expiresAt <= clock.now()
      if (isOld || !(await gate.stillValid(principal))) for (const stream of streams) stream.expire()
    }
  }

  #watch(): void {
    this.#cancelWatch = this.#options.clock.after(recheckMs, () => {
      this.recheck()
        .catch((error: unknown) => this.#options.log('warn', 'tokens of streams could not be looked at', { error }))
        .finally(() => {
          if (this.#streams.size > 0) this.#watch()
        })
    })
  }

  async close(): Promise<void> {
    this.#cancelWatch()
    for (const stream of this.#streams) stream.end()
    await this.#rest()
  }

  #read(): void {
    if (this.#reading !== null) return
    this.#reading = this.#subscribe()
    this.#reading.catch((error: unknown) => {
      this.#options.log('warn', 'the events could not be followed', { error })
      this.#reading = null
      // They come back, and find the store or not.
      for (const stream of this.#streams) stream.end()
    })
  }

  async #subscribe(): Promise<() => Promise<void>> {
    const { engine, wire } = this.#options
    const latest = await engine.latestEvent()
    const stop = engine.subscribe(latest, async (events) => {
      const names = await wire.names(events.map(({ no }) => no))
      const page = new Page(events, names)
      for (const stream of this.#streams) stream.told(page)
    })
    // What was committed before the subscription began is read by each for himself.
    for (const stream of this.#streams) stream.catchUp()
    return stop
  }

  async #rest(): Promise<void> {
    const reading = this.#reading
    this.#reading = null
    const stop = await reading?.catch(() => null)
    await stop?.()
  }
}

/** Some events with the names of their resources; the text of each is made once for all who want it. */
class Page {
  readonly events: readonly StoredEvent[]
  readonly names: ReadonlyMap<number, Ref>
  readonly #texts: string[] = []

  constructor(events: readonly StoredEvent[], names: ReadonlyMap<number, Ref>) {
    this.events = events
    this.names = names
  }

  text(index: number, ref: Ref): string {
    const event = this.events[index]!
    return (this.#texts[index] ??=
      `id: ${event.n}\nevent: ${event.kind}\ndata: ${JSON.stringify(cloudEventOf(event, ref))}\n\n`)
  }
}

class EventStream {
  readonly principal: Principal
  readonly #options: StreamsOptions
  readonly #response: ServerResponse
  readonly #wanted: Wanted
  readonly #ended: () => void
  /** The number of the last event that was looked at. */
  #at: number
  #isReading = false
  /** Something was told while it was reading: what it reads may be older. */
  #wasTold = false
  #isBehind = true
  #isOver = false
  #cancelBeat: () => void = () => {}
  #cancelStall: () => void = () => {}

  constructor(
    options: StreamsOptions,
    response: ServerResponse,
    principal: Principal,
    wanted: Wanted,
    ended: () => void,
  ) {
    this.#options = options
    this.#response = response
    this.principal = principal
    this.#wanted = wanted
    this.#ended = ended
    this.#at = wanted.after
  }

  run(): void {
    const response = this.#response
    response.once('close', () => this.end())
    response.on('error', () => this.end())
    response.on('drain', () => this.#drained())
    response.write(`retry: 1000\nid: ${this.#at}\n: homeostat\n\n`)
    this.#beat()
    this.catchUp()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelBeat()
    this.#cancelStall()
    this.#response.end()
    this.#ended()
  }

  /** Without asking the client to take what is still there. */
  #cut(why: string): void {
    this.#options.log('info', 'an event stream was cut', { why, principal: this.principal.name })
    this.#response.destroy()
    this.end()
  }

  /** What it was begun with holds no longer. */
  expire(): void {
    if (this.#isOver) return
    this.#response.write('event: ended\ndata: {"code":"unauthenticated"}\n\n')
    this.end()
  }

  #beat(): void {
    this.#cancelBeat = this.#options.clock.after(this.#options.limits.heartbeatMs, () => {
      // The number goes on also when nothing of it concerns this client, so that coming back is quick.
      if (!this.#isFull) this.#write(`id: ${this.#at}\n: alive\n\n`)
      if (!this.#isOver) this.#beat()
    })
  }

  /** A page from the shared reader. Who is behind leaves it: he will read it when he is there. */
  told(page: Page): void {
    if (this.#isOver) return
    const first = page.events[0]!.n
    if (this.#isBehind || this.#isReading || this.#isFull || first > this.#at + 1) {
      this.#isBehind = true
      this.#wasTold = true
      if (!this.#isFull) this.catchUp()
      return
    }
    this.#send(page)
  }

  catchUp(): void {
    if (this.#isReading || this.#isOver) return
    this.#isReading = true
    this.#readOn().catch((error: unknown) => {
      this.#options.log('warn', 'an event stream could not be read on', { error })
      this.#cut('the store did not answer')
    })
  }

  async #readOn(): Promise<void> {
    const { engine, wire } = this.#options
    while (!this.#isOver && !this.#isFull) {
      this.#wasTold = false
      const { events, looked, removedTo } = await engine.eventsFor(this.principal.tenant, this.#at, pageSize)
      if (looked === this.#at) {
        if (this.#wasTold) continue
        this.#isBehind = false
        break
      }
      if (removedTo !== null && !this.#isOver) this.#tellRemoved(removedTo)
      const names = await wire.names(events.map(({ no }) => no))
      if (!this.#isOver) this.#send(new Page(events, names))
      // Up to here there is nothing more of his.
      this.#at = Math.max(this.#at, looked)
    }
    this.#isReading = false
  }

  /** Somebody who is told only what fits could not tell from the numbers that something is missing. */
  #tellRemoved(to: number): void {
    const after = this.#at
    this.#at = to
    this.#write(`id: ${to}\nevent: removed\ndata: ${JSON.stringify({ after, to })}\n\n`)
  }

  #send(page: Page): void {
    const { type, id, kinds } = this.#wanted
    let text = ''
    for (const [index, event] of page.events.entries()) {
      if (event.n <= this.#at) continue
      this.#at = event.n
      const ref = page.names.get(event.no)
      if (ref === undefined || !sees(this.principal, ref.tenant)) continue
      if ((type !== undefined && ref.type !== type) || (id !== undefined && ref.id !== id)) continue
      if (kinds !== undefined && !kinds.includes(event.kind)) continue
      text += page.text(index, ref)
    }
    if (text !== '') this.#write(text)
  }

  get #isFull(): boolean {
    return this.#response.writableNeedDrain || this.#response.writableLength > this.#options.limits.bufferBytes
  }

  #write(text: string): void {
    this.#response.write(text)
    if (!this.#isFull) return
    this.#isBehind = true
    const { clock, limits } = this.#options
    this.#cancelStall()
    this.#cancelStall = clock.after(limits.stallMs, () => {
      if (this.#isFull && !this.#isOver) this.#cut(`it took nothing for ${limits.stallMs} ms`)
    })
  }

  #drained(): void {
    this.#cancelStall()
    if (this.#isBehind) this.catchUp()
  }
}
