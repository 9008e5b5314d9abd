// Measures a project's own lifecycle on this machine: resources are created as fast as they come to their end, with drivers that answer
// at once, so that what is measured is the engine and the declaration, on a SQLite file of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { No } from '../decision/state.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import { silent } from '../engine/log.ts'
import { functionsOf, plansOf } from '../engine/start-checks.ts'
import { declarationOf } from '../lifecycle/declaration.ts'
import { typeOf, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plan } from '../lifecycle/plan.ts'
import type { Schema } from '../lifecycle/schema.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { sampleFor } from '../testing/samples.ts'
import { CliError, exits } from './cli-error.ts'
import { compileSooner } from './compile-sooner.ts'
import { togetherOf, type Config } from './config.ts'
import { valuesOf } from './given-values.ts'
import { pick } from './names.ts'

export interface BenchGiven {
  readonly config: Config
  readonly type: string | undefined
  readonly values: readonly string[]
  readonly seconds: number
  readonly inFlight: number
}

export interface Benched {
  readonly type: string
  readonly operation: string
  readonly steps: number
  readonly inFlight: number
  readonly done: number
  readonly seconds: number
  readonly perSecond: number
  /** Milliseconds from asking until the end is in the store. */
  readonly p50: number
  readonly p99: number
  /** By the status in which they ended. */
  readonly ends: Readonly<Record<string, number>>
}

/** Always the plainest value. */
const plain = { below: () => 0, chance: () => false, weighted: () => 0 }

export async function benchOwn({ config, type: given, values, seconds, inFlight }: BenchGiven): Promise<Benched> {
  // As the server does.
  compileSooner()
  const { lifecycles } = togetherOf(config)
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-bench-'))
  const store = openSqliteStore({ file: join(folder, 'bench.db') })
  const ended = new Map<No, () => void>()
  const engine = createEngine({
    store: watched(store, (no) => ended.get(no)?.()),
    lifecycles,
    drivers: driversFor(lifecycles),
    options: { name: 'bench', concurrency: 2 * inFlight },
  }) as unknown as Engine
  try {
    await engine.start()
    const plan = planOf(engine, given)
    const operation = [...plan.operations.values()].find((one) => one.creates)!
    const properties = valuesOf(values) ?? ((sampleFor(plan.properties as Schema, plain) ?? {}) as JsonObject)
    const input = sampleFor(operation.input as Schema | null, plain)
    const parent = plan.parentType === null ? undefined : { no: await parentFor(engine, plan.parentType) }
    const request = { type: plan.type, operation: operation.name, by: 'bench', create: { parent, properties }, input }
    const { took, nos, lasted } = await createAll(engine, { request, ended, seconds, inFlight })
    const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Number.NaN
    return {
      type: plan.type,
      operation: operation.name,
      steps: operation.steps.length,
      inFlight,
      done: took.length,
      seconds: lasted,
      perSecond: took.length / lasted,
      p50: at(0.5),
      p99: at(0.99),
      ends: await endsOf(engine, nos),
    }
  } finally {
    await engine.stop()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Creating {
  readonly request: Parameters<Engine['request']>[0]
  /** Called when the run of a resource has ended. */
  readonly ended: Map<No, () => void>
  readonly seconds: number
  readonly inFlight: number
}

/** So many at a time, each created when the one before has come to its end. What each took is sorted, in milliseconds. */
async function createAll(engine: Engine, { request, ended, seconds, inFlight }: Creating) {
  const took: number[] = []
  const nos: No[] = []
  const began = systemClock.monotonic()
  const until = began + seconds * 1_000
  const one = async () => {
    while (systemClock.monotonic() < until) {
      const asked = systemClock.monotonic()
      const { resource, begun } = await ask(engine, request)
      // It may have ended in the commit that began it.
      if (begun !== 0 && resource.run !== null)
        await new Promise<void>((resolve) => ended.set(resource.no, resolve)).finally(() => ended.delete(resource.no))
      took.push(systemClock.monotonic() - asked)
      nos.push(resource.no)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, one))
  const lasted = (systemClock.monotonic() - began) / 1_000
  took.sort((a, b) => a - b)
  return { took, nos, lasted }
}

async function endsOf(engine: Engine, nos: readonly No[]): Promise<Record<string, number>> {
  const ends: Record<string, number> = {}
  for (const resource of await engine.getMany(nos))
    if (resource !== null) ends[resource.status] = (ends[resource.status] ?? 0) + 1
  return ends
}

/** Every function that the declarations name: it answers at once, with what the schema of the step's result asks for. */
function driversFor(lifecycles: readonly AnyLifecycle[]): Record<string, object> {
  const drivers: Record<string, object> = {}
  const plans = plansOf(lifecycles, silent)
  for (const lifecycle of lifecycles) {
    const results = new Map<string, unknown>()
    for (const { steps } of Object.values(declarationOf(lifecycle).operations))
      for (const [name, { result }] of Object.entries(steps ?? {}))
        if (result !== undefined) results.set(name, sampleFor(result, plain))
    const names = [...functionsOf(plans.get(typeOf(lifecycle))!)]
    drivers[typeOf(lifecycle)] = Object.fromEntries(names.map((name) => [name, async () => results.get(name)]))
  }
  return drivers
}

/** The same store; `ended` is told each run that a commit has ended. */
function watched(store: Store, ended: (no: No) => void): Store {
  const watching: Store = Object.create(store) as Store
  watching.commit = async (batch) => {
    const answer = await store.commit(batch)
    if (answer.committed) systemClock.soon(() => batch.ended.forEach(({ no }) => ended(no)))
    return answer
  }
  return watching
}

function planOf({ plans }: Engine, given: string | undefined): Plan {
  const creatable = plans.all.filter(({ operations }) => [...operations.values()].some((one) => one.creates))
  const type =
    given === undefined
      ? creatable[0]?.type
      : pick(
          given,
          plans.all.map((plan) => plan.type),
        )
  const plan = creatable.find((one) => one.type === type)
  if (plan !== undefined) return plan
  const names = creatable.map((one) => one.type).join(', ') || 'none'
  throw new CliError(exits.usage, `No operation creates ${type ?? 'anything'}.`, `These can be created: ${names}.`)
}

async function ask(engine: Engine, request: Parameters<Engine['request']>[0]) {
  try {
    return await engine.request(request)
  } catch (error) {
    if (!(error instanceof HomeostatError)) throw error
    const hint = 'Give its properties as name=value, so that it is accepted; or name another type.'
    throw new CliError(exits.usage, error.message, hint)
  }
}

/** One to be the parent of all, as if it had always been there. */
async function parentFor(engine: Engine, type: string): Promise<No> {
  const plan = engine.plans.get(type)!
  const status = [...plan.kinds].find(([, kind]) => kind === 'stable')?.[0]
  if (status === undefined) throw new CliError(exits.usage, `${type} has no status in which it could be a parent.`)
  const grandparent = plan.parentType === null ? null : await parentFor(engine, plan.parentType)
  const decision = await engine.submit({
    kind: 'importResource',
    type,
    id: 'bench',
    status,
    properties: (sampleFor(plan.properties as Schema, plain) ?? {}) as JsonObject,
    parent: grandparent === null ? undefined : { no: grandparent },
    by: 'bench',
  })
  if (decision.accepted) return decision.resource.no
  throw new CliError(exits.usage, `No parent could be made: ${decision.rejection.message}`)
}
