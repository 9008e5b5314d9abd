// Leases on a table top, for the tests of this folder: made by requests, or placed as an import would find them.
import { TableTop, type Name } from 'homeostat/testing'
import { blazar } from './index.ts'

export const startDate = 2_000_000
export const endDate = 12_000_000
export const dates = { startDate, endDate }

export const newTable = (): TableTop => new TableTop(Object.values(blazar))

/** Everything that the lease's run owes is done. */
export function doAll(t: TableTop, id: Name = 'L'): void {
  for (let n = 0; n < 50 && t.get(id).run !== null; n++) {
    const { item } = t.call(id)
    t.done(id, undefined, item === 0 ? undefined : item)
  }
}

/** Done until the run stands before this function. */
export function doUntil(t: TableTop, call: string, id: Name = 'L'): void {
  for (let n = 0; n < 50 && t.get(id).run !== null && t.call(id).function !== call; n++) {
    const { item } = t.call(id)
    t.done(id, undefined, item === 0 ? undefined : item)
  }
}

export const reservationsOf = (t: TableTop, id: Name = 'L') =>
  t.children(t.get(id).no).filter(({ type }) => type === 'blazar.reservation')

export function eventOf(t: TableTop, eventType: 'start' | 'end' | 'before_end', id: Name = 'L') {
  const { no } = t.get(id)
  const found = [...t.resources.values()].find(
    (one) => one.parent === no && one.properties['eventType'] === `${eventType}_lease`,
  )
  if (found === undefined) throw new Error(`${eventType} is missing`)
  return found
}

/** Lease, reservations, start event, end event. */
export function seen(t: TableTop, id: Name = 'L'): string {
  const { no } = t.get(id)
  const reservations = [...t.resources.values()]
    .filter((one) => one.parent === no && one.type === 'blazar.reservation')
    .map(({ status }) => status)
  const events = (['start', 'end'] as const).map((type) => eventOf(t, type, id).status)
  return [t.status(id), reservations.join(' '), ...events].join(' | ')
}

export interface Wanted {
  readonly reservations?: number
  readonly input?: object
  readonly id?: string
}

/** The request that makes a lease. */
export function asked(
  t: TableTop,
  { reservations = 2, input = {}, id = 'L' }: Wanted = {},
  properties: object = dates,
) {
  return t.creating('blazar.lease', id, {
    properties: properties as never,
    input: { reservations: Array.from({ length: reservations }, () => ({ resourceType: 'host' })), ...input },
  })
}

/** A lease that is PENDING. */
export function leased(wanted: Wanted = {}): TableTop {
  const t = newTable()
  t.ok(asked(t, wanted))
  doAll(t, wanted.id)
  return t
}

/** One that was started by its event. */
export function started(wanted: Wanted = {}): TableTop {
  const t = leased(wanted)
  t.now = startDate
  t.fireTimers()
  doAll(t)
  return t
}

/** A lease in each status, with a combination of table 1.4: reservations, start, end. */
export const combinations: Readonly<Record<string, readonly [readonly string[], string, string]>> = {
  CREATING: [['pending', 'pending'], 'UNDONE', 'UNDONE'],
  PENDING: [['pending', 'pending'], 'UNDONE', 'UNDONE'],
  STARTING: [['pending', 'active'], 'IN_PROGRESS', 'UNDONE'],
  ACTIVE: [['active', 'active'], 'DONE', 'UNDONE'],
  UPDATING: [['active', 'active'], 'DONE', 'UNDONE'],
  TERMINATING: [['active', 'deleted'], 'DONE', 'IN_PROGRESS'],
  TERMINATED: [['deleted', 'deleted'], 'DONE', 'DONE'],
  ERROR: [['active', 'error'], 'ERROR', 'UNDONE'],
  DELETING: [['active', 'deleted'], 'DONE', 'UNDONE'],
}

/** As an import finds it: nobody owns it. */
export function placed(status: string, combination = combinations[status]!, beforeEnd?: string): TableTop {
  const [reservations, start, end] = combination
  const t = newTable()
  const { no } = t.place('blazar.lease', 'L', status, { properties: dates })
  const parent = { no }
  reservations.forEach((one, i) =>
    t.place('blazar.reservation', `r${i}`, one, { parent, properties: { resourceType: 'host' } }),
  )
  const event = (id: string, eventType: string, is: string, time: number) =>
    t.place('blazar.event', id, is, { parent, properties: { eventType, time } })
  event('s', 'start_lease', start, startDate)
  event('e', 'end_lease', end, endDate)
  if (beforeEnd !== undefined) event('b', 'before_end_lease', beforeEnd, endDate - 3_600_000)
  return t
}
