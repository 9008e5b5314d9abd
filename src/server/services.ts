// What handlers work with.
import type { Clock } from '../base/clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import type { BulkRunner } from './bulk-runner.ts'
import type { DevSwitches } from './dev-switches.ts'
import type { DrainWatch } from './drain-watch.ts'
import type { EventStreams } from './event-streams.ts'
import type { Gate } from './gate.ts'
import type { Metrics } from './metrics.ts'
import type { Objects } from './objects.ts'
import type { OutgoingOptions } from './outgoing.ts'
import type { Rehearsals } from './rehearsals.ts'
import type { Trends } from './trends.ts'
import type { Sealer } from './sealer.ts'
import type { WebhookSender } from './webhook-sender.ts'
import type { Wire } from './wire.ts'

export interface Services {
  readonly engine: Engine
  readonly clock: Clock
  readonly log: Log
  /** Fires when the server stops: nobody is kept waiting then. */
  readonly stopping: AbortSignal
  readonly objects: Objects
  readonly gate: Gate
  readonly wire: Wire
  readonly streams: EventStreams
  readonly bulk: BulkRunner
  readonly webhooks: WebhookSender
  readonly metrics: Metrics
  readonly rehearsals: Rehearsals
  readonly trends: Trends
  readonly drains: DrainWatch
  /** Of people who sign in elsewhere; null: only local accounts. */
  readonly issuer: string | null
  /** Null outside of the development mode. */
  readonly dev: DevSwitches | null
  readonly version: string
  /** Who may be called on behalf of strangers. */
  readonly outgoing: OutgoingOptions
  readonly sealer: Sealer
}
