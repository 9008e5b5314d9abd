// A far store that is a server (`simulated-server.ts`), as one simulated process sees it: commits take their time there and overlap with
// those of others, of which this process hears a while later.
import type { Resource } from '../decision/state.ts'
import { Listeners } from '../store/listeners.ts'
import type { Answer, Batch, CommitAnswer, MaybePromise, Store } from '../store/store.ts'
import { FaultyStore, never, unavailable, type CommitFault, type FaultyStoreParts } from './faulty-store.ts'
import { SimulatedCommitter } from './simulated-committer.ts'
import type { ServerBackend, SimulatedServer } from './simulated-server.ts'

/** A process that did not hear of a commit hears of it when its connection was opened again. */
const heardLateMs = 2_000
const offeredAmong = 1_000

export class ServerStore extends FaultyStore {
  readonly learnsLater = true
  readonly #parts: FaultyStoreParts
  readonly #server: SimulatedServer
  readonly #committer: SimulatedCommitter
  /** Others have written, as this process was told. */
  #hasHeard = false
  readonly #listeners = new Listeners()

  constructor(parts: FaultyStoreParts, backend: ServerBackend) {
    super(parts)
    this.#parts = parts
    this.#server = backend.server
    this.#committer = new SimulatedCommitter({ ...parts, ...backend, handle: parts.inner })
    // It listens whether somebody wants to be woken or not.
    super.onChange(() => this.#listeners.wake())
  }

  override onChange(wake: () => void): () => void {
    return this.#listeners.add(wake)
  }

  override othersWrote(): boolean {
    const wrote = this.#hasHeard
    this.#hasHeard = false
    return wrote
  }

  offerWaiting({ limit, except = [] }: Parameters<NonNullable<Store['offerWaiting']>>[0]) {
    const { inner, timeline } = this.#parts
    return this.call(() => {
      const waiting = inner.work({ work: 'waiting' }, timeline.now, offeredAmong) as readonly Resource[]
      return this.#server.offer(
        waiting.filter(({ no }) => !except.includes(no)),
        limit,
      )
    })
  }

  loadNow(asks: Parameters<Store['load']>[0]): readonly Answer[] {
    const { faults, process, inner } = this.#parts
    if (this.#server.isDown || faults.atCall(process) === 'unavailable') throw unavailable()
    return inner.load(asks) as readonly Answer[]
  }

  /** What has been sent arrives, whatever becomes of who sent it. */
  protected override take(batch: Batch, fault: CommitFault): MaybePromise<CommitAnswer> {
    const { faults, watch, process, timeline } = this.#parts
    const send = (how = faults.atExchange(), slowMs = 0) => this.#committer.commit(batch, how, slowMs)
    const pause = () => process.pause(faults.pauseMs(process), () => watch.faulted(process, 'goes on'))
    switch (fault) {
      case 'crashBefore':
      case 'vanishBefore':
      case 'unavailable':
        return super.take(batch, fault)
      case 'crashAfter':
      case 'vanishAfter':
        void send('none')
        process.die(fault === 'crashAfter' ? 'crash' : 'vanish')
        return never()
      case 'pauseBefore':
        pause()
        return new Promise((resolve, reject) => {
          timeline.next(process, () => void send().then(resolve, reject))
        })
      case 'pauseAfter': {
        const answer = send()
        pause()
        return answer
      }
      case 'slow':
        return send('none', faults.slowMs(process))
      case 'none':
        return send()
      case 'cutRequest':
      case 'cutReply':
      case 'serverDies':
        return send(fault)
    }
  }

  protected override get lostWakeMs(): number {
    return heardLateMs
  }

  protected override woken(): void {
    this.#hasHeard ||= this.#parts.inner.othersWrote()
  }

  protected override mustBeUp(): void {
    if (this.#server.isDown) throw unavailable()
  }
}
