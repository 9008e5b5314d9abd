// The port to a world: the things that drivers make and destroy. Two worlds keep it, one of real processes and files on this
// machine and one in memory; `worldConformance` judges both. Its promises, by number:
// W1  The same key again, for the same thing and verb, does nothing twice and gives the same answer, also after a kill -9 between
//     the effect and its record: the next call finds what is there by its name and finishes it. The last 16 changes of a thing count.
// W2  A call with an epoch below the highest seen for its resource changes nothing (`stale_epoch`). Also a look that names its
//     epoch is seen: what it finds is not changed by an older owner afterwards.
// W3  A thing is there whole or not at all, and is read so at any moment, whoever was killed in the middle of whatever.
// W4  What is taken away may be gone already: destroy, stop and unlink succeed then. What the sweeper destroyed never comes back.
// W5  Faults are switches: they change how calls go, never what is promised above.
import type { JsonObject } from '../base/json.ts'
import type { FaultSwitches } from './fault.ts'

/** Of a thing that can run. Things that have never been started are stopped. */
export type Power = 'running' | 'paused' | 'stopped'

/** Something that exists. */
export interface Thing {
  readonly kind: string
  /** The ledger name, `type/id/kind/n`; or a name below one, `type/id/kind/n/part`: it is destroyed and known with that one. */
  readonly name: string
  /** Whose it is, `type/id`: the resource of the call that made it. */
  readonly resource: string
  readonly properties: JsonObject
  /** How large it is; null: it stores nothing. */
  readonly sizeBytes: number | null
  /** What it stores: a copy has the same content as its source. */
  readonly content: string | null
  readonly power: Power
  /** Names of the things it is linked to, in order. They need not exist any more. */
  readonly links: readonly string[]
}

export interface NewThing {
  readonly kind: string
  readonly name: string
  readonly properties?: JsonObject
  /** Left out: it stores nothing; of a copy: as large as its source. */
  readonly sizeBytes?: number
  readonly links?: readonly string[]
}

/** Who asks for a change. A driver's call has all of it: see `guardOf`. */
export interface Guard {
  /** The same for every attempt of the same step. One step may use it for several things and verbs. */
  readonly key: string
  readonly epoch: number
  /** Whose epoch it is, `type/id`. */
  readonly resource: string
  readonly signal: AbortSignal
  /** The driver function, so that a fault can be set for it. */
  readonly step?: string | undefined
}

/** The sweeper owns nothing and has no epoch. */
export type SweepGuard = Pick<Guard, 'key' | 'signal'>

/** Who only looks: nobody in particular, or the owner by its guard (W2). */
export type Look = Partial<Guard>

/** What to list: what fits all that is given. Type and resource are those in the things' names. */
export interface Filter {
  readonly kind?: string
  readonly type?: string
  /** `type/id`. */
  readonly resource?: string
}

/** A thing with where it can be seen. */
export interface Truth extends Thing {
  readonly pid: number | null
  /** Its folder. */
  readonly path: string | null
}

export type Change =
  | 'create'
  | 'copy'
  | 'update'
  | 'resize'
  | 'link'
  | 'unlink'
  | 'start'
  | 'stop'
  | 'pause'
  | 'resume'
  | 'destroy'
export type Verb = Change | 'get' | 'list'

/**
 * Changes throw a TerminalError: `stale_epoch`, `not_found`, `gone` (the sweeper destroyed what had this name), `name_taken` (by
 * another kind), `not_running`, `invalid`. They throw an ordinary error, to be tried again, when the world is busy (`busy`) or cannot do it.
 */
export interface World {
  /** Makes it. What has this name and kind already is taken as it is. */
  create(thing: NewThing, guard: Guard): Promise<Thing>
  /** Makes it with the content of another: a snapshot, an image, a clone. */
  copy(source: string, thing: NewThing, guard: Guard): Promise<Thing>
  /** Sets the given properties and leaves the others. */
  update(name: string, properties: JsonObject, guard: Guard): Promise<Thing>
  resize(name: string, sizeBytes: number, guard: Guard): Promise<Thing>
  /** Both must exist. */
  link(name: string, to: string, guard: Guard): Promise<Thing>
  unlink(name: string, to: string, guard: Guard): Promise<Thing | null>
  start(name: string, guard: Guard): Promise<Thing>
  /** Also what is paused. */
  stop(name: string, guard: Guard): Promise<Thing | null>
  /** It must run. */
  pause(name: string, guard: Guard): Promise<Thing>
  /** It must be paused or run. */
  resume(name: string, guard: Guard): Promise<Thing>
  /** With all its parts. After a destroy by the sweeper, nothing can be made under this name again. */
  destroy(name: string, guard: Guard | SweepGuard): Promise<void>

  get(name: string, look?: Look): Promise<Thing | null>
  /** In the order of names. */
  list(filter?: Filter, look?: Look): Promise<readonly Thing[]>

  /** Everything that really exists, whatever the faults: also what no record knows. */
  truth(): Promise<readonly Truth[]>
  /** What exists although nobody names it, nor what it is a part of. */
  leaks(known: Iterable<string>): Promise<readonly Truth[]>

  readonly faults: FaultSwitches
  /** Leaves everything as it is. */
  close(): Promise<void>
}
