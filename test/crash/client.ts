// A client as it should be: gives every request a key, keeps what was acknowledged, and asks again with the same key when the
// worker died before it answered. The worker is replaced when it is found dead.
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RequestOperation } from '../../src/decision/command.ts'
import { untilSettled } from './audit.ts'
import type { Submitted } from './orders.ts'
import { WorkerGone, WorkerHandle, type Acknowledged } from './worker-handle.ts'
import type { WorkerOrders } from './worker-process.ts'

export const freshFolder = (): string => mkdtempSync(join(tmpdir(), 'homeostat-crash-'))

type Request = Pick<RequestOperation, 'type' | 'id' | 'operation' | 'input' | 'create'>

export class Client {
  readonly folder: string
  readonly acknowledged: Acknowledged[] = []
  /** The process that answers now. */
  worker: WorkerHandle
  readonly #nextOrders: () => WorkerOrders
  readonly #name = randomUUID()
  #requests = 0
  /** Workers that were found dead, each of SIGKILL. */
  deaths = 0

  private constructor(folder: string, worker: WorkerHandle, nextOrders: () => WorkerOrders) {
    this.folder = folder
    this.worker = worker
    this.#nextOrders = nextOrders
  }

  /** `orders` says how each worker, the first and every later one, is started. */
  static launch(folder: string, nextOrders: () => WorkerOrders): Client {
    return new Client(folder, WorkerHandle.launch(nextOrders()), nextOrders)
  }

  /** Asks until it is answered. A refusal is an answer. */
  async ask(request: Request): Promise<Submitted> {
    const key = `${this.#name}/${++this.#requests}`
    for (;;) {
      try {
        await this.worker.ready
        const answer = await this.worker.submit({ kind: 'requestOperation', by: 'client', key, ...request })
        if (answer.accepted) {
          const { no, id, begun } = answer
          this.acknowledged.push({ key, operation: request.operation, no, id, begun })
        }
        if (answer.accepted || answer.code !== 'lease_lost') return answer
      } catch (error) {
        if (!(error instanceof WorkerGone)) throw error
        await this.replaced()
      }
    }
  }

  /** Asks and insists that it is accepted. */
  async must(request: Request): Promise<void> {
    const answer = await this.ask(request)
    if (!answer.accepted) throw new Error(`${request.operation} of ${request.id} was refused: ${answer.message}`)
  }

  rack(id: string): Promise<void> {
    return this.must({ type: 'crash.rack', id, operation: 'create', create: { properties: {} } })
  }

  /** A box in a rack that is there already. */
  create(rack: string, id: string, properties: { size: number; behaviour?: string }): Promise<void> {
    const parent = { type: 'crash.rack', id: rack }
    return this.must({ type: 'crash.box', id, operation: 'create', create: { properties, parent } })
  }

  grow(id: string, size: number): Promise<void> {
    return this.must({ type: 'crash.box', id, operation: 'grow', input: { size } })
  }

  inspect(id: string): Promise<void> {
    return this.must({ type: 'crash.box', id, operation: 'inspect' })
  }

  delete(id: string): Promise<void> {
    return this.must({ type: 'crash.box', id, operation: 'delete' })
  }

  /** Replaces a worker that died meanwhile, until nothing is in transition. */
  async settled(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs
    for (;;) {
      const left = until - performance.now()
      const isDead = this.worker.ended.then(() => true)
      const settling = untilSettled(this.folder, left)
      settling.catch(() => {})
      if ((await Promise.race([isDead, settling.then(() => false)])) === false) return
      await this.replaced()
    }
  }

  /** An orderly end; a worker that had a death before it may meet it on the way. */
  async stop(): Promise<void> {
    await this.worker.ready
    this.worker.signal('SIGTERM')
    const { code, signal } = await this.worker.ended
    if (signal === 'SIGKILL') this.deaths++
    else if (code !== 0) throw new Error(`the worker ended with ${code ?? signal}: ${this.worker.stderr}`)
  }

  /** Puts another worker in the place of one that died, once. */
  async replaced(): Promise<void> {
    const dead = this.worker
    await dead.diesOf('SIGKILL')
    // Several requests may find it dead at once.
    if (this.worker !== dead) return
    this.deaths++
    this.worker = WorkerHandle.launch(this.#nextOrders())
  }
}
