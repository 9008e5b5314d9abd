// P8: how many decisions the pure core makes in a second of one core, beside XState sending an event to a machine of four states.
// Prints one line per case; nothing is stored and no driver is called. Run: node --conditions=source scripts/bench-decide.ts
import { resourceType } from 'homeostat'
import { createActor, setup } from 'xstate'
import { z } from 'zod'
import { blazar } from '../catalogues/blazar/index.ts'
import type { Command } from '../src/decision/command.ts'
import { decide } from '../src/decision/decide.ts'
import type { Plans } from '../src/lifecycle/plan.ts'
import type { Situation } from '../src/decision/situation.ts'
import type { No, Resource } from '../src/decision/state.ts'
import { TableTop } from '../src/testing/table-top.ts'

const job = resourceType('bench.job', {
  properties: z.object({ size: z.number() }),
  statuses: {
    stable: { Done: 'Done.' },
    transitional: { One: '1.', Two: '2.', Three: '3.', Four: '4.' },
    failed: { Broken: 'Broken.' },
  },
})
const jobs = job.lifecycle({
  operations: {
    create: {
      from: [],
      steps: { one: { during: 'One' }, two: { during: 'Two' }, three: { during: 'Three' }, four: { during: 'Four' } },
      to: 'Done',
      onFailure: 'Broken',
    },
  },
  heal: {
    One: { resume: true, unowned: { status: 'Broken' } },
    Two: { like: 'One' },
    Three: { like: 'One' },
    Four: { like: 'One' },
  },
})

/** Only what was put into it, found by number: what a worker's memory is to the core. */
class Still implements Situation {
  readonly now = 2_000_000
  readonly claimant = 1
  private readonly resources: ReadonlyMap<No, Resource>
  private readonly childrenOf = new Map<No, Resource[]>()

  constructor(resources: Iterable<Resource>) {
    this.resources = new Map([...resources].map((one) => [one.no, one]))
    for (const one of this.resources.values()) {
      if (one.parent === null) continue
      this.childrenOf.set(one.parent, [...(this.childrenOf.get(one.parent) ?? []), one])
    }
  }

  resource(no: No): Resource | null {
    return this.resources.get(no) ?? null
  }
  children(no: No): readonly Resource[] {
    return this.childrenOf.get(no) ?? []
  }
  named(): null {
    return null
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
    return 1_000_000
  }
}

interface Case {
  readonly name: string
  readonly goal: number | null
  readonly once: () => unknown
}

function deciding(
  name: string,
  goal: number | null,
  plans: Plans,
  moments: readonly (readonly [Situation, Command])[],
): Case {
  let at = 0
  const once = () => {
    const [situation, command] = moments[at]!
    at = at + 1 === moments.length ? 0 : at + 1
    const decision = decide(plans, situation, command)
    if (!decision.accepted) throw new Error(decision.rejection.message)
    return decision
  }
  return { name, goal, once }
}

/** Each of the first three steps of a run ends; the last one lands. */
function stepEnds(lands: boolean): Case {
  const t = new TableTop([jobs])
  t.create('bench.job', 'j', { properties: { size: 1 } })
  const moments: [Situation, Command][] = []
  for (let step = 0; step < 4; step++) {
    const command = t.ending('j', { kind: 'done', result: null })
    if (lands === (step === 3)) moments.push([new Still(t.resources.values()), command])
    t.ok(command)
  }
  return deciding(lands ? 'a run of 4 steps lands' : 'a step of 4 ends', lands ? null : 3_000_000, t.plans, moments)
}

/** One of two reservations is started: the lease's table of combinations is judged over reservations and events. */
function reservationStarts(): Case {
  const t = new TableTop(Object.values(blazar))
  t.now = 0
  const input = { reservations: [{ resourceType: 'a' }, { resourceType: 'b' }] }
  t.create('blazar.lease', 'L', { properties: { startDate: 10, endDate: 20, degraded: false }, input })
  for (const one of t.children(t.get('L').no).slice(0, 2)) t.done('L', undefined, one)
  t.request('L', 'start')
  const command = t.ending('L', { kind: 'done', result: null })
  return deciding('a reservation of a lease starts, rule judged', 300_000, t.plans, [
    [new Still(t.resources.values()), command],
  ])
}

function xstateSends(): Case {
  const machine = setup({ types: { events: {} as { type: 'done' } } }).createMachine({
    initial: 'one',
    states: {
      one: { on: { done: 'two' } },
      two: { on: { done: 'three' } },
      three: { on: { done: 'four' } },
      four: { on: { done: 'one' } },
    },
  })
  const actor = createActor(machine).start()
  const event = { type: 'done' } as const
  return { name: 'XState: actor.send, 4 states', goal: null, once: () => actor.send(event) }
}

let kept: unknown

/** By the processor time of this thread, so that what else the machine does is not counted. */
function perSecond({ once }: Case, ms: number): number {
  const used = () => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1_000
  }
  const from = used()
  let count = 0
  for (; used() - from < ms; count += 1_000) for (let i = 0; i < 1_000; i++) kept = once()
  return (count / (used() - from)) * 1_000
}

const cases = [stepEnds(false), stepEnds(true), reservationStarts(), xstateSends()]
for (const one of cases) perSecond(one, 500)
for (const one of cases) {
  const best = Math.max(...[1, 2, 3, 4, 5].map(() => perSecond(one, 400)))
  const goal = one.goal === null ? '' : `  goal ${one.goal.toLocaleString('en')}${best >= one.goal ? '' : '  MISSED'}`
  console.log(`${one.name.padEnd(46)} ${Math.round(best).toLocaleString('en').padStart(12)} a second${goal}`)
}
if (kept === null) console.log('nothing was decided')
