// Looks at a store and its world from outside, after the crashes: what was acknowledged is there once, nothing is in transition,
// the events have no gap and tell the same story as the resources, and the files are exactly those that the records claim.
// Every check answers with the faults it found.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ask } from '../../src/decision/situation.ts'
import type { KeyRecord, Resource, StoredEvent } from '../../src/decision/state.ts'
import type { Store } from '../../src/store/store.ts'
import { openStoreOf } from './store-of.ts'
import type { Acknowledged } from './worker-handle.ts'
import { World } from './world.ts'

export const isTransitional = (status: string): boolean =>
  ['Making', 'Growing', 'Checking', 'Removing', 'Emptying', 'Closing'].includes(status)

export interface Seen {
  readonly resources: readonly Resource[]
  readonly events: readonly StoredEvent[]
}

/** Reads a store that others may be using. */
export async function withStore<T>(folder: string, look: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await openStoreOf(folder, true)
  try {
    return await look(store)
  } finally {
    await store.close()
  }
}

export async function readAll(store: Store): Promise<Seen> {
  const resources: Resource[] = []
  for (let after = 0; ;) {
    const page = await store.list({ limit: 1_000, after })
    resources.push(...page)
    if (page.length < 1_000) break
    after = page.at(-1)!.no
  }
  const events: StoredEvent[] = []
  for (;;) {
    const page = await store.events(events.at(-1)?.n ?? 0, 5_000)
    if (page.length === 0) break
    events.push(...page)
  }
  return { resources, events }
}

/** Waits until nothing is in transition, at most so long; answers how long it took. */
export async function untilSettled(folder: string, withinMs: number): Promise<number> {
  const begun = performance.now()
  return withStore(folder, async (store) => {
    for (;;) {
      const busy = (await store.counts()).filter(({ status, count }) => count > 0 && isTransitional(status))
      const took = performance.now() - begun
      if (busy.length === 0) return took
      if (took > withinMs) {
        const stuck = await store.list({ status: busy.map(({ status }) => status), limit: 3, after: 0 })
        throw new Error(
          `still in transition in ${folder} after ${withinMs} ms: ${JSON.stringify(busy)}; e.g. ${JSON.stringify(stuck)}`,
        )
      }
      await sleep(25)
    }
  })
}

export interface Audited extends Seen {
  /** Nothing is wrong when it is empty. */
  readonly faults: readonly string[]
}

/** Everything that must be true once it is settled. */
export async function audit(folder: string, acknowledged: readonly Acknowledged[]): Promise<Audited> {
  const file = join(folder, 'store.db')
  const damage = existsSync(file) ? integrityOf(file).filter((line) => line !== 'ok') : []
  return withStore(folder, async (store) => {
    const seen = await readAll(store)
    const faults = [
      ...damage,
      ...restless(seen),
      ...eventFaults(seen),
      ...(await acknowledgementFaults(store, seen, acknowledged)),
      ...fileFaults(seen, new World(folder)),
    ]
    return { ...seen, faults }
  })
}

function integrityOf(file: string): string[] {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  try {
    return db
      .prepare('pragma integrity_check')
      .all()
      .map((row) => String(row['integrity_check']))
  } finally {
    db.close()
  }
}

const restless = ({ resources }: Seen): string[] =>
  resources
    .filter(({ status, run }) => isTransitional(status) || run !== null)
    .map(({ id, status, run }) => `${id} is ${status} with ${run === null ? 'no run' : `a run of ${run.operation}`}`)

/** Numbered 1, 2, 3 ...; chained per resource; epochs never go back; the last one says where the resource stands. */
function eventFaults({ resources, events }: Seen): string[] {
  const faults: string[] = []
  const last = new Map<number, StoredEvent>()
  events.forEach((event, index) => {
    if (event.n !== index + 1) faults.push(`event ${event.n} comes where ${index + 1} is expected`)
    const before = last.get(event.no)
    if (event.prev !== (before?.n ?? 0)) faults.push(`event ${event.n} follows ${event.prev}, not ${before?.n ?? 0}`)
    if (before !== undefined && event.epoch < before.epoch) faults.push(`event ${event.n}: the epoch went back`)
    if (before !== undefined && event.from !== before.to)
      faults.push(`event ${event.n} leads from ${event.from}, but it was ${before.to}`)
    last.set(event.no, event)
  })
  for (const { no, id, status } of resources) {
    if (last.get(no)?.to !== status) faults.push(`${id} is ${status}, but its last event says ${last.get(no)?.to}`)
  }
  return faults
}

/** Every acknowledged request is in the store with the very run it was promised, once. */
async function acknowledgementFaults(
  store: Store,
  { events }: Seen,
  acknowledged: readonly Acknowledged[],
): Promise<string[]> {
  const accepted = new Map<string, number>()
  for (const { kind, no, begun } of events) {
    if (kind === 'accepted') accepted.set(`${no}-${begun}`, (accepted.get(`${no}-${begun}`) ?? 0) + 1)
  }
  const records = (await store.load(acknowledged.map(({ key }): Ask => ({ ask: 'key', key })))) as (KeyRecord | null)[]
  return acknowledged.flatMap(({ key, no, begun, operation }, index) => {
    const record = records[index]
    if (record == null) return [`${key} (${operation}) was acknowledged and is not there`]
    if (record.no !== no || record.begun !== begun)
      return [`${key} was acknowledged as ${no}-${begun} and is there as ${record.no}-${record.begun}`]
    const times = accepted.get(`${no}-${begun}`) ?? 0
    return times === 1 ? [] : [`${key} (${operation}) was accepted ${times} times`]
  })
}

/** Files, payments and records agree exactly, in both directions. */
function fileFaults({ resources, events }: Seen, world: World): string[] {
  const faults: string[] = []
  const claimed = new Set<string>()
  const imported = new Set(events.filter(({ kind }) => kind === 'imported').map(({ no }) => no))
  for (const { no, type, id, status, ledger, properties } of resources) {
    if (type !== 'crash.box') continue
    for (const { name, state } of ledger) {
      claimed.add(name)
      if (state !== 'there') faults.push(`${id} (${status}) has ${name} in the ledger as ${state}`)
    }
    const size = ledger.length === 0 ? null : world.sizeOf(ledger[0]!.name)
    if (status === 'Ready' && size !== properties['size'])
      faults.push(`${id} is Ready with ${JSON.stringify(properties)}, its file has ${size}`)
    if (status !== 'Ready' && ledger.length > 0) faults.push(`${id} is ${status} and still has a file in the ledger`)
    if (imported.has(no)) continue
    const payments = world.paymentsOf(id).length
    if (status === 'Ready' && payments !== 1) faults.push(`${id} is Ready and was paid ${payments} times`)
    if (status === 'Broken' && payments !== 0) faults.push(`${id} is Broken and was not refunded`)
  }
  for (const name of world.things()) if (!claimed.has(name)) faults.push(`${name} is a file that no record claims`)
  return faults
}

/** How often each call was made, by its key. */
export function callsByKey(
  world: World,
): Map<string, { readonly function: string; id: string; readonly times: number }> {
  const calls = new Map<string, { function: string; id: string; times: number }>()
  for (const { function: fn, key, id } of world.effects()) {
    calls.set(key, { function: fn, id, times: (calls.get(key)?.times ?? 0) + 1 })
  }
  return calls
}
