// G2, F1, F10: SIGKILL at random moments, many times in a row on one file, with 200 requests in flight.
// CRASH_ROUNDS=n kills n times instead of 20.
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { audit, callsByKey } from './audit.ts'
import { Client, freshFolder } from './client.ts'
import { endAll } from './worker-handle.ts'
import { World } from './world.ts'

afterEach(endAll)

const rounds = Number(process.env['CRASH_ROUNDS'] ?? 20)
const inFlight = 200

test(
  `${rounds} kills in a row under load lose no acknowledgement and leave nothing stuck`,
  { timeout: 60_000 + rounds * 3_000 },
  async () => {
    const folder = freshFolder()
    const random = seededRandom(20)
    const settings = { leaseMs: 2_000, healEveryMs: 200 }
    const client = Client.launch(folder, () => ({ folder, settings, slowMs: 5 }))
    await client.rack('r')
    let isOver = false
    let boxes = 0
    /** One user: makes a box, grows it, sometimes deletes it while it is busy, and takes the next one. */
    const user = async () => {
      while (!isOver) {
        const id = `b${++boxes}`
        await client.create('r', id, { size: 2, behaviour: random.below(8) === 0 ? 'faulty' : 'plain' })
        if (isOver) return
        await sleep(random.below(60))
        const answer = await client.ask({ type: 'crash.box', id, operation: 'grow', input: { size: 5 } })
        if (answer.accepted && random.below(2) === 0) await sleep(random.below(40))
        if (random.below(3) > 0) await client.delete(id)
      }
    }
    const users = Array.from({ length: inFlight }, user)
    const acknowledgedAt: number[] = []
    for (let kill = 0; kill < rounds; kill++) {
      await client.worker.ready
      await sleep(30 + random.below(350))
      acknowledgedAt.push(client.acknowledged.length)
      client.worker.signal('SIGKILL')
      await client.worker.ended
      await client.replaced()
    }
    isOver = true
    await Promise.all(users)
    await client.settled(20_000)
    expect(client.deaths).toBe(rounds)
    const { faults, resources, events } = await audit(folder, client.acknowledged)
    expect(faults).toEqual([])
    // It was a test: much was under way at each kill, and work went on between them.
    expect(client.acknowledged.length).toBeGreaterThan(inFlight * 3)
    expect(new Set(acknowledgedAt).size).toBeGreaterThan(rounds / 2)
    expect(events.filter(({ kind }) => kind === 'resumed').length).toBeGreaterThan(rounds)
    const most = Math.max(...[...callsByKey(new World(folder)).values()].map(({ times }) => times))
    expect(most).toBeLessThanOrEqual(6)
    console.log(
      `${rounds} kills: ${client.acknowledged.length} requests acknowledged, none lost; ${resources.length} resources, ${events.length} events, none stuck`,
    )
    await client.worker.stop()
    rmSync(folder, { recursive: true })
  },
)
