// The parent's side of a worker process: starts it, asks it, kills or freezes it, and knows by what it ended.
import { fork, type ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from '../../src/decision/command.ts'
import type { Reply, Submitted, Task } from './orders.ts'
import type { WorkerOrders } from './worker-process.ts'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** What an answer, once received, promises for ever. */
export interface Acknowledged {
  readonly key: string
  readonly operation: string
  readonly no: number
  readonly id: string
  readonly begun: number
}

let program = fileURLToPath(new URL('./worker-process.ts', import.meta.url))
const living = new Set<ChildProcess>()

/** Workers that are started from now on are this file (bundled-worker.ts). */
export function startFrom(file: string): void {
  program = file
}

/** For afterEach: whatever a failed test left behind. Only processes that were started here. */
export function endAll(): void {
  for (const child of living) child.kill('SIGKILL')
}

export class WorkerHandle {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>()
  #orders = 0
  #stderr = ''
  /** Resolves when the process is gone. */
  readonly ended: Promise<Ended>
  /** Resolves with the incarnation when it serves; with null when it died before. */
  readonly ready: Promise<number | null>
  /** Resolves when the worker has noticed that its lease is gone. */
  readonly lost: Promise<void>

  private constructor(orders: WorkerOrders) {
    const child = fork(program, [], {
      execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
      env: {
        ...process.env,
        CRASH_ORDERS: JSON.stringify(orders),
        NODE_COMPILE_CACHE: join(tmpdir(), 'homeostat-crash-cache'),
      },
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    })
    this.#child = child
    living.add(child)
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text))
    const ready = Promise.withResolvers<number | null>()
    const lost = Promise.withResolvers<void>()
    this.ready = ready.promise
    this.lost = lost.promise
    child.on('message', (reply: Reply) => {
      if (reply.said === 'ready') ready.resolve(reply.incarnation)
      else if (reply.said === 'lost') lost.resolve()
      else {
        const waiting = this.#waiting.get(reply.to)
        this.#waiting.delete(reply.to)
        if (reply.said === 'answer') waiting?.resolve(reply.answer)
        else waiting?.reject(new Error(reply.reason))
      }
    })
    this.ended = new Promise((resolve) => {
      // 'close', not 'exit': answers that are still in the pipe are heard first.
      child.on('close', (code, signal) => {
        living.delete(child)
        ready.resolve(null)
        for (const { reject } of this.#waiting.values()) reject(new WorkerGone(this.#stderr))
        this.#waiting.clear()
        resolve({ code, signal })
      })
    })
  }

  static launch(orders: WorkerOrders): WorkerHandle {
    return new WorkerHandle(orders)
  }

  static async start(orders: WorkerOrders): Promise<WorkerHandle> {
    const worker = new WorkerHandle(orders)
    if ((await worker.ready) === null) throw new Error(`the worker did not start: ${worker.#stderr}`)
    return worker
  }

  get pid(): number {
    return this.#child.pid!
  }

  get stderr(): string {
    return this.#stderr
  }

  tell(task: Task): Promise<unknown> {
    const id = ++this.#orders
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#child.send({ ...task, id }, (error) => {
        if (error === null || !this.#waiting.delete(id)) return
        reject(new WorkerGone(this.#stderr))
      })
    })
  }

  submit(command: Command): Promise<Submitted> {
    return this.tell({ do: 'submit', command }) as Promise<Submitted>
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Kills it, and makes sure that the signal did it and nothing else. */
  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.diesOf('SIGKILL')
  }

  /** A child that had nothing to do would have ended by itself: then nothing was tested. */
  async diesOf(signal: NodeJS.Signals): Promise<void> {
    const ended = await this.ended
    if (ended.signal !== signal) {
      throw new Error(
        `the worker ended by ${ended.signal ?? `exit code ${ended.code}`}, not by ${signal}: ${this.#stderr}`,
      )
    }
  }

  /** An orderly end. */
  async stop(): Promise<void> {
    await this.ready
    this.signal('SIGTERM')
    const ended = await this.ended
    if (ended.code !== 0) throw new Error(`the worker stopped with ${JSON.stringify(ended)}: ${this.#stderr}`)
  }
}

/** The process died before it answered: the request may or may not have happened. */
export class WorkerGone extends Error {
  override readonly name = 'WorkerGone'
}
