// What is asked in a rehearsal: owners and linked resources are put there, the resource is brought to where the operation starts,
// then the operation is asked for. Values that are not given are invented from the schemas, several times if need be.
import { assert } from '../base/assert.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Command } from '../decision/command.ts'
import type { OperationPlan, Plan, Plans } from '../lifecycle/plan.ts'
import { Choices } from './choices.ts'
import type { RehearsalAsked } from './rehearsal.ts'
import { sampleFor } from './samples.ts'
import type { Seen } from './seen.ts'
import { beginning } from './simulated-clock.ts'
import type { ScriptLine } from './simulation.ts'

export interface Prepared {
  readonly script: readonly ScriptLine[]
  readonly resource: { readonly type: string; readonly id: string }
  /** Milliseconds after the beginning. */
  readonly asksAt: number
  readonly creates: boolean
  readonly from: string
  readonly properties: JsonObject
  readonly input: Json
  /** Before each run. */
  begin(): void
  /** Whether it stood where it should when the operation was asked for. */
  isReady(): boolean
}

const putAt = 100
const createAt = 500
/** Long enough for a creation without faults, too short for timers. */
const createdBy = 4_000
const samplesMost = 6

/** From the plainest to the more inventive; the first that is accepted is taken. */
export function* preparations(plans: Plans, asked: RehearsalAsked): Generator<Prepared> {
  const plan = plans.get(asked.type)
  assert(plan !== undefined, `there is no lifecycle ${asked.type}`)
  const isGiven = asked.properties !== undefined && asked.input !== undefined
  for (let seed = 0; seed < (isGiven ? 1 : samplesMost); seed++) {
    for (const isMade of [true, false]) {
      for (const isLinked of [false, true]) {
        const prepared = prepare(plans, plan, asked, { seed, isMade, isLinked })
        if (prepared !== null) yield prepared
      }
    }
  }
}

interface Way {
  readonly seed: number
  /** It goes through its creation; else it is put there as it is. */
  readonly isMade: boolean
  /** Its links lead somewhere. */
  readonly isLinked: boolean
}

/** Null where there is no such way. */
function prepare(plans: Plans, plan: Plan, asked: RehearsalAsked, { seed, isMade, isLinked }: Way): Prepared | null {
  const operation = asked.operation === null ? null : plan.operations.get(asked.operation)!
  const creating = creatorOf(plan)
  const creates = operation?.creates === true
  const from = asked.from ?? (operation === null ? firstOf(plan, 'transitional') : startOf(plan, operation))
  const comesFromCreation = creating !== null && landingsOf(creating).includes(from)
  if (creates ? !isMade : isMade && (operation === null || !comesFromCreation)) return null
  const stream = new Choices(seed, seed === 0 ? { list: {} } : {}).stream('rehearsal')
  const properties = asked.properties ?? timely((sampleFor(plan.properties, stream) ?? {}) as JsonObject, seed)
  const input =
    asked.input ?? (operation === null ? undefined : (sampleFor(operation.input, stream) as Json | undefined))
  const around = new Surroundings(plans, seed)
  const { parent, links } = around.of(plan, isLinked)
  if (isLinked && links === undefined) return null
  const resource = { type: plan.type, id: `${plan.type.split('.').at(-1)!}-1` }
  const by = 'somebody'
  const create = { ...(parent === undefined ? {} : { parent }), ...(links === undefined ? {} : { links }), properties }
  const request = (name: string, given: object): Command =>
    ({ kind: 'requestOperation', type: plan.type, operation: name, by, ...given }) as Command
  const inputs = input === undefined ? {} : { input }
  const lines: ScriptLine[] = around.commands.map((command) => ({ at: putAt, ask: () => command }))
  let isReady = creates || operation === null
  if (creates) lines.push({ at: createAt, ask: () => request(operation.name, { id: resource.id, create, ...inputs }) })
  else if (isMade) {
    const first = sampleFor(creating!.input, stream)
    const given = { id: resource.id, create, ...(first === undefined ? {} : { input: first }) }
    lines.push({ at: createAt, ask: () => request(creating!.name, given) })
  } else {
    const put: Command = { kind: 'importResource', ...resource, status: from, ...create, by }
    lines.push({ at: createAt, ask: () => put })
  }
  const asksAt = creates || operation === null ? createAt : isMade ? createdBy : createAt + 100
  if (!creates && operation !== null) {
    lines.push({
      at: asksAt,
      ask: (seen: Seen) => {
        const no = seen.names.get(`${resource.type}/${resource.id}`)
        isReady = no !== undefined && seen.states.get(no)!.status === from
        return no === undefined ? null : request(operation.name, { no, ...inputs })
      },
    })
  }
  return {
    script: lines,
    resource,
    asksAt,
    creates,
    from,
    properties,
    input: input ?? null,
    begin: () => (isReady = creates || operation === null),
    isReady: () => isReady,
  }
}

/** What no schema says: moments lie ahead, one after the other. */
function timely(properties: JsonObject, seed: number): JsonObject {
  if (seed < 2) return properties
  let ahead = 0
  const entries = Object.entries(properties).map(([name, value]): [string, Json] => {
    const isMoment = typeof value === 'number' && /(date|time|at)$/i.test(name)
    return [name, isMoment ? beginning + (ahead += 3_600_000) : value]
  })
  return Object.fromEntries(entries)
}

const creatorOf = ({ operations }: Plan): OperationPlan | null =>
  operations.get('create') ?? [...operations.values()].find((one) => one.creates) ?? null

const landingsOf = ({ to }: OperationPlan): string[] => to.flatMap(({ status }) => status ?? [])

const firstOf = ({ kinds }: Plan, kind: string): string =>
  [...kinds].find(([, one]) => one === kind)?.[0] ?? [...kinds.keys()][0]!

/** The status from which an operation is usually asked for: where creation ends, else a stable one, else any. */
function startOf(plan: Plan, { from }: OperationPlan): string {
  const creating = creatorOf(plan)
  const home = creating === null ? undefined : landingsOf(creating).find((status) => from.has(status))
  return home ?? [...from].find((status) => plan.kinds.get(status) === 'stable') ?? [...from][0] ?? ''
}

/** Where a resource that others need stands: where creation ends, or another place where it can stay. */
function homeOf(plan: Plan, seed: number): string {
  const creating = creatorOf(plan)
  const landed = creating === null ? [] : landingsOf(creating)
  const stable = [...plan.kinds].filter(([, kind]) => kind === 'stable').map(([status]) => status)
  const homes = [...new Set([...landed.filter((status) => stable.includes(status)), ...stable])]
  return homes[seed % homes.length] ?? firstOf(plan, 'stable')
}

/** Owners and linked resources, each put there once. */
class Surroundings {
  readonly commands: Command[] = []
  readonly #plans: Plans
  readonly #seed: number
  readonly #ids = new Map<string, string>()

  constructor(plans: Plans, seed: number) {
    this.#plans = plans
    this.#seed = seed
  }

  of(plan: Plan, isLinked = false): { parent?: { type: string; id: string }; links?: Record<string, string> } {
    const links: Record<string, string> = {}
    for (const { name, kind, type } of isLinked ? plan.relations.values() : [])
      if (kind === 'link' && type !== plan.type) links[name] = this.#put(type)
    return {
      ...(plan.parentType === null ? {} : { parent: { type: plan.parentType, id: this.#put(plan.parentType) } }),
      ...(Object.keys(links).length === 0 ? {} : { links }),
    }
  }

  #put(type: string): string {
    const known = this.#ids.get(type)
    if (known !== undefined) return known
    const id = `${type.split('.').at(-1)!}-1`
    this.#ids.set(type, id)
    const plan = this.#plans.get(type)!
    const stream = new Choices(0, { list: {} }).stream('rehearsal')
    const properties = sampleFor(plan.properties, stream) ?? {}
    this.commands.push({
      kind: 'importResource',
      type,
      id,
      status: homeOf(plan, this.#seed),
      ...this.of(plan),
      properties,
      by: 'somebody',
    })
    return id
  }
}
