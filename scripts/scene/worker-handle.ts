// The narrator's side of a worker process. None is left behind, however the narrator ends.
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Asked, Told, WorkerSettings } from './messages.ts'

const living = new Set<ChildProcess>()

/** Ends what was started here, by its pid. */
export function killAll(): void {
  for (const child of living) child.kill('SIGKILL')
}
process.on('exit', killAll)

export class WorkerHandle {
  readonly #child: ChildProcess
  readonly #asked = new Map<number, { resolve: () => void; reject: (error: Error) => void }>()
  #count = 0
  /** Resolves with the worker's number in the store. */
  readonly ready: Promise<number>
  readonly ended: Promise<NodeJS.Signals | number | null>
  /** Told what the engine logs. */
  onLog: (message: string, name: string) => void = () => {}

  constructor(settings: WorkerSettings) {
    const child = fork(fileURLToPath(new URL('./worker.ts', import.meta.url)), [], {
      execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
      env: { ...process.env, SCENE_WORKER: JSON.stringify(settings) },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child = child
    living.add(child)
    this.ended = new Promise((resolve) => {
      child.on('close', (code, signal) => {
        living.delete(child)
        for (const { reject } of this.#asked.values()) reject(new Error('the worker is gone'))
        resolve(signal ?? code)
      })
    })
    this.ready = new Promise((resolve, reject) => {
      child.on('message', (told: Told) => {
        if (told.told === 'ready') resolve(told.incarnation)
        else if (told.told === 'log') this.onLog(told.message, told.name)
        else {
          const asked = this.#asked.get(told.no)
          this.#asked.delete(told.no)
          if (told.told === 'accepted') asked?.resolve()
          else asked?.reject(new Error(told.reason))
        }
      })
      void this.ended.then((how) => reject(new Error(`the worker ended before it was ready (${how})`)))
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Resolves when it is acknowledged: from then on it must not be lost. */
  ask(operation: Asked['operation'], id: string, sizeGb = 0): Promise<void> {
    const no = ++this.#count
    return new Promise((resolve, reject) => {
      this.#asked.set(no, { resolve, reject })
      this.#child.send({ no, operation, id, sizeGb } satisfies Asked)
    })
  }

  /** Answers what really ended it. */
  async kill(): Promise<NodeJS.Signals | number | null> {
    this.#child.kill('SIGKILL')
    return this.ended
  }

  async stop(): Promise<NodeJS.Signals | number | null> {
    this.#child.kill('SIGTERM')
    return this.ended
  }
}
