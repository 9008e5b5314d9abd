// From a driver's call to the world's guard, and a sweeper on a world.
import type { Call, Sweeper } from '../lifecycle/driver.ts'
import { rootOf } from './thing-name.ts'
import type { Guard, World } from './world.ts'

/** The guard of a driver's call. `step` names the driver function, so that faults can be set for it. */
export function guardOf(
  { resource, key, epoch, signal }: Pick<Call<any, any, any, any, any>, 'resource' | 'key' | 'epoch' | 'signal'>,
  step?: string,
): Guard {
  return { key, epoch, resource: `${resource.type}/${resource.id}`, signal, step }
}

/** Finds and destroys what was made for resources of this type and nobody owns. */
export function sweeperOf(world: World, type: string): Required<Sweeper> {
  return {
    async inventory() {
      const found = new Map<string, string>()
      for (const { name, kind } of await world.list({ type })) {
        const root = rootOf(name)
        if (root === name || !found.has(root)) found.set(root, root === name ? kind : (root.split('/')[2] ?? kind))
      }
      return [...found].map(([name, kind]) => ({ kind, name }))
    },
    destroy: ({ name, key, signal }) => world.destroy(name, { key, signal }),
  }
}
