// Invents what people and programs ask of a simulated system: creations, operations, deletes at any moment, force, cancel, retry,
// skip, repair by hand, imports of stuck objects. For any declaration; a scenario says more where a schema says too little.
import type { Millis } from '../base/clock.ts'
import type { Command } from '../decision/command.ts'
import { owedCalls } from '../decision/owed.ts'
import type { No, Resource } from '../decision/state.ts'
import type { OperationPlan, Plan, Plans } from '../lifecycle/plan.ts'
import type { Stream } from './choices.ts'
import { sampleFor } from './samples.ts'
import type { Seen } from './seen.ts'

/** What an invention may look at. */
export interface Around {
  readonly stream: Stream
  readonly now: Millis
  /** Resources of a type that are not terminal. */
  readonly living: (type: string) => readonly Resource[]
  readonly resource: Resource | null
}

/** Inputs by `type.operation`, properties by type; for all others the schemas say it. */
export interface Inventions {
  readonly inputs?: Readonly<Record<string, (around: Around) => unknown>>
  readonly properties?: Readonly<Record<string, (around: Around) => unknown>>
  /** Ids of linked resources by type. */
  readonly links?: Readonly<Record<string, (around: Around) => Readonly<Record<string, string>> | undefined>>
  /** Operations that the workload does not ask for by itself. */
  readonly never?: readonly string[]
  /** Objects that come in together; left out: any object in any status. */
  readonly imports?: (around: Around, id: () => string) => readonly Command[]
}

const actions = [
  'create',
  'operate',
  'remove',
  'force',
  'cancel',
  'retry',
  'skip',
  'setStatus',
  'import',
  'orphan',
  'complete',
  'observe',
] as const
type Action = (typeof actions)[number]

const weights: Readonly<Record<Action, number>> = {
  create: 5,
  operate: 8,
  remove: 5,
  force: 1,
  cancel: 1,
  retry: 1,
  skip: 0.4,
  setStatus: 0.5,
  import: 1.2,
  orphan: 0.4,
  complete: 0.5,
  observe: 0.4,
}

export class Workload {
  readonly #plans: Plans
  readonly #seen: Seen
  readonly #stream: Stream
  readonly #inventions: Inventions
  #ids = 0
  #keys = 0

  constructor(plans: Plans, seen: Seen, stream: Stream, inventions: Inventions) {
    this.#plans = plans
    this.#seen = seen
    this.#stream = stream
    this.#inventions = inventions
  }

  /** The next thing that somebody asks for; null when the moment does not fit. */
  next(now: Millis): readonly Command[] {
    const action = actions[this.#stream.weighted(actions.map((one) => weights[one]))]!
    if (action === 'import' && this.#inventions.imports !== undefined) {
      return this.#inventions.imports(this.#around(now, null), () => `i${++this.#ids}`)
    }
    const command = this.#command(action, now)
    return command === null ? [] : [command]
  }

  #command(action: Action, now: Millis): Command | null {
    if (action === 'create' || this.#all().length === 0) return this.#create(now)
    if (action === 'import') return this.#import(now)
    const resource = this.#pick(this.#all())
    const plan = this.#plans.get(resource.type)!
    switch (action) {
      case 'operate':
        return this.#operate(now, resource, plan, (one) => !one.creates)
      case 'remove':
        return this.#operate(now, resource, plan, (one) => one.removes)
      case 'force':
        return this.#operate(now, resource, plan, (one) => one.forceMs > 0, true)
      case 'cancel':
        return { kind: 'cancelRun', no: resource.no, by: 'someone', reason: 'changed my mind' }
      case 'retry':
        return { kind: 'retryRun', no: resource.no, by: 'someone' }
      case 'skip':
        return destroys(resource, plan)
          ? null
          : { kind: 'skipStep', no: resource.no, by: 'someone', reason: 'done by hand' }
      case 'setStatus':
        return this.#setStatus(resource, plan)
      case 'orphan':
        return this.#orphan()
      case 'complete':
        return this.#complete(resource, plan)
      case 'observe':
        return this.#observe(resource, plan)
      default:
        return null
    }
  }

  /** A delete of this resource, or of any; null when nothing can be deleted. */
  deleteOf(no: No | null, now: Millis): Command | null {
    const resource = no === null ? undefined : this.#seen.states.get(no)
    const found = resource ?? this.#all()[0]
    if (found === undefined) return null
    return this.#operate(now, found, this.#plans.get(found.type)!, (one) => one.removes)
  }

  /** A person sends on what is parked. */
  retryOf(no: No): Command {
    return { kind: 'retryRun', no, by: 'someone' }
  }

  key(): string {
    return `request ${++this.#keys}`
  }

  #all(): readonly Resource[] {
    return [...this.#seen.states.values()].filter((one) => this.#plans.kindOf(one.type, one.status) !== 'terminal')
  }

  #living(type: string): readonly Resource[] {
    return this.#all().filter((one) => one.type === type)
  }

  #around(now: Millis, resource: Resource | null): Around {
    return { stream: this.#stream, now, living: (type) => this.#living(type), resource }
  }

  #pick<T>(list: readonly T[]): T {
    return list[this.#stream.below(list.length)]!
  }

  /** Where a parent is missing, the parent is created instead. */
  #create(now: Millis): Command | null {
    const creatable = this.#plans.all.filter((plan) => [...plan.operations.values()].some((one) => one.creates))
    if (creatable.length === 0) return this.#import(now)
    let plan = this.#pick(creatable)
    for (let depth = 0; depth < 4; depth++) {
      if (plan.parentType === null || this.#living(plan.parentType).length > 0) break
      plan = this.#plans.get(plan.parentType)!
    }
    const creating = [...plan.operations.values()].filter((one) => one.creates)
    if (creating.length === 0) return this.#import(now, plan)
    const operation = this.#pick(creating)
    const around = this.#around(now, null)
    const id = this.#stream.below(3) === 2 ? undefined : `r${++this.#ids}`
    return {
      kind: 'requestOperation',
      type: plan.type,
      ...(id === undefined ? {} : { id }),
      operation: operation.name,
      ...this.#input(plan, operation, around),
      by: 'someone',
      create: {
        ...this.#parent(plan),
        properties: this.#properties(plan, around),
        links: this.#inventions.links?.[plan.type]?.(around),
      },
    }
  }

  #parent(plan: Plan): { parent?: { no: No } } {
    const parents = plan.parentType === null ? [] : this.#living(plan.parentType)
    return parents.length === 0 ? {} : { parent: { no: this.#pick(parents).no } }
  }

  #properties(plan: Plan, around: Around): unknown {
    return this.#inventions.properties?.[plan.type]?.(around) ?? sampleFor(plan.properties, this.#stream) ?? {}
  }

  #input(plan: Plan, operation: OperationPlan, around: Around): { input?: unknown } {
    const given = this.#inventions.inputs?.[`${plan.type}.${operation.name}`]
    const input = given !== undefined ? given(around) : sampleFor(operation.input, this.#stream)
    return input === undefined ? {} : { input }
  }

  /** Mostly what the present status allows, sometimes anything: refusals are part of the promise. */
  #operate(
    now: Millis,
    resource: Resource,
    plan: Plan,
    isWanted: (operation: OperationPlan) => boolean,
    force = false,
  ): Command | null {
    const never = this.#inventions.never ?? []
    const wanted = [...plan.operations.values()].filter(
      (one) => isWanted(one) && !one.creates && !never.includes(`${plan.type}.${one.name}`),
    )
    const fitting = wanted.filter((one) => one.from.has(resource.status))
    const among = fitting.length > 0 && this.#stream.below(8) !== 7 ? fitting : wanted
    if (among.length === 0) return null
    const operation = this.#pick(among)
    return {
      kind: 'requestOperation',
      type: plan.type,
      no: resource.no,
      operation: operation.name,
      ...this.#input(plan, operation, this.#around(now, resource)),
      by: 'someone',
      ...(force ? { force, reason: 'it hangs' } : {}),
    }
  }

  #setStatus(resource: Resource, plan: Plan): Command {
    const status = this.#pick([...plan.kinds.keys()])
    return { kind: 'setStatus', no: resource.no, status, reason: 'put right by hand', by: 'someone' }
  }

  /** An object that existed already, mostly stuck in the middle of something. */
  #import(now: Millis, of?: Plan): Command | null {
    const plan = of ?? this.#pick(this.#plans.all)
    const transitional = [...plan.kinds].filter(([, kind]) => kind === 'transitional').map(([status]) => status)
    const any = [...plan.kinds].filter(([, kind]) => kind !== 'terminal').map(([status]) => status)
    const status = this.#pick(transitional.length > 0 && this.#stream.below(3) !== 2 ? transitional : any)
    const around = this.#around(now, null)
    return {
      kind: 'importResource',
      type: plan.type,
      id: `i${++this.#ids}`,
      status,
      ...this.#parent(plan),
      properties: this.#properties(plan, around),
      by: 'someone',
    }
  }

  /** A callback tells how a call ended, although the call itself may still be under way. */
  #complete(resource: Resource, plan: Plan): Command | null {
    const owed = owedCalls(plan, resource).find((one) => one.does === 'driver' && one.name.phase === 'step')
    if (owed === undefined) return null
    const outcome =
      this.#stream.below(2) === 0 && !destroys(resource, plan)
        ? ({ kind: 'done', result: null } as const)
        : ({ kind: 'failed', code: 'by_callback', reason: 'the callback said no', terminal: false } as const)
    return { kind: 'completeStep', no: resource.no, key: owed.key, outcome, by: 'a callback' }
  }

  /** The backend tells by itself what it sees. */
  #observe(resource: Resource, plan: Plan): Command | null {
    const drift = plan.drift.get(resource.status)
    if (drift === undefined) return null
    const answer = this.#pick([...drift.probe.answers.keys()])
    return { kind: 'observed', no: resource.no, probe: drift.probe.name, answer, observed: null, by: 'the backend' }
  }

  #orphan(): Command | null {
    for (const resource of this.#seen.states.values()) {
      const entry = resource.ledger.find((one) => one.state === 'orphaned')
      if (entry === undefined) continue
      const how = this.#stream.below(2) === 0 ? 'writtenOff' : 'adopted'
      return { kind: 'orphanEnded', no: resource.no, name: entry.name, how, sweeper: 0, reason: 'seen', by: 'someone' }
    }
    return null
  }
}

/** Who vouches for a step that destroys something must have looked; the people here have not. */
const destroys = ({ run }: Resource, plan: Plan): boolean =>
  run !== null && plan.operations.get(run.operation)?.steps[run.step]?.destroys != null
