// The typed convenience: `client.volume.extend('v-17', { size: 20 })`, made from the lifecycles' own operations.
import type { Command, RequestOperation } from '../decision/command.ts'
import type { Accepted } from '../decision/decision.ts'
import { runId, type Resource } from '../decision/state.ts'
import type { Accepted as Answered, Client } from '../lifecycle/client.ts'
import { typeOf, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'
import { viewOf } from './driver-call.ts'

export type LifecycleSet = Readonly<Record<string, AnyLifecycle>>

interface Requests {
  readonly plans: Plans
  request(request: Omit<RequestOperation, 'kind'>): Promise<Accepted>
  get(type: string, id: string): Promise<Resource | null>
}

interface Given {
  readonly id?: string
  readonly name?: string
  readonly tenant?: string
  readonly parent?: string
  readonly links?: Readonly<Record<string, string>>
  readonly properties?: unknown
}

export function createClient<Set extends LifecycleSet>(engine: Requests, set: Set, by: string): Client<Set> {
  const client: Record<string, unknown> = {}
  for (const [key, lifecycle] of Object.entries(set)) {
    const plan = engine.plans.get(typeOf(lifecycle))!
    client[key] = clientOf(engine, plan, by)
  }
  return client as Client<Set>
}

function clientOf(engine: Requests, plan: Plan, by: string): Record<string, unknown> {
  const { type } = plan
  const one: Record<string, unknown> = {
    get: async (id: string) => {
      const found = await engine.get(type, id)
      return found === null ? null : viewOf(found)
    },
  }
  for (const operation of plan.operations.values()) {
    one[operation.name] = operation.creates
      ? (given: Given, input?: unknown) =>
          accepted(plan, engine.request(creation(plan, operation.name, given, input, by)))
      : (id: string, input?: unknown) =>
          accepted(plan, engine.request({ type, id, operation: operation.name, input, by }))
  }
  return one
}

function creation(
  plan: Plan,
  operation: string,
  given: Given,
  input: unknown,
  by: string,
): Omit<RequestOperation, 'kind'> {
  const { id, parent, ...rest } = given
  const create: NonNullable<Extract<Command, { kind: 'requestOperation' }>['create']> = {
    ...rest,
    ...(parent === undefined ? {} : { parent: { type: plan.parentType ?? '', id: parent } }),
  }
  return {
    type: plan.type,
    operation,
    by,
    create,
    ...(id === undefined ? {} : { id }),
    ...(input === undefined ? {} : { input }),
  }
}

async function accepted(plan: Plan, asking: Promise<Accepted>): Promise<Answered> {
  const { resource, begun } = await asking
  const isOver = plan.kinds.get(resource.status) === 'terminal'
  return {
    resource: viewOf(resource),
    run: begun === 0 ? null : { id: runId({ no: resource.no, begun }) },
    outcome: begun > 0 ? 'begun' : isOver ? 'over' : 'queued',
  }
}
