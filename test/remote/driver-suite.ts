// What every remote driver must show, end to end, with a real engine and server: usual life, kills on either side, calls that come
// twice, late or from who must not call, completion after a restart, cancelling, and what nobody owns.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stepToken } from '../../src/remote/signature.ts'
import { ask } from '../server/workshop.ts'
import { callOf, secret } from './call.ts'
import { Stack, type Program } from './stack.ts'

const long = { timeout: 50_000 }
const diskOf = (id: string) => `shop.disk/${id}/disk/1`

/** A name that no sweeper takes for its own: for disks that no engine knows of. */
const outside = (id: string) => `outside/${id}/disk/1`

/** A call to the driver as the engine would send it. */
function wireCall(id: string, changes: object = {}, name = diskOf(id)): Record<string, unknown> {
  const { signal: _, progress: _also, ...call } = callOf({ name, key: `${id}/step/0//0`, run: id })
  return {
    version: 1,
    kind: 'step',
    function: 'makeDisk',
    ...call,
    resource: { type: 'shop.disk', id, properties: { sizeMb: 3 } },
    ledger: [{ kind: 'disk', name, ref: null }],
    complete: null,
    ...changes,
  }
}

export function remoteDriverSuite(program: Program): void {
  const stack = new Stack(program)
  beforeAll(() => stack.start())
  afterAll(() => stack.close())

  const create = (id: string, sizeMb: number) => stack.client.disk.create({ id, properties: { sizeMb } })
  const statusOf = async (id: string) => (await stack.client.disk.get(id))?.status
  const isFilling = async (id: string) => {
    await expect.poll(() => stack.sizeOf(diskOf(id)), long).toBeGreaterThan(0)
  }
  const becomes = async (id: string, status: string) => {
    await expect.poll(() => statusOf(id), long).toBe(status)
  }

  test('usual life: made, filled with a later completion, grown, removed; everything once', async () => {
    const { client } = stack
    await create('life', 3)
    await becomes('life', 'Ready')
    expect(stack.sizeOf(diskOf('life'))).toBe(3)
    await client.wait((await client.disk.grow('life', { sizeMb: 8 })).run!)
    expect(stack.sizeOf(diskOf('life'))).toBe(8)
    await client.wait((await client.disk.delete('life')).run!)
    expect(await statusOf('life')).toBe('Gone')
    const name = diskOf('life')
    expect(stack.effectsOn(name)).toEqual([`made ${name}`, `filled ${name}`, `resized ${name} 8`, `removed ${name}`])
  })

  test('the driver is killed in the middle, and is away when it is wanted: nothing is lost, nothing is done twice', async () => {
    await create('killed', 20)
    await isFilling('killed')
    await stack.killDriver()
    await create('waiting', 2)
    await stack.startDriver()
    await becomes('killed', 'Ready')
    await becomes('waiting', 'Ready')
    expect(stack.sizeOf(diskOf('killed'))).toBe(20)
    for (const name of [diskOf('killed'), diskOf('waiting')])
      expect(stack.effectsOn(name)).toEqual([`made ${name}`, `filled ${name}`])
  })

  test('the engine is killed in the middle; the driver ends its work meanwhile, and completes it after the restart', async () => {
    const name = diskOf('survivor')
    await create('survivor', 10)
    await isFilling('survivor')
    await stack.killEngine()
    await expect.poll(() => stack.effectsOn(name), long).toContain(`filled ${name}`)
    await stack.startEngine()
    await becomes('survivor', 'Ready')
    expect(stack.effectsOn(name)).toEqual([`made ${name}`, `filled ${name}`])
    expect(stack.sizeOf(name)).toBe(10)
  })

  test('an owner that was taken over is refused: its epoch is old, and it changes nothing', async () => {
    const name = diskOf('taken')
    const { run } = await create('taken', 2_000)
    await isFilling('taken')
    const { epoch } = (await stack.client.disk.get('taken'))!
    await stack.killEngine()
    await stack.startEngine()
    // Whoever goes on has a higher epoch, and has called the driver with it.
    const probe = wireCall('taken', { kind: 'probe', function: 'diskIs', key: 'look', epoch })
    await expect.poll(async () => (await stack.call(probe)).answer.kind, long).toBe('stale')
    const late = wireCall('taken', { kind: 'undo', function: 'removeDisk', key: `${run!.id}/undo/0//0`, epoch })
    const { answer } = await stack.call(late)
    expect(answer.kind).toBe('stale')
    expect(answer.epoch).toBeGreaterThan(epoch)
    expect(stack.effectsOn(name)).toEqual([`made ${name}`])
    await stack.client.disk.delete('taken')
    await becomes('taken', 'Gone')
  })

  test('a call that comes twice is done once and answered alike; a later key of a lower epoch is refused', async () => {
    const name = outside('twice')
    const twice = (changes: object) => wireCall('twice', changes, name)
    const first = await stack.call(twice({ epoch: 5 }))
    const [again, also] = await Promise.all([
      stack.call(twice({ epoch: 5 })),
      stack.call(twice({ epoch: 6, attempt: 2 })),
    ])
    expect(first.answer).toEqual({ kind: 'done' })
    expect(also.answer).toEqual(first.answer)
    // The second may have come after the third, which has a higher epoch.
    expect([{ kind: 'done' }, { kind: 'stale', epoch: 6 }]).toContainEqual(again.answer)
    expect(stack.effectsOn(name)).toEqual([`made ${name}`])
    const removing = twice({ kind: 'undo', function: 'removeDisk', key: 'twice/undo/0//0', epoch: 6 })
    expect((await stack.call(removing)).answer).toEqual({ kind: 'done' })
    // The first call once more, from a queue somewhere: it is known, and makes no new disk.
    expect((await stack.call(twice({ epoch: 6 }))).answer).toEqual({ kind: 'done' })
    expect(stack.sizeOf(name)).toBe(-1)
  })

  test('calls with a wrong, an old or a foreign signature are refused and do nothing', async () => {
    const call = wireCall('forged', {}, outside('forged'))
    const refused = await Promise.all([
      stack.call(call, { with: 'not-the-secret-0123456789' }),
      stack.call(call, { at: Date.now() - 301_000 }),
      stack.call(call, { at: Date.now() + 302_000 }),
    ])
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401])
    expect(stack.sizeOf(outside('forged'))).toBe(-1)
    expect((await stack.call(call, { with: 'another-secret-0123456789' })).status).toBe(200)
    expect(stack.sizeOf(outside('forged'))).toBe(0)
  })

  test('a step is completed with its token once, told twice or not; other tokens complete nothing', async () => {
    const { run } = await create('completed', 2_000)
    await isFilling('completed')
    const key = `${run!.id}/step/1//0`
    const path = `/v1/runs/${run!.id}/steps/fillDisk:complete`
    const body = { key, outcome: { kind: 'done', result: { blocks: 1 } } }
    const complete = (token: string, headers = {}) => ask(stack.url, 'POST', path, { token, body, headers })
    expect((await complete(stepToken(secret, 'shop.disk', `${run!.id}/step/0//0`))).json.code).toBe('forbidden')
    expect((await complete(stepToken('not-the-secret-0123456789', 'shop.disk', key))).status).toBe(401)
    const token = stepToken(secret, 'shop.disk', key)
    expect((await ask(stack.url, 'GET', '/v1/resources/shop.disk', { token })).json.code).toBe('forbidden')
    const once = { 'idempotency-key': key }
    expect((await complete(token, once)).status).toBe(200)
    const second = await complete(token, once)
    expect(second.status).toBe(200)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect((await complete(token)).json.code).toBe('run_not_found')
    await becomes('completed', 'Ready')
    // The driver is told that it need not go on.
    const stopped = wireCall('completed', { function: 'fillDisk', key, run: run!.id, epoch: 1_000 })
    await expect.poll(async () => (await stack.call(stopped)).answer.code, long).toBe('cancelled')
  })

  test('a delete in the middle cancels the work: it stops, and what was made is removed', async () => {
    const { run } = await create('unwanted', 2_000)
    await isFilling('unwanted')
    const { client } = stack
    await client.wait((await client.disk.delete('unwanted')).run!)
    expect(await statusOf('unwanted')).toBe('Gone')
    const name = diskOf('unwanted')
    expect(stack.effectsOn(name)).toEqual([`made ${name}`, `removed ${name}`])
    const cancelled = wireCall('unwanted', { function: 'fillDisk', key: `${run!.id}/step/1//0`, epoch: 1_000 })
    expect((await stack.call(cancelled)).answer).toMatchObject({ kind: 'failed', code: 'cancelled' })
    expect(stack.sizeOf(name)).toBe(-1)
  })

  test('what nobody owns is found by the inventory and swept; what is of others is left alone', async () => {
    stack.plant(diskOf('ghost'))
    stack.plant('somebody-elses-disk')
    await expect.poll(() => stack.disks.includes(diskOf('ghost')), long).toBe(false)
    expect(stack.effectsOn(diskOf('ghost'))).toEqual([`removed ${diskOf('ghost')}`])
    expect(stack.disks).toContain('somebody-elses-disk')
    expect(stack.sizeOf(diskOf('killed'))).toBe(20)
  })

  test('a forced delete with the driver away leaves an orphan; when the driver is back it is destroyed', async () => {
    const { client } = stack
    const name = diskOf('orphaned')
    await create('orphaned', 1)
    await becomes('orphaned', 'Ready')
    await stack.killDriver()
    await client.disk.remove('orphaned', { force: true, reason: 'the driver is away' })
    await becomes('orphaned', 'Gone')
    const orphanOf = async () => {
      const { items } = await client.api.call('listOrphans', {})
      return items.find(({ entry }) => entry.name === name)?.id
    }
    const orphan = await orphanOf()
    expect(orphan).toBeDefined()
    expect(stack.sizeOf(name)).toBe(1)
    await stack.startDriver()
    // A person does not wait for the sweeper's next try.
    const sweep = () =>
      ask(stack.url, 'POST', `/v1/orphans/${encodeURIComponent(orphan!)}:sweep`, { body: { reason: 'it is back' } })
    const isSwept = async () => (await orphanOf()) === undefined || (await sweep()).json.swept === true
    await expect.poll(isSwept, long).toBe(true)
    expect(await orphanOf()).toBeUndefined()
    expect(stack.effectsOn(name)).toEqual([`made ${name}`, `filled ${name}`, `removed ${name}`])
  })
}
