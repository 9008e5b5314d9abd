// Every figure of the engine that may be set, with its default.

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
  /** The slow look for waiting runs, under the wake-ups. */
  readonly pollMs: number
  /** How long `stop` waits for calls under way before it aborts them. */
  readonly stopPatienceMs: number
}

export const defaultSettings: EngineSettings = {
  name: 'worker',
  worker: true,
  leaseMs: 10_000,
  concurrency: 256,
  runs: 10_000,
  batchLimit: 500,
  cacheSize: 10_000,
  pollMs: 10_000,
  stopPatienceMs: 10_000,
}
