// Small worlds of every catalogue: one resource of each type in each status, with what it needs around it.
import { blazar } from '../../catalogues/blazar/index.ts'
import { opensds } from '../../catalogues/opensds/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import { databases } from '../../examples/database.ts'
import type { ImportResource } from '../../src/decision/command.ts'
import type { Resource } from '../../src/decision/state.ts'
import type { AnyLifecycle } from '../../src/lifecycle/lifecycle.ts'
import { TableTop } from '../../src/testing/table-top.ts'
import { workshop } from './workshop.ts'

/** A small world around one resource in one status. */
export interface Family {
  readonly type: string
  readonly lifecycles: readonly AnyLifecycle[]
  readonly build: (t: TableTop, status: string) => Resource
  readonly inputs: Readonly<Record<string, unknown>>
  readonly results?: Readonly<Record<string, unknown>>
}

const under = (parent: Resource): Partial<ImportResource> => ({ parent: { no: parent.no } })

const lease = { startDate: 10, endDate: 20, degraded: false }
const reservation = { resourceType: 'a', missingResources: false, resourcesChanged: false }
/** Reservations, start event and end event that table 1.4 wants. */
const combinations: Record<string, readonly [readonly string[], string, string]> = {
  STARTING: [['pending', 'active'], 'IN_PROGRESS', 'UNDONE'],
  ACTIVE: [['active', 'active'], 'DONE', 'UNDONE'],
  TERMINATING: [['active', 'deleted'], 'DONE', 'IN_PROGRESS'],
  TERMINATED: [['deleted', 'deleted'], 'DONE', 'DONE'],
  UPDATING: [['active', 'active'], 'DONE', 'UNDONE'],
  ERROR: [['active', 'error'], 'ERROR', 'UNDONE'],
  DELETING: [['active', 'deleted'], 'DONE', 'UNDONE'],
}

function leaseIn(t: TableTop, status: string): Resource {
  const placed = t.place('blazar.lease', 'L', status, { properties: lease })
  const [reservations, start, end] = combinations[status] ?? [['pending', 'pending'], 'UNDONE', 'UNDONE']
  if (status === 'gone') return placed
  reservations.forEach((one, i) =>
    t.place('blazar.reservation', `r${i}`, one, { ...under(placed), properties: reservation }),
  )
  const event = (id: string, eventType: string, is: string, time: number) =>
    t.place('blazar.event', id, is, { ...under(placed), properties: { eventType, time } })
  event('s', 'start_lease', start, 10)
  event('e', 'end_lease', end, 20)
  event('b', 'before_end_lease', 'UNDONE', 15)
  return t.get(placed)
}

function attachmentIn(t: TableTop, status: string): Resource {
  const of: Record<string, string> = {
    Attached: 'InUse',
    ErrorDetaching: 'InUse',
    Attaching: 'Attaching',
    Detaching: 'Detaching',
  }
  const volume = t.place('opensds.volume', 'v', of[status] ?? 'Available', {
    properties: { size: 1, multiAttach: true },
  })
  return t.place('opensds.attachment', 'a', status, { ...under(volume), properties: { hostId: 'h' } })
}

function volumeIn(t: TableTop, status: string): Resource {
  const placed = t.place('opensds.volume', 'v', status, { properties: { size: 1, multiAttach: true } })
  const attached: Record<string, string> = { InUse: 'Attached', Attaching: 'Attaching', Detaching: 'Detaching' }
  if (attached[status])
    t.place('opensds.attachment', 'a', attached[status], { ...under(placed), properties: { hostId: 'h' } })
  return placed
}

function clusterIn(t: TableTop, status: string): Resource {
  const properties = { counts: { w: 2 }, isTransient: true, isProtected: false, unfinishedJobs: 0 }
  const placed = t.place('sahara.cluster', 'c', status, { properties })
  for (const [index, is] of ['Active', status === 'Deleting' ? 'Deleting' : 'Spawning'].entries())
    if (status !== 'gone')
      t.place('sahara.instance', `i${index}`, is, { ...under(placed), properties: { group: 'w', index } })
  return placed
}

const cloud = { enabled: true, system: false, verified: true, memory: 1, size: 1 }
/** account p > cloudspace q > machine m on node n, with disk k; one of them in the wanted status. */
function cloudWith(type: string) {
  return (t: TableTop, status: string): Resource => {
    const is = (one: string, usual: string) => (one === type ? status : usual)
    const account = t.place('ovc.account', 'p', is('ovc.account', 'CONFIRMED'), { properties: cloud })
    const node = t.place('ovc.node', 'n', is('ovc.node', 'ENABLED'), {})
    if (type === 'ovc.node') return node
    if (type === 'ovc.account' && status === 'DESTROYED') return account
    const cloudspace = t.place('ovc.cloudspace', 'q', is('ovc.cloudspace', 'DEPLOYED'), {
      ...under(account),
      properties: cloud,
    })
    if (type === 'ovc.cloudspace' && status === 'DESTROYED') return cloudspace
    const links = { links: { node: 'n' } }
    const machine = t.place('ovc.machine', 'm', is('ovc.machine', 'RUNNING'), {
      ...under(cloudspace),
      ...links,
      properties: cloud,
    })
    const disk = t.place('ovc.disk', 'k', is('ovc.disk', 'ASSIGNED'), {
      ...under(account),
      links: { machine: 'm' },
      properties: cloud,
      ledger: [{ kind: 'disk', ref: 1 }],
    })
    const image = t.place('ovc.image', 'i', is('ovc.image', 'CREATED'), { ...under(account), properties: cloud })
    return [account, cloudspace, machine, disk, image].find((one) => one.type === type)!
  }
}
const ovcInputs = {
  update: { name: 'x' },
  migrate: { node: 'n' },
  attach: { machine: 'm' },
  resize: { size: 2, memory: 2 },
  addDisk: { size: 1 },
  attachDisk: { disk: 'k' },
  detachDisk: { disk: 'k' },
  deleteDisk: { disk: 'k' },
  limitDisk: { disk: 'k', iops: 1 },
  clone: { name: 'x' },
  createTemplate: { name: 'x' },
}

/** A site with two tools, one of them with parts and in a rack; one of all in the wanted status. */
function shopWith(type: string) {
  return (t: TableTop, status: string): Resource => {
    const is = (one: string, usual: string) => (one === type ? status : usual)
    const rack = t.place('w.rack', 'rack', is('w.rack', 'Up'), { ledger: [{ kind: 'rack', ref: 1 }] })
    const site = t.place('w.site', 'site', is('w.site', 'Open'), { ledger: [{ kind: 'house', ref: 1 }] })
    if (type === 'w.site' && status === 'Gone') return site
    const usual = status === 'Clearing' ? 'Packed' : 'Idle'
    const tool = t.place('w.tool', 'tool', is('w.tool', usual), {
      ...under(site),
      links: type === 'w.rack' && status === 'Down' ? {} : { rack: 'rack' },
      properties: { rpm: 3 },
      ledger: [{ kind: 'steel', ref: 1 }],
    })
    t.place('w.tool', 'other', type === 'w.site' && status === 'Closed' ? 'Idle' : 'Busy', {
      ...under(site),
      properties: { rpm: 1 },
    })
    if (type !== 'w.tool' || status !== 'Gone') {
      t.place('w.part', 'loose', 'Loose', { ...under(tool), properties: { size: 1 } })
      t.place('w.part', 'fixed', 'Fixed', { ...under(tool), properties: { size: 1 } })
    }
    return [rack, site, tool].find((one) => one.type === type)!
  }
}

export const families: readonly Family[] = [
  ...['w.site', 'w.tool', 'w.rack'].map((type) => ({
    type,
    lifecycles: workshop,
    build: shopWith(type),
    inputs: { hang: { rack: 'rack' }, create: { parts: [1, 2] } },
    results: { spin: { rpm: 9 }, unlock: { key: 'k' } },
  })),
  {
    type: 'shop.database',
    lifecycles: [databases],
    build: (t, status) =>
      t.place('shop.database', 'd', status, { properties: { sizeGb: 1 }, ledger: [{ kind: 'disk', ref: 1 }] }),
    inputs: { grow: { sizeGb: 2 } },
    results: { growDisk: { device: 'x' } },
  },
  {
    type: 'blazar.lease',
    lifecycles: Object.values(blazar),
    build: leaseIn,
    inputs: { update: { endDate: 9e12 }, create: { reservations: [{ resourceType: 'a' }] } },
  },
  {
    type: 'blazar.reservation',
    lifecycles: Object.values(blazar),
    build: (t, status) =>
      t.place('blazar.reservation', 'x', status, { ...under(leaseIn(t, 'ERROR')), properties: reservation }),
    inputs: {},
  },
  {
    type: 'blazar.event',
    lifecycles: Object.values(blazar),
    build: (t, status) => {
      const parent = leaseIn(t, 'ACTIVE')
      return t.place('blazar.event', 'x', status, {
        ...under(parent),
        properties: { eventType: 'before_end_lease', time: 15 },
      })
    },
    inputs: {},
  },
  { type: 'opensds.volume', lifecycles: Object.values(opensds), build: volumeIn, inputs: { extend: { size: 2 } } },
  { type: 'opensds.attachment', lifecycles: Object.values(opensds), build: attachmentIn, inputs: {} },
  {
    type: 'opensds.snapshot',
    lifecycles: Object.values(opensds),
    build: (t, status) =>
      t.place('opensds.snapshot', 'x', status, { ...under(volumeIn(t, 'Available')), properties: { size: 1 } }),
    inputs: {},
  },
  {
    type: 'sahara.cluster',
    lifecycles: Object.values(sahara),
    build: clusterIn,
    inputs: { scale: { counts: { w: 2 } } },
    results: { planScaling: { removed: ['i0'], added: [{ group: 'w', index: 9 }] } },
  },
  {
    type: 'sahara.instance',
    lifecycles: Object.values(sahara),
    build: (t, status) =>
      t.place('sahara.instance', 'x', status, {
        ...under(clusterIn(t, 'Active')),
        properties: { group: 'w', index: 7 },
      }),
    inputs: {},
  },
  ...['ovc.account', 'ovc.cloudspace', 'ovc.machine', 'ovc.disk', 'ovc.image', 'ovc.node'].map((type) => ({
    type,
    lifecycles: Object.values(ovc),
    build: cloudWith(type),
    inputs: ovcInputs,
  })),
]

const tables = new Map<Family, TableTop>()

/** With nothing on it. Its lifecycles are compiled once, not for every world. */
export function emptyTable(family: Family): TableTop {
  const table = tables.get(family) ?? new TableTop(family.lifecycles)
  tables.set(family, table)
  return new TableTop(table)
}

export const statusesOf = (family: Family): string[] => [...emptyTable(family).plans.get(family.type)!.kinds.keys()]

export function worldIn(family: Family, status: string): TableTop {
  const t = emptyTable(family)
  family.build(t, status)
  return t
}
