// The auditor of the fault harness is only worth something if it sees what it is there for. A real engine works on a real PostgreSQL with
// the auditor's triggers; first nothing is wrong, then each fault is planted by hand, in the tables, the log or the outside world.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.ts'
import { openPostgresStore, type PostgresStore } from '../../src/postgres.ts'
import { carryOut } from '../../scripts/faults/cluster.ts'
import { Cloud } from '../../scripts/faults/cloud.ts'
import { readDatabase, type Evidence } from '../../scripts/faults/evidence.ts'
import { openFarWorld } from '../../scripts/faults/far-world.ts'
import { isClean, judge, type Verdict } from '../../scripts/faults/judge.ts'
import type { Acknowledged } from '../../scripts/faults/messages.ts'
import { driversOn, engineSettings, lifecycles, schema } from '../../scripts/faults/systems.ts'
import { until } from '../../scripts/waiting.ts'
import { watch } from '../../scripts/faults/watch.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'

const folder = mkdtempSync(join(tmpdir(), 'homeostat-auditor-'))
let server: PostgresServer
let cloud: Cloud
let store: PostgresStore
let engine: Engine
const acknowledged: Acknowledged[] = []

async function ask(operation: string, type: string, id: string, more: object = {}): Promise<void> {
  const key = `${operation}/${type}/${id}`
  const { resource, begun } = await engine.request({ type, id, operation, by: 'client', key, ...more })
  acknowledged.push({ key, type, resource: id, operation, no: resource.no, begun })
  await until(`${id} rests`, 30_000, async () => (await engine.get(type, id))?.run === null)
}

beforeAll(async () => {
  server = await startPostgres()
  cloud = await Cloud.start(1, join(folder, 'cloud.sock'))
  store = await openPostgresStore({ url: server.url, schema, durability: 'none' })
  await carryOut(server.url, watch)
  const drivers = driversOn(await openFarWorld(cloud.socketPath))
  engine = createEngine({ store, lifecycles, drivers, options: engineSettings })
  await engine.start()
  const volume = { create: { properties: { size: 1 } } }
  await ask('create', 'opensds.volume', 'v', volume)
  await ask('create', 'opensds.volume', 'w', volume)
  await ask('extend', 'opensds.volume', 'v', { input: { size: 3 } })
  const parent = { type: 'opensds.volume', id: 'v' }
  await ask('create', 'opensds.attachment', 'a', { create: { properties: { hostId: 'h' }, parent } })
  await ask('delete', 'opensds.volume', 'w')
  await engine.stop()
})
afterAll(async () => {
  await store.close()
  await cloud.stop()
  await server.remove()
  rmSync(folder, { recursive: true })
})

const evidence = async (): Promise<Evidence> => ({
  ...(await readDatabase(server.url)),
  acknowledged,
  effects: cloud.effects,
  truth: await cloud.truth(),
})
const verdictOf = async (planted: Partial<Evidence> = {}): Promise<Verdict> =>
  judge({ ...(await evidence()), ...planted }, lifecycles)

/** Changes the tables, judges, and puts them back. */
async function planted(change: string, back: string): Promise<Verdict> {
  await carryOut(server.url, `set search_path to ${schema}; ${change}`)
  const verdict = await verdictOf()
  await carryOut(server.url, `set search_path to ${schema}; ${back}`)
  return verdict
}

/** Only this promise is broken. */
function onlyBroken(verdict: Verdict, promise: keyof Verdict, said: RegExp): void {
  const broken = Object.entries(verdict).filter(([, faults]) => (faults as string[]).length > 0)
  expect(broken.map(([name]) => name)).toEqual([promise])
  expect(verdict[promise].join('\n')).toMatch(said)
}

test('nothing is wrong, and there was something to judge', async () => {
  const { commits, rows, keys, effects } = await evidence()
  expect(commits.flatMap(({ events }) => events).length).toBeGreaterThan(10)
  expect([rows.length, keys.size, acknowledged.length]).toEqual([3, 5, 5])
  expect(effects.length).toBeGreaterThan(4)
  const verdict = await verdictOf()
  expect(verdict).toEqual({ lost: [], doubled: [], illegal: [], zombieWrites: [], stuck: [], rules: [], strays: [] })
  expect(isClean(verdict)).toBe(true)
})

test('commits without events, whose number is that of the next one, are taken together with it', async () => {
  const before = (await evidence()).commits
  const first = before.find(({ events, cold }) => events.length > 0 && cold.length > 0)!
  await carryOut(
    server.url,
    `insert into ${schema}.commit (batch, n) values (-1, ${first.n}), (9007199254740991, ${first.n})`,
  )
  expect((await evidence()).commits).toEqual(before)
})

const isV = `no = (select no from resource where id = 'v')`

test('a lost acknowledgement: its key is gone', async () => {
  const change = `create table kept as select * from key where key = 'create/opensds.volume/v'; delete from key where key in (select key from kept)`
  const verdict = await planted(change, 'insert into key select * from kept; drop table kept')
  onlyBroken(verdict, 'lost', /create of opensds.volume v .* is not there/)
})

test('a lost acknowledgement: no event says that it was accepted', async () => {
  const ghost = { ...acknowledged[0]!, key: 'ghost', no: 99, begun: 1 }
  const keys = new Map([...(await evidence()).keys, ['ghost', { no: 99, begun: 1 }] as const])
  onlyBroken(await verdictOf({ acknowledged: [ghost], keys }), 'lost', /no event says that run 99-1 was accepted/)
})

test('a doubled request: acknowledged twice, as two runs', async () => {
  const again = { ...acknowledged[0]!, begun: acknowledged[2]!.begun }
  onlyBroken(await verdictOf({ acknowledged: [...acknowledged, again] }), 'doubled', /was acknowledged as/)
})

test('a doubled effect: two volumes where one was asked for', async () => {
  const truth = await cloud.truth()
  const volume = truth.find(({ kind }) => kind === 'volume')!
  const second = { ...volume, name: volume.name.replace(/\d+$/, '9') }
  const verdict = await verdictOf({ truth: [...truth, second] })
  expect(verdict.doubled.join()).toMatch(/opensds.volume v has more than its record says/)
  expect(verdict.strays.join()).toMatch(/is in no record/)
})

test('an illegal transition: a way that nothing declares', async () => {
  // Shapes are named by their numbers: what was Available at the end was then Deleted.
  const shape = (status: string) => `(select id from shape where type = 'opensds.volume' and status = '${status}')`
  const change = `create table kept as select * from event; update event set body = replace(body, ',' || ${shape('Creating')} || ',' || ${shape('Available')} || ',', ',' || ${shape('Creating')} || ',' || ${shape('Deleting')} || ',')`
  const verdict = await planted(change, 'delete from event; insert into event select * from kept; drop table kept')
  expect(verdict.illegal.join('\n')).toMatch(/went from 'Creating' to 'Deleting' .*, which nothing declares/)
})

test('an illegal transition: a state that no event leads to, and a gap in the feed', async () => {
  const stray = await planted(
    `create table kept as select no, shape from settled; update settled set shape = (select id from shape where type = 'opensds.volume' and status = 'InUse') where no in (select no from resource where id = 'w')`,
    'update settled s set shape = k.shape from kept k where k.no = s.no; drop table kept',
  )
  expect(stray.illegal.join()).toMatch(/opensds.volume w is InUse, but its events end in Deleted/)
  const { commits } = await evidence()
  const holed = commits.filter((_, index) => index !== 3 || commits[3]!.events.length === 0)
  expect((await verdictOf({ commits: holed })).illegal.join()).toMatch(/event \d+ comes after \d+/)
})

test('an accepted zombie write: the epoch goes back, seen when it is committed', async () => {
  const verdict = await planted(
    `update settled set epoch = epoch - 1, revision = revision + 1 where ${isV}`,
    `update settled set epoch = epoch + 1 where ${isV}; delete from watch.breach`,
  )
  onlyBroken(verdict, 'zombieWrites', /went from epoch \d+ back to \d+/)
})

test('an accepted zombie write: a state in both tables, or in none', async () => {
  const copied = 'no, epoch, revision, shape, batch, seq, since, extra'
  const both = await planted(
    `insert into live (${copied}, owner) select ${copied}, 0 from settled where ${isV}`,
    `delete from live where ${isV}; delete from watch.breach`,
  )
  expect(both.zombieWrites.join()).toMatch(/resource \d+ has 2 states/)
  const none = await planted(
    `create table kept as select * from settled where ${isV}; delete from settled where ${isV}`,
    'insert into settled select * from kept; drop table kept; delete from watch.breach',
  )
  expect(none.zombieWrites.join()).toMatch(/resource \d+ has 0 states/)
})

test('an accepted zombie write: two incarnations at one epoch, a beat after the end, an effect of an earlier owner', async () => {
  const { commits, effects } = await evidence()
  const events = commits.flatMap((commit) => commit.events)
  const done = events.findLast(({ kind }) => kind === 'stepDone' || kind === 'probed')!
  const last = events.at(-1)!
  const zombie = { ...last, n: last.n + 1, no: done.no, epoch: done.epoch, kind: 'stepDone', by: 'worker 77' }
  const later = [...commits, { n: last.n, events: [zombie], cold: [] }]
  expect((await verdictOf({ commits: later })).zombieWrites.join()).toMatch(/by worker 77 at epoch|at epoch \d+ after/)
  const beat = await planted(
    `update worker set state = 'expired'; update worker set beat = beat + 1000, lease = lease + 1000`,
    'delete from watch.breach',
  )
  onlyBroken(beat, 'zombieWrites', /was expired and is renewed/)
  const old = { ...effects.at(-1)!, epoch: effects.at(-1)!.epoch - 1 }
  onlyBroken(await verdictOf({ effects: [...effects, old] }), 'zombieWrites', /was done at epoch \d+, after epoch/)
})

test('a resource that is stuck, and a rule that did not hold after some commit', async () => {
  const stuck = await planted(
    `with gone as (delete from settled where ${isV} returning *)
      insert into live (no, owner, epoch, revision, shape, batch, seq, since, extra)
      select no, 0, epoch, revision, shape, batch, seq, since, extra from gone`,
    `with gone as (delete from live where ${isV} returning *)
      insert into settled (no, epoch, revision, shape, batch, seq, since, extra)
      select no, epoch, revision, shape, batch, seq, since, extra from gone`,
  )
  onlyBroken(stuck, 'stuck', /opensds.volume v is InUse, owner 0/)
  // In use exactly while something is attached: here the attachment had never been written.
  const { commits } = await evidence()
  const alone = commits.map((commit) => ({
    ...commit,
    cold: commit.cold.filter(({ type }) => type !== 'opensds.attachment'),
  }))
  expect((await verdictOf({ commits: alone })).rules.join()).toMatch(
    /opensds.volume v is InUse and breaks rule attached/,
  )
})

test('what exists outside and is in no record, and the other way round', async () => {
  const truth = await cloud.truth()
  onlyBroken(await verdictOf({ truth: [] }), 'strays', /on record, which is not there/)
  const nobodys = { ...truth[0]!, name: 'opensds.volume/nobody/volume/1' }
  onlyBroken(await verdictOf({ truth: [...truth, nobodys] }), 'strays', /nobody\/volume\/1 is in no record/)
})
