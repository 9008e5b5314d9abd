// What the development mode can break: given by whoever puts server and backends together.
import type { JsonObject } from '../base/json.ts'

export interface DevSwitches {
  faults(): Promise<readonly JsonObject[]>
  setFault(fault: JsonObject): Promise<JsonObject>
  /** One, or all of them. */
  clearFaults(id?: string): Promise<void>
  /** What really exists. */
  truth(): Promise<readonly JsonObject[]>
  /** Ends this process at once, as a crash would; or stops it for a while. */
  strike(how: 'kill' | 'freeze', seconds: number): Promise<void>
}

/** What a world for drivers offers: faults by switches, and the truth. */
interface BreakableWorld {
  readonly faults: {
    set(fault: never): Promise<object>
    clear(id?: string): Promise<void>
    list(): Promise<readonly object[]>
  }
  truth(): Promise<readonly object[]>
}

/** Switches over all worlds of a process: a fault is set in each, and is told with where it holds. */
export function switchesOf(
  worlds: Readonly<Record<string, BreakableWorld>>,
  strike: DevSwitches['strike'],
): DevSwitches {
  const each = <T>(work: (world: BreakableWorld, name: string) => Promise<T>) =>
    Promise.all(Object.entries(worlds).map(([name, world]) => work(world, name)))
  const told = (name: string, fault: object) => ({ ...(fault as JsonObject), world: name })
  return {
    faults: async () =>
      (await each(async (world, name) => (await world.faults.list()).map((fault) => told(name, fault)))).flat(),
    setFault: async (fault) => ({
      set: await each(async (world, name) => told(name, await world.faults.set(fault as never))),
    }),
    clearFaults: async (id) => void (await each((world) => world.faults.clear(id))),
    truth: async () =>
      (await each(async (world, name) => (await world.truth()).map((thing) => told(name, thing)))).flat(),
    strike,
  }
}
