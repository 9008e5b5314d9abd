// The drivers of the three lifecycles, made from a backend: from a step's call to what is asked of the storage.
import { TerminalError, type Driver, type LedgerView } from 'homeostat'
import { guardOf } from 'homeostat/worlds'
import type { Backend, Kept } from './backend.ts'
import type { opensds } from './index.ts'

type Drivers = { readonly [Name in keyof typeof opensds]: Driver<(typeof opensds)[Name]> }

export function createDrivers(backend: Backend): Drivers {
  return { volume: volumeDriver(backend), snapshot: snapshotDriver(backend), attachment: attachmentDriver(backend) }
}

interface Keeping {
  readonly resource: { readonly id: string }
  readonly ledger: readonly LedgerView[]
}

const kept = ({ resource, ledger }: Keeping): Kept => ({ id: resource.id, names: ledger.map(({ name }) => name) })

/** A row that came in without its volume cannot be acted upon. */
function volumeOf<V>(volume: V | undefined): V {
  if (volume === undefined) throw new TerminalError('not_found', 'its volume is not known')
  return volume
}

function volumeDriver(backend: Backend): Drivers['volume'] {
  return {
    createVolume(call) {
      const { id, properties } = call.resource
      const { size, profile, zone } = properties
      const snapshotId = call.related.source?.id
      return backend.createVolume(
        { name: call.name!, id, size, profile, zone, snapshotId },
        guardOf(call, 'createVolume'),
      )
    },
    async volumeExists(call) {
      const size = await backend.sizeOf(call.resource.id, guardOf(call, 'volumeExists'))
      return size === null ? 'no' : 'yes'
    },
    checkCapacity: (call) => backend.checkCapacity(call.resource.id, call.input.size, guardOf(call, 'checkCapacity')),
    async growVolume(call) {
      const { size: wanted } = call.input
      const size = await backend.growVolume(call.resource.id, wanted, guardOf(call, 'growVolume'))
      if (size < wanted) throw new Error(`it has ${size} GB, not ${wanted}`)
      return { size }
    },
    /** Of a run: as large as it wants; of a volume that nobody works on: larger than recorded. */
    async realSize(call) {
      const size = await backend.sizeOf(call.resource.id, guardOf(call, 'realSize'))
      if (size === null) return 'unknown'
      const { size: wanted } = (call.input ?? {}) as { readonly size?: number }
      const isGrown = wanted === undefined ? size > call.resource.properties.size : size >= wanted
      return { answer: isGrown ? 'grown' : 'same', observed: { size } }
    },
    async measureVolume(call) {
      const size = await backend.sizeOf(call.resource.id, guardOf(call, 'measureVolume'))
      if (size === null) throw new TerminalError('not_found', 'the volume is not there')
      return { size }
    },
    deleteVolume: (call) => backend.deleteVolume(kept(call), guardOf(call, 'deleteVolume')),
    async volumeGone(call) {
      const size = await backend.sizeOf(call.resource.id, guardOf(call, 'volumeGone'))
      return size === null ? 'yes' : 'no'
    },
    sweeper: backend.sweeper('opensds.volume'),
  }
}

function snapshotDriver(backend: Backend): Drivers['snapshot'] {
  return {
    takeSnapshot(call) {
      const { id: volumeId } = volumeOf(call.related.volume)
      return backend.takeSnapshot({ name: call.name!, id: call.resource.id, volumeId }, guardOf(call, 'takeSnapshot'))
    },
    async snapshotExists(call) {
      return (await backend.hasSnapshot(call.resource.id, guardOf(call, 'snapshotExists'))) ? 'yes' : 'no'
    },
    deleteSnapshot: (call) => backend.deleteSnapshot(kept(call), guardOf(call, 'deleteSnapshot')),
    async snapshotGone(call) {
      return (await backend.hasSnapshot(call.resource.id, guardOf(call, 'snapshotGone'))) ? 'no' : 'yes'
    },
    sweeper: backend.sweeper('opensds.snapshot'),
  }
}

function attachmentDriver(backend: Backend): Drivers['attachment'] {
  return {
    attach(call) {
      const { id, properties } = volumeOf(call.related.volume)
      const { zone, multiAttach } = properties
      const { hostId } = call.resource.properties
      return backend.attach(
        { name: call.name!, id: call.resource.id, volumeId: id, zone, hostId, isShared: multiAttach },
        guardOf(call, 'attach'),
      )
    },
    async isAttached(call) {
      const found = await backend.connection(call.resource.id, guardOf(call, 'isAttached'))
      return found === 'whole' ? 'yes' : 'no'
    },
    detach: (call) => backend.detach(kept(call), guardOf(call, 'detach')),
    async isDetached(call) {
      const found = await backend.connection(call.resource.id, guardOf(call, 'isDetached'))
      return found === 'none' ? 'yes' : 'no'
    },
    sweeper: backend.sweeper('opensds.attachment'),
  }
}
