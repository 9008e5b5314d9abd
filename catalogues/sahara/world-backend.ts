// The backend on a world: a stack is a thing, each machine a part of it that stores and runs; how far a machine has come stands in
// its properties. The same on the local and on the simulated world.
import { sweeperOf, type Look, type Thing, type World } from 'homeostat/worlds'
import type { Asked, Backend, Cluster, Machine, Plugin, Stage } from './backend.ts'

const type = 'sahara.cluster'
const volumeBytes = 2 ** 30

/** A job that ran on a cluster; null: on none any more. */
export interface Job {
  cluster: string | null
  status: string
}

const finished = new Set(['SUCCEEDED', 'FAILED', 'KILLED'])

export interface WorldBackendOptions {
  /** What runs on the clusters; changed when a cluster goes. */
  readonly jobs?: readonly Job[]
  /** How a job stands by now, when it is asked before its cluster goes (default: as recorded). */
  readonly jobStatus?: (job: Job) => string
  /** The plugin's own opinion of sizes: throws what speaks against them. */
  readonly judge?: (counts: Readonly<Record<string, number>>) => void
  /** Whether there is a trust for a cluster (default: always). */
  readonly hasTrust?: (clusterId: string) => boolean
}

export function createWorldBackend(world: World, options: WorldBackendOptions = {}): Backend {
  const { judge = () => {}, hasTrust = () => true, jobs = [], jobStatus = ({ status }) => status } = options
  const jobsOf = ({ id }: Cluster) => jobs.filter(({ cluster }) => cluster === id)

  /** The machines of a cluster that are there, by the id of their instance. */
  async function machinesOf(clusterId: string, look: Look): Promise<ReadonlyMap<string, Thing>> {
    const things = await world.list({ resource: `${type}/${clusterId}` }, look)
    // A world may answer nonsense: better to ask again than to believe it.
    if (things.some(({ name, properties }) => typeof name !== 'string' || typeof properties !== 'object'))
      throw new Error('the list of machines makes no sense')
    return new Map(
      things.flatMap((thing) => {
        const id = thing.properties['instance']
        return thing.kind === 'instance' && typeof id === 'string' ? [[id, thing] as const] : []
      }),
    )
  }

  /** Notes on each machine that it has come so far. */
  async function mark(cluster: Cluster, machines: readonly Machine[], asked: Asked, marks: Marks): Promise<void> {
    const there = await machinesOf(cluster.id, asked)
    for (const { id, name } of machines) {
      const thing = there.get(id)
      if (thing === undefined) throw new Error(`machine ${name} of ${cluster.id} is not there`)
      await world.update(thing.name, marks, asked)
    }
  }

  /** For work that leaves no trace in the world: it can be disturbed like any other. */
  const look = async (cluster: Cluster, asked: Asked): Promise<void> => void (await machinesOf(cluster.id, asked))

  const plugin: Plugin = {
    async validate(cluster, asked) {
      await look(cluster, asked)
      judge(cluster.counts)
    },
    async validateScaling(cluster, wanted, asked) {
      await look(cluster, asked)
      judge({ ...cluster.counts, ...wanted })
    },
    updateInfra: look,
    configure: (cluster, machines, asked) => mark(cluster, machines, asked, { configured: true }),
    start: (cluster, machines, asked) => mark(cluster, machines, asked, { started: true }),
    scale: (cluster, joining, asked) => mark(cluster, joining, asked, { configured: true, started: true }),
    decommission: (cluster, leaving, asked) => mark(cluster, leaving, asked, { decommissioned: true }),
    onTerminate: look,
  }

  return {
    plugin,
    async createStack(name, machines, asked) {
      await world.create({ kind: 'stack', name }, asked)
      for (const { id, name: part, group } of machines) {
        const machine = `${name}/${part}`
        const properties = { instance: id, group }
        await world.create({ kind: 'instance', name: machine, properties, sizeBytes: volumeBytes }, asked)
        await world.start(machine, asked)
      }
    },
    prepare: (cluster, machines, asked) => mark(cluster, machines, asked, { prepared: true }),
    async terminate(cluster, ids, asked) {
      const there = await machinesOf(cluster.id, asked)
      for (const id of ids) {
        const thing = there.get(id)
        if (thing !== undefined) await world.destroy(thing.name, asked)
      }
    },
    destroyStack: (name, asked) => world.destroy(name, asked),
    async destroyCluster(cluster, stacks, asked) {
      for (const name of stacks) await world.destroy(name, asked)
      for (const { name } of (await machinesOf(cluster.id, asked)).values()) await world.destroy(name, asked)
    },
    async refreshJobs(cluster, asked) {
      await look(cluster, asked)
      for (const job of jobsOf(cluster)) job.status = jobStatus(job)
    },
    async detachJobs(cluster, asked) {
      await look(cluster, asked)
      for (const job of jobsOf(cluster)) {
        if (!finished.has(job.status)) job.status = 'KILLED'
        job.cluster = null
      }
    },
    deleteTrust: look,
    async hasTrust(cluster, asked) {
      await look(cluster, asked)
      return hasTrust(cluster.id)
    },
    async isDone(stage, cluster, machines, asked) {
      const there = await machinesOf(cluster.id, asked)
      return machines.every(({ id }) => {
        const thing = there.get(id)
        return thing !== undefined && hasComeTo(stage, thing)
      })
    },
    async isThere(clusterId, instanceId, signal) {
      return (await machinesOf(clusterId, { signal })).has(instanceId)
    },
    sweeper: sweeperOf(world, type),
  }
}

type Marks = { readonly [M in Stage]?: true }

const hasComeTo = (stage: Stage, { power, properties }: Thing): boolean =>
  stage === 'spawned' ? true : stage === 'booted' ? power === 'running' : properties[stage] === true
