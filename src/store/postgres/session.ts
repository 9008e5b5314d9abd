// The connection that stands for this process: it holds the locks by which others see that the process lives, hears of their commits
// and tells them of ours. It is opened again when it breaks; until then others take us for dead, which the fence makes safe.
import { systemClock } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import { systemRandom } from '../../base/random.ts'
import { usualPatienceMs, type Connections } from './connections.ts'
import { quoted } from './migrations.ts'
import type { PostgresStoreOptions } from './postgres-store.ts'
import type { ServerClock } from './server-clock.ts'
import type { Wire, WireOptions } from './wire.ts'
import { workerStatements } from './workers.ts'

/** Others are told at most so often: they look by themselves too, only more slowly. */
const tellEveryMs = 50
const tell = 'select pg_notify($1::text, $2::text)'
const reopenFirstMs = 50
const reopenAtMostMs = 2_000

export interface SessionParts {
  readonly open: (on: Pick<WireOptions, 'onGone' | 'onNotification'>) => Promise<Wire>
  readonly channel: string
  /** How this handle signs what it tells. */
  readonly sign: string
  /** Others have committed, or may have while nobody listened. */
  readonly onOthers: () => void
  /** What the server's clock says, each time a connection was opened. */
  readonly clock: ServerClock | undefined
  readonly log: (line: string) => void
}

/** The session of one handle; `onOthers` as in its parts. */
export function sessionOf(
  options: PostgresStoreOptions,
  connections: Connections,
  clock: ServerClock | undefined,
  onOthers: () => void,
): Session {
  const { schema = 'homeostat', patienceMs = usualPatienceMs, log } = options
  return new Session({
    // A beat or a word to others need not survive anything, and must wait neither for a standby nor for the disk.
    open: (on) =>
      connections.open({
        settings: { ...connections.base, synchronous_commit: 'off' },
        statements: { ...workerStatements, tell },
        answerMs: patienceMs,
        ...on,
      }),
    // A name of the server has 63 bytes at most.
    channel: `homeostat ${schema}`.slice(0, 60),
    sign: String(systemRandom.below(2 ** 52)),
    clock,
    onOthers,
    log: (line) => log?.(line, 'warn'),
  })
}

export class Session {
  private readonly parts: SessionParts
  private wire: Wire | null = null
  private opening: Promise<Wire> | null = null
  private readonly locks = new Set<number>()
  private isClosed = false
  private hasToTell = false
  private telling: (() => void) | null = null

  constructor(parts: SessionParts) {
    this.parts = parts
  }

  async start(): Promise<void> {
    await this.connected()
  }

  async use<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    return work(await this.connected())
  }

  async hold(lock: number): Promise<void> {
    const wire = await this.connected()
    await wire.query('select pg_advisory_lock_shared($1::int8)', [lock])
    this.locks.add(lock)
  }

  async release(lock: number): Promise<void> {
    this.locks.delete(lock)
    if (this.wire?.isOpen) await this.wire.query('select pg_advisory_unlock_shared($1::int8)', [lock])
  }

  /** Something was committed here: others are told soon. */
  tell(): void {
    this.hasToTell = true
    if (this.telling !== null || this.isClosed) return
    this.sendWord()
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.telling?.()
    const { wire } = this
    this.wire = null
    if (wire === null || !wire.isOpen) return
    // Said before the connection ends: the server may take its time to notice that.
    await wire
      .query(`select pg_notify($1, $2), pg_advisory_unlock_all()`, [this.parts.channel, this.parts.sign])
      .catch(() => {})
    await wire.close().catch(() => {})
  }

  private sendWord(): void {
    const { wire } = this
    if (!this.hasToTell || wire === null || !wire.isOpen) return
    this.hasToTell = false
    void wire.run([{ name: 'tell', values: [this.parts.channel, this.parts.sign] }]).catch(() => {})
    this.telling = systemClock.after(tellEveryMs, () => {
      this.telling = null
      this.sendWord()
    })
  }

  private connected(): Promise<Wire> {
    if (this.isClosed) throw new HomeostatError('store_unavailable', 'The store is closed. Open it again.')
    if (this.wire?.isOpen) return Promise.resolve(this.wire)
    this.opening ??= this.open().finally(() => (this.opening = null))
    return this.opening
  }

  private async open(): Promise<Wire> {
    const { channel, sign, onOthers } = this.parts
    const isAgain = this.wire !== null
    const wire = await this.parts.open({
      onGone: (error) => this.lost(error),
      onNotification: (payload) => {
        if (payload !== sign) onOthers()
      },
    })
    try {
      await wire.query(`listen ${quoted(channel)}`)
      if (this.parts.clock !== undefined) await followClock(this.parts.clock, wire)
      // Shared: the server may not have noticed yet that the connection before this one is dead, and leaves its locks to it.
      for (const lock of this.locks) await wire.query('select pg_advisory_lock_shared($1::int8)', [lock])
    } catch (error) {
      wire.cut()
      throw error
    }
    this.wire = wire
    // What was said meanwhile was not heard.
    if (isAgain) onOthers()
    return wire
  }

  private lost(error: Error): void {
    if (this.isClosed) return
    this.parts.log(`the connection that stands for this process is lost: ${error.message}`)
    void this.reopen(reopenFirstMs)
  }

  private async reopen(pauseMs: number): Promise<void> {
    if (this.isClosed) return
    try {
      await this.connected()
    } catch {
      systemClock.after(pauseMs, () => void this.reopen(Math.min(pauseMs * 2, reopenAtMostMs)))
    }
  }
}

async function followClock(clock: ServerClock, wire: Wire): Promise<void> {
  const asked = clock.monotonic()
  const [row] = await wire.query('select extract(epoch from clock_timestamp()) * 1000')
  clock.heard(Number(row![0]), asked, clock.monotonic())
}
