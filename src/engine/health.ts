// Whether this process does what it is there for: the figures behind readiness.
import type { Clock, Millis } from '../base/clock.ts'
import type { Incarnation } from '../decision/state.ts'
import type { Door } from './door.ts'
import type { LaneFigures } from './lanes.ts'
import type { EngineSettings } from './options.ts'
import type { Tenure } from './tenure.ts'

export interface Health {
  readonly isReady: boolean
  /** Why it is not ready. */
  readonly reasons: readonly string[]
  readonly incarnation: Incarnation
  /** Null in a process without a worker, or before the first pass. */
  readonly lastHealingPassAgeMs: Millis | null
  readonly door: { readonly waiting: number } & Door['figures']
  readonly worker: {
    readonly owned: number
    readonly underWay: number
    readonly queued: number
    readonly lanes: readonly LaneFigures[]
    readonly calls: number
    readonly aborted: number
  } | null
  readonly healing: {
    readonly passes: number
    readonly healed: number
    readonly refused: number
    readonly held: number
  } | null
  readonly sweeping: { readonly swept: number; readonly failed: number } | null
}

/** A healer that has not ended a pass within so many rhythms is not well. */
const passesMissed = 6

export function healthOf(engine: {
  readonly isRunning: boolean
  readonly clock: Clock
  readonly settings: EngineSettings
  readonly door: Door
  readonly tenure: Tenure | null
}): Health {
  const { clock, settings, door, tenure } = engine
  const acting = tenure?.acting ?? null
  const passAt = acting?.healer.lastPassAt ?? 0
  const age = passAt === 0 ? null : Math.max(0, clock.now() - passAt)
  const reasons: string[] = []
  if (!engine.isRunning) reasons.push('the engine is not running')
  else if (tenure === null || !tenure.lease.isLive) reasons.push('the lease is lost; being registered anew')
  if (acting !== null && (age === null || age > settings.healEveryMs * passesMissed)) {
    reasons.push(age === null ? 'no healing pass has ended yet' : `the last healing pass ended ${age} ms ago`)
  }
  return {
    isReady: reasons.length === 0,
    reasons,
    incarnation: tenure?.no ?? 0,
    lastHealingPassAgeMs: age,
    door: { waiting: door.waiting, ...door.figures },
    worker:
      acting === null
        ? null
        : {
            owned: acting.worker.owned,
            underWay: acting.worker.lanes.running,
            queued: acting.worker.lanes.queued,
            lanes: acting.worker.lanes.figures,
            ...acting.worker.figures,
          },
    healing: acting === null ? null : { ...acting.healer.figures },
    sweeping: acting === null ? null : { ...acting.sweeper.figures },
  }
}
