// What runs under the faults: the four catalogues, with their spans of time cut short, on one outside world.
import type { World } from 'homeostat/worlds'
import * as blazar from '../../catalogues/blazar/index.ts'
import * as opensds from '../../catalogues/opensds/index.ts'
import { createDrivers as createOvcDrivers } from '../../catalogues/ovc/driver.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { createWorldBackend as createOvcBackend } from '../../catalogues/ovc/world-backend.ts'
import * as sahara from '../../catalogues/sahara/index.ts'
import type { EngineSettings } from '../../src/engine/options.ts'
import type { AnyLifecycle } from '../../src/lifecycle/lifecycle.ts'
import { hurried } from '../../src/testing/hurried.ts'

const sets: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  opensds: opensds.opensds,
  ovc,
  sahara: sahara.sahara,
  blazar: blazar.blazar,
}

export const lifecycles: readonly AnyLifecycle[] = Object.values(sets).flatMap((set) =>
  Object.values(set).map((one) => hurried(one as AnyLifecycle)),
)

/** Nodes that machines run on. */
export const nodes = ['n1', 'n2'] as const

/** By type of resource. */
export function driversOn(world: World): Record<string, object> {
  const drivers: Readonly<Record<string, Readonly<Record<string, object>>>> = {
    opensds: opensds.createDrivers(opensds.createWorldBackend(world)),
    ovc: createOvcDrivers(createOvcBackend(world, { nodes: [...nodes] })),
    sahara: { ...sahara.createDrivers(sahara.createWorldBackend(world)) },
    blazar: blazar.createDrivers(blazar.createWorldBackend(world)),
  }
  return Object.fromEntries(
    Object.entries(drivers).flatMap(([system, byName]) =>
      Object.entries(byName).map(([name, driver]) => [
        (sets[system]![name] as { readonly resource: { readonly type: string } }).resource.type,
        driver,
      ]),
    ),
  )
}

export const schema = 'faults'

/** Short, so that a frozen worker becomes a zombie soon. */
export const leaseMs = 2_000

export const engineSettings: Partial<EngineSettings> = {
  leaseMs,
  healEveryMs: 300,
  pollMs: 500,
  sweepEveryMs: 500,
  inventoryEveryMs: 2_000,
  strayGraceMs: 3_000,
  overdueSlackMs: 2_000,
  stopPatienceMs: 1_000,
  // Every healing here follows a fault, though not always a crash.
  breakerLimit: 1_000_000,
}
