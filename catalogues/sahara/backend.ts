// The port a deployer implements: a plugin that knows the services, and a cloud that has the machines. Every call may be repeated,
// with the same key, and must then do nothing twice; a call with an epoch below the highest seen for its cluster must do nothing.
import type { Sweeper } from 'homeostat'
import type { Guard } from 'homeostat/worlds'
import type { Counts } from './resource-types.ts'

/** Who asks: key, epoch, the cluster as `type/id`, a signal, and the name of the step. */
export type Asked = Guard

/** One machine of a cluster. */
export interface Machine {
  /** Of the instance's record. */
  readonly id: string
  /** Within the cluster: worker-001. */
  readonly name: string
  readonly group: string
}

export interface Cluster {
  readonly id: string
  readonly counts: Counts
}

/** What knows the services that run on the machines. */
export interface Plugin {
  /** Throws a TerminalError that says why such a cluster cannot be. Changes nothing. */
  validate(cluster: Cluster, asked: Asked): Promise<void>
  /** The same for a change of sizes. */
  validateScaling(cluster: Cluster, wanted: Counts, asked: Asked): Promise<void>
  updateInfra(cluster: Cluster, asked: Asked): Promise<void>
  configure(cluster: Cluster, machines: readonly Machine[], asked: Asked): Promise<void>
  start(cluster: Cluster, machines: readonly Machine[], asked: Asked): Promise<void>
  /** Configures and starts machines that join a working cluster. */
  scale(cluster: Cluster, joining: readonly Machine[], asked: Asked): Promise<void>
  /** Moves data off machines that are to go. */
  decommission(cluster: Cluster, leaving: readonly Machine[], asked: Asked): Promise<void>
  onTerminate(cluster: Cluster, asked: Asked): Promise<void>
}

/** The stages whose work can be looked for in the real world. */
export type Stage = 'spawned' | 'booted' | 'prepared' | 'configured' | 'started' | 'decommissioned'

export interface Backend {
  readonly plugin: Plugin
  /** Makes machines and volumes under one name, the ledger's; they boot by themselves. */
  createStack(name: string, machines: readonly Machine[], asked: Asked): Promise<void>
  /** Volumes, hosts and keys. */
  prepare(cluster: Cluster, machines: readonly Machine[], asked: Asked): Promise<void>
  /** Of any stack of the cluster. Those that are gone already are no error. */
  terminate(cluster: Cluster, ids: readonly string[], asked: Asked): Promise<void>
  /** With everything in it. */
  destroyStack(name: string, asked: Asked): Promise<void>
  /** These stacks, and whatever else there is of the cluster. Resolves when it is gone. */
  destroyCluster(cluster: Cluster, stacks: readonly string[], asked: Asked): Promise<void>
  /** Asks how its jobs stand and writes that down, while there is still a cluster to ask. */
  refreshJobs(cluster: Cluster, asked: Asked): Promise<void>
  /** Unfinished jobs become KILLED, all are detached. */
  detachJobs(cluster: Cluster, asked: Asked): Promise<void>
  /** Gives the trust back. One that is gone already, or never was, is no error. */
  deleteTrust(cluster: Cluster, asked: Asked): Promise<void>
  hasTrust(cluster: Cluster, asked: Asked): Promise<boolean>
  /** Whether every one of the machines has come so far. */
  isDone(stage: Stage, cluster: Cluster, machines: readonly Machine[], asked: Asked): Promise<boolean>
  /** Whether the machine of an instance is there, whoever asks. */
  isThere(clusterId: string, instanceId: string, signal: AbortSignal): Promise<boolean>
  /** What exists for clusters, and how to destroy what nobody owns. */
  readonly sweeper: Required<Sweeper>
}
