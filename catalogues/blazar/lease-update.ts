// What it takes to update a lease, and what changes when it is done: name, dates, amounts, the times of the events (spec 1.6, 1.7).
import { z } from 'zod'
import { presentMinute, type Looked } from './lease-relations.ts'
import { moment } from './resource-types.ts'

/** 1.6: an update that raises one of these leaves the lease as it was. */
export const nonFatal = [
  'InvalidInput',
  'InvalidRange',
  'MissingParameter',
  'MalformedRequirements',
  'MalformedParameter',
  'NotEnoughHostsAvailable',
  'InvalidDate',
  'CantUpdateParameter',
  'InvalidPeriod',
  'MaxLeaseDurationException',
  'ExternalServiceFilterException',
] as const

export const updateInput = z.object({
  name: z.string().optional(),
  startDate: moment.optional(),
  endDate: moment.optional(),
  beforeEndDate: moment.optional(),
  reservations: z.array(z.object({ id: z.string(), amount: z.number().int().positive() })).optional(),
})
export type UpdateInput = z.output<typeof updateInput>
type Updating = Looked<UpdateInput>

const datesOf = ({ resource: { properties: p }, input }: Pick<Updating, 'resource' | 'input'>) => ({
  start: input.startDate ?? p.startDate,
  end: input.endDate ?? p.endDate,
})

export const updateRequires = [
  {
    says: 'an ended lease is only renamed',
    test: ({ resource, input }: Updating) =>
      resource.status !== 'TERMINATED' ||
      [input.startDate, input.endDate, input.beforeEndDate, input.reservations].every((value) => value === undefined),
  },
  {
    says: 'the start of a started lease stays',
    test: ({ resource, related, input }: Updating) =>
      input.startDate === undefined ||
      input.startDate === resource.properties.startDate ||
      related.start?.status === 'UNDONE',
  },
  {
    says: 'the start does not move into the past',
    test: ({ resource, input, now }: Updating) =>
      input.startDate === undefined ||
      input.startDate === resource.properties.startDate ||
      input.startDate >= presentMinute(now),
  },
  {
    says: 'the end lies in the future',
    test: ({ input, now }: Updating) => input.endDate === undefined || input.endDate > now,
  },
  {
    says: 'the end lies after the start',
    test: (view: Updating) => datesOf(view).end > datesOf(view).start,
  },
  {
    says: 'the before-end date lies inside the lease',
    test: (view: Updating) => {
      const { beforeEndDate: b } = view.input
      return b === undefined || (b > datesOf(view).start && b < datesOf(view).end)
    },
  },
  {
    says: 'every reservation that is named belongs to the lease, and is named once',
    test: ({ related, input: { reservations = [] } }: Updating) =>
      reservations.every(({ id }) => related.reservations.some((one) => one.id === id)) &&
      new Set(reservations.map(({ id }) => id)).size === reservations.length,
  },
]

type View = Pick<Updating, 'resource' | 'input'>
type EventItem = { readonly item: { readonly properties: { readonly eventType: string; readonly time: number } } }
type ReservationItem = { readonly item: { readonly id: string; readonly properties: { readonly amount: number } } }

/** 1.7: at the given date, else as far from the end as before; never before the start. */
function beforeEndTime(view: View & EventItem): number {
  const { start, end } = datesOf(view)
  const distance = view.resource.properties.endDate - view.item.properties.time
  return view.input.beforeEndDate ?? Math.max(start, end - distance)
}

/** 1.7: a lease that was to end without a word is announced after all. */
const newAnnouncement = ({ input: { beforeEndDate }, related }: Pick<Updating, 'input' | 'related'>) =>
  beforeEndDate === undefined || related.beforeEnd !== undefined
    ? []
    : [{ eventType: 'before_end_lease' as const, time: beforeEndDate }]

/** Only what really changes is written. */
const ifMoved = (date: 'startDate' | 'endDate') => ({
  only: { says: `the ${date} is given`, test: ({ input }: View) => input[date] !== undefined },
  set: { time: ({ input, item }: View & EventItem) => input[date] ?? item.properties.time },
})

/** What changes with the landing of an update. */
export const updated = {
  set: {
    name: ({ input, resource }: View) => input.name ?? resource.properties.name,
    startDate: (view: View) => datesOf(view).start,
    endDate: (view: View) => datesOf(view).end,
  },
  add: { events: { status: 'UNDONE', each: newAnnouncement } },
  move: {
    // B6: one that is done is scheduled again when it moves; one in ERROR is not.
    events: {
      from: ['DONE'],
      only: {
        says: 'it announces the end, and is moved',
        test: ({ item, input, resource }: View & EventItem) =>
          item.properties.eventType === 'before_end_lease' &&
          ((input.endDate ?? resource.properties.endDate) !== resource.properties.endDate ||
            (input.beforeEndDate ?? item.properties.time) !== item.properties.time),
      },
      to: 'UNDONE',
    },
    start: ifMoved('startDate'),
    end: ifMoved('endDate'),
    beforeEnd: {
      only: {
        says: 'its time changes',
        test: (view: View & EventItem) => beforeEndTime(view) !== view.item.properties.time,
      },
      set: { time: beforeEndTime },
    },
    reservations: {
      only: {
        says: 'it is named',
        test: ({ input, item }: View & ReservationItem) =>
          input.reservations?.some(({ id }) => id === item.id) ?? false,
      },
      set: {
        amount: ({ input, item }: View & ReservationItem) =>
          input.reservations?.find(({ id }) => id === item.id)?.amount ?? item.properties.amount,
      },
    },
  },
} as const
