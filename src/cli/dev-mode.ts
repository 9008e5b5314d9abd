// The switches of the development mode on the worlds that a config names: break calls, see what is really there, strike this process.
import { spawn } from 'node:child_process'
import type { JsonObject } from '../base/json.ts'
import { HomeostatError } from '../base/errors.ts'
import { sleep } from '../base/clock.ts'
import type { DevSwitches } from '../server/dev-switches.ts'
import type { Fault } from '../worlds/fault.ts'
import type { World } from '../worlds/world.ts'

export function devSwitches(worlds: readonly World[]): DevSwitches {
  const world = (): readonly [World, ...World[]] => {
    if (worlds.length > 0) return worlds as [World, ...World[]]
    throw new HomeostatError('route_not_found', 'The config names no worlds: there is nothing to break or to show.')
  }
  return {
    faults: async () => (await Promise.all(worlds.map((one) => one.faults.list()))).flat().map(asJson),
    // Every world is told: which of them a fault concerns follows from its target.
    async setFault(fault) {
      const set = await Promise.all(world().map((one) => one.faults.set(fault as unknown as Fault)))
      return asJson(set[0])
    },
    async clearFaults(id) {
      await Promise.all(worlds.map((one) => one.faults.clear(id)))
    },
    truth: async () => (await Promise.all(world().map((one) => one.truth()))).flat().map(asJson),
    async strike(how, seconds) {
      // The answer is on its way before the blow falls.
      void sleep(100).then(() => (how === 'kill' ? process.kill(process.pid, 'SIGKILL') : freeze(seconds)))
    },
  }
}

/** Nobody can wake himself up: a small process of its own does it. */
function freeze(seconds: number): void {
  spawn('sh', ['-c', `sleep ${Math.ceil(seconds)}; kill -CONT ${process.pid}`], {
    detached: true,
    stdio: 'ignore',
  }).unref()
  process.kill(process.pid, 'SIGSTOP')
}

const asJson = (value: unknown): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject
