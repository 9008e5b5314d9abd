// Faults as switches: which calls they concern and what they do to them. Set and cleared while the world is in use.
import type { Millis } from '../base/clock.ts'
import type { Thing, Verb } from './world.ts'

/** Which calls a fault concerns: those that match all that is given. */
export interface FaultTarget {
  /** Of the resource that asks, or that the thing was made for. */
  readonly type?: string
  /** The driver function that asks. */
  readonly step?: string
  readonly kind?: string
  readonly verb?: Verb
  readonly name?: string
}

export interface Fault {
  /**
   * - `fail`: throws, and nothing happens.
   * - `hang`: waits until the fault is cleared or the caller gives up; nothing happens before that.
   * - `slow`: waits `ms` first.
   * - `garbage`: happens, and the answer is nonsense.
   * - `lateSuccess`: happens, and then hangs.
   * - `lostReply`: happens, and throws that the outcome is not known.
   * - `staleReads`: get and list show what was there `ms` ago (at most what was there when the fault was set).
   */
  readonly does: 'fail' | 'hang' | 'slow' | 'garbage' | 'lateSuccess' | 'lostReply' | 'staleReads'
  /** Left out: every call. */
  readonly on?: FaultTarget
  /** For so many calls; left out: until it is cleared. */
  readonly times?: number
  /** For this part of the calls, by chance; left out: all. */
  readonly rate?: number
  readonly ms?: number
  /** Of `fail`: the error's code, message, and whether it is a TerminalError. */
  readonly code?: string
  readonly message?: string
  readonly terminal?: boolean
}

/** A fault that is set. One that has been used up stays until it is cleared: what hangs by it goes on hanging. */
export interface SetFault extends Fault {
  readonly id: string
  readonly setAt: Millis
  /** How many calls it still concerns; null: any number. */
  readonly left: number | null
}

export interface FaultSwitches {
  set(fault: Fault): Promise<SetFault>
  /** One, or all of them. */
  clear(id?: string): Promise<void>
  list(): Promise<readonly SetFault[]>
}

/** How a thing was before a change, for reads that are to be stale. */
export interface Past {
  readonly at: Millis
  readonly name: string
  readonly before: Thing | null
}

/** Where the switches of a world are kept. */
export interface FaultStore {
  all(): readonly SetFault[]
  add(fault: SetFault): void
  remove(id: string): void
  /** One use of it; false when none is left. */
  use(fault: SetFault): boolean
  /** Resolves when it is cleared or the signal fires. */
  untilCleared(id: string, signal: AbortSignal | undefined): Promise<void>
  remember(past: Past): void
  /** The latest first. */
  past(): readonly Past[]
  /** Up to this time. */
  forgetPast(at: Millis): void
}

/** A call as far as faults look at it. */
export interface FaultyCall {
  readonly verb: Verb
  readonly type: string
  readonly kind: string
  readonly name: string
  readonly step: string | undefined
}

export const isRead = (verb: Verb): boolean => verb === 'get' || verb === 'list'

export function concerns({ does, on = {} }: Fault, call: FaultyCall): boolean {
  if (does === 'staleReads' && !isRead(call.verb)) return false
  if ((does === 'lateSuccess' || does === 'lostReply') && isRead(call.verb)) return false
  return (['type', 'step', 'kind', 'verb', 'name'] as const).every(
    (part) => on[part] === undefined || on[part] === call[part],
  )
}

/** An answer that fits no type. */
export const nonsense = {
  kind: 42,
  name: null,
  resource: [],
  properties: 'garbage',
  sizeBytes: -1,
  content: { '\u0000': true },
  power: 'purple',
  links: 'none',
} as unknown as Thing

/** What there was at a time: the present, with every later change taken back. */
export function asOf(present: readonly Thing[], past: readonly Past[], at: Millis): readonly Thing[] {
  const things = new Map(present.map((thing) => [thing.name, thing]))
  for (const change of past) {
    if (change.at <= at) break
    if (change.before === null) things.delete(change.name)
    else things.set(change.name, change.before)
  }
  return [...things.values()].sort(byName)
}

export const byName = (a: Thing, b: Thing): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
