// Runs carried out by a worker: calls made when owed, aborted when not, told once, given back; by one process and by several.
import { describe, expect, test } from 'vitest'
import { TerminalError, UnknownOutcomeError } from '../lifecycle/driver.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { boxOf, createBench, far, makeBox, statusOf, type Bench, type Process } from '../testing/engine-bench.ts'
import type { Batch, Store } from '../store/store.ts'

const distances: readonly (readonly [string, boolean])[] = [
  ['a store in this process', false],
  ['a store that answers later', true],
]

async function startOn(bench: Bench, options = {}, clock?: ManualClock): Promise<Process> {
  const process = bench.open(options, clock)
  await process.engine.start()
  return process
}

const operate = (process: Process, operation: string, more: object = {}) =>
  process.engine.operate('bench.box', 'b-1', operation, { by: 'test', ...more })

describe.each(distances)('a worker with %s', (_distance, isFar) => {
  const started = (options = {}) => startOn(createBench(isFar), options)

  test('carries a run out step by step, with results, keys and the ledger name', async () => {
    const process = await started()
    await makeBox(process)
    expect(await statusOf(process)).toBe('Ready')
    expect(process.puppet.names()).toEqual(['mount', 'cut', 'glue'])
    const [, cut, glue] = process.puppet.calls
    expect(cut!.call).toMatchObject({ attempt: 1, epoch: 1, name: 'bench.box/b-1/wood/1', forced: false })
    expect(glue!.call.results).toEqual({ cut: { pieces: 4 } })
    expect(glue!.call.ledger).toMatchObject([{ kind: 'wood', ref: { pieces: 4 } }])
    expect(glue!.call.key).not.toBe(cut!.call.key)
    expect(glue!.call.related).toMatchObject({ rack: { id: 'r-1', status: 'Standing' } })
    await process.engine.stop()
    expect(process.clock.armed).toBe(0)
  })

  test('what a driver is shown cannot be changed', async () => {
    const process = await started()
    process.puppet.answers.set('glue', (call) => {
      ;(call.resource.properties as { size: number }).size = 99
    })
    process.puppet.holding.add('burn')
    await makeBox(process)
    await process.clock.advance(60_000)
    expect((await boxOf(process)).properties).toEqual({ size: 1 })
    expect(process.puppet.names()).toContain('burn')
  })

  test('tries again after the declared delay, with the same key', async () => {
    const process = await started()
    let failures = 1
    process.puppet.answers.set('glue', () => {
      if (failures-- > 0) throw new Error('dry')
    })
    await makeBox(process)
    expect(await statusOf(process)).toBe('Making')
    const { because } = await process.engine.explain('bench.box', 'b-1')
    expect(because).toContain('The attempt before failed: dry.')
    await process.clock.advance(900)
    expect(process.puppet.names().filter((fn) => fn === 'glue')).toHaveLength(1)
    await process.clock.advance(1_100)
    expect(await statusOf(process)).toBe('Ready')
    const glued = process.puppet.calls.filter((one) => one.fn === 'glue').map((one) => one.call)
    expect(glued.map((call) => call.attempt)).toEqual([1, 2])
    expect(glued[0]!.key).toBe(glued[1]!.key)
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['text', 'no glue'],
    ['an object', { some: 'thing' }],
    [
      'an object that cannot be read',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('hands off')
          },
        },
      ),
    ],
    ['a terminal error', new TerminalError('no_glue', 'there is none')],
  ])('a driver that throws %s fails the step, by policy', async (_, thrown) => {
    const process = await started()
    process.puppet.answers.set('glue', () => {
      throw thrown
    })
    await makeBox(process)
    await process.clock.advance(60_000)
    expect(await statusOf(process)).toBe('Broken')
    expect(process.puppet.names().filter((fn) => fn === 'glue')).toHaveLength(thrown instanceof TerminalError ? 1 : 4)
    expect(process.puppet.names().at(-1)).toBe('burn')
    await process.engine.stop()
  })

  test.each([
    ['a function', () => {}],
    [
      'a cycle',
      (() => {
        const ring: Record<string, unknown> = {}
        ring['ring'] = ring
        return ring
      })(),
    ],
    ['a date', new Date(0)],
    ['a prototype key', JSON.parse('{"__proto__": {"admin": true}}')],
    ['too much', 'x'.repeat(2_000_000)],
    ['not a number', { pieces: Number.NaN }],
    ['what the schema refuses', { pieces: 'four' }],
  ])('a driver that returns %s has failed', async (_, value) => {
    const process = await started()
    process.puppet.answers.set('cut', () => value)
    await makeBox(process)
    await process.clock.advance(200_000)
    expect(await statusOf(process)).toBe('Broken')
    await process.engine.stop()
  })

  test('again is not a failure: the call is made later, as often as it says so', async () => {
    const process = await started()
    let times = 5
    process.puppet.answers.set('glue', () => (times-- > 0 ? { again: '7s' } : undefined))
    await makeBox(process)
    await process.clock.advance(34_000)
    expect(await statusOf(process)).toBe('Making')
    await process.clock.advance(1_500)
    expect(await statusOf(process)).toBe('Ready')
  })

  test('what is due sooner is not held up by what was to come later', async () => {
    const process = await started()
    process.puppet.answers.set('glue', () => ({ again: '50s' }))
    await makeBox(process)
    let failures = 1
    process.puppet.answers.set('unplug', () => {
      if (failures-- > 0) throw new Error('stuck')
    })
    await operate(process, 'delete')
    await process.clock.advance(5_000)
    expect(await statusOf(process)).toBe('Gone')
    await process.engine.stop()
  })

  test('an outcome that the store refused is told again', async () => {
    let refusals = 0
    const refusing = (store: Store): Store => {
      const commit = (batch: Batch) => {
        if (refusals-- > 0) throw new Error('a defect of the store')
        return store.commit(batch)
      }
      const distant = isFar ? far(store) : store
      return new Proxy(distant, {
        get: (on, name) => (name === 'commit' ? commit : (Reflect.get(on, name) as unknown)),
      })
    }
    const process = createBench().open({}, new ManualClock(), refusing)
    await process.engine.start()
    await makeBox(process)
    process.puppet.holding.add('toil')
    await operate(process, 'work')
    await process.clock.settle()
    refusals = 1
    process.puppet.held[0]!.resolve()
    await process.clock.settle()
    expect(await statusOf(process)).toBe('Working')
    await process.clock.advance(1_500)
    expect(await statusOf(process)).toBe('Ready')
    expect(process.puppet.names().filter((name) => name === 'toil')).toHaveLength(1)
    await process.engine.stop()
  })

  test('a call whose outcome is unknown is probed before anything is repeated', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.answers.set('toil', () => {
      throw new UnknownOutcomeError('cut off')
    })
    process.puppet.answers.set('toiled', () => 'yes')
    await operate(process, 'work')
    await process.clock.settle()
    expect(await statusOf(process)).toBe('Ready')
    expect(process.puppet.names().slice(-2)).toEqual(['toil', 'toiled'])
  })

  test('a deadline that passes aborts the call; what it says later is kept as evidence', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.holding.add('toil')
    process.puppet.answers.set('toiled', () => 'no')
    await operate(process, 'work')
    await process.clock.settle()
    const [held] = process.puppet.held
    const { signal } = held!.call
    expect(signal.aborted).toBe(false)
    await process.clock.advance(31_000)
    expect(signal.aborted).toBe(true)
    expect(process.puppet.names()).toContain('toiled')
    held!.resolve('done after all')
    await process.clock.settle()
    expect(await process.engine.lateResults('bench.box', 'b-1')).toMatchObject([{ outcome: { kind: 'done' } }])
    await process.engine.stop()
  })

  test.each(['freeze', 'sleep'] as const)(
    'time that passes while it stands still is no deadline of anybody: after a %s a call is made anew and has its time',
    async (how) => {
      const process = await started()
      await makeBox(process)
      process.puppet.holding.add('toil')
      process.puppet.answers.set('toiled', () => 'no')
      await process.clock.advance(1_000)
      await operate(process, 'work')
      // Half a second is left of its thirty, and the lease is renewed later than that.
      await process.clock.advance(29_500)
      await process.clock[how](600_000)
      await process.clock.advance(20_000)
      expect(process.puppet.names().slice(-2)).toEqual(['toiled', 'toil'])
      process.puppet.held.at(-1)!.resolve()
      await process.clock.settle()
      expect((await boxOf(process)).run).toBe(null)
      const kinds = (await process.engine.history('bench.box', 'b-1')).map((event) => event.kind)
      expect(kinds).toContain('resumed')
      expect(kinds).not.toContain('failed')
      await process.engine.stop()
    },
  )

  test('progress is written at most once a second, and puts a progress deadline off', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.holding.add('toil')
    await operate(process, 'work')
    await process.clock.settle()
    const { progress } = process.puppet.held[0]!.call
    for (const text of ['1 %', '2 %', '3 %']) progress(text)
    await process.clock.settle()
    expect((await boxOf(process)).run?.progress).toBe('1 %')
    await process.clock.advance(1_000)
    expect((await boxOf(process)).run?.progress).toBe('3 %')
    process.puppet.held[0]!.resolve()
    await process.clock.settle()
    progress('too late')
    await process.clock.advance(2_000)
    expect(await statusOf(process)).toBe('Ready')
    await process.engine.stop()
  })

  test('delete pre-empts: the signal fires at once, the first step waits for the interrupted call to end', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.holding.add('toil')
    await operate(process, 'work')
    await process.clock.settle()
    const [held] = process.puppet.held
    const { signal } = held!.call
    await operate(process, 'delete')
    await process.clock.settle()
    expect(signal.aborted).toBe(true)
    await process.clock.advance(5_000)
    expect(process.puppet.names()).not.toContain('unplug')
    held!.reject(signal.reason)
    await process.clock.settle()
    expect(await statusOf(process)).toBe('Gone')
  })

  test('pre-empting waits for the interrupted call alone, also past a step over related resources of which there are none', async () => {
    const process = await started()
    process.puppet.holding.add('mount')
    await process.engine.create('bench.rack', { id: 'r-9', properties: {} }, { by: 'test' })
    await process.clock.settle()
    const [held] = process.puppet.held
    const { signal } = held!.call
    await process.engine.operate('bench.rack', 'r-9', 'scrap', { by: 'test' })
    await process.clock.settle()
    expect(signal.aborted).toBe(true)
    expect(process.puppet.names()).not.toContain('unmount')
    held!.reject(signal.reason)
    await process.clock.settle()
    expect((await process.engine.get('bench.rack', 'r-9'))?.status).toBe('Scrapped')
  })

  test('delete pre-empts: a call that never ends is waited for no longer than the grace', async () => {
    const process = await started()
    await makeBox(process)
    process.puppet.holding.add('toil')
    await operate(process, 'work')
    await process.clock.settle()
    await operate(process, 'delete')
    await process.clock.advance(19_000)
    expect(process.puppet.names()).not.toContain('unplug')
    await process.clock.advance(1_500)
    expect(await statusOf(process)).toBe('Gone')
    await process.engine.stop()
  })

  test('delete pre-empts at once when no call is under way', async () => {
    const process = await started()
    process.puppet.answers.set('glue', () => ({ again: '10s' }))
    await makeBox(process)
    await operate(process, 'delete')
    await process.clock.settle()
    expect(await statusOf(process)).toBe('Gone')
  })

  test('a step over related resources makes one call each; one that asks waits for their runs', async () => {
    const process = await started()
    for (const id of ['b-1', 'b-2', 'b-3']) await makeBox(process, id)
    await process.engine.operate('bench.rack', 'r-1', 'polish', { by: 'test' })
    await process.clock.settle()
    const polished = process.puppet.calls.filter((one) => one.fn === 'polishBox').map((one) => one.call.item?.id)
    expect(new Set(polished)).toEqual(new Set(['b-1', 'b-2', 'b-3']))
    await process.engine.operate('bench.rack', 'r-1', 'scrap', { by: 'test' })
    await process.clock.settle()
    for (const id of ['b-1', 'b-2', 'b-3']) expect(await statusOf(process, id)).toBe('Gone')
    expect((await process.engine.get('bench.rack', 'r-1'))?.status).toBe('Scrapped')
    const [run] = await process.engine.runsOf('bench.box', 'b-1')
    expect(run).toMatchObject({ operation: 'delete', state: 'succeeded' })
    await process.engine.stop()
    expect(process.clock.armed).toBe(0)
  })

  test('no more calls run at a time than allowed, and delete gets in', async () => {
    const process = await started({ concurrency: 16 })
    process.puppet.holding.add('glue')
    for (let i = 1; i <= 30; i++) await makeBox(process, `b-${i}`)
    // One place is kept for each of the three other lanes.
    expect(process.puppet.held).toHaveLength(13)
    await operate(process, 'delete')
    await process.clock.advance(21_000)
    expect(await statusOf(process)).toBe('Gone')
    process.puppet.holding.clear()
    for (const one of process.puppet.held) one.resolve()
    await process.clock.advance(60_000)
    for (let i = 2; i <= 30; i++) expect(await statusOf(process, `b-${i}`)).toBe('Ready')
    await process.engine.stop()
  })

  test.each([
    ['a proxy that was revoked', () => revoked()],
    ['what throws when its class is looked at', () => classless()],
    ['a promise that throws when it is waited for', () => unwaitable()],
  ])('a driver that returns %s has failed, and those that wait in line behind it go on', async (_, answer) => {
    const process = await started({ concurrency: 16 })
    process.puppet.holding.add('glue')
    for (let i = 1; i <= 30; i++) await makeBox(process, `b-${i}`)
    process.puppet.answers.set('glue', answer)
    process.puppet.holding.clear()
    for (const one of process.puppet.held) one.resolve()
    await process.clock.settle()
    process.puppet.answers.delete('glue')
    await process.clock.advance(20_000)
    for (let i = 1; i <= 30; i++) expect(await statusOf(process, `b-${i}`)).toBe('Ready')
    expect(process.logged.filter((line) => line.startsWith('error'))).toEqual([])
    await process.engine.stop()
  })

  test.skipIf(isFar)('a driver that answers at once, thousands of times, does not exhaust the stack', async () => {
    const process = await started({ concurrency: 2, runs: 100_000 })
    process.puppet.answers.set('glue', () => undefined)
    process.puppet.answers.set('cut', () => ({ pieces: 1 }))
    await makeBox(process)
    const parent = { type: 'bench.rack', id: 'r-1' }
    const creating = Array.from({ length: 5_000 }, () =>
      process.engine.create('bench.box', { parent, properties: { size: 1 } }, { by: 'test' }),
    )
    await Promise.all(creating)
    for (let turn = 0; turn < 50; turn++) await process.clock.settle()
    const ready = (await process.engine.counts()).find((one) => one.type === 'bench.box' && one.status === 'Ready')
    expect(ready?.count).toBe(5_001)
  })
})

describe.each(distances)('several workers with %s', (_distance, isFar) => {
  const started = (options: object, bench: Bench, clock?: ManualClock) => startOn(bench, options, clock)

  test('a worker that stops gives its runs back at once; another goes on with them', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const first = await started({ stopPatienceMs: 5_000 }, bench, clock)
    const second = await started({}, bench, clock)
    first.puppet.holding.add('toil')
    await makeBox(first)
    await operate(first, 'work')
    await clock.settle()
    const stopping = first.engine.stop()
    await clock.advance(4_000)
    expect(first.puppet.held[0]!.call.signal.aborted).toBe(false)
    second.puppet.answers.set('toiled', () => 'no')
    await clock.advance(2_000)
    await stopping
    expect(first.puppet.held[0]!.call.signal.aborted).toBe(true)
    await clock.settle()
    expect(second.puppet.names()).toEqual(['toiled', 'toil'])
    expect(await statusOf(second)).toBe('Ready')
    await second.engine.stop()
    expect(clock.armed).toBe(0)
  })

  test('a stopping worker waits for calls under way and hands over what is left of the run', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const first = await started({}, bench, clock)
    first.puppet.holding.add('cut')
    await makeBox(first)
    const stopping = first.engine.stop()
    await clock.advance(1_000)
    first.puppet.held[0]!.resolve({ pieces: 2 })
    await clock.settle()
    await stopping
    expect(first.puppet.names()).toEqual(['mount', 'cut'])
    const second = await started({}, bench, clock)
    await clock.advance(1)
    expect(second.puppet.names()).toEqual(['glue'])
    expect(await statusOf(second)).toBe('Ready')
    await second.engine.stop()
  })

  test('a process that only takes requests leaves the work to others', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const api = await started({ worker: false }, bench, clock)
    await makeBox(api)
    expect(api.puppet.calls).toEqual([])
    const worker = await started({}, bench, clock)
    await clock.advance(100)
    // The box was refused while its rack did not stand; now it is made.
    expect((await api.engine.get('bench.rack', 'r-1'))?.status).toBe('Standing')
    await makeBox(api, 'b-2')
    await clock.advance(200)
    expect(await statusOf(api, 'b-2')).toBe('Ready')
    expect(worker.puppet.names()).toContain('glue')
    await Promise.all([api.engine.stop(), worker.engine.stop()])
    expect(clock.armed).toBe(0)
  })

  test('one that others have ended takes on nothing before it hears of that with its next beat', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const api = await started({ worker: false }, bench, clock)
    const worker = await started({ leaseMs: 600_000 }, bench, clock)
    const { incarnation } = worker.engine
    await api.engine.create('bench.rack', { id: 'r-1', properties: {} }, { by: 'test' })
    await clock.advance(200)
    api.store.end({ no: incarnation, as: 'dead', now: clock.now() })
    await makeBox(api)
    await api.engine.submit({
      kind: 'importResource',
      type: 'bench.box',
      id: 'b-2',
      status: 'Working',
      properties: { size: 1 },
      by: 'test',
    })
    await clock.advance(60_000)
    expect([await statusOf(api), await statusOf(api, 'b-2')]).toEqual(['Ready', 'Ready'])
    expect(worker.engine.incarnation).toBeGreaterThan(incarnation)
    const whose = (await api.engine.history('bench.box', 'b-1')).map(({ by }) => by)
    expect(whose).toContain(`worker ${worker.engine.incarnation}`)
    expect(whose).not.toContain(`worker ${incarnation}`)
    await Promise.all([api.engine.stop(), worker.engine.stop()])
  })

  test('a run pre-empted through another process: the call is aborted within moments', async () => {
    const bench = createBench(isFar)
    const clock = new ManualClock()
    const first = await started({}, bench, clock)
    const second = await started({}, bench, clock)
    await makeBox(first)
    first.puppet.holding.add('toil')
    await operate(first, 'work')
    await clock.settle()
    const { signal } = first.puppet.held[0]!.call
    await operate(second, 'delete')
    await clock.advance(250)
    expect(signal.aborted).toBe(true)
    first.puppet.held[0]!.resolve()
    await clock.advance(30_000)
    expect(await statusOf(second)).toBe('Gone')
    expect(await second.engine.lateResults('bench.box', 'b-1')).toHaveLength(1)
    await Promise.all([first.engine.stop(), second.engine.stop()])
  })

  test('after a crash the runs are taken over at once and no finished step is repeated', async () => {
    const bench = createBench(isFar)
    const first = await started({}, bench)
    first.puppet.holding.add('glue')
    await makeBox(first)
    first.store.crash()
    const second = await started({}, bench)
    await second.clock.advance(1)
    expect(second.puppet.names()).toEqual(['glue'])
    expect(await statusOf(second)).toBe('Ready')
    expect((await second.engine.history('bench.box', 'b-1')).map((event) => event.kind)).toContain('resumed')
    await second.engine.stop()
  })

  test('a frozen worker is taken over after its lease, learns it, changes nothing and begins anew', async () => {
    const bench = createBench(isFar)
    const frozen = await started({}, bench)
    await makeBox(frozen)
    frozen.puppet.holding.add('toil')
    await operate(frozen, 'work')
    await frozen.clock.settle()
    const { signal } = frozen.puppet.held[0]!.call
    const before = frozen.engine.incarnation
    // Its clock stands still; the other's goes on.
    const other = await started({}, bench)
    other.puppet.answers.set('toiled', () => 'no')
    await other.clock.advance(20_000)
    expect(await statusOf(other)).toBe('Ready')
    expect(other.puppet.names()).toEqual(['toiled', 'toil'])
    const { revision } = await boxOf(other)
    await frozen.clock.advance(20_000)
    expect(signal.aborted).toBe(true)
    expect(frozen.engine.incarnation).toBeGreaterThan(before)
    frozen.puppet.held[0]!.resolve()
    await frozen.clock.settle()
    expect((await boxOf(other)).revision).toBe(revision)
    expect(await other.engine.lateResults('bench.box', 'b-1')).toHaveLength(1)
    expect(frozen.engine.health().isReady).toBe(true)
    await makeBox(frozen, 'b-2')
    await frozen.clock.settle()
    expect(await statusOf(frozen, 'b-2')).toBe('Ready')
    await Promise.all([frozen.engine.stop(), other.engine.stop()])
    expect(frozen.clock.armed + other.clock.armed).toBe(0)
  })
})

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const handsOff = (): never => {
  throw new Error('hands off')
}
const classless = (): unknown => new Proxy({}, { getPrototypeOf: handsOff })
const unwaitable = (): unknown => Object.defineProperty(Promise.resolve(), 'constructor', { get: handsOff })
