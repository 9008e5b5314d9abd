// A thread that carries out sheets, so that this one can go on: used while much is written. Sheets are carried out one after
// another, in the order in which they were sent.
import { Worker } from 'node:worker_threads'
import { HomeostatError, messageOf, type ErrorCode } from '../../base/errors.ts'
import { threadFile } from '../thread-file.ts'
import type { Sheet } from './sheet.ts'
import { handedOver, pack, type Parcel } from './sheet-packing.ts'
import type { Feed, Heads } from './turns.ts'

export interface ThreadOrder {
  readonly file: string
  readonly patienceMs: number
  /** The number that the handle writes under. */
  readonly me: number
}

/** What is asked of the thread: nothing is written unless the feed stands at `from`. */
export interface SheetOrder {
  readonly parcel: Parcel
  readonly from: Heads
  readonly to: Heads
}

export type SheetAnswer =
  | { readonly outcome: 'done' }
  /** Something was not as expected. Nothing was written. */
  | { readonly outcome: 'mismatch' }
  /** The feed stands elsewhere. Nothing was written. */
  | { readonly outcome: 'moved'; readonly feed: Feed }
  /** Nothing was written. */
  | { readonly outcome: 'failed'; readonly code: ErrorCode | null; readonly message: string }

export class CommitThread {
  private readonly thread: Worker
  private readonly waiting: ((answer: SheetAnswer) => void)[] = []
  private readonly ended: Promise<void>
  private whenIdle: (() => void)[] = []
  private state: 'starting' | 'ready' | 'gone' = 'starting'
  readonly ready: Promise<void>

  constructor(order: ThreadOrder) {
    this.thread = new Worker(threadFile(import.meta.url, '-worker'), { workerData: order })
    this.thread.unref()
    let isReady = () => {}
    this.ready = new Promise((resolve) => (isReady = resolve))
    this.thread.on('message', (answer: SheetAnswer | 'ready') => {
      if (answer === 'ready') {
        this.state = 'ready'
        isReady()
      } else this.answered(answer)
    })
    const gone = (why: string) => {
      this.state = 'gone'
      isReady()
      while (this.waiting.length > 0) this.answered({ outcome: 'failed', code: null, message: why })
    }
    this.thread.on('error', (error) => gone(messageOf(error)))
    this.ended = new Promise((resolve) =>
      this.thread.on('exit', () => {
        gone('the thread has ended')
        resolve()
      }),
    )
  }

  get isReady(): boolean {
    return this.state === 'ready'
  }

  get isGone(): boolean {
    return this.state === 'gone'
  }

  get isIdle(): boolean {
    return this.waiting.length === 0
  }

  /** Resolves when everything that was sent is answered. */
  idle(): Promise<void> {
    return this.isIdle ? Promise.resolve() : new Promise((resolve) => this.whenIdle.push(resolve))
  }

  send(sheet: Sheet, from: Heads, to: Heads): Promise<SheetAnswer> {
    if (this.waiting.length === 0) this.thread.ref()
    const parcel = pack(sheet)
    this.thread.postMessage({ parcel, from, to } satisfies SheetOrder, handedOver(parcel))
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  async stop(): Promise<void> {
    await this.idle()
    this.thread.ref()
    this.thread.postMessage('stop')
    await this.ended
  }

  private answered(answer: SheetAnswer): void {
    this.waiting.shift()!(answer)
    if (this.waiting.length > 0) return
    this.thread.unref()
    const waiters = this.whenIdle
    this.whenIdle = []
    for (const resolve of waiters) resolve()
  }
}

export function errorOf({ code, message }: SheetAnswer & { readonly outcome: 'failed' }): Error {
  return code === null ? new Error(message) : new HomeostatError(code, message)
}
