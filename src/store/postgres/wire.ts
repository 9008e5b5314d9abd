// One connection to the server: opened with its settings, and watched: one that fails is never used again. Questions are answered in the
// order in which they were asked; a pipeline is sent ahead of the answers to other pipelines, anything else when its turn has come.
import type { ClientConfig, QueryArrayConfig, Submittable } from 'pg'
// Not all of it: its index also loads a pool, and looks for a native client on the disk.
import Client from 'pg/lib/client.js'
import { assert } from '../../base/assert.ts'
import { systemClock } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import { Frame } from './frame.ts'
import { Pipeline, type Messages, type Row, type sendNow, type Step } from './pipeline.ts'

/** The rows of each statement. */
type Results = readonly (readonly Row[])[]

/** Named statements, by name. Each is prepared with the first pipeline that names it: most programs need few of them. */
export type Statements = Readonly<Record<string, string>>

export interface WireOptions {
  readonly address: ClientConfig
  /** Settings of the session. */
  readonly settings: Readonly<Record<string, string>>
  readonly statements: Statements
  /** The connection is gone without having been closed here. */
  readonly onGone?: (error: Error) => void
  readonly onNotification?: (payload: string) => void
  /** How long opening may take, with its settings. */
  readonly openMs: number
  /** How long an answer may take before the connection is given up: one that went dead says nothing. Left out: as long as it takes. */
  readonly answerMs?: number
  /** Opening is given up when it fires. */
  readonly givenUp?: AbortSignal
}

/** A peer that is gone says nothing: the system asks after so long, and gives up after some minutes. For what may take long by itself. */
const keepAliveMs = 10_000
/** So many pipelines are on their way at a time. */
const aheadMost = 2
/** A goodbye that nobody hears. */
export const closeMs = 2_000

export class Wire {
  private readonly client: Client
  private last: Promise<unknown> = Promise.resolve()
  private notices = 0
  /** Questions that were asked and have not been answered; and the pipelines among them that are on their way. */
  private turns = 0
  private flying = 0
  /** For pipelines: the server has read what was in them. */
  private readonly frames: Frame[] = []
  private answerMs: number | undefined
  private onGone: (error: Error) => void = () => {}
  private readonly statements: Statements
  /** Names of the statements that the server knows. */
  private readonly known = new Set<string>()
  /** Names of those that it was told of and has not answered for. */
  private learning: string[] = []
  /** Of statements without a name that were prepared when they were first asked. */
  private readonly names = new Map<string, string>()
  isOpen = true

  private constructor(client: Client, { answerMs, statements }: WireOptions) {
    this.client = client
    this.answerMs = answerMs
    this.statements = statements
  }

  static async open(options: WireOptions): Promise<Wire> {
    const { address, settings, openMs, onGone, onNotification, givenUp } = options
    const client = new Client({
      ...address,
      connectionTimeoutMillis: openMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    })
    const wire = new Wire(client, options)
    client.on('error', (error) => wire.lost(error))
    client.on('end', () => wire.lost(new Error('the server has closed the connection')))
    client.on('notice', () => wire.notices++)
    client.on('notification', ({ payload }) => onNotification?.(payload ?? ''))
    const giveUp = () => wire.cut()
    givenUp?.addEventListener('abort', giveUp, { once: true })
    try {
      await client.connect()
      connectionOf(client).on('parseComplete', () => wire.hasParsed())
      const sets = Object.entries(settings).map(([name, value]) => `set ${name} to ${value}`)
      if (sets.length > 0) await wire.within(openMs, client.query(sets.join(';')))
      if (onGone !== undefined) wire.onGone = onGone
      // What was noticed while opening says nothing about commits.
      wire.notices = 0
      return wire
    } catch (error) {
      await wire.close()
      throw error
    } finally {
      givenUp?.removeEventListener('abort', giveUp)
    }
  }

  /** The process on the server's side. */
  get pid(): number {
    return (this.client as unknown as { processID: number }).processID
  }

  /** How many notices and warnings have come: one that comes with a commit makes its durability doubtful. */
  get noticesSeen(): number {
    return this.notices
  }

  /**
   * All of them in one transaction; the rows of each. They are made and sent at once, unless something else than pipelines stands before
   * them, or one that teaches the server statements: if it fails, they are still to be learned. Nor is a third sent ahead: the driver, which
   * is to answer them in their order, warns the whole program of that.
   */
  run(steps: Iterable<Step | typeof sendNow>): Promise<Results> {
    if (!this.isOpen || this.turns !== this.flying || this.flying >= aheadMost || this.learning.length > 0)
      return this.inTurn(() => this.send(steps))
    const answer = this.send(steps)
    // It may fail, with the connection, before its turn has come.
    answer.catch(() => {})
    return this.inTurn(() => answer, true)
  }

  private async send(steps: Iterable<Step | typeof sendNow>): Promise<Results> {
    this.learning = []
    this.flying++
    const frame = this.frames.pop() ?? new Frame()
    try {
      const results = await new Promise<Results>((done, failed) => {
        const pipeline = new Pipeline({ frame, steps, unknown: this.toLearn, done, failed })
        pipeline.send(connectionOf(this.client))
        this.client.query(pipeline as unknown as Submittable)
      })
      this.frames.push(frame)
      return results
    } finally {
      this.flying--
    }
  }

  private readonly toLearn = ({ name, text: say }: Step): string | null => {
    if (this.known.has(name) || this.learning.includes(name)) return null
    const text = say === undefined ? this.statements[name] : say()
    assert(text !== undefined, `no statement ${name}`)
    this.learning.push(name)
    return text
  }

  /** The server knows one more, in the order in which it was told. After one that fails it is silent about the rest. */
  private hasParsed(): void {
    const name = this.learning.shift()
    if (name !== undefined) this.known.add(name)
  }

  /** One statement of its own, or several without values. */
  query(text: string, values: readonly (string | number | null)[] = []): Promise<readonly Row[]> {
    return this.ask(undefined, text, values)
  }

  private ask(
    name: string | undefined,
    text: string,
    values: readonly (string | number | null)[],
  ): Promise<readonly Row[]> {
    return this.inTurn(async () => {
      this.learning = []
      const given = values.length === 0 ? undefined : [...values]
      const config = { name, text, values: given, rowMode: 'array' as const, types }
      const result = (await this.client.query(config as QueryArrayConfig)) as unknown as { rows: Row[] }
      return result.rows ?? []
    })
  }

  /** The same for a statement that is asked often: it is prepared the first time. */
  prepared(text: string, values: readonly (string | number)[]): Promise<readonly Row[]> {
    let name = this.names.get(text)
    if (name === undefined) {
      name = `prepared ${this.names.size + 1}`
      this.names.set(text, name)
    }
    return this.ask(name, text, values)
  }

  /** Whole or not at all, where it takes several exchanges. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.query('begin')
    try {
      const result = await work()
      await this.query('commit')
      return result
    } catch (error) {
      if (this.isOpen) await this.query('rollback').catch(() => {})
      throw error
    }
  }

  /** Ends it at once, whatever is under way: the outcome of that is then unknown. */
  cut(): void {
    this.lost(new Error('it did not answer'))
    connectionOf(this.client).stream.destroy()
  }

  async close(): Promise<void> {
    this.isOpen = false
    await this.within(closeMs, this.client.end())
  }

  /** For what may rightly take longer than an answer may: all that is asked within the work. */
  async patiently<T>(work: () => Promise<T>): Promise<T> {
    const { answerMs } = this
    this.answerMs = undefined
    try {
      return await work()
    } finally {
      this.answerMs = answerMs
    }
  }

  private lost(error: Error): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.onGone(error)
  }

  /** Cuts the connection when the work takes longer: a server that is gone may never say so. */
  async within<T>(ms: number, work: Promise<T>): Promise<T> {
    const cancel = systemClock.after(ms, () => this.cut())
    try {
      return await work
    } finally {
      cancel()
    }
  }

  /** What is sent already is heard out, whatever has become of the connection. */
  private inTurn<T>(work: () => Promise<T>, isSent = false): Promise<T> {
    this.turns++
    const turn = this.last
      .then(() => {
        if (!this.isOpen && !isSent)
          throw new HomeostatError('store_unavailable', 'The connection to PostgreSQL is closed.')
        return this.answerMs === undefined ? work() : this.within(this.answerMs, work())
      })
      .finally(() => this.turns--)
    this.last = turn.catch(() => {})
    return turn
  }
}

/** Everything as the text that the server sends. */
const types = { getTypeParser: () => (value: unknown) => value }

/** What the driver keeps to itself. */
interface Inner extends Messages {
  readonly stream: Messages['stream'] & { destroy(): void }
  on(event: 'parseComplete', then: () => void): void
}
const connectionOf = (client: Client): Inner => (client as unknown as { connection: Inner }).connection
