// Leases on a world of homeostat/worlds: what is reserved is a thing of its amount in MiB that stands still while the reservation is
// pending, runs while it is active, and is gone when it is deleted. On the local world: a sparse file and a process.
import { TerminalError } from 'homeostat'
import { sweeperOf, type Guard, type World } from 'homeostat/worlds'
import type { Backend, LeaseDates, Reserved } from './backend.ts'

const mib = 2 ** 20
const leaseType = 'blazar.lease'

/** Upstream's plugin for instances cannot change what it has reserved (1.6). */
const unchangeable = 'flavor:instance'

export interface WorldBackendOptions {
  readonly resourceTypes?: readonly string[]
}

/** A world may answer nonsense: what does not look like a number is none. */
const numberIn = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

export function createWorldBackend(
  world: World,
  { resourceTypes = ['host', 'floatingip'] }: WorldBackendOptions = {},
): Backend {
  const thingsOf = ({ id }: LeaseDates, guard: Guard) => world.list({ resource: `${leaseType}/${id}` }, guard)
  const propertiesOf = ({ resourceType, lease: { startDate, endDate } }: Reserved) => ({
    resourceType,
    startDate,
    endDate,
  })
  return {
    resourceTypes,
    async reserve(reserved, guard) {
      const { name, amount } = reserved
      const thing = { kind: 'reservation', name, sizeBytes: amount * mib, properties: propertiesOf(reserved) }
      await world.create(thing, guard)
    },
    async change(reserved, guard) {
      if (reserved.resourceType === unchangeable)
        throw new TerminalError('NotImplemented', `a reservation of ${unchangeable} cannot be changed`)
      await world.resize(reserved.name, reserved.amount * mib, guard)
      await world.update(reserved.name, propertiesOf(reserved), guard)
    },
    async onStart({ name }, guard) {
      await world.start(name, guard)
    },
    async onEnd({ name }, guard) {
      await world.stop(name, guard)
      await world.destroy(name, guard)
    },
    async release(allocation, guard) {
      await world.destroy(allocation, guard)
    },
    async beforeEnd(lease, guard) {
      for (const { name } of await thingsOf(lease, guard)) {
        try {
          await world.update(name, { toldOfEnd: lease.endDate }, guard)
        } catch (error) {
          // Given back meanwhile: there is nobody to tell any more.
          if (!(error instanceof TerminalError && error.code === 'not_found')) throw error
        }
      }
    },
    async isEndTold(lease, guard) {
      const things = await thingsOf(lease, guard)
      return things.length > 0 && things.every(({ properties }) => properties['toldOfEnd'] === lease.endDate)
    },
    async look({ name }, guard) {
      const thing = await world.get(name, guard)
      if (thing === null) return null
      const { properties, sizeBytes, power } = thing
      return {
        amount: numberIn(sizeBytes) / mib,
        startDate: numberIn(properties['startDate']),
        endDate: numberIn(properties['endDate']),
        isStarted: power === 'running',
      }
    },
    sweeper: sweeperOf(world, leaseType),
  }
}
