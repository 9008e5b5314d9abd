// W1, W2 and W4: things, keys, epochs, names, inventory and leaks.
import { failureOf, guard, nameOf, never, picture, story } from './conformance-story.ts'
import { sweeperOf } from './guard.ts'
import type { Filter, Guard, World } from './world.ts'
import type { WorldSuite } from './world-conformance.ts'

const [machine, disk, image] = [nameOf('machine'), nameOf('disk'), nameOf('image')]

/** A running machine and a disk linked to it. */
async function furnish(world: World): Promise<void> {
  await world.create({ kind: 'machine', name: machine, properties: { memory: 1 } }, guard('make'))
  await world.create({ kind: 'disk', name: disk, sizeBytes: 1_000, links: [machine] }, guard('make'))
  await world.start(machine, guard('start'))
}

/** Every change, on what `furnish` made. */
const changes: Readonly<Record<string, (world: World, guard: Guard) => Promise<unknown>>> = {
  create: (world, by) => world.create({ kind: 'image', name: image, sizeBytes: 5 }, by),
  copy: (world, by) => world.copy(disk, { kind: 'image', name: image }, by),
  update: (world, by) => world.update(machine, { memory: 2 }, by),
  resize: (world, by) => world.resize(disk, 2_000, by),
  link: (world, by) => world.link(machine, disk, by),
  unlink: (world, by) => world.unlink(disk, machine, by),
  start: (world, by) => world.start(disk, by),
  stop: (world, by) => world.stop(machine, by),
  pause: (world, by) => world.pause(machine, by),
  resume: (world, by) => world.resume(machine, by),
  destroy: (world, by) => world.destroy(machine, by),
}

export function thingPromises({ test, expect }: WorldSuite): void {
  for (const [verb, change] of Object.entries(changes)) {
    test(`W1 ${verb}: the same key again does nothing twice and gives the same answer, also to another process`, async (under) => {
      const [world, other] = [await under.open(), await under.open()]
      await furnish(world)
      const answer = await change(world, guard('k'))
      const after = await picture(world)
      expect(await change(other, guard('k'))).toEqual(answer)
      expect(await change(world, guard('k', { epoch: 7 }))).toEqual(answer)
      expect(await picture(world)).toEqual(after)
    })

    test(`W2 ${verb}: a call of an older epoch changes nothing`, async (under) => {
      const world = await under.open()
      await furnish(world)
      // Nothing but the epoch comes from this call.
      await (await under.open()).unlink('lab.box/b1/none/1', 'nothing', guard('new owner', { epoch: 3 }))
      const before = await picture(world)
      expect(await failureOf(change(world, guard('zombie', { epoch: 2 })))).toEqual({
        name: 'TerminalError',
        code: 'stale_epoch',
      })
      expect(await picture(world)).toEqual(before)
      await change(world, guard('owner', { epoch: 3 }))
    })

    test(`W5 ${verb}: a caller who has given up changes nothing`, async (under) => {
      const world = await under.open()
      await furnish(world)
      const before = await picture(world)
      const given = guard('k', { signal: AbortSignal.abort() })
      expect((await failureOf(change(world, given))).name).toEqual('AbortError')
      expect(await picture(world)).toEqual(before)
    })
  }

  test('W1 one key serves several things and several changes of one thing', async (under) => {
    const world = await under.open()
    await furnish(world)
    await world.create({ kind: 'disk', name: nameOf('disk', 2), sizeBytes: 1 }, guard('make'))
    await world.stop(machine, guard('reboot'))
    expect((await world.start(machine, guard('reboot'))).power).toEqual('running')
    await world.link(machine, disk, guard('attach'))
    expect((await world.link(machine, nameOf('disk', 2), guard('attach'))).links).toEqual([disk, nameOf('disk', 2)])
  })

  test('W1 a key that was used stays used, whatever came after it', async (under) => {
    const world = await under.open()
    await furnish(world)
    await world.stop(machine, guard('stop'))
    expect((await world.start(machine, guard('start'))).power).toEqual('running')
    expect((await world.get(machine))?.power).toEqual('stopped')
  })

  test('W1 what has the name already is taken as it is, unless it is of another kind', async (under) => {
    const world = await under.open()
    await furnish(world)
    const there = await world.get(disk)
    expect(await world.create({ kind: 'disk', name: disk, sizeBytes: 9 }, guard('another'))).toEqual(there)
    expect(await failureOf(world.create({ kind: 'image', name: disk }, guard('k')))).toEqual({
      name: 'TerminalError',
      code: 'name_taken',
    })
  })

  test('W2 epochs are those of a resource, not of another', async (under) => {
    const world = await under.open()
    await furnish(world)
    await world.update(machine, { memory: 5 }, guard('k', { epoch: 9 }))
    await world.update(machine, { memory: 6 }, guard('other', { epoch: 1, id: 'another' }))
    expect((await world.get(machine))?.properties).toEqual({ memory: 6 })
  })

  test('W2 a look of the new owner keeps the old one out; a look of the old one is refused', async (under) => {
    const world = await under.open()
    await furnish(world)
    expect((await world.get(machine, guard('probe', { epoch: 2 })))?.power).toEqual('running')
    const late = { name: 'TerminalError', code: 'stale_epoch' }
    expect(await failureOf(world.stop(machine, guard('zombie')))).toEqual(late)
    expect(await failureOf(world.get(machine, guard('zombie')))).toEqual(late)
    await world.list({}, guard('inventory', { epoch: 3 }))
    expect(await failureOf(world.list({}, guard('zombie', { epoch: 2 })))).toEqual(late)
    expect((await world.get(machine))?.power).toEqual('running')
  })

  test('W3 another handle finds everything as it was left', async (under) => {
    const world = await under.open()
    for (const call of story) await call(world)
    const before = await picture(world)
    await world.close()
    expect(await picture(await under.open())).toEqual(before)
  })

  test('W4 what is to be taken away may be gone; what is to be changed may not', async (under) => {
    const world = await under.open()
    await world.destroy(machine, guard('a'))
    expect(await world.stop(machine, guard('b'))).toEqual(null)
    expect(await world.unlink(machine, disk, guard('c'))).toEqual(null)
    const missing = { name: 'TerminalError', code: 'not_found' }
    for (const verb of ['copy', 'update', 'resize', 'link', 'start', 'pause', 'resume'] as const)
      expect(await failureOf(changes[verb]!(world, guard('d')))).toEqual(missing)
    await world.create({ kind: 'disk', name: disk, sizeBytes: 1 }, guard('e'))
    expect(await failureOf(world.link(disk, machine, guard('f')))).toEqual(missing)
  })

  test('W4 what the sweeper destroyed never comes back; what its owner destroyed may', async (under) => {
    const world = await under.open()
    await furnish(world)
    await world.destroy(machine, { key: 'sweep', signal: never })
    await world.destroy(machine, { key: 'sweep', signal: never })
    await world.destroy(disk, guard('undo'))
    for (const name of [machine, `${machine}/part`])
      expect(await failureOf(world.create({ kind: 'machine', name }, guard('late')))).toEqual({
        name: 'TerminalError',
        code: 'gone',
      })
    await world.create({ kind: 'disk', name: disk }, guard('make'))
    expect((await world.truth()).map(({ name }) => name)).toEqual([disk])
  })

  test('a copy has the content of its source, and is its own from then on', async (under) => {
    const world = await under.open()
    await furnish(world)
    const source = (await world.get(disk))!
    const small = await world.copy(disk, { kind: 'snapshot', name: nameOf('snapshot') }, guard('k'))
    const large = await world.copy(nameOf('snapshot'), { kind: 'disk', name: image, sizeBytes: 9_000 }, guard('k'))
    expect([small.content, large.content]).toEqual([source.content, source.content])
    expect([small.sizeBytes, large.sizeBytes]).toEqual([1_000, 9_000])
    await world.destroy(disk, guard('k'))
    expect((await world.get(image))?.sizeBytes).toEqual(9_000)
    const other = await world.create({ kind: 'disk', name: disk, sizeBytes: 1_000 }, guard('k'))
    expect(other.content === source.content).toEqual(false)
  })

  test('power: started, paused, resumed and stopped', async (under) => {
    const world = await under.open()
    await furnish(world)
    const power = async () => (await world.get(machine))?.power
    await world.pause(machine, guard('a'))
    expect(await power()).toEqual('paused')
    await world.resume(machine, guard('b'))
    expect(await power()).toEqual('running')
    await world.pause(machine, guard('c'))
    await world.stop(machine, guard('d'))
    expect(await power()).toEqual('stopped')
    expect(await failureOf(world.pause(machine, guard('e')))).toEqual({ name: 'TerminalError', code: 'not_running' })
    expect(await failureOf(world.resize(machine, 5, guard('f')))).toEqual({ name: 'TerminalError', code: 'invalid' })
    expect(await failureOf(world.resize(disk, -1, guard('g')))).toEqual({ name: 'TerminalError', code: 'invalid' })
    expect((await world.resize(disk, 2 ** 40, guard('h'))).sizeBytes).toEqual(2 ** 40)
  })

  test('names may hold anything', async (under) => {
    const world = await under.open()
    const names = ['.', '..', 'a b', 'a+b', 'a%2Fb', 'ä'.repeat(200), 'ä'.repeat(199), '😀\u{1f4a9}', 'a.json', 'x!1.2']
    for (const id of names) {
      const name = `lab.box/${id}/disk/1`
      await world.create({ kind: 'disk', name, sizeBytes: 1, properties: { id } }, guard('k', { id }))
      await world.link(name, name, guard('k', { id }))
    }
    for (const id of names) {
      const thing = await world.get(`lab.box/${id}/disk/1`)
      expect([thing?.properties, thing?.links]).toEqual([{ id }, [`lab.box/${id}/disk/1`]])
    }
    expect((await world.list()).length).toEqual(names.length)
  })

  test('the inventory lists by kind and type, in the order of names', async (under) => {
    const world = await under.open()
    await furnish(world)
    await world.create({ kind: 'host', name: 'lab.rack/r1/host/1' }, guard('k'))
    const names = async (filter?: Filter) => (await world.list(filter)).map(({ name }) => name)
    expect(await names()).toEqual([disk, machine, 'lab.rack/r1/host/1'])
    expect(await names({ kind: 'disk' })).toEqual([disk])
    expect(await names({ type: 'lab.rack' })).toEqual(['lab.rack/r1/host/1'])
    expect(await names({ type: 'lab.rack', kind: 'disk' })).toEqual([])
    expect(await names({ resource: 'lab.box/b1', kind: 'machine' })).toEqual([machine])
    expect(await names({ resource: 'lab.box/b' })).toEqual([])
  })

  test('parts are known, listed for the sweeper and destroyed with what they are part of', async (under) => {
    const world = await under.open()
    const parts = [1, 2, 3].map((n) => `${machine}/worker-${n}`)
    for (const name of parts) {
      await world.create({ kind: 'machine', name }, guard('k'))
      await world.start(name, guard('k'))
    }
    await world.create({ kind: 'machine', name: nameOf('machine', 11) }, guard('k'))
    const sweeper = sweeperOf(world, 'lab.box')
    expect(await sweeper.inventory()).toEqual([
      { kind: 'machine', name: machine },
      { kind: 'machine', name: nameOf('machine', 11) },
    ])
    expect((await world.leaks([machine])).map(({ name }) => name)).toEqual([nameOf('machine', 11)])
    await sweeper.destroy({ kind: 'machine', name: machine, ref: null, key: 'sweep', signal: never })
    expect((await world.truth()).map(({ name }) => name)).toEqual([nameOf('machine', 11)])
    expect((await world.leaks([nameOf('machine', 11)])).length).toEqual(0)
  })

  test('two hundred things at once come to be, run, and go', async (under) => {
    const [world, other] = [await under.open(), await under.open()]
    const ids = Array.from({ length: 200 }, (_, n) => `b${n}`)
    await Promise.all(
      ids.map(async (id, n) => {
        const name = nameOf('machine', 1, id)
        await (n % 2 ? world : other).create({ kind: 'machine', name, sizeBytes: n }, guard('make', { id }))
        // Both handles want it: it runs once.
        await Promise.all([world, other].map((one) => one.start(name, guard('start', { id }))))
      }),
    )
    const truth = await world.truth()
    expect(truth.filter(({ power }) => power === 'running').length).toEqual(200)
    expect(truth.length).toEqual(200)
    expect(await world.leaks(ids.map((id) => nameOf('machine', 1, id)))).toEqual([])
    await Promise.all(ids.map((id) => other.destroy(nameOf('machine', 1, id), guard('gone', { id }))))
    expect(await world.truth()).toEqual([])
  })
}
