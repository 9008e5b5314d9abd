// The engine as a whole: healing, timers, sweeping, waiting, watching, and what stops it from starting.
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { databases } from '../../examples/database.ts'
import type { StoredEvent } from '../decision/state.ts'
import type { Driver } from '../lifecycle/driver.ts'
import { resourceType } from '../lifecycle/lifecycle.ts'
import { createMemoryBackend } from '../store/memory-store.ts'
import type { Batch, Store } from '../store/store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { createEngine } from './engine.ts'
import type { EngineSettings } from './options.ts'
import { boxOf, createBench, far, makeBox, statusOf, type Process } from '../testing/engine-bench.ts'

const distances: readonly (readonly [string, boolean])[] = [
  ['a store in this process', false],
  ['a store that answers later', true],
]

async function started(options = {}, bench = createBench(), clock?: ManualClock): Promise<Process> {
  const process = bench.open(options, clock)
  await process.engine.start()
  return process
}

const importBox = (process: Process, status: string, id = 'b-1') =>
  process.engine.submit({ kind: 'importResource', type: 'bench.box', id, status, properties: { size: 1 }, by: 'test' })

describe.each(distances)('healing with %s', (_distance, isFar) => {
  test('an imported resource in transition is brought to rest, with an incident and a score', async () => {
    const process = await started({}, createBench(isFar))
    await importBox(process, 'Working')
    await process.clock.advance(5_000)
    expect(await statusOf(process)).toBe('Ready')
    expect(await process.engine.incidents()).toMatchObject([{ kind: 'unowned', status: 'Working' }])
    expect(await process.engine.heal.scoreboard()).toMatchObject([
      { type: 'bench.box', status: 'Working', found: 'unowned', count: 1 },
    ])
    expect(process.engine.health()).toMatchObject({ isReady: true, healing: { healed: 1 } })
    await process.engine.stop()
  })

  test('a rule that waits for approval is previewed in words and healed when a person says so', async () => {
    const process = await started({}, createBench(isFar))
    await process.engine.heal.setMode('bench.box', 'Working', 'approve')
    await importBox(process, 'Working')
    await process.clock.advance(20_000)
    expect(await statusOf(process)).toBe('Working')
    expect(await process.engine.heal.preview()).toMatchObject([
      { id: 'b-1', mode: 'approve', acts: true, would: 'put it to Ready', held: expect.stringContaining('approval') },
    ])
    // Whoever is on call sees it while it waits, and not only when it was healed.
    const [incident] = await process.engine.incidents()
    expect(incident).toMatchObject({
      kind: 'unowned',
      status: 'Working',
      text: expect.stringMatching(/for approval\.$/),
    })
    // Who has looked at it is not told again and again.
    await process.engine.closeIncident(incident!.no, 'unowned')
    await process.clock.advance(200_000)
    expect(await process.engine.incidents()).toEqual([])
    const { because, next } = await process.engine.explain('bench.box', 'b-1')
    expect(because.at(-1)).toContain('Nothing happens by itself: healing of bench.box in Working waits for approval')
    expect(next).toBeNull()
    const decision = await process.engine.heal.approve('bench.box', 'b-1', 'ann')
    expect(decision.accepted).toBe(true)
    expect(await statusOf(process)).toBe('Ready')
    expect(await process.engine.heal.modes()).toEqual({ 'bench.box/Working': 'approve' })
    expect(await process.engine.heal.scoreboard()).toMatchObject([
      { type: 'bench.box', status: 'Working', found: 'unowned', count: 1 },
    ])
    await process.engine.heal.setMode('bench.box', 'Working', 'auto')
    expect(await process.engine.heal.modes()).toEqual({})
    await process.engine.stop()
  })

  test('the breaker of a type opens when too many are healed that no crash explains; a person closes it', async () => {
    const process = await started({ breakerLimit: 5, healEveryMs: 1_000 }, createBench(isFar))
    for (let i = 1; i <= 4; i++) await importBox(process, 'Working', `a-${i}`)
    await process.clock.advance(2_000)
    for (let i = 1; i <= 4; i++) await importBox(process, 'Working', `b-${i}`)
    await process.clock.advance(2_000)
    await importBox(process, 'Working', 'late')
    await process.clock.advance(10_000)
    expect(await statusOf(process, 'late')).toBe('Working')
    expect(await process.engine.heal.breakers()).toMatchObject({ 'bench.box': { reason: expect.any(String) } })
    await process.engine.heal.closeBreaker('bench.box')
    await process.clock.advance(1_000)
    expect(await statusOf(process, 'late')).toBe('Ready')
    await process.engine.stop()
  })

  test('a breaker that is closed through another process begins to count anew', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const settings = { breakerLimit: 5, healEveryMs: 1_000 }
    const healing = await started(settings, bench, clock)
    const asked = await started({ ...settings, worker: false }, bench, clock)
    for (let i = 1; i <= 6; i++) await importBox(healing, 'Working', `a-${i}`)
    await clock.advance(2_000)
    expect(await asked.engine.heal.breakers()).toHaveProperty(['bench.box'])
    await asked.engine.heal.closeBreaker('bench.box')
    await clock.advance(2_000)
    for (let i = 1; i <= 4; i++) await importBox(healing, 'Working', `b-${i}`)
    await clock.advance(2_000)
    expect(await asked.engine.heal.breakers()).toEqual({})
    await importBox(healing, 'Working', 'late')
    await clock.advance(2_000)
    expect(await statusOf(asked, 'late')).toBe('Ready')
    for (const one of [healing, asked]) await one.engine.stop()
  })

  test('no more of a type are healed in a second than allowed', async () => {
    const process = await started({ healRatePerSecond: 3, healEveryMs: 1_000 }, createBench(isFar))
    const healed = async () => {
      const states = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((n) => statusOf(process, `a-${n}`)))
      return states.filter((status) => status === 'Ready').length
    }
    // Between two seconds of the clock.
    await process.clock.advance(500)
    for (let n = 1; n <= 7; n++) await importBox(process, 'Working', `a-${n}`)
    const found: number[] = []
    for (let second = 0; second < 4; second++) {
      await process.clock.advance(1_000)
      found.push(await healed())
    }
    expect(found.map((now, n) => now - (found[n - 1] ?? 0)).every((more) => more <= 3)).toBe(true)
    expect(found.at(-1)).toBe(7)
    await process.engine.stop()
  })

  test('a mass crash does not open the breaker', async () => {
    const bench = createBench(isFar)
    const first = await started({}, bench)
    first.puppet.holding.add('glue')
    for (let i = 1; i <= 50; i++) await makeBox(first, `b-${i}`)
    first.store.crash()
    const second = await started({ breakerLimit: 5 }, bench)
    await second.clock.advance(100)
    for (let i = 1; i <= 50; i++) expect(await statusOf(second, `b-${i}`)).toBe('Ready')
    expect(await second.engine.heal.breakers()).toEqual({})
    await second.engine.stop()
  })

  test('healing twice at a time, by two processes, heals once', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const first = await started({}, bench, clock)
    const second = await started({}, bench, clock)
    await importBox(first, 'Removing')
    await clock.advance(30_000)
    expect(await statusOf(first)).toBe('Gone')
    const accepted = (await first.engine.history('bench.box', 'b-1')).filter((event) => event.kind === 'accepted')
    expect(accepted.length).toBeLessThanOrEqual(1)
    expect([...first.puppet.names(), ...second.puppet.names()].sort()).toEqual(['burn', 'unplug'])
    await Promise.all([first.engine.stop(), second.engine.stop()])
    expect(clock.armed).toBe(0)
  })

  test('an overdue run of a worker that lives but does not act is healed by another', async () => {
    const bench = createBench(isFar)
    const stuck = await started({ leaseMs: 1_000_000 }, bench)
    await makeBox(stuck)
    stuck.puppet.holding.add('toil')
    await stuck.engine.operate('bench.box', 'b-1', 'work', { by: 'test' })
    await stuck.clock.settle()
    // The clock of the first stands still: it never sees the deadline of 30 s, but its lease is long.
    const other = await started({ overdueSlackMs: 5_000 }, bench)
    other.puppet.answers.set('toiled', () => 'yes')
    await other.clock.advance(80_000)
    expect(await statusOf(other)).toBe('Ready')
    expect(await other.engine.incidents()).toMatchObject([{ kind: 'overdue' }])
    await other.engine.stop()
  })

  test('workers that are gone and own nothing are forgotten after a while', async () => {
    const bench = createBench(isFar)
    const first = await started({}, bench)
    await makeBox(first)
    first.store.crash()
    const second = await started({ keepGoneMs: 60_000 }, bench)
    await second.clock.advance(30_000)
    expect((await second.engine.workers()).map((row) => row.state)).toEqual(['dead', 'live'])
    await makeBox(second, 'b-2')
    await second.clock.advance(120_000)
    await makeBox(second, 'b-3')
    await second.clock.advance(10_000)
    expect((await second.engine.workers()).map((row) => row.state)).toEqual(['live'])
    await second.engine.stop()
  })
})

describe.each(distances)('timers with %s', (_distance, isFar) => {
  test('fire when they are due, also when armed before the start', async () => {
    const bench = createBench(isFar)
    const first = await started({}, bench)
    await makeBox(first)
    const wakeAt = first.clock.now() + 60_000
    const box = await boxOf(first)
    await first.engine.submit({ kind: 'setStatus', no: box.no, status: 'Ready', reason: 'test', by: 'test' })
    await importTimed(first, wakeAt)
    await first.clock.advance(59_900)
    expect(await statusOf(first, 'timed')).toBe('Asleep')
    await first.clock.advance(200)
    expect(await statusOf(first, 'timed')).toBe('Gone')
    await importTimed(first, first.clock.now() + 30_000, 'second')
    await first.engine.stop()
    const second = await started({}, bench, first.clock)
    await first.clock.advance(29_000)
    expect(await statusOf(second, 'second')).toBe('Asleep')
    await first.clock.advance(1_500)
    expect(await statusOf(second, 'second')).toBe('Gone')
    await second.engine.stop()
    expect(first.clock.armed).toBe(0)
  })
})

test('timers of a type that is not declared here hold up nobody else', async () => {
  const bench = createBench()
  const clock = new ManualClock()
  const boxes = await started({ worker: false }, bench, clock)
  for (let n = 1; n <= 520; n++) {
    const properties = { size: 1, wakeAt: clock.now() + 1 }
    const box = { kind: 'importResource', type: 'bench.box', id: `b-${n}`, status: 'Asleep', properties } as const
    await boxes.engine.submit({ ...box, by: 'test' })
  }
  const note = resourceType('t.note', {
    properties: z.object({}),
    statuses: { stable: { Fresh: 'New.' }, terminal: { Old: 'Gone.' } },
  }).lifecycle({
    operations: {
      create: { from: [], steps: {}, to: 'Fresh', onFailure: 'Old' },
      fade: { from: ['Fresh'], steps: {}, to: 'Old', onFailure: 'Old' },
    },
    timers: { fading: { in: ['Fresh'], after: '10s', ask: 'fade' } },
    heal: {},
  })
  const store = bench.backend.open() as unknown as Store
  const engine = createEngine({ store, lifecycles: { note }, drivers: { note: {} }, clock, options: { pollMs: 1_000 } })
  await engine.start()
  await engine.create('t.note', { id: 'n', properties: {} }, { by: 'test' })
  await clock.advance(15_000)
  expect((await engine.get('t.note', 'n'))?.status).toBe('Old')
  for (const one of [engine, boxes.engine]) await one.stop()
})

/** A box that sleeps until then. */
async function importTimed(process: Process, wakeAt: number, id = 'timed'): Promise<void> {
  const properties = { size: 1, wakeAt }
  const imported = { kind: 'importResource', type: 'bench.box', id, status: 'Ready', properties, by: 'test' } as const
  await process.engine.submit(imported)
  await process.engine.operate('bench.box', id, 'rest', { by: 'test' })
  await process.clock.settle()
}

describe.each(distances)('sweeping with %s', (_distance, isFar) => {
  test('what a forced delete leaves behind is destroyed and leaves the ledger', async () => {
    const process = await started({}, createBench(isFar))
    await makeBox(process)
    process.puppet.holding.add('burn')
    await process.engine.operate('bench.box', 'b-1', 'delete', { by: 'test', force: true, reason: 'must go' })
    await process.clock.advance(6_000)
    expect(await statusOf(process)).toBe('Gone')
    await process.clock.advance(1_000)
    expect(process.puppet.destroyed).toEqual(['bench.box/b-1/wood/1'])
    expect(await process.engine.orphans()).toEqual([])
    expect(await process.engine.ledger('bench.box', 'b-1')).toEqual([])
    await process.engine.stop()
  })

  test('what cannot be destroyed is tried again later; by policy it is only listed', async () => {
    const process = await started({}, createBench(isFar))
    let failures = 1
    process.puppet.answers.set('destroy', () => {
      if (failures-- > 0) throw new Error('stuck')
    })
    await makeBox(process)
    process.puppet.holding.add('burn')
    await process.engine.operate('bench.box', 'b-1', 'delete', { by: 'test', force: true, reason: 'must go' })
    await process.clock.advance(8_000)
    expect(await process.engine.orphans()).toMatchObject([{ entry: { state: 'orphaned' } }])
    await process.clock.advance(60_000)
    expect(await process.engine.orphans()).toEqual([])
    await process.engine.stop()

    const listing = await started({ sweep: { 'bench.box': 'list' } }, createBench(isFar))
    await makeBox(listing)
    listing.puppet.holding.add('burn')
    await listing.engine.operate('bench.box', 'b-1', 'delete', { by: 'test', force: true, reason: 'must go' })
    await listing.clock.advance(120_000)
    expect(await listing.engine.orphans()).toHaveLength(1)
    expect(listing.puppet.destroyed).toEqual([])
    await listing.engine.stop()
  })

  test('an orphan that another process has swept is forgotten: nobody goes on looking for it without a rest', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const [first, second] = [await started({}, bench, clock), await started({}, bench, clock)]
    for (const one of [first, second])
      one.puppet.answers.set('destroy', () => {
        throw new Error('stuck')
      })
    await makeBox(first)
    for (const one of [first, second]) one.puppet.holding.add('burn')
    await first.engine.operate('bench.box', 'b-1', 'delete', { by: 'test', force: true, reason: 'must go' })
    await clock.advance(200_000)
    // One of them sweeps it, while the other remembers that it has failed.
    first.puppet.answers.delete('destroy')
    second.puppet.answers.delete('destroy')
    await clock.advance(900_000)
    expect(await first.engine.orphans()).toEqual([])
    let looks = 0
    for (const { store } of [first, second]) {
      const work = store.work.bind(store) as (...given: unknown[]) => never
      const counting = (...given: [{ work: string }]) => {
        if (given[0].work === 'orphans') looks++
        return work(...given)
      }
      Object.assign(store, { work: counting })
    }
    await clock.advance(600_000)
    expect(looks).toBeLessThanOrEqual(22)
    for (const one of [first, second]) await one.engine.stop()
  })

  test('things that no ledger names are found in the inventory; only those with a name of ours are destroyed', async () => {
    const process = await started({ inventoryEveryMs: 60_000, strayGraceMs: 300_000 }, createBench(isFar))
    await makeBox(process)
    process.puppet.inventory = [
      { kind: 'wood', name: 'bench.box/b-1/wood/1' },
      { kind: 'wood', name: 'bench.box/b-0/wood/7' },
      { kind: 'wood', name: 'the chair of the boss' },
    ]
    await process.clock.advance(130_000)
    const names = (type: string) => process.engine.strays.filter((one) => one.type === type).map((one) => one.name)
    expect(names('bench.box').sort()).toEqual(['bench.box/b-0/wood/7', 'the chair of the boss'])
    expect(process.puppet.destroyed).toEqual([])
    await process.clock.advance(400_000)
    expect(new Set(process.puppet.destroyed)).toEqual(new Set(['bench.box/b-0/wood/7']))
    process.puppet.inventory = []
    await process.clock.advance(61_000)
    expect(process.engine.strays).toEqual([])
    await process.engine.stop()
  })

  test('what goes on failing to be destroyed is tried ever more rarely', async () => {
    const process = await started({}, createBench(isFar))
    const tries: number[] = []
    process.puppet.answers.set('destroy', () => {
      tries.push(process.clock.now())
      throw new Error('stuck')
    })
    await makeBox(process)
    process.puppet.holding.add('burn')
    await process.engine.operate('bench.box', 'b-1', 'delete', { by: 'test', force: true, reason: 'must go' })
    await process.clock.advance(600_000)
    const gaps = tries.slice(1).map((at, n) => Math.round((at - tries[n]!) / 30_000))
    expect(gaps).toEqual([1, 2, 4, 8])
    await process.engine.stop()
  })

  test('an orphan that was taken when the stop came is not destroyed any more', async () => {
    const bench = createBench(isFar)
    let taken: (() => void) | null = null
    const slow = (store: Store): Store => {
      const distant = isFar ? far(store) : store
      const commit = async (batch: Batch) => {
        const answer = await distant.commit(batch)
        const isTaken = batch.writes.some(({ after }) => after.ledger.some((entry) => entry.state === 'sweeping'))
        if (isTaken && taken === null) await new Promise<void>((resolve) => (taken = resolve))
        return answer
      }
      return new Proxy(distant, {
        get: (on, name) => (name === 'commit' ? commit : (Reflect.get(on, name) as unknown)),
      })
    }
    const process = bench.open({}, new ManualClock(), slow)
    await process.engine.start()
    await makeBox(process)
    process.puppet.holding.add('burn')
    await process.engine.operate('bench.box', 'b-1', 'delete', { by: 'test', force: true, reason: 'must go' })
    await process.clock.advance(8_000)
    expect(taken).not.toBeNull()
    const stopping = process.engine.stop()
    await process.clock.settle()
    taken!()
    await process.clock.advance(1_000)
    await stopping
    expect(process.puppet.destroyed).toEqual([])
    const next = await started({}, bench, process.clock)
    await process.clock.advance(1_000)
    expect(next.puppet.destroyed).toEqual(['bench.box/b-1/wood/1'])
    await next.engine.stop()
  })

  test('an inventory that does not come holds up no sweep; neither it nor what is left to destroy holds up the stop', async () => {
    const process = createBench(isFar).open()
    process.puppet.inventory = new Promise(() => {})
    await process.engine.start()
    const orphan = async (id: string) => {
      await makeBox(process, id)
      await process.engine.operate('bench.box', id, 'delete', { by: 'test', force: true, reason: 'must go' })
    }
    process.puppet.holding.add('burn')
    await orphan('b-1')
    await process.clock.advance(8_000)
    expect(process.puppet.destroyed).toEqual(['bench.box/b-1/wood/1'])
    let destroying = 0
    process.puppet.answers.set('destroy', () => new Promise(() => destroying++))
    for (let n = 2; n < 22; n++) await orphan(`b-${n}`)
    await process.clock.advance(8_000)
    expect(destroying).toBe(8)
    const stopping = process.engine.stop()
    await process.clock.settle()
    await stopping
    expect(destroying).toBe(8)
  })
})

describe('the engine', () => {
  test('runs the example of the README, with its typed client', async () => {
    const store = createMemoryBackend().open() as unknown as Store
    const nothing = async () => {}
    const driver: Driver<typeof databases> = {
      makeDisk: nothing,
      startServer: nothing,
      growDisk: nothing,
      stopServer: nothing,
      removeDisk: nothing,
    }
    const engine = createEngine({ store, lifecycles: { database: databases }, drivers: { database: driver } })
    await engine.start()
    const client = engine.client('ann')
    const created = await client.database.create({ id: 'd-1', properties: { sizeGb: 10 } })
    expect(await engine.waitForRun(created.run.id, { timeoutMs: 5_000 })).toMatchObject({
      state: 'succeeded',
      isOver: true,
    })
    const grown = await client.database.grow('d-1', { sizeGb: 20 })
    await engine.waitForRun(grown.run!.id, { timeoutMs: 5_000 })
    expect((await client.database.get('d-1'))?.properties).toEqual({ sizeGb: 20 })
    await expect(client.database.grow('d-1', { sizeGb: 5 })).rejects.toMatchObject({ code: 'requirement_not_met' })
    await engine.stop()
    await expect(client.database.grow('d-1', { sizeGb: 50 })).rejects.toMatchObject({ code: 'engine_stopped' })
  })

  test('waits for a run no longer than asked', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.holding.add('toil')
    const { resource, begun } = await process.engine.operate('bench.box', 'b-1', 'work', { by: 'test' })
    const [run] = await process.engine.runsOf('bench.box', 'b-1')
    const waiting = process.engine.waitForRun(run!.id, { timeoutMs: 2_000 })
    await process.clock.advance(2_000)
    expect(await waiting).toMatchObject({ no: resource.no, begun, state: 'running', isOver: false })
    const again = process.engine.waitForRun(run!.id, { timeoutMs: 60_000 })
    process.puppet.held[0]!.resolve()
    await process.clock.advance(0)
    expect(await again).toMatchObject({ state: 'succeeded' })
    expect((await process.engine.runHistory(run!.id)).map((event) => event.kind)).toEqual(['landed', 'accepted'])
    await expect(process.engine.run('nonsense')).rejects.toMatchObject({ code: 'run_not_found' })
    await expect(process.engine.run('1-1')).rejects.toMatchObject({ code: 'run_not_found' })
    await process.engine.stop()
    expect(process.clock.armed).toBe(0)
  })

  test('subscribers get every event in order, from any number on, also those of other processes', async () => {
    const bench = createBench()
    const clock = new ManualClock()
    const first = await started({}, bench, clock)
    const second = await started({}, bench, clock)
    await makeBox(first)
    const seen: StoredEvent[] = []
    let hiccups = 1
    const end = second.engine.subscribe(2, (events) => {
      if (hiccups-- > 0) throw new Error('not now')
      seen.push(...events)
    })
    await clock.advance(2_000)
    await makeBox(first, 'b-2')
    await clock.advance(100)
    const latest = await first.engine.latestEvent()
    expect(seen.map((event) => event.n)).toEqual(Array.from({ length: latest - 2 }, (_, i) => i + 3))
    await end()
    await makeBox(first, 'b-3')
    expect(seen.at(-1)!.n).toBe(latest)
    await Promise.all([first.engine.stop(), second.engine.stop()])
    expect(clock.armed).toBe(0)
  })

  test('the latest event is found whatever their number', async () => {
    const process = await started()
    expect(await process.engine.latestEvent()).toBe(0)
    for (let i = 1; i <= 700; i++) await importBox(process, 'Ready', `x-${i}`)
    expect(await process.engine.latestEvent()).toBe(700)
    for (let i = 701; i <= 1_501; i++) await importBox(process, 'Ready', `x-${i}`)
    expect(await process.engine.latestEvent()).toBe(1_501)
  })

  test('explains a resource and lists what is there', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.holding.add('toil')
    await process.engine.operate('bench.box', 'b-1', 'work', { by: 'test' })
    await process.clock.settle()
    const explanation = await process.engine.explain('bench.box', 'b-1')
    expect(explanation.because[0]).toContain('bench.box b-1 is Working')
    expect(explanation.settlesWithinMs).toBeGreaterThan(0)
    expect((await process.engine.list({ type: 'bench.box' })).resources.map((one) => one.id)).toEqual(['b-1'])
    expect((await process.engine.related('bench.box', 'b-1'))['rack']!.map((one) => one.id)).toEqual(['r-1'])
    expect((await process.engine.runs()).runs).toMatchObject([{ operation: 'work', state: 'running' }, {}, {}])
    expect(await process.engine.heal.stuck()).toEqual([])
  })

  test('all faults of a declaration, and all missing functions of drivers, are told at once', () => {
    const store = createMemoryBackend().open() as unknown as Store
    const wrong = resourceType('bench.wrong', {
      properties: z.object({}),
      statuses: { stable: { A: 'A.', B: 'B.' }, transitional: { T: 'T.' }, terminal: { Z: 'Z.' } },
    }).lifecycle({ operations: {}, heal: { T: { status: 'A' } } })
    expect(() => createEngine({ store, lifecycles: [wrong] })).toThrow(
      expect.objectContaining({ code: 'lifecycle_invalid' }),
    )
    expect(() =>
      createEngine({ store, lifecycles: [databases], drivers: { 'shop.database': { makeDisk() {} } } }),
    ).toThrow(
      expect.objectContaining({
        code: 'driver_missing',
        details: [
          'shop.database: removeDisk',
          'shop.database: startServer',
          'shop.database: stopServer',
          'shop.database: growDisk',
        ],
      }),
    )
    expect(() => createEngine({ store, lifecycles: [databases], options: { worker: false } })).not.toThrow()
  })

  test('resources that stand in a status nobody declares stop the start, with a list', async () => {
    const bench = createBench()
    const process = await started({}, bench)
    process.puppet.holding.add('toil')
    await makeBox(process)
    await process.engine.operate('bench.box', 'b-1', 'work', { by: 'test' })
    await process.clock.settle()
    process.store.crash()
    const changed = resourceType('bench.box', {
      properties: z.object({ size: z.number() }),
      statuses: { stable: { Ready: 'In use.' }, transitional: { Making: 'Being made.' }, terminal: { Gone: 'Gone.' } },
    }).lifecycle({
      operations: {
        create: { from: [], to: 'Ready', onFailure: 'Gone', steps: { cut: { during: 'Making' } } },
        delete: { from: ['Ready'], to: 'Gone', onFailure: 'Ready', steps: {} },
      },
      heal: { Making: { status: 'Ready' } },
    })
    const open = (options: Partial<EngineSettings>) =>
      createEngine({
        store: bench.backend.open() as unknown as Store,
        lifecycles: [changed],
        drivers: { 'bench.box': { cut() {} } },
        options,
      })
    const lost = { code: 'lifecycle_missing', details: [{ type: 'bench.box', status: 'Working', count: 1 }] }
    await expect(open({}).start()).rejects.toMatchObject(lost)
    await expect(open({ moved: { 'bench.box': { Working: 'Nowhere' } } }).start()).rejects.toMatchObject(lost)
    const engine = open({ moved: { 'bench.box': { Working: 'Ready' } } })
    await engine.start()
    expect(await engine.get('bench.box', 'b-1')).toMatchObject({ status: 'Ready', run: null })
    await engine.stop()
    const again = open({})
    await again.start()
    await again.stop()
  })

  test('a store that is away at the stop cannot hold it up for ever', async () => {
    const process = await started({ stopPatienceMs: 2_000 })
    await makeBox(process)
    process.store.crash()
    const asking = process.engine.submit({ kind: 'retryRun', no: 1, by: 'test' })
    const stopping = process.engine.stop()
    await process.clock.advance(10_000)
    await stopping
    expect(await asking).toMatchObject({ accepted: false, rejection: { code: 'engine_stopped' } })
    expect(process.clock.armed).toBe(0)
  })

  test('idle, it asks the store less than once a second', async () => {
    const bench = createBench()
    let queries = 0
    const counted = (store: Store): Store =>
      new Proxy(store, {
        get(target, name) {
          const value = Reflect.get(target, name) as unknown
          if (typeof value !== 'function') return value
          return (...given: unknown[]) => {
            if (name !== 'othersWrote' && name !== 'onChange') queries++
            return (value as (...args: unknown[]) => unknown).apply(target, given)
          }
        },
      })
    const process = bench.open({ pollMs: 10_000 }, undefined, counted)
    await process.engine.start()
    await makeBox(process)
    await process.clock.advance(60_000)
    queries = 0
    await process.clock.advance(600_000)
    expect(queries / 600).toBeLessThan(1)
    await process.engine.stop()
    expect(process.clock.armed).toBe(0)
  })
})
