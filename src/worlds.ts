// homeostat/worlds: things for drivers to act upon, real ones on this machine or simulated ones in memory.
export type { Fault, FaultSwitches, FaultTarget, SetFault } from './worlds/fault.ts'
export { guardOf, sweeperOf } from './worlds/guard.ts'
export { openLocalWorld, type LocalWorld, type LocalWorldOptions } from './worlds/local-world.ts'
export { createSimulatedWorld, type SimulatedWorldOptions } from './worlds/simulated-world.ts'
export { rootOf } from './worlds/thing-name.ts'
export { worldConformance } from './worlds/world-conformance.ts'
export type { WorldConformanceOptions, WorldUnderTest } from './worlds/world-conformance.ts'
export type {
  Change,
  Filter,
  Guard,
  Look,
  NewThing,
  Power,
  SweepGuard,
  Thing,
  Truth,
  Verb,
  World,
} from './worlds/world.ts'
