// The door with a pretended decision: each resource holds a counter; what is tested is loading, batching, conflicts and answers.
import { describe, expect, test } from 'vitest'
import { systemClock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { seededRandom } from '../base/random.ts'
import type { Command, ProgressReported, SetStatus } from '../decision/command.ts'
import type { Changes, Decision } from '../decision/decision.ts'
import type { Situation } from '../decision/situation.ts'
import type { Resource } from '../decision/state.ts'
import type { Plans } from '../lifecycle/plan.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Batch, CommitAnswer, Store } from '../store/store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { changed, sampleResource } from '../testing/store-samples.ts'
import { Door, type Decide } from './door.ts'
import { ForeignWrites } from './foreign-writes.ts'
import { silent } from './log.ts'

const plans: Plans = { all: [], get: () => undefined, kindOf: () => 'stable' }

const nothing = { events: [], ended: [], key: null, late: [], incidents: [], followUps: [] }

/** `status` says what to do: add, refuse, throw, follow. */
const pretended: Decide = (_, situation, command): Decision => {
  const { no, status } = command as SetStatus
  if (status === 'throw') throw new Error('oops')
  const before = situation.resource(no)
  if (status === 'refuse') {
    return {
      accepted: false,
      rejection: { code: 'status_unknown', message: before?.description ?? 'none' },
      changes: null,
    }
  }
  const after: Resource = before
    ? changed(before, { description: String(Number(before.description) + 1) })
    : sampleResource(no, { status: 'Counting', description: '1' })
  const followUps = status === 'follow' ? [add(no)] : []
  const changes: Changes = { ...nothing, writes: [after], followUps }
  return { accepted: true, changes, resource: after, begun: 0 }
}

const act = (no: number, status: string): SetStatus => ({ kind: 'setStatus', no, status, reason: '', by: 'test' })
const add = (no: number): Command => act(no, 'add')

/** Like the real one: what comes alone need not wait for the turn. */
class QuickClock extends ManualClock {
  atOnce(then: () => void): void {
    queueMicrotask(then)
  }
}

interface Made {
  readonly door: Door
  readonly store: Store
  readonly batches: Batch[]
  readonly clock: ManualClock
}

function make(change: Partial<Store> = {}, decide: Decide = pretended, clock = new ManualClock()): Made {
  const backend = createMemoryBackend()
  const handle = backend.open()
  handle.useKinds(() => 'stable')
  const batches: Batch[] = []
  const store = Object.assign(Object.create(handle) as Store, {
    ...methodsOf(handle as unknown as Store),
    commit(batch: Batch) {
      batches.push(batch)
      return handle.commit(batch)
    },
    ...change,
  })
  const door = new Door({
    store,
    plans,
    decide,
    clock,
    random: seededRandom(1),
    log: silent,
    foreign: new ForeignWrites(store),
  })
  door.reborn(1)
  return { door, store, batches, clock }
}

function methodsOf(store: Store): Partial<Store> {
  const names = ['load', 'commit', 'othersWrote'] as const
  return Object.fromEntries(names.map((name) => [name, (store[name] as () => unknown).bind(store)]))
}

const descriptionOf = (decision: Decision): string =>
  decision.accepted ? decision.resource.description : decision.rejection.message

describe('the door', () => {
  test('commits commands that arrive together in one batch, folded to one write per resource', async () => {
    const { door, batches } = make()
    const answers = await Promise.all([add(1), add(1), add(2), add(1)].map((command) => door.ask(command)))
    expect(answers.map(descriptionOf)).toEqual(['1', '2', '1', '3'])
    expect(batches).toHaveLength(1)
    expect(batches[0]!.writes.map(({ before, after }) => [before, after.description])).toEqual([
      [null, '3'],
      [null, '1'],
    ])
  })

  test('takes at most the limit in one batch and goes on with the rest', async () => {
    const { door, batches } = make()
    await Promise.all(Array.from({ length: 1_200 }, (_, i) => door.ask(add(i + 1))))
    expect(batches.map((batch) => batch.writes.length)).toEqual([500, 500, 200])
  })

  test('what comes alone is taken before the turn is over; after a number of such batches everybody else has a turn', async () => {
    const { door, batches } = make({}, pretended, new QuickClock())
    let turns = 0
    systemClock.soon(() => turns++)
    const answeredIn: number[] = []
    await new Promise<void>((resolve) => {
      const again = () => {
        answeredIn.push(turns)
        if (turns === 0) door.submitAlone(add(1), again)
        else resolve()
      }
      door.submitAlone(add(1), again)
    })
    expect(answeredIn).toEqual([...Array<number>(16).fill(0), 1])
    expect(batches).toHaveLength(17)
  })

  test('what came alone and got company waits for the turn like all others', async () => {
    const { door, batches } = make({}, pretended, new QuickClock())
    const answers: Promise<Decision>[] = [door.ask(add(1))]
    answers.push(new Promise((resolve) => door.submitAlone(add(2), resolve)))
    await Promise.all(answers)
    answers.push(new Promise((resolve) => door.submitAlone(add(3), resolve)), door.ask(add(4)))
    await Promise.all(answers)
    expect(batches.map((batch) => batch.writes.map(({ after }) => after.no))).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  test('answers only after the commit', async () => {
    let release = () => {}
    const made = make()
    const commit = made.store.commit.bind(made.store)
    made.store.commit = (batch) =>
      new Promise<CommitAnswer>((resolve) => {
        release = () => resolve(commit(batch))
      })
    let isAnswered = false
    const asking = made.door.ask(add(1)).then(() => (isAnswered = true))
    await made.clock.settle()
    expect(isAnswered).toBe(false)
    release()
    await asking
    expect(isAnswered).toBe(true)
  })

  test('a decision that throws rejects only its own command', async () => {
    const { door } = make()
    const answers = await Promise.all([door.ask(add(1)), door.ask(act(2, 'throw')), door.ask(add(3))])
    expect(answers.map((one) => one.accepted)).toEqual([true, false, true])
    expect(answers[1]).toMatchObject({ rejection: { code: 'declaration_defect' } })
  })

  test('facts that are read and not written are guarded', async () => {
    const { door, batches } = make()
    await door.ask(add(1))
    await Promise.all([door.ask(act(1, 'refuse')), door.ask(add(2))])
    expect(batches[1]!.guards).toEqual([{ guard: 'revision', no: 1, revision: 1 }])
  })

  test('a conflict makes the batch be decided again on what is there now', async () => {
    const { door, store } = make()
    const other = createOther(store)
    await door.ask(add(1))
    other.write()
    const answer = await door.ask(add(1))
    expect(descriptionOf(answer)).toBe('11')
    expect(door.figures.conflicts).toBe(1)
  })

  test('one command that always conflicts does not sink the others', async () => {
    const { door, store, clock } = make()
    const commit = store.commit.bind(store)
    store.commit = (batch) =>
      batch.writes.some((write) => write.after.no === 13)
        ? { committed: false, conflicts: [13], keys: [] }
        : commit(batch)
    const asking = Promise.all(Array.from({ length: 20 }, (_, i) => door.ask(add(i + 1))))
    await clock.advance(5_000)
    const answers = await asking
    expect(answers.filter((one) => !one.accepted)).toHaveLength(1)
    expect(answers[12]).toMatchObject({ accepted: false, rejection: { code: 'store_unavailable' } })
  })

  test('a store that does not answer is asked again until it does; nothing is acknowledged meanwhile', async () => {
    const { door, store, clock } = make()
    const commit = store.commit.bind(store)
    let failures = 3
    store.commit = (batch) => {
      if (failures-- > 0) throw new HomeostatError('store_unavailable', 'away')
      return commit(batch)
    }
    let answer: Decision | null = null
    void door.ask(add(1)).then((decision) => (answer = decision))
    await clock.settle()
    expect(answer).toBe(null)
    await clock.advance(10_000)
    expect(answer).toMatchObject({ accepted: true })
    expect(door.figures.storeErrors).toBe(3)
    expect(clock.armed).toBe(0)
  })

  test('closing answers what waits, also while the store is away', async () => {
    const { door, store, clock } = make()
    store.commit = () => {
      throw new HomeostatError('store_unavailable', 'away')
    }
    const asking = door.ask(add(1))
    await clock.settle()
    door.close('engine_stopped', 'stopping')
    expect(await asking).toMatchObject({ accepted: false, rejection: { code: 'engine_stopped' } })
    expect(await door.ask(add(2))).toMatchObject({ accepted: false, rejection: { code: 'engine_stopped' } })
    await door.idle()
    expect(clock.armed).toBe(0)
  })

  test('a batch that the store refuses for another reason is halved until the bad command is alone', async () => {
    const { door, store } = make()
    const commit = store.commit.bind(store)
    store.commit = (batch) => {
      if (batch.writes.some((write) => write.after.no === 3)) throw new TypeError('cannot be written')
      return commit(batch)
    }
    const answers = await Promise.all([1, 2, 3, 4, 5].map((no) => door.ask(add(no))))
    expect(answers.map((one) => one.accepted)).toEqual([true, true, false, true, true])
  })

  test('what follows from a decision is submitted after its commit', async () => {
    const { door, store } = make()
    await door.ask(act(1, 'follow'))
    await door.idle()
    expect(await store.load([{ ask: 'resource', no: 1 }])).toMatchObject([{ description: '2' }])
  })

  test('works the same with a store that answers later', async () => {
    const { door, store } = make()
    const load = store.load.bind(store)
    const commit = store.commit.bind(store)
    store.load = (asks) => Promise.resolve().then(() => load(asks))
    store.commit = (batch) => Promise.resolve().then(() => commit(batch))
    const answers = await Promise.all([add(1), add(1), add(2), act(1, 'refuse')].map((command) => door.ask(command)))
    expect(answers.map(descriptionOf)).toEqual(['1', '2', '1', '2'])
  })

  test('how a call ended is told by the next incarnation when the lease was lost meanwhile; requests are refused', async () => {
    const told: string[] = []
    const { door } = make({}, (_, situation, command) => {
      told.push(command.kind)
      return pretended(plans, situation, command)
    })
    const call = { phase: 'step', step: 0, item: 0, attempt: 1 } as const
    const outcome = { kind: 'done', result: null } as const
    const ended = door.ask({ kind: 'callEnded', no: 1, epoch: 1, call, outcome, by: 'test' })
    const asked = door.ask(add(2))
    door.close('lease_lost', 'The lease is gone.')
    expect(await asked).toMatchObject({ accepted: false, rejection: { code: 'lease_lost' } })
    expect(told).toEqual([])
    door.reborn(2)
    expect(await ended).toMatchObject({ accepted: true })
    expect(told).toEqual(['callEnded'])
  })

  test('numbers of new resources are the incarnation and a counter', () => {
    const { door } = make({}, (_, situation) => {
      numbers.push(situation.nextNo(), situation.nextNo())
      return { accepted: false, rejection: { code: 'not_stuck', message: '' }, changes: null }
    })
    const numbers: number[] = []
    door.reborn(7)
    return door.ask(add(1)).then(() => expect(numbers).toEqual([7 * 2 ** 32 + 1, 7 * 2 ** 32 + 2]))
  })

  test('a command of the run itself trusts what is cached although others wrote; one from outside does not', async () => {
    const asked: number[] = []
    const reader: Decide = (_, situation: Situation, command) => {
      const before = situation.resource((command as SetStatus).no)
      const run = { owner: 1 } as Resource['run']
      const after = { ...(before ?? sampleResource(1)), run, revision: (before?.revision ?? 0) + 1 }
      return { accepted: true, changes: { ...nothing, writes: [after] }, resource: after, begun: 0 }
    }
    const { door, store } = make({}, reader)
    const load = store.load.bind(store)
    store.load = (asks) => {
      asked.push(asks.length)
      return load(asks)
    }
    await door.ask(add(1))
    store.othersWrote = () => true
    const progress: ProgressReported = { kind: 'progressReported', no: 1, epoch: 1, text: '', by: '' }
    await door.ask(progress)
    expect(asked).toEqual([1])
    await door.ask(add(1))
    expect(asked).toEqual([1, 1])
  })
})

/** Somebody else who adds nine to the first counter. */
function createOther(store: Store): { write: () => void } {
  return {
    write() {
      const [before] = store.load([{ ask: 'resource', no: 1 }]) as [Resource]
      const after = changed(before, { description: String(Number(before.description) + 9) })
      void store.commit({ ...nothing, keys: [], guards: [], writes: [{ before, after }] })
    },
  }
}
