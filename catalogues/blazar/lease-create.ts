// What it takes to create a lease, and the reservations and events that come to be with it (spec 1.6, 1.7).
import { z } from 'zod'
import { presentMinute, type Looked } from './lease-relations.ts'
import { moment } from './resource-types.ts'

export const createInput = z.object({
  reservations: z.array(z.object({ resourceType: z.string().min(1), amount: z.number().int().positive().default(1) })),
  beforeEndDate: moment.optional(),
  /** 0: nobody is told before the end. */
  minutesBeforeEndLease: z.number().min(0).default(60),
})
type Creating = Looked<z.output<typeof createInput>>

export const createRequires = [
  {
    says: 'the start lies not in the past',
    test: ({ resource: { properties: p }, now }: Creating) => p.startDate >= presentMinute(now),
  },
  {
    says: 'the end lies after the start',
    test: ({ resource: { properties: p } }: Creating) => p.endDate > p.startDate,
  },
  {
    says: 'the before-end date lies inside the lease',
    test: ({ resource: { properties: p }, input: { beforeEndDate: b } }: Creating) =>
      b === undefined || (b > p.startDate && b < p.endDate),
  },
]

export const reservationsOf = ({ input }: Creating) =>
  input.reservations.map((one) => ({ ...one, missingResources: false, resourcesChanged: false }))

export function eventsOf({ resource: { properties: p }, input }: Creating) {
  const { beforeEndDate, minutesBeforeEndLease: minutes } = input
  const time = beforeEndDate ?? Math.max(p.startDate, p.endDate - minutes * 60_000)
  const isTold = beforeEndDate !== undefined || minutes > 0
  return [
    { eventType: 'start_lease' as const, time: p.startDate },
    { eventType: 'end_lease' as const, time: p.endDate },
    ...(isTold ? [{ eventType: 'before_end_lease' as const, time }] : []),
  ]
}
