// A world in memory: the same seed and the same calls give the same story, in the time of the clock it is given.
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Fault } from './fault.ts'
import { GuardedWorld } from './guarded-world.ts'
import { MemoryFaults, MemoryGround } from './memory-ground.ts'
import type { World } from './world.ts'

export interface SimulatedWorldOptions {
  readonly clock: Clock
  readonly random: Random
  /** Faults by chance: this part of the calls goes wrong, in one of these ways. `faults.clear()` ends them. */
  readonly chaos?: { readonly rate: number; readonly kinds: readonly Fault['does'][] }
}

/** How long what is slow or stale by chance is so. */
const chaosMs = 2_000

export function createSimulatedWorld({ clock, random, chaos }: SimulatedWorldOptions): World {
  const faults = new MemoryFaults()
  const { rate = 0, kinds = [] } = chaos ?? {}
  kinds.forEach((does, index) =>
    faults.add({
      does,
      // Each is asked after the ones before it have passed.
      rate: rate / (kinds.length - rate * index),
      ms: chaosMs,
      id: `chaos-${does}`,
      setAt: clock.now(),
      left: null,
    }),
  )
  return new GuardedWorld({ ground: new MemoryGround(), faults, clock, random })
}
