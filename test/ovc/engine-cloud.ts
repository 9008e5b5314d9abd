// For the tests of the catalogue: a cloud in a real engine on a world, asked by short words, and compared with its records.
import { createEngine, type Engine, type EngineSettings } from 'homeostat'
import { rootOf, type World } from 'homeostat/worlds'
import { createDrivers } from '../../catalogues/ovc/driver.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { createWorldBackend } from '../../catalogues/ovc/world-backend.ts'
import type { Resource } from '../../src/decision/state.ts'
import type { Store } from '../../src/store/store.ts'

export type Kind = keyof typeof ovc

const usual = {
  account: { enabled: true },
  cloudspace: { enabled: true },
  machine: { verified: true, memory: 512 },
  disk: { size: 2 },
  image: { enabled: true, system: false },
  node: {},
  stack: {},
} as const

interface Given {
  readonly operation?: string
  readonly parent?: string
  readonly links?: Readonly<Record<string, string>>
  readonly properties?: Readonly<Record<string, unknown>>
}

const parents: Partial<Record<Kind, Kind>> = {
  cloudspace: 'account',
  machine: 'cloudspace',
  disk: 'account',
  image: 'account',
}

/** `machine m` names a resource. */
type Name = `${Kind} ${string}`
const split = (name: Name) => name.split(' ') as [Kind, string]

export class EngineCloud {
  readonly engine: Engine<typeof ovc>
  readonly world: World

  constructor(store: Store, world: World, options: Partial<EngineSettings> = {}) {
    this.world = world
    this.engine = createEngine({
      store,
      lifecycles: ovc,
      drivers: createDrivers(createWorldBackend(world, { nodes: ['n1', 'n2'] })),
      options: { healEveryMs: 200, sweepEveryMs: 200, ...options },
    })
  }

  async make(name: Name, given: Given = {}): Promise<string> {
    await this.beginMaking(name, given)
    return this.rest(name)
  }

  async beginMaking(name: Name, { operation = 'create', parent, links, properties }: Given = {}): Promise<void> {
    const [kind, id] = split(name)
    const type = parents[kind]
    await this.engine.request({
      type: `ovc.${kind}`,
      id,
      operation,
      by: 'test',
      create: {
        properties: { ...usual[kind], ...properties },
        links,
        ...(type === undefined || parent === undefined ? {} : { parent: { type: `ovc.${type}`, id: parent } }),
      },
    })
  }

  /** Asks, and waits for the end of the run: the status it landed in. */
  async ask(name: Name, operation: string, input?: unknown): Promise<string> {
    await this.begin(name, operation, input)
    return this.rest(name)
  }

  async begin(name: Name, operation: string, input?: unknown): Promise<void> {
    const [kind, id] = split(name)
    await this.engine.request({ type: `ovc.${kind}`, id, operation, input, by: 'test' })
  }

  /** Waits until no run of it is under way. */
  async rest(name: Name): Promise<string> {
    const [kind, id] = split(name)
    for (let looks = 0; looks < 3_000; looks++) {
      const found = await this.engine.get(`ovc.${kind}`, id)
      const isBusy = found?.run != null && found.run.kind !== 'drift'
      if (found !== null && !isBusy && found.holder === null) return found.status
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    throw new Error(`${name} does not come to rest`)
  }

  async status(name: Name): Promise<string | undefined> {
    const [kind, id] = split(name)
    return (await this.engine.get(`ovc.${kind}`, id))?.status
  }

  async all(): Promise<readonly Resource[]> {
    const found: Resource[] = []
    for (let after: number | null = 0; after !== null;) {
      const page: { resources: readonly Resource[]; next: number | null } = await this.engine.list({
        after,
        limit: 500,
      })
      found.push(...page.resources)
      after = page.next
    }
    return found
  }

  /** Everything that the records and the real world say differently; hypervisors are nobody's. */
  async disagreements(): Promise<string[]> {
    const resources = await this.all()
    const truth = (await this.world.truth()).filter(({ kind }) => kind !== 'hypervisor')
    const roots = new Map(truth.filter(({ name }) => rootOf(name) === name).map((thing) => [thing.name, thing]))
    const known = new Set(resources.flatMap(({ ledger }) => ledger.map(({ name }) => name)))
    const wrong = truth.filter(({ name }) => !known.has(rootOf(name))).map(({ name }) => `${name} is nobody's`)
    for (const { type, id, status, ledger, properties, run } of resources) {
      const thing = roots.get(ledger.at(-1)?.name ?? '')
      const is = `${type} ${id} is ${status}`
      if (run !== null && run.kind !== 'drift') wrong.push(`${is}, and something is under way`)
      // What is orphaned is the sweeper's: it may be gone already.
      for (const { name, state } of ledger)
        if (!roots.has(name) && state !== 'orphaned' && state !== 'sweeping')
          wrong.push(`${is}, and there is no ${name}`)
      const power = powers[type as keyof typeof powers]?.[status]
      if (power !== undefined && thing?.power !== power) wrong.push(`${is}, and its power is ${thing?.power}`)
      if (type === 'ovc.machine' && thing !== undefined && thing.properties['memoryMb'] !== properties['memory'])
        wrong.push(`${is}, and its memory is another`)
      const plugged = truth.filter(({ kind, links }) => kind === 'machine' && links.includes(ledger.at(-1)?.name ?? ''))
      const isPlugged = { ASSIGNED: 1, CREATED: 0, DELETED: 0 }[status]
      if (type === 'ovc.disk' && isPlugged !== undefined && plugged.length !== isPlugged)
        wrong.push(`${is}, and is plugged into ${plugged.map(({ name }) => name).join(' and ') || 'nothing'}`)
      if (type === 'ovc.disk' && thing !== undefined && thing.sizeBytes !== Number(properties['size']) * 2 ** 30)
        wrong.push(`${is}, and has ${thing.sizeBytes} bytes`)
    }
    return wrong
  }
}

const powers: Readonly<Record<'ovc.machine' | 'ovc.cloudspace', Readonly<Record<string, string>>>> = {
  'ovc.machine': { RUNNING: 'running', PAUSED: 'paused', HALTED: 'stopped', DELETED: 'stopped' },
  'ovc.cloudspace': { DEPLOYED: 'running', PAUSED: 'stopped', DISABLED: 'stopped' },
}
