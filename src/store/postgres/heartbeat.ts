// The heartbeat of a worker on a PostgreSQL database: what its thread is told.
import type { Incarnation } from '../../decision/state.ts'
import { startBeating, type SharedBeat } from '../shared-beat.ts'
import type { Heartbeat } from '../store.ts'
import type { AddressOptions } from './address.ts'

export interface HeartbeatOrder extends SharedBeat {
  readonly address: AddressOptions
  readonly settings: Readonly<Record<string, string>>
  readonly no: Incarnation
  readonly leaseMs: number
}

export const startHeartbeatThread = (order: Omit<HeartbeatOrder, keyof SharedBeat>): Heartbeat =>
  startBeating(import.meta.url, order)
