// The end of the scene: what is claimed is checked here, against the files, from outside.
import type { Resource, StoredEvent } from '../../src/decision/state.ts'
import { disksIn, serversIn, sizeGbOf } from './world.ts'

export interface Check {
  readonly says: string
  readonly faults: readonly string[]
}

export interface Evidence {
  readonly folder: string
  readonly resources: readonly Resource[]
  readonly events: readonly StoredEvent[]
  /** Requests that were acknowledged: operation and database. */
  readonly acknowledged: readonly { readonly operation: string; readonly id: string }[]
}

const settled = ['Ready', 'Broken', 'Gone']

export function audit({ folder, resources, events, acknowledged }: Evidence): Check[] {
  const byNo = new Map(resources.map((one) => [one.no, one.id]))
  const accepted = events.filter(({ kind }) => kind === 'accepted')
  const times = (operation: string, id: string) =>
    accepted.filter((one) => byNo.get(one.no) === id && one.detail?.['operation'] === operation && one.by === 'you')
      .length
  const claimed = resources.flatMap(({ ledger }) => ledger.map(({ name }) => name))
  const ready = resources.filter(({ status }) => status === 'Ready')
  const disks = disksIn(folder)
  const servers = serversIn(folder)
  return [
    {
      says: 'nothing is in transition, and nobody owns a run',
      faults: resources
        .filter(({ status, run }) => !settled.includes(status) || run !== null)
        .map(({ id, status }) => `${id} is ${status}`),
    },
    {
      says: `all ${acknowledged.length} acknowledged requests are in the store, each once`,
      faults: acknowledged
        .filter(({ operation, id }) => times(operation, id) !== 1)
        .map(({ operation, id }) => `${operation} of ${id} is there ${times(operation, id)} times`),
    },
    {
      says: `${disks.length} disks exist, exactly those that the records claim`,
      faults: [
        ...disks.filter((name) => !claimed.includes(name)).map((name) => `nobody claims ${name}`),
        ...claimed.filter((name) => !disks.includes(name)).map((name) => `${name} is missing`),
      ],
    },
    {
      says: `each of the ${ready.length} ready databases has a disk of the size on record and a running server`,
      faults: [
        ...ready
          .filter(({ ledger, properties }) => sizeGbOf(folder, ledger[0]?.name ?? '') !== properties['sizeGb'])
          .map(({ id }) => `${id} has a disk of another size`),
        ...ready.filter(({ id }) => !servers.includes(id)).map(({ id }) => `${id} has no server`),
        ...servers
          .filter((id) => !ready.some((one) => one.id === id))
          .map((id) => `${id} has a server and is not ready`),
      ],
    },
    {
      says: `the history has ${events.length} events, numbered without a gap`,
      faults: events.filter(({ n }, index) => n !== index + 1).map(({ n }) => `event ${n} is out of order`),
    },
  ]
}
