// F1, F9: a process that dies of SIGKILL before or after its k-th commit, for every k of a scenario, and again while healing.
import { cpSync, rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { audit, callsByKey } from './audit.ts'
import { bundleWorker } from './bundled-worker.ts'
import { Client, freshFolder } from './client.ts'
import type { DeathAt } from './dying-store.ts'
import { until } from '../../scripts/waiting.ts'
import { inTurn } from './in-turn.ts'
import { endAll } from './worker-handle.ts'
import { World } from './world.ts'

bundleWorker()
afterEach(endAll)

/** Nothing may be in transition for longer. */
const boundMs = 20_000
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

test('SIGKILL before and after every commit of healing: the next healer goes on', async () => {
  // All kinds of recovery at once: resume, resume after a probe, a landing, an attempt, an asker with its asked.
  const stuck = freshFolder()
  const first = Client.launch(stuck, () => ({ folder: stuck, settings }))
  await first.rack('r')
  await first.rack('s')
  for (const id of ['grown', 'checked', 'deleted']) await first.create('r', id, { size: 2 })
  for (const id of ['x', 'y']) await first.create('s', id, { size: 3 })
  await first.settled(boundMs)
  await first.stop()
  const second = Client.launch(stuck, () => ({ folder: stuck, settings, slowMs: 60_000 }))
  await second.create('r', 'made', { size: 4 })
  await second.grow('grown', 20)
  await second.inspect('checked')
  await second.delete('deleted')
  await second.must({ type: 'crash.rack', id: 's', operation: 'scrap' })
  const calls = () => new World(stuck).effects().filter(({ pid }) => pid === second.worker.pid).length
  await until('all are under way', boundMs, () => calls() === 6)
  await second.worker.kill()

  const heal = async (death: DeathAt | undefined): Promise<{ commits: number; died: boolean }> => {
    const folder = freshFolder()
    cpSync(stuck, folder, { recursive: true })
    let started = 0
    const client = Client.launch(folder, () => ({ folder, settings, death: started++ === 0 ? death : undefined }))
    await client.settled(boundMs)
    const commits = client.deaths > 0 ? 0 : ((await client.worker.tell({ do: 'commits' }).catch(() => 0)) as number)
    const { faults, resources } = await audit(folder, [...first.acknowledged, ...second.acknowledged])
    expect(faults).toEqual([])
    expect(Object.fromEntries(resources.map(({ id, status }) => [id, status]))).toEqual({
      r: 'Open',
      s: 'Scrapped',
      x: 'Gone',
      y: 'Gone',
      made: 'Ready',
      grown: 'Ready',
      checked: 'Ready',
      deleted: 'Gone',
    })
    await client.stop()
    rmSync(folder, { recursive: true })
    return { commits, died: client.deaths > 0 }
  }

  const { commits } = await heal(undefined)
  expect(commits).toBeGreaterThan(3)
  const points = Array.from({ length: commits }, (_, index) => index + 1).flatMap((commit) => [
    { commit, when: 'before' as const },
    { commit, when: 'after' as const },
  ])
  let deaths = 0
  await inTurn(points, 3, async (death) => {
    const { died } = await heal(death).catch((error: unknown) => {
      throw new Error(`the healer was killed ${death.when} commit ${death.commit}`, { cause: error })
    })
    if (died) deaths++
  })
  expect(deaths).toBeGreaterThan(points.length * 0.7)
  rmSync(stuck, { recursive: true })
})
