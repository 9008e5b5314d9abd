// What a world stands on: where things are kept, without any rule. Every function does one thing at once and may be repeated;
// the rules are in guarded-world.ts, so that all worlds keep the same ones.
import type { JsonObject } from '../base/json.ts'
import type { Power, Thing, Truth } from './world.ts'

/** A change that has been made: the same key for the same verb gets this answer again. */
export interface Done {
  readonly verb: string
  readonly key: string
  readonly answer: Thing
}

export interface Kept {
  readonly thing: Thing
  /** The latest last. */
  readonly done: readonly Done[]
}

export interface Ground {
  /** Runs `section` while nobody else, here or in another process, is in one for any of these names. */
  exclusively<T>(names: readonly string[], signal: AbortSignal | undefined, section: () => T): Promise<T>
  /** The highest epoch seen for a resource. */
  epochOf(resource: string): number
  raiseEpoch(resource: string, epoch: number): void
  isClosed(name: string): boolean
  closeName(name: string): void

  read(name: string): Kept | null
  /** Of all things, or of those whose names are below one. */
  names(below?: string): readonly string[]
  /** Everything of it at once. */
  make(kept: Kept): void
  /** At once, whatever it does. */
  remove(name: string): void
  resize(name: string, sizeBytes: number): void
  setLinks(name: string, links: readonly string[]): void
  setPower(name: string, power: Power): void
  /** Records a change that has been made, with the properties. */
  record(name: string, properties: JsonObject, done: readonly Done[]): void

  truth(): readonly Truth[]
}
