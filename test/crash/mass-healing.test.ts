// A thousand resources, nine hundred of them stuck in three ways: the preview says what healing will do with each, one command
// heals them all, and the history says that the same was done.
import { rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import type { StoredEvent } from '../../src/decision/state.ts'
import type { PreviewRow } from '../../src/engine/heal-control.ts'
import { audit, untilSettled, withStore } from './audit.ts'
import { Client, freshFolder } from './client.ts'
import { until } from '../../scripts/waiting.ts'
import { endAll, WorkerHandle } from './worker-handle.ts'
import { World } from './world.ts'

afterEach(endAll)

const boundMs = 20_000
/** Heals only when it is told to. */
const never = 3_600_000
const patient = { leaseMs: 20_000, healEveryMs: never, overdueSlackMs: never }

const named = (word: string, count: number): string[] => Array.from({ length: count }, (_, index) => `${word}${index}`)

test('one command heals 900 of 1,000, each as the preview said', { timeout: 120_000 }, async () => {
  const folder = freshFolder()
  const world = new World(folder)
  const healer = Client.launch(folder, () => ({ folder, settings: { ...patient, overdueSlackMs: 0 } }))
  await healer.rack('r')
  const healthy = named('healthy', 100)
  const overdue = named('overdue', 300)
  const lost = { grow: named('grow', 100), delete: named('delete', 100), inspect: named('inspect', 100) }
  const ready = [...healthy, ...overdue, ...Object.values(lost).flat()]
  await Promise.all(ready.map((id) => healer.create('r', id, { size: 2 })))
  await untilSettled(folder, boundMs)

  // Overdue: their process lives, its heart beats, but its event loop is blocked: it cannot even see its deadlines.
  const blocked = Client.launch(folder, () => ({ folder, settings: { ...patient, concurrency: 1_000 } }))
  await Promise.all(overdue.map((id) => blocked.inspect(id)))
  const looks = () => world.effects().filter(({ function: fn }) => fn === 'look').length
  await until('all are being looked at', boundMs, () => looks() === overdue.length)
  blocked.worker.tell({ do: 'block', ms: 600_000 }).catch(() => {})

  // Owner lost: their process is killed in the middle.
  const killed = Client.launch(folder, () => ({ folder, settings: patient, slowMs: 600_000 }))
  await Promise.all([
    ...lost.grow.map((id) => killed.grow(id, 20)),
    ...lost.delete.map((id) => killed.delete(id)),
    ...lost.inspect.map((id) => killed.inspect(id)),
  ])
  await killed.worker.kill()

  // Unowned: they come from elsewhere, in the middle of something that nobody does any more.
  const statuses = ['Making', 'Growing', 'Checking', 'Removing']
  const unowned = named('unowned', 300)
  await Promise.all(unowned.map((id, index) => importBox(healer.worker, id, statuses[index % 4]!)))
  await withStore(folder, async (store) => {
    for (const { ledger } of await store.list({ status: ['Growing', 'Checking', 'Removing'], limit: 2_000, after: 0 }))
      for (const { name } of ledger) if (world.sizeOf(name) === null) world.fill(name, 7)
  })
  let preview: PreviewRow[] = []
  await until('nine hundred are stuck', boundMs, async () => {
    preview = (await healer.worker.tell({ do: 'preview', limit: 2_000 })) as PreviewRow[]
    return preview.length >= 900
  })
  const by = (found: string) => preview.filter((row) => row.found === found).map(({ id }) => id)
  expect(new Set(by('overdue'))).toEqual(new Set(overdue))
  expect(new Set(by('ownerLost'))).toEqual(new Set(Object.values(lost).flat()))
  expect(new Set(by('unowned'))).toEqual(new Set(unowned))
  expect(preview.filter(({ acts, held }) => !acts || held !== null)).toEqual([])

  const begun = performance.now()
  await healer.worker.tell({ do: 'heal' })
  await untilSettled(folder, boundMs)
  const tookMs = performance.now() - begun

  const { faults, resources, events } = await audit(
    folder,
    [healer, blocked, killed].flatMap((one) => one.acknowledged),
  )
  expect(faults).toEqual([])
  const history = Map.groupBy(events, ({ no }) => no)
  const differences = preview.flatMap((row) => {
    const told = toldBy(history.get(row.no)!)
    return told.found === row.found && told.did === row.would
      ? []
      : [{ id: row.id, would: row.would, found: row.found, told }]
  })
  expect(differences).toEqual([])
  // Nobody else was touched.
  const touched = new Set(preview.map(({ no }) => no))
  expect(resources.filter(({ no }) => !touched.has(no)).map(({ id }) => id)).toEqual(['r', ...healthy])
  const statusOf = new Map(resources.map(({ id, status }) => [id, status]))
  expect(new Set(lost.grow.map((id) => statusOf.get(id)))).toEqual(new Set(['Ready']))
  expect(new Set(lost.delete.map((id) => statusOf.get(id)))).toEqual(new Set(['Gone']))
  expect(new Set([...overdue, ...lost.inspect].map((id) => statusOf.get(id)))).toEqual(new Set(['Ready']))
  expect(unowned.map((id, index) => [statuses[index % 4], statusOf.get(id)])).toEqual(
    unowned.map((_, index) => [statuses[index % 4], ['Broken', 'Ready', 'Ready', 'Gone'][index % 4]]),
  )
  console.log(`healed ${preview.length} of ${resources.length} in ${Math.round(tookMs)} ms, each as the preview said`)
  await blocked.worker.kill()
  await healer.stop()
  rmSync(folder, { recursive: true })
})

async function importBox(worker: WorkerHandle, id: string, status: string): Promise<void> {
  const answer = await worker.submit({
    kind: 'importResource',
    type: 'crash.box',
    id,
    status,
    properties: { size: 7 },
    parent: { type: 'crash.rack', id: 'r' },
    ...(status === 'Making' ? {} : { ledger: [{ kind: 'file', ref: null }] }),
    by: 'import',
  })
  expect(answer.accepted).toBe(true)
}

/** What the history says healing found and did, in the preview's words. */
function toldBy(events: readonly StoredEvent[]): { readonly found: string; readonly did: string } {
  const at = events.findIndex(({ kind }) => kind === 'resumed' || kind === 'healed')
  const event = events[at]
  if (event === undefined) return { found: '', did: 'nothing' }
  const found = textOf(event, 'found')
  const attempt = textOf(event, 'attempt')
  const probe = textOf(event, 'probe')
  if (event.kind === 'healed' && attempt === '') return { found, did: `put it to ${event.to}` }
  if (event.kind === 'healed') {
    const lands = event.to === event.from ? '' : `put it to ${event.to}, then `
    return { found, did: `${lands}attempt ${attempt} again (now ${events[at + 1]!.to})` }
  }
  if (probe !== '') return { found, did: `ask the driver (${probe}) what is really there, and land by its answer` }
  const accepted = events.slice(0, at).findLast(({ kind }) => kind === 'accepted')
  const operation = textOf(accepted, 'operation')
  const step = textOf(events[at - 1], 'next')
  return textOf(event, 'phase') === 'probe'
    ? { found, did: `ask the driver whether ${step} happened, then go on with ${operation}` }
    : { found, did: `go on with ${operation} at ${step}` }
}

function textOf(event: StoredEvent | undefined, name: string): string {
  const value = event?.detail?.[name]
  return typeof value === 'string' ? value : ''
}
