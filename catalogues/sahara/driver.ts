// The drivers of Sahara's lifecycles, made from a backend: which of its functions each step calls, and what the probes look for.
import { again, TerminalError, type Driver } from 'homeostat'
import { guardOf } from 'homeostat/worlds'
import type { Asked, Backend, Cluster, Machine, Stage } from './backend.ts'
import type { clusters } from './cluster.ts'
import type { instances } from './instance.ts'
import type { Counts } from './resource-types.ts'
import { memberName, planOf, type Member } from './scaling.ts'

export interface Drivers {
  readonly cluster: Driver<typeof clusters>
  readonly instance: Driver<typeof instances>
}

interface AnyCall {
  readonly resource: {
    readonly id: string
    readonly type: string
    readonly status: string
    readonly properties: { readonly counts: Counts }
  }
  readonly related: { readonly instances: readonly Member[] }
  readonly key: string
  readonly epoch: number
  readonly forced: boolean
  readonly signal: AbortSignal
}

const clusterOf = ({ resource: { id, properties } }: AnyCall): Cluster => ({ id, counts: properties.counts })

const machineOf = (member: Member): Machine => ({
  id: member.id,
  name: memberName(member),
  group: member.properties.group,
})

const machinesIn = ({ related }: AnyCall, status: string): readonly Machine[] =>
  related.instances.filter((one) => one.status === status).map(machineOf)

/** What to look for in each status, and on which instances. Stages that are not here leave no trace: they are repeated. */
const traces: Readonly<Record<string, { readonly stages: readonly Stage[]; readonly of: string }>> = {
  Spawning: { stages: ['spawned'], of: 'Spawning' },
  Waiting: { stages: ['booted'], of: 'Spawning' },
  Preparing: { stages: ['prepared'], of: 'Spawning' },
  Configuring: { stages: ['configured'], of: 'Spawning' },
  Starting: { stages: ['started'], of: 'Spawning' },
  Decommissioning: { stages: ['decommissioned'], of: 'Decommissioning' },
  'Adding Instances': { stages: ['spawned', 'booted', 'prepared'], of: 'Spawning' },
}

/** How long a forced delete listens for a confirmation. */
const brieflyMs = 1_000

export function createDrivers(backend: Backend): Drivers {
  const { plugin } = backend
  const isBooted = (call: AnyCall, asked: Asked) =>
    backend.isDone('booted', clusterOf(call), machinesIn(call, 'Spawning'), asked)

  const cluster: Driver<typeof clusters> = {
    validate: (call) => plugin.validate(clusterOf(call), guardOf(call, 'validate')),
    updateInfra: (call) => plugin.updateInfra(clusterOf(call), guardOf(call, 'updateInfra')),
    spawn: (call) => backend.createStack(call.name!, machinesIn(call, 'Spawning'), guardOf(call, 'spawn')),
    async awaitBoot(call) {
      if (!(await isBooted(call, guardOf(call, 'awaitBoot')))) return again('1s')
    },
    prepare: (call) => backend.prepare(clusterOf(call), machinesIn(call, 'Spawning'), guardOf(call, 'prepare')),
    configure: (call) => plugin.configure(clusterOf(call), machinesIn(call, 'Spawning'), guardOf(call, 'configure')),
    startServices: (call) =>
      plugin.start(clusterOf(call), machinesIn(call, 'Spawning'), guardOf(call, 'startServices')),

    validateScaling: (call) =>
      plugin.validateScaling(clusterOf(call), call.input.counts, guardOf(call, 'validateScaling')),
    planScaling: async ({ related, input }) => planOf(related.instances, input.counts, input.instances),
    decommission: (call) =>
      plugin.decommission(clusterOf(call), machinesIn(call, 'Decommissioning'), guardOf(call, 'decommission')),
    deleteInstances: (call) => backend.terminate(clusterOf(call), [call.item.id], guardOf(call, 'deleteInstances')),
    async addInstances(call) {
      const asked = guardOf(call, 'addInstances')
      const joining = machinesIn(call, 'Spawning')
      await backend.createStack(call.name!, joining, asked)
      if (!(await isBooted(call, asked))) return again('1s')
      await backend.prepare(clusterOf(call), joining, asked)
    },
    configureNew: (call) => plugin.scale(clusterOf(call), machinesIn(call, 'Spawning'), guardOf(call, 'configureNew')),
    finishScaleDown: (call) =>
      backend.terminate(clusterOf(call), call.results.planScaling?.removed ?? [], guardOf(call, 'finishScaleDown')),
    removeNewInstances: (call) => backend.destroyStack(call.name!, guardOf(call, 'removeNewInstances')),

    async awaitTrust(call) {
      if (!(await backend.hasTrust(clusterOf(call), guardOf(call, 'awaitTrust')))) return again('90s')
    },
    refreshJobs: (call) => briefly(call, backend.refreshJobs(clusterOf(call), guardOf(call, 'refreshJobs'))),
    onTerminate: (call) => briefly(call, plugin.onTerminate(clusterOf(call), guardOf(call, 'onTerminate'))),
    terminateInstances: (call) =>
      briefly(
        call,
        backend.destroyCluster(
          clusterOf(call),
          call.ledger.map(({ name }) => name),
          guardOf(call, 'terminateInstances'),
        ),
      ),
    detachJobs: (call) => briefly(call, backend.detachJobs(clusterOf(call), guardOf(call, 'detachJobs'))),
    deleteTrust: (call) => briefly(call, backend.deleteTrust(clusterOf(call), guardOf(call, 'deleteTrust'))),

    async stageDone(call) {
      const trace = traces[call.resource.status]
      if (trace === undefined) return 'no'
      const machines = machinesIn(call, trace.of)
      for (const stage of trace.stages)
        if (!(await backend.isDone(stage, clusterOf(call), machines, guardOf(call, 'stageDone')))) return 'no'
      return 'yes'
    },
    sweeper: backend.sweeper,
  }

  const instance: Driver<typeof instances> = {
    async machine({ resource, related, signal }) {
      const owner = related.cluster?.id ?? ''
      return (await backend.isThere(owner, resource.id, signal)) ? 'there' : 'absent'
    },
  }
  return { cluster, instance }
}

/** Forced, it is sent once and not waited for: what was not confirmed at once is left to the sweeper. */
async function briefly({ forced }: AnyCall, sent: Promise<void>): Promise<void> {
  if (!forced) return sent
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TerminalError('not_awaited', 'it was sent, and not waited for')), brieflyMs)
  })
  try {
    await Promise.race([sent, tooLong])
  } finally {
    clearTimeout(timer)
  }
}
