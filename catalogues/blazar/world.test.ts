// Leases through a real engine: on the simulated world, and on the local one with real files and processes. What the records say
// and what really exists agree at every rest; nothing is left behind.
import { HomeostatError, TerminalError } from 'homeostat'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { dates, grounds, openScene, pause, type Ground, type Scene } from './world-scene.ts'

// Waits end when what they wait for has come; on a busy machine that takes its time.
vi.setConfig({ testTimeout: 180_000 })

const hour = 3_600_000
let scene: Scene | undefined
afterEach(async () => {
  await scene?.close()
  scene = undefined
})

const hosts = (...amounts: number[]) => ({ reservations: amounts.map((amount) => ({ resourceType: 'host', amount })) })
const later = () => dates(hour, 3 * hour)

/** A date that lies near when it is asked for may be past when it is judged: then it is asked for again. */
async function soon(ask: (now: number) => Promise<unknown>): Promise<void> {
  for (let n = 0; ; n++) {
    try {
      return void (await ask(Date.now()))
    } catch (error) {
      if (n === 50 || !(error instanceof HomeostatError) || error.code !== 'requirement_not_met') throw error
    }
  }
}

async function openWith(ground: Ground, ...amounts: number[]): Promise<Scene> {
  const opened = await openScene(ground)
  scene = opened
  await opened.client.lease.create({ id: 'L', properties: later() }, hosts(...amounts))
  expect(await opened.settled('L')).toBe('PENDING')
  return opened
}

describe.each(grounds)('on the %s world', (ground) => {
  test('a whole life: reserved, started by its event, changed, ended by its event, deleted', async () => {
    const { client, settled, truth, seen, reservations, world } = (scene = await openScene(ground))
    await world.faults.set({ does: 'lostReply', on: { verb: 'create' }, times: 1 })
    await client.lease.create({ id: 'L', properties: later() }, hosts(2, 3))
    expect(await settled('L', 'PENDING')).toBe('PENDING')
    expect(await truth()).toEqual(['reservation 2 stopped', 'reservation 3 stopped'])
    await soon((now) => client.lease.update('L', { startDate: now }))
    await settled('L', 'ACTIVE')
    expect(await truth()).toEqual(['reservation 2 running', 'reservation 3 running'])
    const [first] = await reservations('L')
    await client.lease.update('L', { name: 'mine', reservations: [{ id: first!.id, amount: 5 }] })
    expect(await settled('L')).toBe('ACTIVE')
    expect((await truth()).sort()).toEqual(['reservation 3 running', 'reservation 5 running'])
    await soon((now) => client.lease.update('L', { endDate: now + 500 }))
    await settled('L', 'TERMINATED')
    expect(await seen('L')).toBe('TERMINATED | deleted deleted | DONE | DONE')
    expect(await truth()).toEqual([])
    await client.lease.delete('L')
    expect(await settled('L')).toBe('gone')
  })

  test('a creation that fails removes the lease and everything it had reserved', async () => {
    const { client, settled, truth, engine } = (scene = await openScene(ground))
    const reservations = [{ resourceType: 'host' }, { resourceType: 'teapot' }]
    await client.lease.create({ id: 'L', properties: later() }, { reservations })
    expect(await settled('L')).toBe('gone')
    const { description, ledger } = (await engine.get('blazar.lease', 'L'))!
    expect(description).toContain('resource type teapot is not supported; there is host, floatingip')
    expect([ledger, await truth()]).toEqual([[], []])
  })

  test('B1: delete wins over a start that hangs; nothing is left', async () => {
    const { client, settled, truth, seen, world } = await openWith(ground, 1, 1)
    await world.faults.set({ does: 'hang', on: { step: 'startReservations' } })
    await client.lease.start('L')
    await pause(150)
    await world.faults.set({ does: 'hang', on: { step: 'endReservations' } })
    await client.lease.delete('L')
    expect(await seen('L')).toBe('DELETING | pending pending | ERROR | UNDONE')
    await world.faults.clear()
    expect(await settled('L')).toBe('gone')
    expect(await truth()).toEqual([])
  })

  test('e: one of two fails on start: ERROR, the other runs; delete releases both', async () => {
    const { client, settled, truth, seen, world } = await openWith(ground, 1, 1)
    await world.faults.set({ does: 'fail', terminal: true, on: { step: 'startReservations' }, times: 1 })
    await client.lease.start('L')
    expect(await settled('L')).toBe('ERROR')
    expect((await seen('L')).split(' | ')[1]!.split(' ').sort()).toEqual(['active', 'error'])
    expect((await truth()).sort()).toEqual(['reservation 1 running', 'reservation 1 stopped'])
    await client.lease.delete('L')
    expect(await settled('L')).toBe('gone')
    expect(await truth()).toEqual([])
  })

  test('1.6: an update that fails half-way is taken back, and the lease is as it was', async () => {
    const { client, settled, truth, engine, world, reservations } = await openWith(ground, 1, 1)
    const ids = (await reservations('L')).map(({ id }) => id)
    const { endDate } = (await client.lease.get('L'))!.properties
    const fault = { does: 'fail', code: 'NotEnoughHostsAvailable', message: 'two hosts left', terminal: true } as const
    const name = (await world.truth())[1]!.name
    await world.faults.set({ ...fault, on: { step: 'updateReservations', name } })
    await client.lease.update('L', { endDate: endDate + hour, reservations: ids.map((id) => ({ id, amount: 7 })) })
    expect(await settled('L')).toBe('PENDING')
    expect(await truth()).toEqual(['reservation 1 stopped', 'reservation 1 stopped'])
    expect((await world.truth()).map(({ properties }) => properties['endDate'])).toEqual([endDate, endDate])
    expect((await engine.get('blazar.lease', 'L'))!.description).toBe('update failed: two hosts left')
  })
})

test('an update whose reply is lost is looked at before it is repeated', async () => {
  const { client, settled, truth, engine, world, reservations } = await openWith('simulated', 1)
  const [one] = await reservations('L')
  await world.faults.set({ does: 'lostReply', on: { step: 'updateReservations', verb: 'update' }, times: 1 })
  await client.lease.update('L', { reservations: [{ id: one!.id, amount: 4 }] })
  expect(await settled('L')).toBe('PENDING')
  expect(await truth()).toEqual(['reservation 4 stopped'])
  const events = await engine.history('blazar.lease', 'L')
  expect(events.some(({ kind }) => kind === 'attemptFailed')).toBe(false)
})

test('1.6: flavor:instance: a new name is fine; new dates are not supported, which is fatal: ERROR, and it can still end', async () => {
  const { client, settled, truth, engine, seen } = (scene = await openScene('simulated', {
    resourceTypes: ['flavor:instance'],
  }))
  const properties = later()
  await client.lease.create({ id: 'L', properties }, { reservations: [{ resourceType: 'flavor:instance' }] })
  expect(await settled('L')).toBe('PENDING')
  await client.lease.update('L', { name: 'mine' })
  expect(await settled('L')).toBe('PENDING')
  await client.lease.start('L')
  expect(await settled('L')).toBe('ACTIVE')
  await client.lease.update('L', { endDate: properties.endDate + hour })
  expect(await settled('L')).toBe('ERROR')
  const { description, properties: is } = (await engine.get('blazar.lease', 'L'))!
  expect(description).toContain('a reservation of flavor:instance cannot be changed')
  expect([is['endDate'], await seen('L')]).toEqual([properties.endDate, 'ERROR | active | DONE | UNDONE'])
  await client.lease.end('L')
  expect([await settled('L'), await truth()]).toEqual(['TERMINATED', []])
})

test('1.7: the end is announced to everything that the lease holds', async () => {
  const { client, settled, world, engine } = (scene = await openScene('simulated'))
  let endDate = 0
  await soon((now) => {
    endDate = now + hour
    const input = { ...hosts(1, 1), beforeEndDate: now + 900 }
    // Not at once: an event that comes while the lease is still CREATING is refused, and comes again only ten seconds later.
    return client.lease.create({ id: 'L', properties: { startDate: now + 300, endDate } }, input)
  })
  await settled('L', 'ACTIVE')
  const told = async () => (await world.truth()).map((one) => one.properties['toldOfEnd'])
  for (let n = 0; n < 800 && (await told()).includes(undefined); n++) await pause(50)
  expect(await told()).toEqual([endDate, endDate])
  const { resources } = await engine.list({ type: 'blazar.event', limit: 10, after: 0 })
  expect(resources.find((one) => one.properties['eventType'] === 'before_end_lease')!.status).toBe('DONE')
})

test('test_delete_lease with an enforcement error: it is ignored', async () => {
  let calls = 0
  const endUsage = async () => {
    calls++
    throw new TerminalError('Broken', 'nobody counts')
  }
  const { client, settled, truth } = (scene = await openScene('simulated', { endUsage }))
  await client.lease.create({ id: 'L', properties: later() }, hosts(1))
  await settled('L')
  await client.lease.delete('L')
  expect([await settled('L'), await truth(), calls]).toEqual(['gone', [], 1])
})

test('1.4: a lease without reservations lives and leaves nothing, not even a doubt', async () => {
  const { client, settled, engine } = await openWith('simulated')
  expect((await engine.get('blazar.lease', 'L'))!.ledger).toEqual([])
  await client.lease.start('L')
  expect(await settled('L')).toBe('ACTIVE')
  await client.lease.end('L')
  expect(await settled('L')).toBe('TERMINATED')
  await client.lease.delete('L')
  expect(await settled('L')).toBe('gone')
  expect((await engine.get('blazar.lease', 'L'))!.ledger).toEqual([])
})

test('what could not be released when a creation failed is an orphan, and is swept', async () => {
  const { client, settled, truth, world, engine } = (scene = await openScene('simulated'))
  const fault = await world.faults.set({ does: 'fail', terminal: true, on: { step: 'releaseResources' } })
  const reservations = [{ resourceType: 'host' }, { resourceType: 'teapot' }]
  await client.lease.create({ id: 'L', properties: later() }, { reservations })
  expect(await settled('L')).toBe('gone')
  await world.faults.clear(fault.id)
  for (let n = 0; n < 800 && (await truth()).length > 0; n++) await pause(50)
  expect(await truth()).toEqual([])
  for (let n = 0; n < 800 && (await engine.get('blazar.lease', 'L'))!.ledger.length > 0; n++) await pause(50)
  expect((await engine.get('blazar.lease', 'L'))!.ledger).toEqual([])
})

test('what exists and no ledger names is found in the inventory and destroyed', async () => {
  const { truth, world } = await openWith('simulated', 1)
  const guard = { key: 'k', epoch: 1, resource: 'blazar.lease/stray', signal: new AbortController().signal }
  await world.create({ kind: 'reservation', name: 'blazar.lease/stray/allocation/1/r', sizeBytes: 9 * 2 ** 20 }, guard)
  expect(await truth()).toHaveLength(2)
  for (let n = 0; n < 800 && (await truth()).length > 1; n++) await pause(50)
  expect(await truth()).toEqual(['reservation 1 stopped'])
})

test('faults by chance on every kind of call: when they stop, records and truth agree; deleted, nothing is left', async () => {
  const { client, settled, truth, world, reservations, engine } = (scene = await openScene('simulated'))
  for (const does of ['fail', 'lostReply', 'garbage', 'hang', 'lateSuccess', 'staleReads'] as const)
    await world.faults.set({ does, rate: 0.08, ms: 200 })
  const ids = Array.from({ length: 20 }, (_, n) => `L${n}`)
  const steps = ['start', 'end'] as const
  await Promise.all(
    ids.map(async (id, n) => {
      await client.lease.create({ id, properties: later() }, hosts(1, 2))
      for (const operation of steps.slice(0, n % 3)) {
        await pause(150)
        // Refused while the one before is under way: that is its right.
        await client.lease[operation](id).catch(() => {})
      }
      if (n % 5 === 0) await client.lease.delete(id)
    }),
  )
  await pause(500)
  await world.faults.clear()
  const held: string[] = []
  for (const id of ids) {
    await settled(id)
    for (const one of await reservations(id))
      if (one.status === 'pending' || one.status === 'active')
        held.push(`${one.id} ${one.status === 'active' ? 'running' : 'stopped'}`)
  }
  const seen = (await world.truth()).map(({ name, power }) => `${name.split('/').at(-1)!} ${power}`)
  expect(seen.filter((one) => held.includes(one)).sort()).toEqual(held.sort())
  for (const id of ids) if ((await engine.get('blazar.lease', id))!.status !== 'gone') await client.lease.delete(id)
  for (const id of ids) expect([id, await settled(id)]).toEqual([id, 'gone'])
  for (let n = 0; n < 800 && (await truth()).length > 0; n++) await pause(50)
  expect(await truth()).toEqual([])
})
