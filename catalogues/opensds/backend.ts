// The port a deployer implements: what OpenSDS asks of the storage. Every change may be asked for again with the same key, and
// must then do nothing twice; whoever asks with a lower epoch than was seen for the same resource must be refused.
import type { Sweeper } from 'homeostat'

/** Who asks. Hand it on to whatever can check it. */
export interface Asker {
  /** The same for every attempt of the same step. */
  readonly key: string
  readonly epoch: number
  /** Whose epoch it is, `type/id`. */
  readonly resource: string
  /** Fires when nobody waits for the answer any more. */
  readonly signal: AbortSignal
  /** The driver's function that asks. */
  readonly step?: string | undefined
}

/** Sizes are in GB everywhere. */
export interface NewVolume {
  /** Make it under this name, so that it can be found again. */
  readonly name: string
  readonly id: string
  readonly size: number
  readonly profile: string
  readonly zone: string
  /** The snapshot whose content it gets. */
  readonly snapshotId: string | undefined
}

export interface NewSnapshot {
  readonly name: string
  readonly id: string
  readonly volumeId: string
}

export interface NewAttachment {
  readonly name: string
  readonly id: string
  readonly volumeId: string
  /** The host must reach this zone. */
  readonly zone: string
  readonly hostId: string
  /** Several hosts may use the volume. If not, refuse while another is connected, whatever the records say. */
  readonly isShared: boolean
}

/** Something that may be there, under all names it was meant to be made under. */
export interface Kept {
  readonly id: string
  readonly names: readonly string[]
}

/**
 * Throw a TerminalError for what will not become better by trying again (`no_capacity`, `host_not_found`, `zone_mismatch`,
 * `still_connected`), an UnknownOutcomeError when a call was cut, any other error to be called again.
 */
export interface Backend {
  createVolume(volume: NewVolume, by: Asker): Promise<void>
  /** Its real size; null: there is no such volume. */
  sizeOf(volumeId: string, by: Asker): Promise<number | null>
  /** Throws when there is no room for the volume to grow to this size. Changes nothing. */
  checkCapacity(volumeId: string, size: number, by: Asker): Promise<void>
  /** Never makes it smaller. Answers the real size. */
  growVolume(volumeId: string, size: number, by: Asker): Promise<number>
  /** Succeeds when it is gone already; so do the other removals. */
  deleteVolume(volume: Kept, by: Asker): Promise<void>

  takeSnapshot(snapshot: NewSnapshot, by: Asker): Promise<void>
  hasSnapshot(id: string, by: Asker): Promise<boolean>
  deleteSnapshot(snapshot: Kept, by: Asker): Promise<void>

  attach(attachment: NewAttachment, by: Asker): Promise<void>
  connection(id: string, by: Asker): Promise<'whole' | 'half' | 'none'>
  detach(attachment: Kept, by: Asker): Promise<void>

  /** What exists for resources of this type, and how to destroy what nobody owns. */
  sweeper(type: string): Sweeper
}
