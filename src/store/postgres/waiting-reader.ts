// Reads while the thread waits: another thread asks the server meanwhile. For the driver that looks at related resources for the first
// time and cannot wait for a promise; who looks again has them read ahead.
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import { HomeostatError } from '../../base/errors.ts'
import type { Ask } from '../../decision/situation.ts'
import type { Answer } from '../store.ts'
import { threadFile } from '../thread-file.ts'
import type { AddressOptions } from './address.ts'

export interface ReadingOrder {
  readonly address: AddressOptions
  readonly settings: Readonly<Record<string, string>>
  readonly port: MessagePort
  /** Raised and woken with every answer. */
  readonly answered: Int32Array
}
export type Reading = { readonly answers: readonly Answer[] } | { readonly error: string }

const patienceMs = 10_000

export class WaitingReader {
  private readonly options: Pick<ReadingOrder, 'address' | 'settings'>
  private readonly answered = new Int32Array(new SharedArrayBuffer(4))
  private thread: Worker | null = null
  private port: MessagePort | null = null
  private isClosed = false

  constructor(options: Pick<ReadingOrder, 'address' | 'settings'>) {
    this.options = options
  }

  load(asks: readonly Ask[]): readonly Answer[] {
    if (this.isClosed) throw new HomeostatError('store_unavailable', 'The store is closed. Open it again.')
    const port = this.started()
    const before = Atomics.load(this.answered, 0)
    port.postMessage(asks)
    const woken = Atomics.wait(this.answered, 0, before, patienceMs)
    const reading = (receiveMessageOnPort(port) as { message: Reading } | undefined)?.message
    if (reading !== undefined && 'answers' in reading) return reading.answers
    // A late answer must not be taken for the next one.
    if (woken === 'timed-out') this.stop()
    throw new HomeostatError(
      'store_unavailable',
      `PostgreSQL does not answer: ${reading?.error ?? 'it took too long'}.`,
    )
  }

  close(): void {
    this.isClosed = true
    this.stop()
  }

  private stop(): void {
    void this.thread?.terminate()
    this.port?.close()
    this.thread = this.port = null
  }

  private started(): MessagePort {
    if (this.port !== null) return this.port
    const { port1, port2 } = new MessageChannel()
    const order: ReadingOrder = { ...this.options, port: port2, answered: this.answered }
    const thread = new Worker(threadFile(import.meta.url), { workerData: order, transferList: [port2] })
    // It fails: the next reader starts another.
    thread.on('error', () => this.stop())
    thread.unref()
    port1.unref()
    this.thread = thread
    this.port = port1
    return port1
  }
}
