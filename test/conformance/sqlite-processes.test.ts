// Several real processes on one SQLite file: they keep the promises together, and the death of one loses nothing.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import type { Resource } from '../../src/decision/state.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { sampleBatch, sampleKinds, sampleResource } from '../../src/testing/store-samples.ts'

const program = fileURLToPath(new URL('./sqlite-child.ts', import.meta.url))
let folder = ''
let file = ''
let store: Store
let children: ChildProcess[] = []

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  file = join(folder, 'store.db')
  store = openSqliteStore({ file })
  await store.useKinds(sampleKinds)
  await store.commit(sampleBatch([{ before: null, after: sampleResource(1) }]))
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  children = []
  await store.close()
  rmSync(folder, { recursive: true })
})

interface Child {
  readonly process: ChildProcess
  readonly lines: string[]
  readonly ended: Promise<NodeJS.Signals | number | null>
  /** Waits until it has said so many lines. */
  said(count: number): Promise<void>
}

function start(...args: string[]): Child {
  const child = spawn(process.execPath, [program, file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const lines: string[] = []
  let rest = ''
  let heard = () => {}
  child.stdout.on('data', (data: Buffer) => {
    const parts = (rest + data.toString()).split('\n')
    rest = parts.pop()!
    lines.push(...parts)
    heard()
  })
  return {
    process: child,
    lines,
    ended: new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code))),
    said: (count) =>
      new Promise((resolve) => {
        heard = () => {
          if (lines.length >= count) resolve()
        }
        heard()
      }),
  }
}

async function mustBeWhole(): Promise<void> {
  const events = await store.events(0, 1_000_000)
  expect(events.every((event, at) => event.n === at + 1)).toBe(true)
  const last = new Map<number, number>()
  for (const event of events) {
    expect(event.prev).toBe(last.get(event.no) ?? 0)
    last.set(event.no, event.n)
  }
  for (const [no, n] of last) expect((await stateOf(no))!.last).toBe(n)
  const db = new DatabaseSync(file, { readOnly: true })
  expect(db.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  db.close()
}

async function stateOf(no: number): Promise<Resource | null> {
  return (await store.load([{ ask: 'resource', no }]))[0] as Resource | null
}

/** Every line `ack <no> <revision>` is true of the store. */
async function mustHaveKept(lines: readonly string[]): Promise<void> {
  const acknowledged = lines
    .filter((line) => line.startsWith('ack '))
    .map((line) => line.split(' ').slice(1).map(Number))
  expect(acknowledged.length).toBeGreaterThan(0)
  for (const [no, revision] of acknowledged) expect((await stateOf(no!))!.revision).toBeGreaterThanOrEqual(revision!)
}

test('S4 S12 two processes commit at once: no event is lost, none numbered twice, no change of the shared resource lost', async () => {
  const two = [start('commit', '300'), start('commit', '300')]
  expect(await Promise.all(two.map((child) => child.ended))).toEqual([0, 0])
  for (const child of two) await mustHaveKept(child.lines)
  await mustBeWhole()
  expect((await stateOf(1))!.revision).toBe(201)
  expect(store.othersWrote()).toBe(true)
})

test('S12 processes that commit without pause take turns', async () => {
  const two = [start('forever'), start('forever')]
  await Promise.all(two.map((child) => child.said(5)))
  const from = two.map((child) => child.lines.length)
  await Promise.race(two.map((child, at) => child.said(from[at]! + 1500)))
  for (const child of two) child.process.kill('SIGKILL')
  const counts = two.map((child, at) => child.lines.length - from[at]!)
  expect(Math.min(...counts) / Math.max(...counts)).toBeGreaterThan(0.3)
})

test('S1 S2 a process killed in the middle of commits loses nothing that it acknowledged and leaves nothing half', async () => {
  for (let round = 1; round <= 4; round++) {
    const child = start('forever')
    await child.said(60 * round)
    child.process.kill('SIGKILL')
    // A child that ended by itself would prove nothing.
    expect(await child.ended).toBe('SIGKILL')
    await mustHaveKept(child.lines)
    await mustBeWhole()
  }
})

test('S8 a killed process is seen at once, a stopped one when its lease has run out', async () => {
  const child = start('hold')
  await child.said(1)
  const no = Number(child.lines[0]!.split(' ')[1])
  const state = async (inMs: number) =>
    (await store.workers(systemClock.now() + inMs)).find((row) => row.no === no)?.state
  expect(await state(0)).toBe('live')
  child.process.kill('SIGSTOP')
  expect(await state(0)).toBe('live')
  expect(await state(2000)).toBe('expired')
  child.process.kill('SIGCONT')
  child.process.kill('SIGKILL')
  expect(await child.ended).toBe('SIGKILL')
  expect(await state(0)).toBe('dead')
  expect(await store.end({ no, as: 'dead', now: systemClock.now() })).toBe(true)
  const left = () => readdirSync(dirname(file)).filter((name) => name.includes(`.worker-${no}`))
  expect(left()).toHaveLength(2)
  await store.forgetWorkers([no])
  expect(left()).toEqual([])
  expect(await state(0)).toBe(undefined)
})

test('a thread beats while the event loop is blocked, and tells when it is refused', async () => {
  const leaseMs = 1500
  const no = await store.register({ name: 'busy', leaseMs, now: systemClock.now() })
  const heartbeat = store.keepBeating!({ no, leaseMs })
  // A thread takes its time to start on a busy machine.
  const beatAt = async () => (await store.workers(systemClock.now()))[0]!.beatAt
  const registeredAt = await beatAt()
  await vi.waitFor(async () => expect(await beatAt()).toBeGreaterThan(registeredAt), 10_000)
  const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  block(2 * leaseMs)
  expect(heartbeat.lastRenewalAgeMs()).toBeLessThan(leaseMs)
  expect(heartbeat.lost()).toBe(false)
  expect((await store.workers(systemClock.now())).map((row) => row.state)).toEqual(['live'])
  await store.end({ no, as: 'dead', now: systemClock.now() })
  await vi.waitFor(() => expect(heartbeat.lost()).toBe(true), 10_000)
  await heartbeat.stop()
  const other = await store.register({ name: 'other', leaseMs, now: systemClock.now() })
  const second = store.keepBeating!({ no: other, leaseMs })
  await second.stop()
  expect(second.lost()).toBe(false)
})

test('a commit that others do not let through fails in time, with nothing written', async () => {
  const hasty = openSqliteStore({ file, patienceMs: 50 })
  await hasty.useKinds(sampleKinds)
  const no = await hasty.register({ name: 'hasty', leaseMs: 100, now: 0 })
  const blocker = new DatabaseSync(file)
  blocker.exec('begin immediate')
  const batch = () => sampleBatch([{ before: null, after: sampleResource(7) }])
  expect(() => hasty.commit(batch())).toThrow(expect.objectContaining({ code: 'store_unavailable' }))
  // Leases are kept in a file of their own: they outlive the jam.
  expect(await hasty.beat({ no, leaseMs: 100, now: 50 })).toBe(true)
  blocker.exec('rollback')
  blocker.close()
  expect(await hasty.commit(batch())).toEqual({ committed: true, first: 2 })
  await hasty.close()
})
