// Every figure of the engine that may be set, with its default. Idle, they come to less than one query a second.
import type { Moved } from './strangers.ts'
import type { SweepPolicy } from './sweeper.ts'

export interface EngineSettings {
  /** How this process is shown among the workers. */
  readonly name: string
  /** False: a process that only takes requests; others carry them out. */
  readonly worker: boolean
  /** How long others wait for this process before they take its runs over. */
  readonly leaseMs: number
  /** Most driver calls at a time. */
  readonly concurrency: number
  /** Most runs owned at a time. */
  readonly runs: number
  /** Most commands of one commit. */
  readonly batchLimit: number
  /** Resources kept in memory beside the owned ones. */
  readonly cacheSize: number
  /** The slow look for waiting runs, due timers and events, under the wake-ups. */
  readonly pollMs: number
  /** How often a store that cannot tell of other processes' commits is asked about them. */
  readonly lookMs: number
  /** Where resources go whose status or step is no longer declared, by type and status: `{ 'a.box': { Old: 'New' } }`. */
  readonly moved: Moved
  /** How long `stop` waits for calls under way before it aborts them. */
  readonly stopPatienceMs: number

  /** Events, ended runs and keys of requests are kept for so long; 0: for ever. Nothing of a live run goes. */
  readonly keepHistoryMs: number

  /** How often is looked for what is stuck. */
  readonly healEveryMs: number
  /** An overdue run is its owner's own business for so long. */
  readonly overdueSlackMs: number
  /** More healings of a type than this, that no crash explains, within the window open its breaker. */
  readonly breakerLimit: number
  readonly breakerWindowMs: number
  /** Most healings of a type in a second, besides those after a crash. */
  readonly healRatePerSecond: number
  /** Incarnations that are gone are shown for so long. */
  readonly keepGoneMs: number

  /** By type of resource: destroy what nobody owns, or only list it. The default for all others is `sweep`. */
  readonly sweep: Readonly<Record<string, SweepPolicy>>
  readonly sweepEveryMs: number
  /** How often drivers' inventories are compared with the ledgers. */
  readonly inventoryEveryMs: number
  /** What no ledger names is left alone for so long after it was first seen. */
  readonly strayGraceMs: number
}

/** What is left out, or given as undefined, is as by default. */
export function settingsOf(given: Partial<EngineSettings> = {}): EngineSettings {
  const said = Object.entries(given).filter(([, value]) => value !== undefined)
  return { ...defaultSettings, ...Object.fromEntries(said) }
}

export const defaultSettings: EngineSettings = {
  name: 'worker',
  worker: true,
  leaseMs: 10_000,
  concurrency: 256,
  runs: 10_000,
  batchLimit: 500,
  cacheSize: 2_000,
  pollMs: 10_000,
  lookMs: 500,
  stopPatienceMs: 10_000,
  moved: {},
  keepHistoryMs: 0,

  healEveryMs: 5_000,
  overdueSlackMs: 20_000,
  breakerLimit: 1_000,
  breakerWindowMs: 600_000,
  healRatePerSecond: 10_000,
  keepGoneMs: 600_000,

  sweep: {},
  sweepEveryMs: 60_000,
  inventoryEveryMs: 600_000,
  strayGraceMs: 600_000,
}
