// Keeps this incarnation alive in the store, and watches from inside whether it still may act.
//
//   new    -> live   the store has registered it
//   live   -> live   a renewal was answered; the lease counts from the moment the renewal was *sent*, by a clock that never goes back
//   live   -> lost   the store refused a beat, or the lease may have lapsed without an answer: `onLost`, once
//   live   -> ended  stopped: it says goodbye to the store
// Shortly before the lease can lapse `mayStart` is already false: nothing new is begun in the last part of it.
import { HomeostatError } from '../base/errors.ts'
import { blocks } from '../base/number-blocks.ts'
import type { Clock } from '../base/clock.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Heartbeat, Store } from '../store/store.ts'
import type { Log } from './log.ts'

export interface LeaseOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Log
  readonly name: string
  readonly leaseMs: number
  readonly onLost: (reason: string) => void
}

/** Renewed this often within a lease; the last fraction of a lease is too late to begin anything. */
const beatsPerLease = 3
const marginPerLease = 5

/** Resources are numbered from the number of who makes them. */
const noMoreNumbers = (no: number): string =>
  `The store counts ${no} starts of workers, more than there are numbers for: its counter is damaged. Restore a back-up.`

export class LeaseKeeper {
  readonly #options: LeaseOptions
  #state: 'new' | 'live' | 'lost' | 'ended' = 'new'
  #no: Incarnation = 0
  /** When the last renewal that was answered well had been sent. */
  #sentAt = 0
  #heartbeat: Heartbeat | null = null
  #cancelBeat: (() => void) | null = null
  #cancelWatch: (() => void) | null = null

  constructor(options: LeaseOptions) {
    this.#options = options
  }

  get no(): Incarnation {
    return this.#no
  }

  async start(): Promise<Incarnation> {
    const { store, clock, name, leaseMs } = this.#options
    this.#sentAt = clock.monotonic()
    this.#no = await store.register({ name, leaseMs, now: clock.now() })
    if (this.#no >= blocks) throw new HomeostatError('store_corrupt', noMoreNumbers(this.#no))
    this.#state = 'live'
    if (store.keepBeating) this.#heartbeat = store.keepBeating({ no: this.#no, leaseMs })
    this.#plan()
    return this.#no
  }

  /** False when a new call could outlast the lease's last moment, or when the lease is gone. */
  mayStart(): boolean {
    if (this.#state !== 'live') return false
    const { leaseMs } = this.#options
    return this.#ageMs() < leaseMs - leaseMs / marginPerLease
  }

  /** A renewal that was sent after this moment, by the clock that never goes back, was answered well. */
  isRenewedSince(monotonic: number): boolean {
    return this.#state === 'live' && this.#ageMs() <= this.#options.clock.monotonic() - monotonic
  }

  get isLive(): boolean {
    return this.#state === 'live'
  }

  /**
   * Asks the store whether this one still counts as an owner. Others may have ended it, a broken connection is enough, and it hears of
   * that with its next beat: until then it must not take on what they have left, perhaps by another declaration.
   */
  async confirm(): Promise<boolean> {
    if (this.#state !== 'live') return false
    const { store, clock, leaseMs } = this.#options
    if (!(await store.beat({ no: this.#no, leaseMs, now: clock.now() }))) this.#lose('the store refused a beat')
    return this.isLive
  }

  /** Says goodbye, so that nobody waits for the lease to run out. */
  async stop(): Promise<void> {
    const wasLive = this.#state === 'live'
    if (this.#state !== 'lost') this.#state = 'ended'
    this.#quiet()
    await this.#heartbeat?.stop()
    this.#heartbeat = null
    if (!wasLive) return
    const { store, clock, log } = this.#options
    try {
      await store.end({ no: this.#no, as: 'ended', now: clock.now() })
    } catch (error) {
      log('warn', 'could not say goodbye to the store; the lease will run out', { error, incarnation: this.#no })
    }
  }

  #ageMs(): number {
    return this.#heartbeat !== null
      ? this.#heartbeat.lastRenewalAgeMs()
      : this.#options.clock.monotonic() - this.#sentAt
  }

  #plan(): void {
    if (this.#state !== 'live') return
    const { clock, leaseMs } = this.#options
    this.#cancelBeat = clock.after(leaseMs / beatsPerLease, () => this.#beat())
    this.#watch()
  }

  /** Fires when the lease can have lapsed, whatever became of the beat under way. */
  #watch(): void {
    this.#cancelWatch?.()
    const { clock, leaseMs } = this.#options
    this.#cancelWatch = clock.after(Math.max(0, leaseMs - this.#ageMs()), () => {
      if (this.#state !== 'live') return
      if (this.#ageMs() >= leaseMs) this.#lose('the lease ran out before it could be renewed')
      else this.#watch()
    })
  }

  #beat(): void {
    if (this.#state !== 'live') return
    const { store, clock, leaseMs, log } = this.#options
    if (this.#heartbeat !== null) {
      if (this.#heartbeat.lost()) this.#lose('the store refused a beat')
      else this.#plan()
      return
    }
    const sentAt = clock.monotonic()
    const failed = (error: unknown) => {
      log('warn', 'a beat failed', { error, incarnation: this.#no })
      if (this.#state === 'live') this.#cancelBeat = clock.after(leaseMs / (beatsPerLease * 4), () => this.#beat())
    }
    const answered = (renewed: boolean) => {
      if (this.#state !== 'live') return
      if (!renewed) return this.#lose('the store refused a beat')
      this.#sentAt = sentAt
      this.#plan()
    }
    try {
      const beating = store.beat({ no: this.#no, leaseMs, now: clock.now() })
      if (beating instanceof Promise) beating.then(answered, failed)
      else answered(beating)
    } catch (error) {
      failed(error)
    }
  }

  #lose(reason: string): void {
    if (this.#state !== 'live') return
    this.#state = 'lost'
    this.#quiet()
    // A renewal may have been under way: who beats on would keep a lease alive under which nobody acts, and nobody would take its runs over.
    void this.#heartbeat?.stop()
    this.#options.log('error', 'this worker is no longer an owner', { reason, incarnation: this.#no })
    this.#options.onLost(reason)
  }

  #quiet(): void {
    this.#cancelBeat?.()
    this.#cancelWatch?.()
    this.#cancelBeat = null
    this.#cancelWatch = null
  }
}
