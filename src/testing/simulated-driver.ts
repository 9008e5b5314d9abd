// A driver for any declaration, made from it: steps that create make a thing under the ledger's name, steps that destroy and undos
// take it away, probes say what is really there. Built once per set of lifecycles and used by all processes of all simulations:
// which process calls is known from the timeline.
import { declarationOf, type StepData } from '../lifecycle/declaration.ts'
import type { LedgerView } from '../lifecycle/driver.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import type { Schema } from '../lifecycle/schema.ts'
import type { Stream } from './choices.ts'
import { sampleFor } from './samples.ts'
import type { Timeline } from './simulated-clock.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { Deed, SeenCall, SimulatedWorld } from './simulated-world.ts'

/** The simulation that is being run now. */
export interface Stage {
  readonly world: SimulatedWorld
  readonly process: SimulatedProcess
  readonly results: Stream
}

export class CurrentStage implements Stage {
  readonly world: SimulatedWorld
  readonly results: Stream
  readonly #timeline: Timeline

  constructor(world: SimulatedWorld, results: Stream, timeline: Timeline) {
    this.world = world
    this.results = results
    this.#timeline = timeline
  }

  /** Drivers are called in events of their process. */
  get process(): SimulatedProcess {
    return this.#timeline.current as SimulatedProcess
  }
}

/** What steps answer, by `type.function`: where a schema alone says too little. */
export type Results = Readonly<Record<string, (call: SeenCall & Record<string, unknown>, stream: Stream) => unknown>>

export type Drivers = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface Role {
  readonly type: string
  readonly function: string
  /** As a step: by name the same in every operation. */
  readonly steps: readonly StepData[]
  readonly undoes: readonly StepData[]
  readonly answers: readonly string[]
}

export function simulatedDrivers(lifecycles: readonly AnyLifecycle[], stage: () => Stage, results: Results): Drivers {
  const drivers: Record<string, Record<string, unknown>> = {}
  for (const lifecycle of lifecycles) {
    const { type, drift, heal } = declarationOf(lifecycle)
    const driver: Record<string, unknown> = {}
    for (const role of rolesOf(lifecycle).values()) {
      const inPlace = landingAnswers([drift, heal as Record<string, unknown>], role.function)
      driver[role.function] = (call: SeenCall) => play(role, call, stage(), results, inPlace)
    }
    driver['sweeper'] = sweeperOf(type, stage)
    drivers[type] = driver
  }
  return drivers
}

/** Every function that the declaration names, with all the parts it plays. */
function rolesOf(lifecycle: AnyLifecycle): Map<string, Role> {
  const { type, operations, probes } = declarationOf(lifecycle)
  const roles = new Map<string, { steps: StepData[]; undoes: StepData[]; answers: string[] }>()
  const roleOf = (name: string) => {
    const role = roles.get(name) ?? { steps: [], undoes: [], answers: [] }
    roles.set(name, role)
    return role
  }
  for (const { steps } of Object.values(operations)) {
    for (const [name, step] of Object.entries(steps ?? {})) {
      if (step.ask === undefined) roleOf(name).steps.push(step)
      if (step.undo !== undefined) roleOf(step.undo).undoes.push(step)
    }
  }
  for (const [name, answers] of Object.entries(probes)) roleOf(name).answers.push(...answers)
  return new Map([...roles].map(([name, role]) => [name, { type, function: name, ...role }]))
}

/** For a probe on settled resources: by status the answer that says "as recorded". */
function landingAnswers(
  tables: readonly Readonly<Record<string, unknown>>[],
  probe: string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [status, row] of Object.entries(
    tables[0] as Record<string, { probe?: Record<string, Record<string, unknown>> }>,
  )) {
    for (const [answer, landing] of Object.entries(row.probe?.[probe] ?? {})) {
      const to = typeof landing === 'string' ? landing : (landing as { status?: unknown }).status
      if (to === status && !found.has(status)) found.set(status, answer)
    }
  }
  return found
}

function play(
  role: Role,
  call: SeenCall,
  { world, process, results }: Stage,
  given: Results,
  inPlace: ReadonlyMap<string, string>,
): unknown {
  const phase = call.key.split('/')[1]
  if (phase === 'probe' || phase === 'healProbe') {
    return world.call(process, role.function, call, {
      creates: null,
      removes: [],
      answer: () => answerFor(role, call, phase, world, process, inPlace),
    })
  }
  if (phase === 'undo') return world.call(process, role.function, call, undoing(role, call))
  const step = role.steps[0]
  return world.call(process, role.function, call, {
    creates: step?.creates ?? null,
    removes: step?.destroys === undefined ? [] : namesOf(call.ledger, step.destroys),
    answer: () => {
      const invent = given[`${role.type}.${role.function}`]
      if (invent !== undefined) return invent(call as SeenCall & Record<string, unknown>, results)
      return step?.result === undefined ? undefined : sampleFor(step.result as Schema, results)
    },
  })
}

/** An undo takes back what its step made: by its name, or all of a kind when the same function also destroys. */
function undoing(role: Role, call: SeenCall): Deed {
  const removes = call.name === undefined ? [] : [call.name]
  return { creates: null, removes, answer: () => undefined }
}

const namesOf = (ledger: readonly LedgerView[], kind: string): string[] =>
  ledger.filter((entry) => entry.kind === kind).map((entry) => entry.name)

/** A step's probe says whether the step's call has had its effect; any other probe, that things are as recorded. */
function answerFor(
  role: Role,
  call: SeenCall,
  phase: string,
  world: SimulatedWorld,
  process: SimulatedProcess,
  inPlace: ReadonlyMap<string, string>,
): unknown {
  const isThere =
    phase === 'probe'
      ? world.done.has(call.key.replace('/probe/', '/step/')) ||
        (call.name !== undefined && world.things.has(call.name))
      : true
  const truth = isThere ? (inPlace.get(call.resource.status) ?? role.answers[0]!) : (role.answers[1] ?? 'unknown')
  // A look can come too early to see what has happened; it never sees what has not.
  const among = phase === 'probe' && !isThere ? ['unknown'] : [...role.answers, 'unknown']
  const others = among.filter((one) => one !== truth)
  const place = world.answerOf({ process, seen: call, function: role.function }, others.length + 1)
  return place === 0 ? truth : others[place - 1]
}

function sweeperOf(type: string, stage: () => Stage) {
  return {
    // A backend that checks epochs lets nothing in too late, so that nothing may be left for the inventory to find.
    inventory: () =>
      Promise.resolve(
        (stage().world.checksEpoch ? [] : [...stage().world.things.values()])
          .filter((thing) => thing.name.startsWith(`${type}/`))
          .map(({ kind, name }) => ({ kind, name })),
      ),
    destroy: (thing: LedgerView & { key: string; signal: AbortSignal }) => {
      const { world, process } = stage()
      const seen: SeenCall = {
        resource: { id: thing.name, type: 'orphan', status: '' },
        ledger: [thing],
        name: undefined,
        key: thing.key,
        epoch: 0,
        attempt: 1,
        forced: false,
        signal: thing.signal,
        progress: () => {},
      }
      const deed = { creates: null, removes: [thing.name], answer: () => undefined }
      // A sweeper's function must answer with a promise, whatever the world does.
      return new Promise((resolve) => resolve(world.call(process, 'destroy', seen, deed, thing.name)))
    },
  }
}
