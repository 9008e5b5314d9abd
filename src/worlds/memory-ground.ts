// A ground in memory: what there is is what it holds.
import type { Millis } from '../base/clock.ts'
import type { JsonObject } from '../base/json.ts'
import type { FaultStore, Past, SetFault } from './fault.ts'
import type { Done, Ground, Kept } from './ground.ts'
import type { Power, Thing, Truth } from './world.ts'

export class MemoryGround implements Ground {
  readonly #things = new Map<string, Kept>()
  readonly #epochs = new Map<string, number>()
  readonly #closed = new Set<string>()

  /** Nobody else is there, and a section is never interrupted. */
  async exclusively<T>(_names: readonly string[], _signal: AbortSignal | undefined, section: () => T): Promise<T> {
    return section()
  }

  epochOf(resource: string): number {
    return this.#epochs.get(resource) ?? 0
  }

  raiseEpoch(resource: string, epoch: number): void {
    this.#epochs.set(resource, epoch)
  }

  isClosed(name: string): boolean {
    return this.#closed.has(name)
  }

  closeName(name: string): void {
    this.#closed.add(name)
  }

  read(name: string): Kept | null {
    return this.#things.get(name) ?? null
  }

  names(below?: string): readonly string[] {
    const names = [...this.#things.keys()]
    return below === undefined ? names : names.filter((name) => name.startsWith(`${below}/`))
  }

  make(kept: Kept): void {
    this.#things.set(kept.thing.name, kept)
  }

  remove(name: string): void {
    this.#things.delete(name)
  }

  resize(name: string, sizeBytes: number): void {
    this.#set(name, { sizeBytes })
  }

  setLinks(name: string, links: readonly string[]): void {
    this.#set(name, { links })
  }

  setPower(name: string, power: Power): void {
    this.#set(name, { power })
  }

  record(name: string, properties: JsonObject, done: readonly Done[]): void {
    this.#things.set(name, { thing: { ...this.#things.get(name)!.thing, properties }, done })
  }

  truth(): readonly Truth[] {
    return [...this.#things.values()].map(({ thing }) => ({ ...thing, pid: null, path: null }))
  }

  #set(name: string, changed: Partial<Thing>): void {
    const { thing, done } = this.#things.get(name)!
    this.#things.set(name, { thing: { ...thing, ...changed }, done })
  }
}

export class MemoryFaults implements FaultStore {
  #faults: SetFault[] = []
  #past: Past[] = []
  readonly #waiting = new Map<string, Set<() => void>>()

  all(): readonly SetFault[] {
    return this.#faults
  }

  add(fault: SetFault): void {
    this.#faults = [...this.#faults, fault]
  }

  remove(id: string): void {
    this.#faults = this.#faults.filter((fault) => fault.id !== id)
    for (const goOn of this.#waiting.get(id) ?? []) goOn()
  }

  use({ id, left }: SetFault): boolean {
    if (left === null) return true
    this.#faults = this.#faults.map((fault) => (fault.id === id ? { ...fault, left: left - 1 } : fault))
    return left > 0
  }

  untilCleared(id: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted || !this.#faults.some((fault) => fault.id === id)) return resolve()
      const waiting = this.#waiting.get(id) ?? new Set()
      this.#waiting.set(id, waiting)
      const goOn = () => {
        waiting.delete(goOn)
        signal?.removeEventListener('abort', goOn)
        resolve()
      }
      waiting.add(goOn)
      signal?.addEventListener('abort', goOn, { once: true })
    })
  }

  remember(past: Past): void {
    this.#past.unshift(past)
  }

  past(): readonly Past[] {
    return this.#past
  }

  forgetPast(at: Millis): void {
    this.#past = this.#past.filter((past) => past.at > at)
  }
}
