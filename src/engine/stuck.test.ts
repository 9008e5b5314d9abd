// One judgement of what is stuck: what healing finds by itself, what an explanation shows, and what a person may heal before that.
import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import { sampleBatch } from '../testing/store-samples.ts'
import { boxOf, createBench, makeBox, statusOf, type Process } from '../testing/engine-bench.ts'

/** A box whose work is held up by its driver, and another process, without a worker, whose clock is its own. */
async function held(): Promise<{ readonly owner: Process; readonly onlooker: Process }> {
  const bench = createBench()
  const owner = bench.open({ leaseMs: 1_000_000 })
  await owner.engine.start()
  await makeBox(owner)
  owner.puppet.holding.add('toil')
  await owner.engine.operate('bench.box', 'b-1', 'work', { by: 'test' })
  await owner.clock.settle()
  const onlooker = bench.open({ worker: false, overdueSlackMs: 20_000 })
  await onlooker.engine.start()
  return { owner, onlooker }
}

const seenBy = async (process: Process) => ({
  listed: (await process.engine.heal.stuck()).map(({ found }) => found),
  shown: (await process.engine.heal.previewOf(await boxOf(process)))?.found ?? null,
})
const approving = ({ engine }: Process) => engine.heal.approve('bench.box', 'b-1', 'ann')

test('a run in time is stuck for nobody', async () => {
  const { onlooker } = await held()
  expect(await seenBy(onlooker)).toEqual({ listed: [], shown: null })
  await expect(approving(onlooker)).rejects.toMatchObject({
    code: 'not_stuck',
    message: 'bench.box b-1 is not stuck: its run is under way.',
  })
})

test('what has been late for a moment is left to its owner by healing, not by a person; after a while it is stuck', async () => {
  const { onlooker } = await held()
  await onlooker.clock.advance(31_000)
  expect(await seenBy(onlooker)).toEqual({ listed: [], shown: null })
  expect(await onlooker.engine.heal.foundFor(await boxOf(onlooker))).toBe('overdue')
  await onlooker.clock.advance(20_000)
  expect(await seenBy(onlooker)).toEqual({ listed: ['overdue'], shown: 'overdue' })
  expect(await approving(onlooker)).toMatchObject({ accepted: true })
  expect(await onlooker.engine.incidents()).toMatchObject([{ kind: 'overdue' }])
})

test('the run of a lost owner is stuck; once it waits for a worker only a person heals it again', async () => {
  const { owner, onlooker } = await held()
  owner.store.crash()
  expect(await seenBy(onlooker)).toEqual({ listed: ['ownerLost'], shown: 'ownerLost' })
  expect(await approving(onlooker)).toMatchObject({ accepted: true })
  expect(await seenBy(onlooker)).toEqual({ listed: [], shown: null })
  expect(await approving(onlooker)).toMatchObject({ accepted: true })
})

test('the run of a lost owner whose healing waits for approval is shown as that at once; a crash explains it: no incident', async () => {
  const bench = createBench()
  const clock = new ManualClock()
  const [first, second] = [bench.open({}, clock), bench.open({}, clock)]
  await first.engine.start()
  await makeBox(first)
  first.puppet.holding.add('toil')
  await first.engine.operate('bench.box', 'b-1', 'work', { by: 'test' })
  await clock.settle()
  await first.engine.heal.setMode('bench.box', 'Working', 'approve')
  first.store.crash()
  await second.engine.start()
  const held = 'healing of bench.box in Working waits for approval'
  for (const ms of [0, 100_000]) {
    await clock.advance(ms)
    expect(await seenBy(second)).toEqual({ listed: ['ownerLost'], shown: 'ownerLost' })
    expect(await second.engine.heal.heldOf(await second.engine.heal.stuck())).toEqual([held])
    expect((await second.engine.explain('bench.box', 'b-1')).because.at(-1)).toContain(held)
  }
  expect(await second.engine.incidents()).toEqual([])
  expect(await approving(second)).toMatchObject({ accepted: true })
  await clock.advance(5_000)
  expect(await statusOf(second)).toBe('Ready')
  await second.engine.stop()
})

test('a parked run is not stuck: it says what to do instead', async () => {
  const { owner, onlooker } = await held()
  const before = await boxOf(owner)
  const parked = { code: 'unknown_outcome', reason: 'Nobody knows what it did.', at: 0 } as const
  const after = { ...before, revision: before.revision + 1, run: { ...before.run!, parked } }
  onlooker.store.commit(sampleBatch([{ before, after }]))
  expect(await seenBy(onlooker)).toEqual({ listed: [], shown: null })
  await expect(approving(onlooker)).rejects.toMatchObject({
    code: 'not_stuck',
    message: 'bench.box b-1 is parked: Nobody knows what it did. Retry, skip or cancel its run.',
  })
})

test('what rests is refused by the decision, with the status it rests in', async () => {
  const { owner, onlooker } = await held()
  owner.puppet.held[0]!.resolve()
  await owner.clock.settle()
  expect(await statusOf(onlooker)).toBe('Ready')
  expect(await seenBy(onlooker)).toEqual({ listed: [], shown: null })
  expect(await approving(onlooker)).toMatchObject({
    accepted: false,
    rejection: { code: 'not_stuck', message: expect.stringContaining('is Ready') },
  })
})
