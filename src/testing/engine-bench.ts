// For tests of the engine: a small lifecycle with everything in it, drivers that do as they are told, processes on one store.
import { z } from 'zod'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { resourceType } from '../lifecycle/lifecycle.ts'
import { createMemoryBackend, type MemoryBackend, type MemoryStore } from '../store/memory-store.ts'
import type { MaybePromise, Store } from '../store/store.ts'
import { systemClock } from '../base/clock.ts'
import { seededRandom } from '../base/random.ts'
import type { Resource } from '../decision/state.ts'
import { ManualClock } from './manual-clock.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { EngineSettings } from '../engine/options.ts'
import type { DriverCall } from '../engine/run-step.ts'
import type { Sweeper } from '../lifecycle/driver.ts'

const rack = resourceType('bench.rack', {
  properties: z.object({ slots: z.number().default(10) }),
  statuses: {
    stable: { Standing: 'Can hold boxes.' },
    transitional: { Mounting: 'Being set up.', Emptying: 'Its boxes are being removed.' },
    failed: { Crooked: 'Could not be set up.' },
    terminal: { Scrapped: 'Gone.' },
  },
})
const box = resourceType('bench.box', {
  properties: z.object({ size: z.number(), wakeAt: z.number().optional() }),
  statuses: {
    stable: { Ready: 'In use.', Asleep: 'Not in use.' },
    transitional: {
      Making: 'Being made.',
      Working: 'At work.',
      Cleaning: 'Being cleaned up.',
      Removing: 'Being removed.',
    },
    failed: { Broken: 'Does not work.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const racks = rack.relations({ boxes: { children: box } }).lifecycle({
  operations: {
    create: { from: [], to: 'Standing', onFailure: 'Crooked', steps: { mount: { during: 'Mounting' } } },
    scrap: {
      from: ['*'],
      to: 'Scrapped',
      onFailure: 'Crooked',
      ifBusy: 'preempt',
      steps: {
        empty: { during: 'Emptying', ask: { boxes: 'delete' } },
        unmount: { during: 'Emptying' },
      },
    },
    polish: {
      from: ['Standing'],
      to: 'Standing',
      onFailure: 'Standing',
      steps: { polishBox: { during: 'Mounting', forEach: { boxes: {} } } },
    },
  },
  heal: {
    Mounting: { resume: true, unowned: { status: 'Crooked' } },
    Emptying: { resume: true, unowned: { status: 'Crooked' } },
  },
})

export const boxes = box.relations({ rack: { parent: rack } }).lifecycle({
  operations: {
    create: {
      from: [],
      to: 'Ready',
      onFailure: { undo: true, during: 'Cleaning', status: 'Broken' },
      steps: {
        cut: { during: 'Making', creates: 'wood', undo: 'burn', result: z.object({ pieces: z.number() }) },
        glue: { during: 'Making', deadline: '60s', retry: { times: 3, first: '2s', atMost: '10s' } },
      },
    },
    work: {
      from: ['Ready'],
      to: 'Ready',
      onFailure: 'Ready',
      steps: { toil: { during: 'Working', deadline: '30s', retry: { times: 2 }, probe: 'toiled' } },
    },
    rest: { from: ['Ready'], to: 'Asleep', onFailure: 'Ready', steps: {} },
    delete: {
      from: ['*'],
      to: 'Gone',
      onFailure: { again: '1m' },
      ifBusy: 'preempt',
      grace: '20s',
      force: '5s',
      steps: {
        unplug: { during: 'Removing' },
        burn: { during: 'Removing', destroys: 'wood' },
      },
    },
  },
  probes: { toiled: ['yes', 'no'], alive: ['yes', 'no'] },
  timers: { wake: { in: ['Asleep'], at: 'wakeAt', ask: 'delete' } },
  heal: {
    Making: { resume: true, unowned: { status: 'Broken' } },
    Working: { resume: true, unowned: { status: 'Ready' } },
    Cleaning: { status: 'Broken' },
    Removing: { attempt: 'delete' },
  },
})

export interface Told {
  readonly fn: string
  readonly call: DriverCall
  readonly resolve: (value?: unknown) => void
  readonly reject: (error?: unknown) => void
}

/** Answers at once unless a function is held: then its calls wait in `held` until they are told how to end. */
export class Puppet {
  readonly calls: { readonly fn: string; readonly call: DriverCall }[] = []
  readonly held: Told[] = []
  readonly holding = new Set<string>()
  readonly answers = new Map<string, (call: DriverCall) => unknown>()
  readonly destroyed: string[] = []
  inventory: MaybePromise<readonly { kind: string; name: string; ref?: unknown }[]> = []

  driver(...names: string[]): Record<string, (call: DriverCall) => unknown> & { sweeper?: Sweeper } {
    const functions: Record<string, (call: DriverCall) => unknown> = {}
    for (const fn of names) functions[fn] = (call) => this.#answer(fn, call)
    const sweeper: Sweeper = {
      inventory: async () => this.inventory,
      destroy: async (thing) => {
        await this.answers.get('destroy')?.(thing as unknown as DriverCall)
        this.destroyed.push(thing.name)
      },
    }
    return Object.assign(functions, { sweeper }) as ReturnType<Puppet['driver']>
  }

  names(): string[] {
    return this.calls.map((one) => one.fn)
  }

  #answer(fn: string, call: DriverCall): unknown {
    this.calls.push({ fn, call })
    if (this.holding.has(fn)) {
      return new Promise((resolve, reject) => {
        this.held.push({ fn, call, resolve, reject: (error) => reject(error as Error) })
      })
    }
    const answer = this.answers.get(fn)
    if (answer) return answer(call)
    return Promise.resolve(fn === 'cut' ? { pieces: 4 } : undefined)
  }
}

export interface Process {
  readonly engine: Engine
  readonly store: MemoryStore
  readonly clock: ManualClock
  readonly puppet: Puppet
  readonly logged: string[]
}

export interface Bench {
  readonly backend: MemoryBackend
  open(options?: Partial<EngineSettings>, clock?: ManualClock, through?: (store: Store) => Store): Process
}

export const lifecycles: readonly Lifecycle[] = [racks, boxes]

/** Like a store at the other end of a wire: every answer comes a little later. */
export function far(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (typeof value !== 'function') return value
      const call = (...given: unknown[]) => (value as (...args: unknown[]) => unknown).apply(target, given)
      if (name === 'othersWrote' || name === 'onChange') return call
      return async (...given: unknown[]) => {
        await new Promise<void>((resolve) => systemClock.soon(resolve))
        return call(...given)
      }
    },
  })
}

export function createBench(isFar = false): Bench {
  const backend = createMemoryBackend()
  return {
    backend,
    open(options = {}, clock = new ManualClock(), through = isFar ? far : (store) => store) {
      const store = backend.open()
      const puppet = new Puppet()
      const logged: string[] = []
      const engine = createEngine({
        store: through(store as unknown as Store),
        lifecycles,
        drivers: {
          'bench.rack': puppet.driver('mount', 'unmount', 'polishBox'),
          'bench.box': puppet.driver('cut', 'glue', 'toil', 'unplug', 'burn', 'toiled', 'alive'),
        },
        clock,
        random: seededRandom(1),
        log: (level, message) => void logged.push(`${level}: ${message}`),
        options: { pollMs: 1_000, ...options },
      })
      return { engine, store, clock, puppet, logged }
    },
  }
}

/** Makes a rack and a box `b-1` in it. */
export async function makeBox(process: Process, id = 'b-1'): Promise<void> {
  const { engine, clock } = process
  if ((await engine.get('bench.rack', 'r-1')) === null) {
    await engine.create('bench.rack', { id: 'r-1', properties: {} }, { by: 'test' })
    await clock.settle()
  }
  const parent = { type: 'bench.rack', id: 'r-1' }
  await engine.create('bench.box', { id, parent, properties: { size: 1 } }, { by: 'test' })
  await clock.settle()
}

export async function statusOf({ engine }: Process, id = 'b-1'): Promise<string | undefined> {
  return (await engine.get('bench.box', id))?.status
}

export async function boxOf({ engine }: Process, id = 'b-1'): Promise<Resource> {
  return (await engine.get('bench.box', id))!
}
