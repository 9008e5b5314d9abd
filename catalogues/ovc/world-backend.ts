// The backend on a world of homeostat/worlds, local or simulated: firewalls, machines and hypervisors are processes, disks, boot
// volumes and images are files. A disk is plugged in by a link from its machine.
import { TerminalError } from 'homeostat'
import { rootOf, sweeperOf, type Thing, type World } from 'homeostat/worlds'
import type { Backend, Caller, Made } from './backend.ts'

export interface WorldBackendOptions {
  /** Ids of the nodes there are. */
  readonly nodes?: readonly string[]
  /** What a machine without an image, and an image without a source, has; in GB. */
  readonly bootGb?: number
}

const gb = 2 ** 30

export function createWorldBackend(world: World, { nodes = [], bootGb = 1 }: WorldBackendOptions = {}): Backend {
  const all = async (type: string, id: string, kind: string, caller: Caller): Promise<readonly Thing[]> => {
    const found = await world.list({ resource: `${type}/${id}`, kind }, caller)
    return found.filter(({ name }) => rootOf(name) === name)
  }
  /** The latest made: earlier ones are left to the sweeper. */
  const find = async (type: string, id: string, kind: string, caller: Caller): Promise<Thing | null> => {
    const found = [...(await all(type, id, kind, caller))]
    return found.sort((a, b) => numberOf(a) - numberOf(b)).at(-1) ?? null
  }
  const must = async (type: string, id: string, kind: string, caller: Caller): Promise<string> => {
    const found = await find(type, id, kind, caller)
    if (found === null) throw new TerminalError('not_found', `${type} ${id} has no ${kind}`)
    return found.name
  }
  const destroy = async (type: string, id: string, kind: string, caller: Caller): Promise<void> => {
    for (const { name } of await all(type, id, kind, caller)) await world.destroy(name, caller)
  }
  const firewall = (id: string, caller: Caller) => must('ovc.cloudspace', id, 'firewall', caller)
  const machine = (id: string, caller: Caller) => must('ovc.machine', id, 'machine', caller)
  const disk = (id: string, caller: Caller) => must('ovc.disk', id, 'disk', caller)

  /** Stops what may be gone or may never have been made. */
  const halt = async (found: Thing | null, caller: Caller): Promise<void> => {
    if (found !== null) await world.stop(found.name, caller)
  }
  /** From every machine but this one. */
  const unplug = async (plugged: string, but: string | null, caller: Caller): Promise<void> => {
    for (const { name, links } of await world.list({ kind: 'machine' }, caller))
      if (name !== but && links.includes(plugged)) await world.unlink(name, plugged, caller)
  }
  const hypervisor = (id: string) => `ovc.node/${id}/hypervisor/0`
  const touched = async (id: string, caller: Caller): Promise<string> => {
    await world.create({ kind: 'hypervisor', name: hypervisor(id) }, caller)
    return hypervisor(id)
  }
  const isOpen = async (id: string, caller: Caller): Promise<boolean> =>
    ((await world.get(hypervisor(id), caller))?.power ?? 'running') === 'running'

  return {
    // Nothing of it is in the world; it is looked at all the same, so that these steps can be disturbed like any other.
    async announce(_what, _id, caller) {
      await world.list({ resource: caller.resource }, caller)
    },

    async createFirewall(_id, name, caller) {
      await world.create({ kind: 'firewall', name }, caller)
      await world.start(name, caller)
    },
    async startFirewall(id, caller) {
      await world.start(await firewall(id, caller), caller)
    },
    async stopFirewall(id, caller) {
      await halt(await find('ovc.cloudspace', id, 'firewall', caller), caller)
    },
    async resetFirewall(id, caller) {
      const name = await firewall(id, caller)
      await world.stop(name, caller)
      await world.start(name, caller)
    },
    async moveFirewall(id, node, caller) {
      await world.update(await firewall(id, caller), { node }, caller)
    },
    destroyFirewall: (id, caller) => destroy('ovc.cloudspace', id, 'firewall', caller),
    async firewallOf(id, caller) {
      return (await find('ovc.cloudspace', id, 'firewall', caller))?.power === 'running' ? 'up' : 'down'
    },

    async createMachine(id, { name, memoryMb, node, image, original }, caller) {
      await world.create({ kind: 'machine', name, properties: { memoryMb, node } }, caller)
      const boot = { kind: 'boot', name: `${name}/boot` }
      if (original !== null) await world.copy(`${await machine(original, caller)}/clone-${id}`, boot, caller)
      else if (image !== null) await world.copy(await must('ovc.image', image, 'image', caller), boot, caller)
      else await world.create({ ...boot, sizeBytes: bootGb * gb }, caller)
      await world.start(name, caller)
    },
    async startMachine(id, caller) {
      await world.start(await machine(id, caller), caller)
    },
    async stopMachine(id, caller) {
      await halt(await find('ovc.machine', id, 'machine', caller), caller)
    },
    async pauseMachine(id, caller) {
      await world.pause(await machine(id, caller), caller)
    },
    async resumeMachine(id, caller) {
      await world.resume(await machine(id, caller), caller)
    },
    async rebootMachine(id, caller) {
      const name = await machine(id, caller)
      await world.stop(name, caller)
      await world.start(name, caller)
    },
    async resizeMachine(id, memoryMb, caller) {
      await world.update(await machine(id, caller), { memoryMb }, caller)
    },
    async moveMachine(id, node, caller) {
      await world.update(await machine(id, caller), { node }, caller)
    },
    async restoreMachine(id, caller) {
      await machine(id, caller)
    },
    async cloneMachine(id, clone, caller) {
      const name = await machine(id, caller)
      await world.copy(`${name}/boot`, { kind: 'frozen', name: `${name}/clone-${clone}` }, caller)
    },
    async createTemplate(id, image, caller) {
      const name = await machine(id, caller)
      await world.copy(`${name}/boot`, { kind: 'frozen', name: `${name}/template-${image}` }, caller)
    },
    destroyMachine: (id, caller) => destroy('ovc.machine', id, 'machine', caller),
    async powerOf(id, caller) {
      const found = await find('ovc.machine', id, 'machine', caller)
      if (found === null) return { power: 'missing' }
      const { memoryMb } = found.properties
      return {
        power: found.power === 'stopped' ? 'halted' : found.power,
        ...(typeof memoryMb === 'number' ? { memoryMb } : {}),
      }
    },

    async createDisk(_id, name, sizeGb, caller) {
      await world.create({ kind: 'disk', name, sizeBytes: sizeGb * gb }, caller)
    },
    async plugDisk(id, machineId, caller) {
      const name = await machine(machineId, caller)
      const plugged = await disk(id, caller)
      await unplug(plugged, name, caller)
      await world.link(name, plugged, caller)
    },
    async unplugDisk(id, caller) {
      const found = await find('ovc.disk', id, 'disk', caller)
      if (found !== null) await unplug(found.name, null, caller)
    },
    async sizeOf(id, caller) {
      return ((await find('ovc.disk', id, 'disk', caller))?.sizeBytes ?? 0) / gb
    },
    async limitDisk(id, iops, caller) {
      await world.update(await disk(id, caller), { iops }, caller)
    },
    async resizeDisk(id, sizeGb, caller) {
      await world.resize(await disk(id, caller), sizeGb * gb, caller)
    },
    destroyDisk: (id, caller) => destroy('ovc.disk', id, 'disk', caller),
    async storageOf(id, caller) {
      return (await find('ovc.disk', id, 'disk', caller)) === null ? 'missing' : 'there'
    },

    async createImage(id, name, source, caller) {
      if (source === null) await world.create({ kind: 'image', name, sizeBytes: bootGb * gb }, caller)
      else await world.copy(`${await machine(source, caller)}/template-${id}`, { kind: 'image', name }, caller)
    },
    destroyImage: (id, caller) => destroy('ovc.image', id, 'image', caller),

    async openNode(id, caller) {
      await world.start(await touched(id, caller), caller)
    },
    async closeNode(id, caller) {
      await world.stop(await touched(id, caller), caller)
    },
    async updateNode(id, caller) {
      await world.start(await touched(id, caller), caller)
    },
    async removeNode(id, caller) {
      // The iron stays, and stands still.
      await world.stop(await touched(id, caller), caller)
    },
    async roomBeside(id, caller) {
      const machines = await world.list({ kind: 'machine' }, caller)
      const load = (node: string) => machines.filter(({ properties }) => properties['node'] === node).length
      const open: string[] = []
      for (const node of nodes) if (node !== id && (await isOpen(node, caller))) open.push(node)
      return open.sort((a, b) => load(a) - load(b))[0] ?? null
    },
    async hypervisorOf(id, caller) {
      return (await isOpen(id, caller)) ? 'up' : 'down'
    },

    inventory: (type: Made) => sweeperOf(world, type).inventory(),
    sweep: (name, { key, signal }) => world.destroy(name, { key, signal }),
  }
}

/** `type/id/kind/n`: later ones have higher numbers. */
const numberOf = ({ name }: Thing): number => Number(name.split('/')[3])
