// The proxy of the fault harness cuts a commit where it is told to: at every message of the request and of the reply. Whatever the cut,
// the store's answer is the truth, and nothing happens twice.
import { afterAll, beforeAll, expect, test } from 'vitest'
import pg from 'pg'
import { openPostgresStore } from '../../src/postgres.ts'
import { Columns } from '../../src/store/postgres/sheet.ts'
import { numberingOf } from '../../src/store/postgres/statements.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'
import { Frames, isCommit, typeOf } from '../../scripts/faults/frames.ts'
import { Proxy, type Cut } from '../../scripts/faults/proxy.ts'
import { ask } from '../postgres/ask.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'

let server: PostgresServer
let proxy: Proxy
beforeAll(async () => {
  server = await startPostgres()
  proxy = await Proxy.start(server.port)
})
afterAll(async () => {
  await proxy.stop()
  await server.remove()
})

const message = (type: string, body: string): Buffer => {
  const frame = Buffer.alloc(5 + Buffer.byteLength(body))
  frame.write(type)
  frame.writeInt32BE(frame.length - 1, 1)
  frame.write(body, 5)
  return frame
}

test('messages are found in any pieces, and a commit by the statement that it binds', () => {
  const start = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])
  // As it is named: with the form of its rows.
  const { name } = numberingOf([], new Columns('events'), null)
  const exchange = [message('B', `\0${name}\0rest`), message('E', '\0more'), message('S', '')]
  const stream = Buffer.concat([start, ...exchange])
  for (const size of [1, 3, 7, stream.length]) {
    const frames = new Frames('client')
    const found: Buffer[] = []
    for (let at = 0; at < stream.length; at += size) found.push(...frames.push(stream.subarray(at, at + size)))
    expect(Buffer.concat(found).equals(stream)).toBe(true)
    expect(found.slice(1).map(typeOf)).toEqual(['B', 'E', 'S'])
    expect(isCommit(found.slice(1))).toBe(true)
  }
  const { name: withEnds } = numberingOf([], new Columns('events'), new Columns('runs'))
  expect(isCommit([message('B', `\0${withEnds}\0rest`), message('S', '')])).toBe(true)
  expect(isCommit([message('B', `\0fences\0${name}`), message('S', '')])).toBe(false)
})

const places = ['before', 'middle', 'after'] as const
const cuts: Cut[] = (['request', 'reply'] as const).flatMap((side) =>
  [0, 0.2, 0.4, 0.6, 0.8, 0.999].flatMap((through) => places.map((where) => ({ side, through, where }))),
)

test('every cut of a commit is answered with the truth', async () => {
  const store = await openPostgresStore({ url: proxy.url, schema: 'cuts', durability: 'none', patienceMs: 3_000 })
  await store.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
  const cutBefore = proxy.cuts
  const said = new Map<number, boolean>()
  for (const [index, cut] of cuts.entries()) {
    const no = index + 10
    proxy.cutNext(cut)
    const answer = await Promise.resolve(
      store.commit(sampleBatch([{ before: null, after: sampleResource(no) }])),
    ).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'store_unavailable' })
      return { committed: false }
    })
    said.set(no, answer.committed)
  }
  expect(proxy.cuts - cutBefore).toBe(cuts.length)
  const there = new Set((await ask(server, 'select no from cuts.state')).map(Number))
  for (const [no, committed] of said) expect([no, there.has(no)]).toEqual([no, committed])
  // Both outcomes were met, and some that had happened were found out only afterwards.
  expect(new Set(said.values())).toEqual(new Set([true, false]))
  expect(store.resolved.committed).toBeGreaterThan(5)
  expect(store.resolved.undone).toBeGreaterThan(5)
  await store.close()
})

test('a connection that goes dead without a word is given up, and reading goes on', async () => {
  const store = await openPostgresStore({ url: proxy.url, schema: 'dead', durability: 'none', patienceMs: 500 })
  await store.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
  const no = await store.register({ name: 'one', leaseMs: 60_000, now: 0 })
  proxy.goDead(() => true)
  // The first tries may meet the dead ones; whoever tries again gets through.
  const again = async <T>(work: () => T | Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (tries === 5) throw error
      }
    }
  }
  const [found] = await again(() => store.load([{ ask: 'resource', no: 1 }]))
  expect(found).toMatchObject({ no: 1 })
  // The server does not know that the connection which stands for this process is dead, and leaves its lock to it.
  expect(await again(() => store.beat({ no, leaseMs: 60_000, now: 0 }))).toBe(true)
  expect(await store.workers(0)).toMatchObject([{ no, state: 'live' }])
  expect(await again(() => store.end({ no, as: 'ended', now: 0 }))).toBe(true)
  await store.close()
})

test('a stall holds everything up and then lets it through', async () => {
  const client = new pg.Client(proxy.url)
  await client.connect()
  const stalled = proxy.stall(300)
  const order: string[] = []
  await Promise.all([
    stalled.then(() => order.push('over')),
    client.query('select 1').then(() => order.push('answered')),
  ])
  expect(order).toEqual(['over', 'answered'])
  await client.end()
})
