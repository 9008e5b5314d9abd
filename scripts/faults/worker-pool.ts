// The worker processes: as many as there are places, each replaced when it dies. None is left behind, however the harness ends.
import { fork, type ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClientCounts, ClientOrders, WorkerOrders } from './messages.ts'
import { pause } from '../waiting.ts'

const living = new Set<ChildProcess>()

/** Whatever was started here does not outlive this process. */
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL')
})

function start(program: string, env: Readonly<Record<string, string>>): ChildProcess {
  const child = fork(fileURLToPath(new URL(program, import.meta.url)), [], {
    execArgv: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'homeostat-faults-cache'), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  living.add(child)
  child.on('exit', () => living.delete(child))
  // A message to one that has just died.
  child.on('error', () => {})
  return child
}

class Place {
  readonly #orders: WorkerOrders
  #child: ChildProcess | null = null
  #isWanted = true
  #isFrozen = false
  #starts = 0
  isReady = false

  constructor(orders: WorkerOrders) {
    this.#orders = orders
    this.#start()
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  #start(): void {
    this.isReady = false
    const name = `${this.#orders.name}.${++this.#starts}`
    const child = start('./worker.ts', { FAULTS_WORKER: JSON.stringify({ ...this.#orders, name }) })
    this.#child = child
    child.on('message', () => (this.isReady = true))
    child.on('exit', () => {
      this.isReady = false
      this.#isFrozen = false
      this.#child = null
      if (this.#isWanted) setTimeout(() => this.#isWanted && this.#start(), 50)
    })
  }

  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  async freeze(ms: number): Promise<void> {
    const child = this.#child
    if (child === null) return
    this.#isFrozen = true
    child.kill('SIGSTOP')
    await pause(ms)
    child.kill('SIGCONT')
    if (this.#child === child) this.#isFrozen = false
  }

  setClock(clockOffMs: number): void {
    if (this.#child?.connected) this.#child.send({ clockOffMs })
  }

  async end(patienceMs: number): Promise<void> {
    this.#isWanted = false
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGCONT')
    child.kill('SIGTERM')
    const late = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    await ended
    clearTimeout(late)
  }
}

export class WorkerPool {
  readonly #places: Place[]

  constructor(orders: readonly WorkerOrders[]) {
    this.#places = orders.map((one) => new Place(one))
  }

  get size(): number {
    return this.#places.length
  }

  get ready(): number {
    return this.#places.filter(({ isReady, isFrozen }) => isReady && !isFrozen).length
  }

  /** One that works; null when none does. */
  #chosen(pick: number): Place | null {
    const able = this.#places.filter(({ isReady, isFrozen }) => isReady && !isFrozen)
    return able.length === 0 ? null : able[pick % able.length]!
  }

  kill(pick: number): boolean {
    const place = this.#chosen(pick)
    place?.kill()
    return place !== null
  }

  /** Several at the same moment. */
  killFirst(count: number): number {
    const able = this.#places.filter(({ isReady }) => isReady).slice(0, count)
    for (const place of able) place.kill()
    return able.length
  }

  async freeze(pick: number, ms: number): Promise<boolean> {
    const place = this.#chosen(pick)
    await place?.freeze(ms)
    return place !== null
  }

  jumpClock(pick: number, offMs: number): boolean {
    const place = this.#chosen(pick)
    place?.setClock(offMs)
    return place !== null
  }

  setClocksRight(): void {
    for (const place of this.#places) place.setClock(0)
  }

  /** At once: 0 is no patience. */
  async end(patienceMs = 8_000): Promise<void> {
    await Promise.all(this.#places.map((place) => place.end(patienceMs)))
  }
}

/** The process that asks. */
export class LoadClient {
  readonly #child: ChildProcess
  readonly ended: Promise<number | null>
  /** Resolves when everything that the users need is there. */
  readonly ready: Promise<void>
  counts: ClientCounts = { acknowledged: 0, refused: 0, asked: 0, repeated: 0, systems: {}, codes: {} }

  constructor(orders: ClientOrders) {
    const child = start('./client.ts', { FAULTS_CLIENT: JSON.stringify(orders) })
    this.#child = child
    this.ended = new Promise((resolve) => child.once('exit', resolve))
    this.ready = new Promise((resolve, reject) => {
      child.on('message', (message: ClientCounts | 'ground') => {
        if (message === 'ground') resolve()
        else this.counts = message
      })
      void this.ended.then((code) => reject(new Error(`the client ended with ${code}`)))
    })
    this.ready.catch(() => {})
  }

  /** No new requests; those under way are asked to their end. */
  async finish(patienceMs: number): Promise<void> {
    if (this.#child.connected) this.#child.send('finish')
    const late = setTimeout(() => this.#child.kill('SIGKILL'), patienceMs)
    await this.ended
    clearTimeout(late)
  }
}
