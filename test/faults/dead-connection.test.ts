// A connection that goes dead says nothing, whatever is under way on it: being opened, being closed, a change, a word to others. Each
// is given up in time, and nobody waits behind it.
import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgresStore } from '../../src/postgres.ts'
import { addressOf } from '../../src/store/postgres/address.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'
import { Proxy } from '../../scripts/faults/proxy.ts'
import { until } from '../../scripts/waiting.ts'
import { root, Terminal } from '../cli/terminal.ts'
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

/** Lets everybody in and then says nothing more, not even goodbye. */
async function silentServer() {
  const authenticatedAndReady = Buffer.from([
    ...Buffer.from('R'),
    0,
    0,
    0,
    8,
    0,
    0,
    0,
    0,
    ...Buffer.from('Z'),
    0,
    0,
    0,
    5,
    73,
  ])
  const sockets: Socket[] = []
  const listening = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(authenticatedAndReady)
      socket.resume()
    })
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as { port: number }
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => listening.close(resolve))
    },
  }
}

test('one that goes dead while it is opened, or before it is closed, is given up', async () => {
  const silent = await silentServer()
  const how = { address: addressOf({ url: silent.url }), statements: {}, openMs: 300 }
  await expect(Wire.open({ ...how, settings: { search_path: 'somewhere' } })).rejects.toThrow(/terminated/)
  const wire = await Wire.open({ ...how, settings: {} })
  await wire.close()
  await silent.stop()
})

test('a change of a setting is not left to a dead one, and others are heard again without a question', async () => {
  const options = { schema: 'deaf', durability: 'none', patienceMs: 300 } as const
  const store = await openPostgresStore({ url: proxy.url, ...options })
  await store.useKinds(sampleKinds)
  const other = await openPostgresStore({ url: server.url, ...options })
  await other.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
  proxy.goDead(() => true)
  // As many as there are connections may meet a dead one.
  const change = () =>
    Promise.resolve(store.changeSetting('one', null, 1)).catch((error: { code: string }) => error.code)
  const answers = [await change(), await change(), await change()]
  expect(answers).toContain(true)
  expect(answers.filter((answer) => answer !== true && answer !== false)).toEqual(
    answers.filter((answer) => answer === 'store_unavailable'),
  )
  // Its word to others was lost with the connection that hears theirs: that one is opened again by itself.
  await until('the store says that it may have missed something', 20_000, () => store.othersWrote())
  await other.commit(sampleBatch([{ before: null, after: sampleResource(2) }]))
  await until('the other is heard', 20_000, () => store.othersWrote())
  await store.close()
  await other.close()
})

// The first packets open connections, whose patience is longer than a test's.
const deaths = Array.from({ length: 10 }, (_, index) => 26 + index * 4)

test('whichever packet is the last of its connection: every call ends, and who tries again gets through', async () => {
  const dead = await Promise.all(deaths.map((packets) => livesThrough(packets)))
  // Later ones come after all that is asked here.
  expect(dead.filter(Boolean).length).toBeGreaterThan(6)
})

/** Whether a connection went dead meanwhile. */
async function livesThrough(packets: number): Promise<boolean> {
  const options = { schema: `after${packets}`, durability: 'none', patienceMs: 300 } as const
  await (await openPostgresStore({ url: server.url, ...options })).close()
  const between = await Proxy.start(server.port)
  between.goDeadAfter(packets)
  const store = await again(() => openPostgresStore({ url: between.url, ...options }))
  await again(() => store.useKinds(sampleKinds))
  expect(await again(() => store.commit(sampleBatch([{ before: null, after: sampleResource(1) }])))).toMatchObject({
    committed: true,
  })
  const no = await again(() => store.register({ name: 'one', leaseMs: 60_000, now: 0 }))
  await again(() => store.load([{ ask: 'resource', no: 1 }]))
  expect(await again(() => store.list({ after: 0, limit: 10 }))).toMatchObject([{ no: 1 }])
  await again(() => store.changeSetting('one', null, 1))
  expect(await again(() => store.beat({ no, leaseMs: 60_000, now: 0 }))).toBe(true)
  // One that was registered without an answer is there too: nobody beats for it.
  const workers = await again(() => store.workers(0))
  expect(workers.at(-1)).toMatchObject({ no, state: 'live' })
  expect(await again(() => store.commit(sampleBatch([{ before: null, after: sampleResource(2) }])))).toMatchObject({
    committed: true,
  })
  await again(() => store.end({ no, as: 'ended', now: 0 }))
  await store.close()
  const died = !between.hasDeadAhead
  await between.stop()
  return died
}

test('a process that is told to stop while its store is silent ends all the same', async () => {
  const terminal = Terminal.clone()
  const durable = await startPostgres({ durable: true })
  const between = await Proxy.start(durable.port)
  writeFileSync(
    join(terminal.folder, 'impatient.config.ts'),
    `import usual from './homeostat.config.ts'
export default (given) => ({ ...usual(given), engine: { stopPatienceMs: 400 } })`,
  )
  const line = `${process.execPath} --conditions=source ${join(root, 'src/bin.ts')} work --config impatient.config.ts --store`
  const worker = await terminal.start(`${line} ${between.url}`)
  between.stall(60_000).catch(() => {})
  worker.child.kill('SIGTERM')
  expect(await worker.exited).toBe(75)
  expect(worker.output).toContain('The store does not answer. Ended without it')
  await terminal.close()
  await between.stop()
  await durable.remove()
})

async function again<T>(work: () => T | Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      expect(error).toMatchObject({ code: 'store_unavailable' })
      if (tries === 5) throw error
    }
  }
}
