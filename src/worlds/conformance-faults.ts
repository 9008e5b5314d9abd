// W5: what each fault does to a call, and what it never does.
import { failureOf, guard, nameOf, picture, watched } from './conformance-story.ts'
import type { WorldSuite } from './world-conformance.ts'

const disk = nameOf('disk')
const box = { kind: 'disk', name: disk, sizeBytes: 10 }

export function faultPromises({ test, expect }: WorldSuite): void {
  test('W5 fail: nothing happens; once, some times or always, as an error or for good', async (under) => {
    const world = await under.open()
    await world.faults.set({ does: 'fail', code: 'no_space', times: 2 })
    for (let n = 0; n < 2; n++)
      expect(await failureOf(world.create(box, guard('k')))).toEqual({ name: 'Error', code: 'no_space' })
    expect(await picture(world)).toEqual([])
    await world.create(box, guard('k'))
    await world.faults.set({ does: 'fail', code: 'broken', terminal: true })
    for (let n = 0; n < 3; n++)
      expect(await failureOf(world.resize(disk, 20, guard('k')))).toEqual({ name: 'TerminalError', code: 'broken' })
    expect((await world.faults.list()).map(({ does, left }) => [does, left])).toEqual([
      ['fail', 0],
      ['fail', null],
    ])
    await world.faults.clear()
    expect((await world.resize(disk, 20, guard('k'))).sizeBytes).toEqual(20)
  })

  test('W5 a fault concerns what it is set for, also when another process set it', async (under) => {
    const [world, panel] = [await under.open(), await under.open()]
    await world.create(box, guard('k'))
    const failing = async (call: Promise<unknown>) => (await failureOf(call)).code === 'fault'
    for (const on of [
      { kind: 'disk' },
      { verb: 'update' },
      { type: 'lab.box' },
      { step: 'label' },
      { name: disk },
      { kind: 'disk', verb: 'update', type: 'lab.box', step: 'label', name: disk },
    ] as const) {
      const { id } = await panel.faults.set({ does: 'fail', on })
      expect(await failing(world.update(disk, {}, guard('k', { step: 'label' })))).toEqual(true)
      await panel.faults.clear(id)
    }
    for (const on of [
      { kind: 'image' },
      { verb: 'resize' },
      { type: 'lab.rack' },
      { step: 'paint' },
      { name: 'x' },
    ] as const) {
      await panel.faults.set({ does: 'fail', on })
      expect(await failing(world.update(disk, {}, guard('k', { step: 'label' })))).toEqual(false)
    }
    expect(await failing(world.create({ kind: 'image', name: nameOf('image') }, guard('k')))).toEqual(true)
  })

  test('W5 times is counted over all processes', async (under) => {
    const handles = [await under.open(), await under.open(), await under.open()]
    await handles[0]!.faults.set({ does: 'fail', times: 5 })
    const calls = Array.from({ length: 20 }, (_, n) => failureOf(handles[n % 3]!.create(box, guard(`k${n}`))))
    expect((await Promise.all(calls)).filter(({ code }) => code === 'fault').length).toEqual(5)
  })

  test('W5 hang: nothing happens until it is released; nothing at all when the caller gives up', async (under) => {
    const world = await under.open()
    const abort = new AbortController()
    const { id } = await world.faults.set({ does: 'hang', times: 2 })
    const released = watched(world.create(box, guard('k')))
    const given = watched(world.create({ ...box, name: nameOf('disk', 2) }, guard('k', { signal: abort.signal })))
    await under.pass(100)
    expect([released.isOver, given.isOver, await picture(world)]).toEqual([false, false, []])
    abort.abort()
    expect((await failureOf(given.call)).name).toEqual('AbortError')
    await world.faults.clear(id)
    await under.pass(100)
    expect((await released.call).name).toEqual(disk)
    expect((await world.truth()).map(({ name }) => name)).toEqual([disk])
  })

  test('W5 a look can fail, hang and be given up', async (under) => {
    const world = await under.open()
    await world.create(box, guard('k'))
    await world.faults.set({ does: 'fail', on: { verb: 'list' } })
    expect((await failureOf(world.list())).code).toEqual('fault')
    await world.faults.set({ does: 'hang', on: { verb: 'get', step: 'probe' } })
    const abort = new AbortController()
    const hanging = watched(world.get(disk, { signal: abort.signal, step: 'probe' }))
    await under.pass(50)
    expect([hanging.isOver, (await world.get(disk))?.name]).toEqual([false, disk])
    abort.abort()
    expect((await failureOf(hanging.call)).name).toEqual('AbortError')
    expect((await world.truth()).length).toEqual(1)
  })

  test('W5 slow: it takes so long, then it happens', async (under) => {
    const world = await under.open()
    await world.faults.set({ does: 'slow', ms: 200, times: 1 })
    const begun = under.now()
    const slow = watched(world.create(box, guard('k')))
    await under.pass(50)
    const seen = await picture(world)
    // On a machine that is busy itself it may be over by now.
    if (!slow.isOver) expect(seen).toEqual([])
    await under.pass(300)
    expect((await slow.call).sizeBytes).toEqual(10)
    expect(under.now() - begun >= 199).toEqual(true)
  })

  test('W5 garbage: it happens, and the answer is nonsense', async (under) => {
    const world = await under.open()
    await world.faults.set({ does: 'garbage' })
    const answers: unknown[] = [await world.create(box, guard('k')), await world.get(disk), (await world.list())[0]]
    expect(answers.map((answer) => (answer as { kind: unknown }).kind)).toEqual([42, 42, 42])
    expect((await world.truth()).map(({ name }) => name)).toEqual([disk])
  })

  test('W5 lostReply: it happens, and nobody knows; the same key then gets its answer', async (under) => {
    const world = await under.open()
    await world.faults.set({ does: 'lostReply', times: 1 })
    expect((await failureOf(world.create(box, guard('k')))).name).toEqual('UnknownOutcomeError')
    const truth = await picture(world)
    expect(truth.length).toEqual(1)
    expect((await world.create(box, guard('k'))).name).toEqual(disk)
    expect(await picture(world)).toEqual(truth)
  })

  test('W5 lateSuccess: it happens, and the answer does not come until it is released', async (under) => {
    const world = await under.open()
    const { id } = await world.faults.set({ does: 'lateSuccess', on: { verb: 'create' } })
    const abort = new AbortController()
    const late = watched(world.create(box, guard('k')))
    const given = watched(world.create(box, guard('k', { signal: abort.signal })))
    await under.pass(100)
    expect([late.isOver, (await world.get(disk))?.name]).toEqual([false, disk])
    abort.abort()
    expect((await failureOf(given.call)).name).toEqual('AbortError')
    await world.faults.clear(id)
    await under.pass(100)
    expect((await late.call).name).toEqual(disk)
  })

  test('W5 staleReads: looks show an older state, the truth and changes do not', async (under) => {
    const [world, other] = [await under.open(), await under.open()]
    await world.create(box, guard('a'))
    const { id } = await world.faults.set({ does: 'staleReads', ms: 600_000 })
    await under.pass(10)
    await world.resize(disk, 20, guard('b'))
    await world.create({ kind: 'image', name: nameOf('image') }, guard('b'))
    await world.destroy(disk, guard('c'))
    for (const one of [world, other]) {
      expect((await one.get(disk))?.sizeBytes).toEqual(10)
      expect(await one.get(nameOf('image'))).toEqual(null)
      expect((await one.list()).map(({ name }) => name)).toEqual([disk])
      expect((await one.truth()).map(({ name }) => name)).toEqual([nameOf('image')])
    }
    await world.faults.clear(id)
    expect(await world.get(disk)).toEqual(null)
    await world.faults.set({ does: 'staleReads', ms: 40 })
    await world.update(nameOf('image'), { seen: true }, guard('d'))
    await under.pass(100)
    expect((await other.get(nameOf('image')))?.properties).toEqual({ seen: true })
  })

  test('W5 a rate concerns a part of the calls', async (under) => {
    const world = await under.open()
    await world.faults.set({ does: 'fail', rate: 0.5 })
    const calls = Array.from({ length: 200 }, (_, n) => failureOf(world.create(box, guard(`k${n}`))))
    const failed = (await Promise.all(calls)).filter(({ code }) => code === 'fault').length
    expect(failed > 50 && failed < 150).toEqual(true)
  })

  test('W5 no fault lets an older epoch in', async (under) => {
    const world = await under.open()
    await world.create(box, guard('k', { epoch: 5 }))
    for (const does of ['slow', 'garbage', 'lateSuccess', 'lostReply'] as const) {
      await world.faults.set({ does, on: { verb: 'resize' } })
      const late = failureOf(world.resize(disk, 99, guard(does, { epoch: 4 })))
      await under.pass(50)
      expect((await late).code).toEqual('stale_epoch')
      await world.faults.clear()
    }
    expect((await world.get(disk))?.sizeBytes).toEqual(10)
  })
}
