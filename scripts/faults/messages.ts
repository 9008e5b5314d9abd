// What the processes of the harness tell each other.
import type { RequestOperation } from '../../src/decision/command.ts'
import type { EngineSettings } from '../../src/engine/options.ts'

export interface WorkerOrders {
  readonly name: string
  /** Of PostgreSQL, through the proxy. */
  readonly url: string
  /** Where it listens for requests. */
  readonly socket: string
  /** Where the outside world is. */
  readonly cloud: string
  readonly patienceMs: number
  readonly durability: 'disk' | 'standby'
  readonly settings?: Partial<EngineSettings> | undefined
  /** Whether it tells on its error output what it meets. */
  readonly isTold?: boolean | undefined
}

export interface ClientOrders {
  /** The sockets of the workers. */
  readonly sockets: readonly string[]
  /** What was acknowledged, a line each, on the disk before the next request. */
  readonly log: string
  readonly seed: number
  readonly users: number
}

export type Request = Pick<RequestOperation, 'type' | 'id' | 'operation' | 'input' | 'create' | 'key'>

export type Asked =
  | { readonly id: number; readonly do: 'request'; readonly request: Request }
  | { readonly id: number; readonly do: 'look'; readonly type: string; readonly of: string }

export type Told =
  | { readonly id: number; readonly told: 'accepted'; readonly no: number; readonly begun: number }
  | { readonly id: number; readonly told: 'refused'; readonly code: string; readonly message: string }
  | { readonly id: number; readonly told: 'seen'; readonly status: string | null; readonly isBusy: boolean }

/** A line of the log. */
export interface Acknowledged {
  readonly key: string
  readonly type: string
  readonly resource: string
  readonly operation: string
  readonly no: number
  readonly begun: number
}

/** What the client says to the harness from time to time. */
export interface ClientCounts {
  readonly acknowledged: number
  readonly refused: number
  readonly asked: number
  /** Requests that were asked again with their key, since no answer came. */
  readonly repeated: number
  /** By catalogue. */
  readonly systems: Readonly<Record<string, number>>
  /** By code. */
  readonly codes: Readonly<Record<string, number>>
}
