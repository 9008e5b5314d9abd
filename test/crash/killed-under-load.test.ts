// G2, F1, F10: SIGKILL at random moments, many times in a row on one file, with about 200 operations in flight: of one process,
// and of two that share the file. CRASH_ROUNDS=n kills n times instead of 8 and 5.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { audit, callsByKey, readAll, withStore } from './audit.ts'
import { Client, freshFolder } from './client.ts'
import { until } from '../../scripts/waiting.ts'
import { endAll } from './worker-handle.ts'
import { World } from './world.ts'

afterEach(endAll)

/** Each has two or three operations under way at a time. */
const usersCount = 110
const asked = process.env['CRASH_ROUNDS']
const rounds = (usual: number): number => (asked === undefined ? usual : Number(asked))

/** One user: makes a box, grows it, often deletes it while it is busy, and takes the next one. */
async function user(client: Client, random: Random, name: string, isOver: () => boolean): Promise<void> {
  for (let box = 0; !isOver(); box++) {
    const id = `${name}-${box}`
    await client.create('r', id, { size: 2, behaviour: random.below(8) === 0 ? 'faulty' : 'plain' })
    if (isOver()) return
    await sleep(random.below(60))
    const answer = await client.ask({ type: 'crash.box', id, operation: 'grow', input: { size: 5 } })
    if (answer.accepted && random.below(2) === 0) await sleep(random.below(40))
    if (random.below(3) > 0) await client.delete(id)
  }
}

/** Kills at a random moment, measured in what the process has done; answers how many operations were in flight. */
async function killSoon(client: Client, random: Random): Promise<number> {
  await client.worker.ready
  const enough = client.acknowledged.length + 20 + random.below(150)
  const tooLong = performance.now() + 5_000
  while (client.acknowledged.length < enough && performance.now() < tooLong) await sleep(1)
  const status = ['Making', 'Growing', 'Removing']
  const moving = await withStore(client.folder, (store) => store.list({ status, limit: 2_000, after: 0 }))
  await sleep(random.below(30))
  client.worker.signal('SIGKILL')
  await client.replaced()
  return moving.length
}

/** Files that no ledger names. */
async function strays(folder: string): Promise<string[]> {
  const { resources } = await withStore(folder, readAll)
  const named = new Set(resources.flatMap(({ ledger }) => ledger.map(({ name }) => name)))
  return new World(folder).things().filter((name) => !named.has(name))
}

test.each([
  { processes: 1, kills: rounds(8) },
  { processes: 2, kills: rounds(5) },
])(
  '$kills kills in a row under load of $processes processes lose nothing and leave nothing stuck',
  { timeout: 60_000 + rounds(8) * 6_000 },
  async ({ processes, kills }) => {
    const folder = freshFolder()
    const random = seededRandom(20 + processes)
    const sweeping = { sweepEveryMs: 500, inventoryEveryMs: 500, strayGraceMs: 1_000 }
    const orders = { folder, settings: { leaseMs: 2_000, healEveryMs: 200, ...sweeping }, slowMs: 20 }
    const clients = Array.from({ length: processes }, () => Client.launch(folder, () => orders))
    await clients[0]!.rack('r')
    let isOver = false
    const users = Array.from({ length: usersCount }, (_, index) =>
      user(clients[index % processes]!, random, `u${index}`, () => isOver),
    )
    let inFlight = 0
    for (let kill = 0; kill < kills; kill++) inFlight += await killSoon(clients[random.below(processes)]!, random)
    // Where kills came quickly one after another, work goes on until there was enough of it.
    const many = () => clients.reduce((sum, client) => sum + client.acknowledged.length, 0) > usersCount * 5
    await until('much was acknowledged', 30_000, many)
    isOver = true
    await Promise.all(users)
    for (const client of clients) await client.settled(20_000)
    // A call that was interrupted by a delete of the other process may act after all, later than the delete waits for it: what
    // it leaves is nobody's, and the sweeper finds it.
    await until('nothing is left that nobody owns', 20_000, async () => (await strays(folder)).length === 0)
    expect(clients.reduce((sum, { deaths }) => sum + deaths, 0)).toBe(kills)
    const acknowledged = clients.flatMap((client) => client.acknowledged)
    const { faults, resources, events } = await audit(folder, acknowledged)
    expect(faults).toEqual([])
    // It was a test: much was under way at the kills, and work went on between them.
    expect(acknowledged.length).toBeGreaterThan(usersCount * 5)
    expect(inFlight / kills).toBeGreaterThan(50)
    expect(events.filter(({ kind }) => kind === 'resumed').length).toBeGreaterThan(kills)
    // A call is repeated only where the history says why: a death that cut it, or an attempt that did not end well.
    const whys = ['resumed', 'claimed', 'handedOver', 'attemptFailed', 'outcomeUnknown', 'healed', 'retried']
    const told = new Map<number, number>()
    for (const { no, kind } of events) if (whys.includes(kind)) told.set(no, (told.get(no) ?? 0) + 1)
    const numbers = new Map(resources.map(({ id, no }) => [id, no]))
    const unexplained = [...callsByKey(new World(folder))].filter(
      ([, { id, times }]) => times > 1 + (told.get(numbers.get(id)!) ?? 0),
    )
    expect(unexplained).toEqual([])
    console.log(
      `${kills} kills of ${processes}, ${Math.round(inFlight / kills)} operations in flight: ${acknowledged.length} requests acknowledged, none lost; ` +
        `${resources.length} resources and ${events.length} events, nothing stuck`,
    )
    for (const client of clients) await client.stop()
    rmSync(folder, { recursive: true })
  },
)
