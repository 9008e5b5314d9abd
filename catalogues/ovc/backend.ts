// The port that a deployer of this catalogue implements: what a cloud does, in its own words. Resources are named by their ids,
// new things by the ledger name they are to be made under.
//
// What every function keeps: asked again with the same key it does nothing twice; with an older epoch than the latest of that
// resource it changes nothing; what is to be taken away may be gone already.

/** Who asks: the key of the step, the epoch of the resource. As `Guard` of homeostat/worlds. */
export interface Caller {
  readonly key: string
  readonly epoch: number
  /** `type/id`. */
  readonly resource: string
  readonly signal: AbortSignal
  readonly step?: string | undefined
}

export interface MachineSpec {
  /** Under which it is to be made, so that it can be found again. */
  readonly name: string
  readonly memoryMb: number
  readonly node: string | null
  /** The id of the image that it is made from. */
  readonly image: string | null
  /** The id of the machine that it is a clone of; `cloneMachine` of that one has been called. */
  readonly original: string | null
}

export type Firewall = 'up' | 'down' | 'unknown'
export type Power = 'running' | 'halted' | 'paused' | 'missing' | 'unknown'
export type Storage = 'there' | 'missing' | 'unknown'
/** Types of resources that leave things in the world. */
export type Made = 'ovc.cloudspace' | 'ovc.machine' | 'ovc.disk' | 'ovc.image'

export interface Backend {
  /** What changes nothing in the world but in the books: bills, offers, mails. */
  announce(what: string, id: string, caller: Caller): Promise<void>

  createFirewall(id: string, name: string, caller: Caller): Promise<void>
  startFirewall(id: string, caller: Caller): Promise<void>
  stopFirewall(id: string, caller: Caller): Promise<void>
  /** Made anew and started. */
  resetFirewall(id: string, caller: Caller): Promise<void>
  moveFirewall(id: string, node: string, caller: Caller): Promise<void>
  destroyFirewall(id: string, caller: Caller): Promise<void>
  firewallOf(id: string, caller: Caller): Promise<Firewall>

  /** Made and started. */
  createMachine(id: string, spec: MachineSpec, caller: Caller): Promise<void>
  startMachine(id: string, caller: Caller): Promise<void>
  stopMachine(id: string, caller: Caller): Promise<void>
  pauseMachine(id: string, caller: Caller): Promise<void>
  resumeMachine(id: string, caller: Caller): Promise<void>
  /** It runs afterwards, also when it was paused. */
  rebootMachine(id: string, caller: Caller): Promise<void>
  resizeMachine(id: string, memoryMb: number, caller: Caller): Promise<void>
  /** It keeps its power. */
  moveMachine(id: string, node: string, caller: Caller): Promise<void>
  /** Fails for good (`no_capacity`) when there is no room for it any more. */
  restoreMachine(id: string, caller: Caller): Promise<void>
  /** Freezes what the clone is to be made from. */
  cloneMachine(id: string, clone: string, caller: Caller): Promise<void>
  /** Freezes what the image is to be made from. */
  createTemplate(id: string, image: string, caller: Caller): Promise<void>
  destroyMachine(id: string, caller: Caller): Promise<void>
  /** With the memory that it has, where that can be told. */
  powerOf(id: string, caller: Caller): Promise<{ readonly power: Power; readonly memoryMb?: number }>

  createDisk(id: string, name: string, sizeGb: number, caller: Caller): Promise<void>
  /** It is on this machine afterwards, and on no other. */
  plugDisk(id: string, machine: string, caller: Caller): Promise<void>
  /** It is on no machine afterwards. */
  unplugDisk(id: string, caller: Caller): Promise<void>
  /** In GB. */
  sizeOf(id: string, caller: Caller): Promise<number>
  limitDisk(id: string, iops: number, caller: Caller): Promise<void>
  resizeDisk(id: string, sizeGb: number, caller: Caller): Promise<void>
  destroyDisk(id: string, caller: Caller): Promise<void>
  storageOf(id: string, caller: Caller): Promise<Storage>

  /** `source`: the machine it is made from, of which `createTemplate` has been called. */
  createImage(id: string, name: string, source: string | null, caller: Caller): Promise<void>
  destroyImage(id: string, caller: Caller): Promise<void>

  openNode(id: string, caller: Caller): Promise<void>
  closeNode(id: string, caller: Caller): Promise<void>
  updateNode(id: string, caller: Caller): Promise<void>
  removeNode(id: string, caller: Caller): Promise<void>
  /** Another node that can take its machines; null: there is none. */
  roomBeside(id: string, caller: Caller): Promise<string | null>
  hypervisorOf(id: string, caller: Caller): Promise<'up' | 'down' | 'unknown'>

  /** Everything that was made for resources of this type, by ledger name. */
  inventory(type: Made): Promise<readonly { readonly kind: string; readonly name: string }[]>
  sweep(name: string, by: { readonly key: string; readonly signal: AbortSignal }): Promise<void>
}
