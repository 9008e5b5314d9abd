// What is simulated: the README's lifecycle, each catalogue, and small lifecycles for what these do not have. All of them hurried,
// so that what takes days happens within minutes.
import { blazar as blazarSet } from '../../catalogues/blazar/index.ts'
import { opensds as opensdsSet } from '../../catalogues/opensds/index.ts'
import { ovc as ovcSet } from '../../catalogues/ovc/index.ts'
import { sahara as saharaSet } from '../../catalogues/sahara/index.ts'
import { databases } from '../../examples/database.ts'
import { hurried } from '../../src/testing/hurried.ts'
import type { Command } from '../../src/decision/command.ts'
import type { Scenario } from '../../src/testing/simulation.ts'
import type { Around } from '../../src/testing/workload.ts'
import { boxes, crates, items, jobs, motors, pieces, wheels } from './lab-lifecycles.ts'

const sizeAbove = (property: string) => (around: Around) => ({
  [property]: Number(around.resource?.properties[property] ?? 1) + around.stream.below(3),
})

export const readme: Scenario = {
  name: 'readme',
  lifecycles: [hurried(databases)],
  inputs: { 'shop.database.grow': sizeAbove('sizeGb') },
}

export const opensds: Scenario = {
  name: 'opensds',
  lifecycles: Object.values(opensdsSet).map(hurried),
  inputs: { 'opensds.volume.extend': sizeAbove('size') },
}

/** Times within the next minute, so that leases start and end by themselves. */
const leaseTimes = ({ stream, now }: Around) => {
  const startDate = now + [2_000, 500, 9_000, 40_000][stream.below(4)]!
  return { startDate, endDate: startDate + [15_000, 3_000, 40_000][stream.below(3)]!, degraded: false }
}

/** A lease that was stuck in the middle of something when it came in, with its events and reservations. */
const stuckLease = (around: Around, id: () => string): Command[] => {
  const [status, start, end, reservation] = (
    [
      ['STARTING', 'IN_PROGRESS', 'UNDONE', 'pending'],
      ['TERMINATING', 'DONE', 'IN_PROGRESS', 'active'],
      ['UPDATING', 'UNDONE', 'UNDONE', 'pending'],
      ['DELETING', 'DONE', 'DONE', 'deleted'],
      ['CREATING', 'UNDONE', 'UNDONE', 'pending'],
    ] as const
  )[around.stream.below(5)]!
  const lease = { type: 'blazar.lease', id: id() }
  const times = leaseTimes(around)
  const event = (eventType: string, time: number, at: string): Command => ({
    kind: 'importResource',
    type: 'blazar.event',
    id: id(),
    status: at,
    parent: lease,
    properties: { eventType, time },
    by: 'someone',
  })
  return [
    { kind: 'importResource', ...lease, status, properties: times, by: 'someone' },
    event('start_lease', times.startDate, start),
    event('end_lease', times.endDate, end),
    {
      kind: 'importResource',
      type: 'blazar.reservation',
      id: id(),
      status: reservation,
      parent: lease,
      properties: { resourceType: 'host', missingResources: false, resourcesChanged: false },
      by: 'someone',
    },
  ]
}

export const blazar: Scenario = {
  name: 'blazar',
  lifecycles: Object.values(blazarSet).map(hurried),
  properties: { 'blazar.lease': leaseTimes },
  imports: stuckLease,
  inputs: {
    'blazar.lease.create': ({ stream }) => ({
      reservations: Array.from({ length: 1 + stream.below(3) }, () => ({ resourceType: 'host' })),
    }),
    'blazar.lease.update': ({ stream, now }) =>
      stream.below(2) === 0 ? { name: 'new' } : { endDate: now + 10_000 + 1_000 * stream.below(30) },
  },
}

export const sahara: Scenario = {
  name: 'sahara',
  lifecycles: Object.values(saharaSet).map(hurried),
  properties: {
    'sahara.cluster': ({ stream }) => ({
      counts: { master: 1, worker: 1 + stream.below(2) },
      isTransient: stream.below(4) === 3,
      isProtected: stream.below(8) === 7,
      unfinishedJobs: 0,
    }),
  },
  inputs: { 'sahara.cluster.scale': ({ stream }) => ({ counts: { master: 1, worker: stream.below(4) } }) },
  results: {
    'sahara.cluster.planScaling': (call, stream) => {
      const { instances = [] } = call['related'] as { instances?: readonly { id: string; status: string }[] }
      const active = instances.filter((one) => one.status === 'Active').map((one) => one.id)
      return {
        removed: active.slice(0, stream.below(active.length + 1)),
        added: Array.from({ length: stream.below(3) }, (_, index) => ({ group: 'worker', index })),
      }
    },
  },
}

const firstId = (type: string, field: string) => (around: Around) => ({
  [field]: around.living(type)[0]?.id ?? 'nobody',
})

export const ovc: Scenario = {
  name: 'ovc',
  lifecycles: Object.values(ovcSet).map(hurried),
  properties: {
    'ovc.account': () => ({ enabled: true }),
    'ovc.cloudspace': () => ({ enabled: true }),
    'ovc.machine': () => ({ verified: true, memory: 1 }),
    'ovc.image': ({ stream }) => ({ enabled: true, system: stream.below(8) === 7 }),
  },
  inputs: {
    'ovc.disk.attach': firstId('ovc.machine', 'machine'),
    'ovc.machine.migrate': firstId('ovc.node', 'node'),
    'ovc.cloudspace.migrate': firstId('ovc.node', 'node'),
  },
  links: {
    'ovc.machine': ({ living }) => (living('ovc.node')[0] ? { node: living('ovc.node')[0]!.id } : undefined),
    'ovc.disk': ({ living, stream }) =>
      living('ovc.machine')[0] && stream.below(2) === 0 ? { machine: living('ovc.machine')[0]!.id } : undefined,
  },
}

export const lab: Scenario = {
  name: 'lab',
  lifecycles: [jobs].map(hurried),
  results: { 'lab.job.connect': () => ({ port: 80 }) },
}

export const boxesAndItems: Scenario = { name: 'boxes', lifecycles: [boxes, items].map(hurried) }

export const pairs: Scenario = { name: 'pairs', lifecycles: [motors, wheels].map(hurried) }

/** One landing moves more than fits into a commit. Slow, and therefore only scripted. */
export const cascades: Scenario = { name: 'cascades', lifecycles: [crates, pieces].map(hurried) }

export const scenarios: readonly Scenario[] = [readme, opensds, blazar, sahara, ovc, lab, boxesAndItems, pairs]
