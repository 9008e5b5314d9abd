// Drivers for leases, reservations and events, made from a backend. They keep no state; key and epoch are handed on.
import { TerminalError, type Call, type Driver } from 'homeostat'
import { guardOf } from 'homeostat/worlds'
import type { Backend, LeaseDates, Reserved } from './backend.ts'
import type { events, leases, reservations } from './index.ts'
import type { UpdateInput } from './lease-update.ts'

interface LeaseView {
  readonly id: string
  readonly type: string
  readonly properties: { readonly startDate: number; readonly endDate: number }
}
interface ReservationView {
  readonly id: string
  readonly status: string
  readonly properties: { readonly resourceType: string; readonly amount: number }
}
type LeaseCall = Pick<Call<any, any, any, any, any>, 'ledger' | 'name' | 'key' | 'epoch' | 'signal'> & {
  readonly resource: LeaseView
}
type UpdateCall = LeaseCall & { readonly related: { readonly reservations: readonly ReservationView[] } }

const datesOf = ({ id, properties: { startDate, endDate } }: LeaseView): LeaseDates => ({ id, startDate, endDate })

/** Where everything of the lease is made; of one that was imported without a ledger: nowhere. */
function allocationOf({ name, ledger, resource }: LeaseCall): string {
  const entry = ledger.findLast(({ kind }) => kind === 'allocation')
  return name ?? entry?.name ?? `${resource.type}/${resource.id}/allocation/0`
}

/** The reservation as it is recorded. */
const reservedOf = (call: LeaseCall, { id, properties }: ReservationView): Reserved => ({
  lease: datesOf(call.resource),
  id,
  resourceType: properties.resourceType,
  amount: properties.amount,
  name: `${allocationOf(call)}/${id}`,
})

const isHeld = ({ status }: ReservationView): boolean => status === 'pending' || status === 'active'

/** What an update wants of every reservation that it concerns: a new name concerns none. */
function wantedBy(call: UpdateCall, { startDate, endDate, reservations }: UpdateInput): Reserved[] {
  const { resource } = call
  const areDatesMoved = startDate !== undefined || endDate !== undefined
  const lease = {
    id: resource.id,
    startDate: startDate ?? resource.properties.startDate,
    endDate: endDate ?? resource.properties.endDate,
  }
  return call.related.reservations.filter(isHeld).flatMap((one) => {
    const amount = reservations?.find(({ id }) => id === one.id)?.amount
    if (amount === undefined && !areDatesMoved) return []
    return [{ ...reservedOf(call, one), lease, ...(amount === undefined ? {} : { amount }) }]
  })
}

export function createDrivers(backend: Backend): {
  readonly lease: Driver<typeof leases>
  readonly reservation: Driver<typeof reservations>
  readonly event: Driver<typeof events>
} {
  const lease: Driver<typeof leases> = {
    async reserveResources(call) {
      const reserved = reservedOf(call, call.item)
      if (!backend.resourceTypes.includes(reserved.resourceType))
        throw new TerminalError(
          'UnsupportedResourceType',
          `resource type ${reserved.resourceType} is not supported; there is ${backend.resourceTypes.join(', ')}`,
        )
      await backend.reserve(reserved, guardOf(call, 'reserveResources'))
    },
    async releaseResources(call) {
      await backend.release(allocationOf(call), guardOf(call, 'releaseResources'))
    },
    async startReservations(call) {
      await backend.onStart(reservedOf(call, call.item), guardOf(call, 'startReservations'))
    },
    async endReservations(call) {
      await backend.onEnd(reservedOf(call, call.item), guardOf(call, 'endReservations'))
    },
    async endUsage(call) {
      try {
        await backend.endUsage?.(datesOf(call.resource), guardOf(call, 'endUsage'))
      } catch {
        // 1.6: its errors are ignored; a lease ends whether it is counted or not.
      }
    },
    async updateReservations(call) {
      for (const wanted of wantedBy(call, call.input)) await backend.change(wanted, guardOf(call, 'updateReservations'))
    },
    /** The record still has what was before. */
    async restoreReservations(call) {
      for (const { id } of wantedBy(call, call.input)) {
        const before = reservedOf(
          call,
          call.related.reservations.find((one) => one.id === id)!,
        )
        if ((await backend.look(before, guardOf(call, 'restoreReservations'))) !== null)
          await backend.change(before, guardOf(call, 'restoreReservations'))
      }
    },
    async reservationsUpdated(call) {
      for (const wanted of wantedBy(call, call.input as UpdateInput)) {
        const seen = await backend.look(wanted, guardOf(call, 'reservationsUpdated'))
        const { startDate, endDate } = wanted.lease
        const isSo = seen?.amount === wanted.amount && seen.startDate === startDate && seen.endDate === endDate
        if (!isSo) return 'no'
      }
      return 'yes'
    },
    ...(backend.sweeper === undefined ? {} : { sweeper: backend.sweeper }),
  }
  const event: Driver<typeof events> = {
    async announceEnd(call) {
      await backend.beforeEnd(datesOf(call.related.lease!), guardOf(call, 'announceEnd'))
    },
    async endAnnounced(call) {
      if (call.related.lease === undefined) return 'no'
      return (await backend.isEndTold(datesOf(call.related.lease), guardOf(call, 'endAnnounced'))) ? 'yes' : 'no'
    },
  }
  return { lease, reservation: {}, event }
}
