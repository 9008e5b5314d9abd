// P8: pure decisions a second: the completion of a step, for a small lifecycle and for a Blazar lease with its rule, beside
// XState's actor.send in the same run. Nothing is written; the same situation is decided again and again.
import { createActor, createMachine } from 'xstate'
import { resourceType } from 'homeostat'
import { z } from 'zod'
import { blazar } from '../../catalogues/blazar/index.ts'
import { Defect } from '../../src/base/assert.ts'
import type { Command } from '../../src/decision/command.ts'
import { decide } from '../../src/decision/decide.ts'
import { owedCalls } from '../../src/decision/owed.ts'
import type { Situation } from '../../src/decision/situation.ts'
import type { No, Resource } from '../../src/decision/state.ts'
import { compilePlans } from '../../src/lifecycle/compile-plan.ts'
import type { Plans } from '../../src/lifecycle/plan.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import { median } from './load.ts'

const small = resourceType('bench.task', {
  properties: z.object({ title: z.string() }),
  statuses: {
    stable: { Done: 'All is done.' },
    transitional: { Working: 'Being worked on.' },
    failed: { Failed: 'Could not be done.' },
    terminal: { Removed: 'Gone.' },
  },
}).lifecycle({
  operations: {
    create: {
      from: [],
      steps: {
        one: { during: 'Working' },
        two: { during: 'Working' },
        three: { during: 'Working' },
        four: { during: 'Working' },
      },
      to: 'Done',
      onFailure: 'Failed',
    },
    remove: { from: ['*'], steps: {}, to: 'Removed', onFailure: 'Failed' },
  },
  heal: { Working: { resume: true, unowned: { status: 'Failed' } } },
})

/** Facts in maps; decisions that are accepted while it is set up are put in. */
class Facts implements Situation {
  readonly now = 1_700_000_000_000
  readonly claimant = 1
  readonly #plans: Plans
  readonly #resources = new Map<No, Resource>()
  readonly #children = new Map<No, Resource[]>()
  #next = 2 ** 32

  constructor(plans: Plans) {
    this.#plans = plans
  }

  resource(no: No): Resource | null {
    return this.#resources.get(no) ?? null
  }
  named(type: string, id: string): Resource | null {
    throw new Defect(`${type} ${id} was asked for by name`)
  }
  children(no: No): readonly Resource[] {
    return this.#children.get(no) ?? []
  }
  linkedBy(): readonly Resource[] {
    return []
  }
  key(): null {
    return null
  }
  endedRun(): null {
    return null
  }
  nextNo(): No {
    return ++this.#next
  }

  /** Decides and puts the result in. */
  play(command: Command): Resource {
    const decision = decide(this.#plans, this, command)
    if (!decision.accepted) throw new Error(decision.rejection.message)
    for (const write of decision.changes.writes) this.#resources.set(write.no, write)
    this.#children.clear()
    for (const one of this.#resources.values()) {
      if (one.parent === null) continue
      this.#children.set(one.parent, [...(this.#children.get(one.parent) ?? []), one])
    }
    return decision.resource
  }

  /** The completion of the first call that this resource owes. */
  completion(of: Resource): Command {
    const [owed] = owedCalls(this.#plans.get(of.type)!, of)
    const outcome = { kind: 'done', result: null } as const
    return { kind: 'callEnded', no: of.no, epoch: of.epoch, call: owed!.name, outcome, by: 'worker 1' }
  }
}

function smallStep(): () => boolean {
  const plans = compilePlans([small])
  const facts = new Facts(plans)
  const create = { properties: { title: 'measured' } }
  const task = facts.play({ kind: 'requestOperation', type: 'bench.task', operation: 'create', create, by: 'bench' })
  const command = facts.completion(task)
  return () => decide(plans, facts, command).accepted
}

/** A lease that is being started: the first of its two reservations is active, the lease goes on under its rule. */
function leaseStep(): () => boolean {
  const plans = compilePlans(Object.values(blazar))
  const facts = new Facts(plans)
  let lease = facts.play({
    kind: 'requestOperation',
    type: 'blazar.lease',
    operation: 'create',
    input: { reservations: [{ resourceType: 'host' }, { resourceType: 'network' }] },
    create: { properties: { startDate: facts.now + 1_000, endDate: facts.now + 100_000, degraded: false } },
    by: 'bench',
  })
  while (lease.run !== null) lease = facts.play(facts.completion(lease))
  lease = facts.play({ kind: 'requestOperation', type: 'blazar.lease', no: lease.no, operation: 'start', by: 'bench' })
  const command = facts.completion(lease)
  return () => decide(plans, facts, command).accepted
}

function xstateSend(): () => boolean {
  const next = (target: string) => ({ on: { done: target } })
  const states = { one: next('two'), two: next('three'), three: next('four'), four: next('one') }
  const actor = createActor(createMachine({ id: 'task', initial: 'one', states }))
  actor.start()
  const event = { type: 'done' } as const
  return () => {
    actor.send(event)
    return true
  }
}

/** Calls a second, over a quarter of a second. */
function rate(call: () => boolean): number {
  const began = performance.now()
  let calls = 0
  let took = 0
  for (; took < 250; took = performance.now() - began) {
    for (let i = 0; i < 1_000; i++) if (!call()) throw new Error('the decision was refused')
    calls += 1_000
  }
  return (calls / took) * 1000
}

export async function decideRate({ runs, say }: Options): Promise<Figure[]> {
  const subjects = { small: smallStep(), lease: leaseStep(), xstate: xstateSend() }
  const found: Record<keyof typeof subjects, number[]> = { small: [], lease: [], xstate: [] }
  for (let round = 0; round <= runs; round++) {
    for (const name of ['small', 'lease', 'xstate'] as const) {
      const value = rate(subjects[name])
      // The first round is for the compiler.
      if (round > 0) found[name].push(value)
    }
    say(`P8 round ${round} of ${runs}`)
  }
  const [smallRate, leaseRate, sends] = [median(found.small), median(found.lease), median(found.xstate)]
  return [
    {
      value: smallRate,
      bare: sends,
      ratio: smallRate / sends,
      details: { lease: leaseRate },
      what: 'P8: pure decisions a second, step completion of a small lifecycle',
      found: `${thousands(smallRate)} (XState actor.send: ${thousands(sends)}, ${(smallRate / sends).toFixed(1)} times)`,
      goal: 'at least 3,000,000, and faster than XState',
      isMet: smallRate >= 3_000_000 && smallRate > sends,
    },
    {
      value: leaseRate,
      bare: sends,
      ratio: leaseRate / sends,
      what: 'P8: the same for a Blazar lease with its rule',
      found: `${thousands(leaseRate)} (${(leaseRate / sends).toFixed(1)} times XState)`,
      goal: 'at least 300,000',
      isMet: leaseRate >= 300_000,
    },
  ]
}
