// The drivers of every lifecycle of this catalogue, made from a Backend: they hand on key and epoch, and know nothing else.
import { again, TerminalError, type Driver, type Sweeper } from 'homeostat'
import { guardOf } from 'homeostat/worlds'
import { ownsBusy } from './account.ts'
import type { Backend, Made } from './backend.ts'
import type { ovc } from './index.ts'
import { busyMachines, isOneOf } from './related-statuses.ts'

type Drivers = { readonly [K in Exclude<keyof typeof ovc, 'stack'>]: Driver<(typeof ovc)[K]> }

type AnyCall = Parameters<typeof guardOf>[0]

/** What others are in the middle of is looked at again after this long. */
const lookAgain = '1s'

export function createDrivers(backend: Backend): Drivers {
  /** A step that needs nothing but the id. */
  const by =
    (step: string, act: (id: string, caller: ReturnType<typeof guardOf>) => Promise<void>) =>
    (call: AnyCall): Promise<void> =>
      act(call.resource.id, guardOf(call, step))
  const announced = (step: string) => by(step, (id, caller) => backend.announce(step, id, caller))
  const sweeper = (type: Made): Sweeper => ({
    inventory: () => backend.inventory(type),
    destroy: ({ name, key, signal }) => backend.sweep(name, { key, signal }),
  })

  return {
    account: {
      saveAccount: announced('saveAccount'),
      restoreAccount: announced('restoreAccount'),
      async awaitRest({ related }) {
        return ownsBusy.test({ related }) ? again(lookAgain) : undefined
      },
    },

    cloudspace: {
      saveCloudspace: announced('saveCloudspace'),
      async awaitRest({ related }) {
        return isOneOf(busyMachines, related.machines) ? again(lookAgain) : undefined
      },
      deployFirewall: (call) => backend.createFirewall(call.resource.id, nameOf(call), guardOf(call, 'deployFirewall')),
      startFirewall: by('startFirewall', (id, caller) => backend.startFirewall(id, caller)),
      stopFirewall: by('stopFirewall', (id, caller) => backend.stopFirewall(id, caller)),
      resetFirewall: by('resetFirewall', (id, caller) => backend.resetFirewall(id, caller)),
      moveFirewall: (call) => backend.moveFirewall(call.resource.id, call.input.node, guardOf(call, 'moveFirewall')),
      destroyFirewall: by('destroyFirewall', (id, caller) => backend.destroyFirewall(id, caller)),
      firewall: (call) => backend.firewallOf(call.resource.id, guardOf(call, 'firewall')),
      sweeper: sweeper('ovc.cloudspace'),
    },

    machine: {
      deployMachine: (call) => {
        const { resource, related } = call
        const spec = {
          name: nameOf(call),
          memoryMb: resource.properties.memory,
          node: related.node?.id ?? null,
          image: related.image?.id ?? null,
          original: related.original?.id ?? null,
        }
        return backend.createMachine(resource.id, spec, guardOf(call, 'deployMachine'))
      },
      startMachine: by('startMachine', (id, caller) => backend.startMachine(id, caller)),
      stopMachine: by('stopMachine', (id, caller) => backend.stopMachine(id, caller)),
      haltMachine: by('haltMachine', (id, caller) => backend.stopMachine(id, caller)),
      pauseMachine: by('pauseMachine', (id, caller) => backend.pauseMachine(id, caller)),
      resumeMachine: by('resumeMachine', (id, caller) => backend.resumeMachine(id, caller)),
      rebootMachine: by('rebootMachine', (id, caller) => backend.rebootMachine(id, caller)),
      resetMachine: by('resetMachine', (id, caller) => backend.rebootMachine(id, caller)),
      resizeMachine: (call) =>
        backend.resizeMachine(call.resource.id, call.input.memory, guardOf(call, 'resizeMachine')),
      moveMachine: (call) => backend.moveMachine(call.resource.id, call.input.node, guardOf(call, 'moveMachine')),
      restoreMachine: by('restoreMachine', (id, caller) => backend.restoreMachine(id, caller)),
      cloneMachine: (call) => backend.cloneMachine(call.resource.id, call.input.machine, guardOf(call, 'cloneMachine')),
      createTemplate: (call) =>
        backend.createTemplate(call.resource.id, call.input.image, guardOf(call, 'createTemplate')),
      destroyMachine: by('destroyMachine', (id, caller) => backend.destroyMachine(id, caller)),
      destroyDisks: (call) => backend.destroyDisk(call.item.id, guardOf(call, 'destroyDisks')),
      plugDisk: (call) => backend.plugDisk(call.input.disk, call.resource.id, guardOf(call, 'plugDisk')),
      unplugDisk: (call) => backend.unplugDisk(call.input.disk, guardOf(call, 'unplugDisk')),
      limitDisk: (call) => backend.limitDisk(call.input.disk, call.input.iops, guardOf(call, 'limitDisk')),
      async power(call) {
        const { power, memoryMb } = await backend.powerOf(call.resource.id, guardOf(call, 'power'))
        return memoryMb === undefined ? power : { answer: power, observed: { memory: memoryMb } }
      },
      sweeper: sweeper('ovc.machine'),
    },

    disk: {
      createDisk: (call) => {
        const { id, properties } = call.resource
        return backend.createDisk(id, nameOf(call), properties.size, guardOf(call, 'createDisk'))
      },
      resizeDisk: (call) => backend.resizeDisk(call.resource.id, call.input.size, guardOf(call, 'resizeDisk')),
      replugDisk: async (call) => {
        const { related, resource } = call
        if (related.machine) await backend.plugDisk(resource.id, related.machine.id, guardOf(call, 'replugDisk'))
      },
      async settleDisk(call) {
        const { related, resource } = call
        const caller = guardOf(call, 'settleDisk')
        if ((await backend.storageOf(resource.id, caller)) === 'missing')
          throw new TerminalError('storage_missing', `there is no storage of disk ${resource.id}`)
        if (related.machine === undefined) await backend.unplugDisk(resource.id, caller)
        else await backend.plugDisk(resource.id, related.machine.id, caller)
        return { size: await backend.sizeOf(resource.id, caller) }
      },
      binDisk: announced('binDisk'),
      unbinDisk: announced('unbinDisk'),
      destroyDisk: by('destroyDisk', (id, caller) => backend.destroyDisk(id, caller)),
      destroyAttached: by('destroyAttached', (id, caller) => backend.destroyDisk(id, caller)),
      storage: (call) => backend.storageOf(call.resource.id, guardOf(call, 'storage')),
      sweeper: sweeper('ovc.disk'),
    },

    image: {
      createImage: (call) => {
        const source = call.related.source?.id ?? null
        return backend.createImage(call.resource.id, nameOf(call), source, guardOf(call, 'createImage'))
      },
      hideImage: announced('hideImage'),
      showImage: announced('showImage'),
      binImage: announced('binImage'),
      unbinImage: announced('unbinImage'),
      destroyImage: by('destroyImage', (id, caller) => backend.destroyImage(id, caller)),
      sweeper: sweeper('ovc.image'),
    },

    node: {
      openNode: by('openNode', (id, caller) => backend.openNode(id, caller)),
      closeNode: by('closeNode', (id, caller) => backend.closeNode(id, caller)),
      updateNode: by('updateNode', (id, caller) => backend.updateNode(id, caller)),
      removeNode: by('removeNode', (id, caller) => backend.removeNode(id, caller)),
      async findRoom(call) {
        const node = await backend.roomBeside(call.resource.id, guardOf(call, 'findRoom'))
        if (node === null)
          throw new TerminalError('no_room', `no other node has room for the machines of ${call.resource.id}`)
        return { node }
      },
      hypervisor: (call) => backend.hypervisorOf(call.resource.id, guardOf(call, 'hypervisor')),
    },
  }
}

/** The engine names what a step creates. */
function nameOf({ name, resource }: { readonly name: string | undefined; readonly resource: { readonly id: string } }) {
  if (name === undefined) throw new TerminalError('no_name', `what is made for ${resource.id} has no name`)
  return name
}
