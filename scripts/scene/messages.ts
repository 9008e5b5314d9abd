// What narrator and worker processes tell each other.
import type { WorldOptions } from './world.ts'

export interface WorkerSettings extends WorldOptions {
  readonly name: string
  readonly concurrency: number
}

export interface Asked {
  readonly no: number
  readonly operation: 'create' | 'grow' | 'delete'
  readonly id: string
  readonly sizeGb: number
}

export type Told =
  | { readonly told: 'ready'; readonly incarnation: number }
  | { readonly told: 'accepted'; readonly no: number }
  | { readonly told: 'refused'; readonly no: number; readonly reason: string }
  | { readonly told: 'log'; readonly message: string; readonly name: string }
