// F1, F9: a process that dies of SIGKILL before or after its k-th commit, for every k of a scenario, and again while healing.
import { rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { audit, callsByKey } from './audit.ts'
import { Client, freshFolder } from './client.ts'
import type { DeathAt } from './dying-store.ts'
import { inTurn } from './in-turn.ts'
import { endAll } from './worker-handle.ts'
import { World } from './world.ts'

afterEach(endAll)

/** Nothing may be in transition for longer. */
const boundMs = 10_000
const settings = { leaseMs: 1_500, healEveryMs: 200 }

/** Creation with undo, growth with a probe, a delete that pre-empts, a cascade: about everything that commits. */
async function scenario(deaths: readonly DeathAt[]): Promise<Client> {
  const folder = freshFolder()
  let started = 0
  const client = Client.launch(folder, () => ({ folder, settings, death: deaths[started++] }))
  await client.rack('r')
  await client.rack('s')
  await Promise.all([
    client.create('r', 'a', { size: 3 }),
    client.create('r', 'b', { size: 4, behaviour: 'faulty' }),
    client.create('s', 'c', { size: 5 }),
    client.create('s', 'd', { size: 6, behaviour: 'held' }),
  ])
  await client.delete('d')
  await client.settled(boundMs)
  await client.grow('a', 30)
  await client.settled(boundMs)
  await client.must({ type: 'crash.rack', id: 'r', operation: 'scrap' })
  await client.settled(boundMs)
  await client.grow('c', 50)
  await client.settled(boundMs)
  return client
}

async function judge(client: Client): Promise<void> {
  const { resources, faults } = await audit(client.folder, client.acknowledged)
  expect(faults).toEqual([])
  const statuses = Object.fromEntries(resources.map(({ id, status }) => [id, status]))
  expect(statuses).toEqual({ r: 'Scrapped', s: 'Open', a: 'Gone', b: 'Gone', c: 'Ready', d: 'Gone' })
  // Each death can cut the call under way: it alone is repeated.
  const repeated = [...callsByKey(new World(client.folder))].filter(([, { times }]) => times > 1 + client.deaths)
  expect(repeated).toEqual([])
  await client.stop()
  rmSync(client.folder, { recursive: true })
}

test.each(['before', 'after'] as const)(
  'SIGKILL %s every commit: nothing is lost, stuck or done twice',
  async (when) => {
    const whole = await scenario([])
    const commits = (await whole.worker.tell({ do: 'commits' })) as number
    await judge(whole)
    expect(commits).toBeGreaterThan(12)
    let deaths = 0
    const points = Array.from({ length: commits }, (_, index) => index + 1)
    await inTurn(points, 3, async (commit) => {
      const client = await scenario([{ commit, when }])
      await judge(client).catch((error: unknown) => {
        throw new Error(`killed ${when} commit ${commit} in ${client.folder}`, { cause: error })
      })
      deaths += client.deaths
    })
    // The last few may not come: how many commands share a commit is a matter of moments.
    expect(deaths).toBeGreaterThan(commits * 0.8)
  },
)
