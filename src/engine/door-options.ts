// What the door is made of, and what it tells.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Command } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { Situation } from '../decision/situation.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Store, Write } from '../store/store.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import type { Log } from './log.ts'

export type Decide = (plans: Plans, situation: Situation, command: Command) => Decision

export interface DoorOptions {
  readonly store: Store
  readonly plans: Plans
  readonly decide: Decide
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly foreign: ForeignWrites
  /** Most commands of one commit. */
  readonly batchLimit?: number | undefined
  readonly cacheSize?: number | undefined
  /** Who claims a run that this command begins: this process's worker, or nobody (0). */
  readonly claimantFor?: ((command: Command) => Incarnation) | undefined
  /** Told every changed resource after each commit, before the answers are given. */
  readonly onCommitted?: ((writes: readonly Write[], lastEvent: number, known: Known) => void) | undefined
}

/** How current a committed state is: the commit was sent at `at` (monotonic), other processes' writes were counted as `asOf`. */
export interface Known {
  readonly at: number
  readonly asOf: number
}
