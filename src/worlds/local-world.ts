// A world of real things on this machine, in one folder: what runs is a process, what stores is a file. It needs no database and
// outlives whoever uses it; several processes may use it at once.
import { existsSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock, type Clock } from '../base/clock.ts'
import { systemRandom, type Random } from '../base/random.ts'
import { DirectoryFaults } from './directory-faults.ts'
import { DirectoryGround } from './directory-ground.ts'
import { GuardedWorld } from './guarded-world.ts'
import { endProcess } from './process-table.ts'
import type { World } from './world.ts'
import { WorldFolder } from './world-folder.ts'

export interface LocalWorldOptions {
  /** Empty, or a world already. */
  readonly directory: string
  readonly clock?: Clock
  readonly random?: Random
}

export interface LocalWorld extends World {
  readonly directory: string
  /** For tests: ends the processes of this world and removes its folder. */
  destroyEverything(): Promise<void>
}

export function openLocalWorld(options: LocalWorldOptions): LocalWorld {
  const { clock = systemClock, random = systemRandom } = options
  const directory = resolve(options.directory)
  const folder = new WorldFolder(directory, random)
  const ground = new DirectoryGround(folder, clock, random)
  const world = new GuardedWorld({ ground, faults: new DirectoryFaults(folder, clock), clock, random })
  return Object.assign(world, {
    directory,
    async destroyEverything() {
      for (const { id } of ground.processes()) endProcess(id)
      if (existsSync(join(directory, 'world.json'))) rmSync(directory, { recursive: true, force: true })
    },
  })
}
