// Rows that something has damaged (a careless hand, a bad disk, a bug): nobody else suffers, nothing is guessed, and a person learns what is
// damaged and how to get out of it. Many rows of one store are damaged at once, each in its own way; a whole engine is started on it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createEngine, type Engine } from '../../src/engine/engine.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { addressOf } from '../../src/store/postgres/address.ts'
import { openMs } from '../../src/store/postgres/connections.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import type { Store } from '../../src/store/store.ts'
import { startPostgres } from '../postgres/server.ts'
import { driverOf, shelves, things } from './shelves.ts'

interface Ground {
  open(): Promise<Store>
  /** The store as it is, with somebody's work left in it; and then damaged by these statements. */
  damage(statements: readonly string[]): Promise<void>
  /** What is damaged is a copy, made while work is under way; else the store itself, after a stop. */
  readonly isCopied: boolean
  /** The column of a state at rest for what there seldom is. */
  readonly extra: string
  remove(): Promise<void>
}

function sqliteGround(): Promise<Ground> {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-damage-'))
  let file = join(folder, 'left.db')
  return Promise.resolve({
    open: async () => openSqliteStore({ file }),
    async damage(statements) {
      // A copy while work is under way: what the one who copies leaves behind is owned by nobody that lives.
      const copy = join(folder, 'damaged.db')
      const left = new DatabaseSync(file)
      left.exec(`vacuum into '${copy}'`)
      left.close()
      file = copy
      const db = new DatabaseSync(copy)
      for (const one of statements) expect(db.prepare(one).run().changes, one).not.toBe(0)
      db.close()
    },
    isCopied: true,
    extra: 'more',
    remove: async () => rmSync(folder, { recursive: true }),
  })
}

async function postgresGround(): Promise<Ground> {
  const server = await startPostgres()
  return {
    open: () => openPostgresStore({ url: server.url, durability: 'none' }),
    async damage(statements) {
      const wire = await Wire.open({
        address: addressOf({ url: server.url }),
        openMs,
        settings: { search_path: 'homeostat' },
        statements: {},
      })
      for (const one of statements) expect(await wire.query(`${one} returning 1`), one).not.toEqual([])
      await wire.close()
    },
    isCopied: false,
    extra: 'extra',
    remove: () => server.remove(),
  }
}

/** Of things that were being made: only the record of the run, which healing does without. */
const runDamages = {
  'no JSON': [`run = '{'`],
  'another JSON': [`run = '{}'`],
  'no operation': [`run = '[1,2]'`],
  'an operation that is a number': [`run = '[1,2,3,4]'`],
  'no rest': ['rest = null'],
  'half a rest': [`rest = '[1,{"makePart":'`],
  'an empty rest': [`rest = '[]'`],
  'a step that is a word': [`rest = '["paint",{}]'`],
} as const

/** Of things that were being made, or that were ready: what nobody can do without. */
const stateDamages = {
  'no JSON beside its status': (extra: string) => `${extra} = '{'`,
  'a list beside its status': (extra: string) => `${extra} = '[]'`,
  'a ledger that is none': (extra: string) => `${extra} = '{"ledger":7}'`,
  'an entry of its ledger in no state': (extra: string) => `${extra} = '{"ledger":[["1","part",99,1,"makePart",1]]}'`,
  'a timer that is a word': (extra: string) => `${extra} = '{"timers":{"ageing":"soon"}}'`,
} as const
const coldDamages = {
  'properties that are no JSON': `properties = '{"size":'`,
  'properties that are null': `properties = 'null'`,
  'links that are a number': `links = '7'`,
} as const

const names = (damages: object, of: string): string[] => Object.keys(damages).map((_, i) => `${of}-${i}`)
const runIds = names(runDamages, 'run')
const liveIds = names(stateDamages, 'live')
const restingIds = names(stateDamages, 'resting')
const coldIds = names(coldDamages, 'cold')
const wholeIds = ['whole-0', 'whole-1', 'whole-2']
const repairable = [...liveIds, ...restingIds, ...coldIds]

const options = {
  healEveryMs: 50,
  pollMs: 50,
  stopPatienceMs: 50,
  sweepEveryMs: 50,
  inventoryEveryMs: 50,
  strayGraceMs: 0,
}
const lifecycles = { shelf: shelves, thing: things }
const start = async (store: Store, mayHang: boolean, parts: Set<string>): Promise<Engine<typeof lifecycles>> => {
  const engine = createEngine({ store, lifecycles, drivers: { shelf: {}, thing: driverOf(mayHang, parts) }, options })
  await engine.start()
  return engine
}

describe.each([
  ['SQLite', sqliteGround],
  ['PostgreSQL', postgresGround],
] as const)('damaged rows on %s', (_, groundOf) => {
  let ground: Ground
  let store: Store
  let engine: Engine<typeof lifecycles>
  /** What there really is. */
  const parts = new Set<string>()
  const partOf = (id: string) => `damage.thing/${id}/part/1`
  const at = async (id: string) => (await engine.get('damage.thing', id))!
  const statusOf = async (id: string) => (await at(id)).status
  const untilIs = async (id: string, status: string) => {
    await expect.poll(() => statusOf(id), { message: id }).toBe(status)
  }
  const incidentsOf = async (id: string) =>
    (await engine.incidents(100, { no: (await at(id)).no })).filter(({ kind }) => kind === 'damaged')

  beforeAll(async () => {
    ground = await groundOf()
    const left = await ground.open()
    const before = await start(left, true, parts)
    const make = (id: string, shelf: string, hangs: boolean) =>
      before.client('me').thing.create({ id, parent: shelf, properties: { size: 1, hangs } })
    for (const id of ['top', 'bottom']) await before.client('me').shelf.create({ id, properties: { label: id } })
    for (const id of [...runIds, ...liveIds, ...wholeIds, 'owned']) await make(id, 'top', true)
    for (const id of [...restingIds, ...coldIds, 'told']) await make(id, 'top', false)
    await make('lost', 'bottom', false)
    const nos = new Map<string, number>()
    await vi.waitFor(async () => {
      const { resources } = await before.list({ type: 'damage.thing' })
      for (const { id, no } of resources) nos.set(id, no)
      const moving = resources.filter(({ run, status }) => (run === null ? status !== 'Ready' : run.step !== 1))
      if (moving.length > 0) throw new Error(`${moving.map(({ id }) => id).join()} are not where they should be`)
    }, 30_000)
    const { isCopied, extra } = ground
    const of = (id: string) => `where no = ${nos.get(id)!}`
    if (!isCopied) await before.stop()
    await ground.damage([
      ...Object.values(runDamages).map(([set], i) => `update live set ${set} ${of(`run-${i}`)}`),
      ...Object.values(stateDamages).flatMap((set, i) => [
        `update live set ${set('extra')} ${of(`live-${i}`)}`,
        `update settled set ${set(extra)} ${of(`resting-${i}`)}`,
      ]),
      ...Object.values(coldDamages).map((set, i) => `update resource set ${set} ${of(`cold-${i}`)}`),
      `update settled set shape = 99999 ${of('lost')}`,
      // No worker has such a number; SQLite's runs are left with their own, who has ended.
      ...(isCopied ? [] : [`update live set owner = 4503599627370496 ${of('owned')}`]),
      // What a start compares its declarations with.
      `update record set value = '[["age"' where kind = 'steps' and key = 'damage.thing'`,
      // The beginning of its history: the chunk in which it was accepted, and perhaps others beside it.
      `update event set body = '[1,2' where first = 4`,
    ])
    if (isCopied) await before.stop()
    await left.close()
    store = await ground.open()
    engine = await start(store, false, parts)
  })
  afterAll(async () => {
    await engine.stop()
    await store.close()
    await ground.remove()
  })

  test('nobody else suffers: what was left is finished, new ones are made and removed, everything can be read', async () => {
    for (const id of wholeIds) await untilIs(id, 'Ready')
    await engine.client('me').thing.create({ id: 'new', parent: 'top', properties: { size: 1 } })
    await untilIs('new', 'Ready')
    await engine.request({ type: 'damage.thing', no: (await at('new')).no, operation: 'delete', by: 'me' })
    await untilIs('new', 'Gone')
    const listed = (await engine.list({ limit: 500 })).resources.map(({ id }) => id)
    expect(listed).toEqual(expect.arrayContaining([...runIds, ...repairable, ...wholeIds, 'top', 'lost', 'new']))
    expect((await engine.counts()).reduce((sum, { count }) => sum + count, 0)).toBeGreaterThanOrEqual(listed.length - 1)
    expect((await engine.runs({ limit: 500 })).runs.map(({ id }) => id)).not.toEqual([])
    const told = await engine.events(0, 1_000)
    expect(told.some(({ n }) => n < 4) && told.some(({ n }) => n > 50)).toBe(true)
    expect(told.some(({ n }) => n === 4)).toBe(false)
    await engine.history('damage.thing', 'told')
  })

  test('a run that cannot be read is done without: healing brings its resource to where the declaration says', async () => {
    for (const id of runIds) {
      await untilIs(id, 'Broken')
      const [incident] = await incidentsOf(id)
      expect(incident, id).toMatchObject({ status: 'Making', evidence: { run: expect.any(String) } })
      expect((await at(id)).ledger, id).toMatchObject([{ kind: 'part' }])
      expect((await at(id)).damaged, id).toBe(undefined)
    }
  })

  test('nothing is written over what else cannot be read: it is named, told why, and waits for a person', async () => {
    for (const id of repairable) {
      const { because, allowed, next } = await engine.explain('damage.thing', id)
      expect([because.length, allowed, next], id).toEqual([1, [], null])
      expect(because[0], id).toMatch(/^The stored state of damage\.thing .* is damaged: .*set its status by hand/)
      const asked = {
        kind: 'requestOperation',
        type: 'damage.thing',
        no: (await at(id)).no,
        operation: 'delete',
        by: 'me',
      }
      const decision = await engine.submit(asked as never)
      expect(decision, id).toMatchObject({ accepted: false, rejection: { code: 'state_damaged' } })
      const [incident] = await incidentsOf(id)
      expect(Object.keys(incident!.evidence), id).not.toEqual([])
    }
    for (const id of liveIds) expect((await incidentsOf(id)).length, id).toBe(1)
  })

  test('a person who has looked says where it stands; from then on it is as any other', async () => {
    for (const id of repairable) {
      const { no } = await at(id)
      const said = { kind: 'setStatus', no, status: 'Broken', reason: 'looked at it', by: 'ann' } as const
      expect((await engine.submit(said)).accepted, id).toBe(true)
      expect(await at(id), id).toMatchObject({ status: 'Broken', run: null })
      expect((await at(id)).damaged, id).toBe(undefined)
    }
    await engine.request({ type: 'damage.shelf', id: 'top', operation: 'scrap', by: 'me' } as never)
    await expect.poll(async () => (await engine.get('damage.shelf', 'top'))!.status).toBe('Scrapped')
    for (const id of [...repairable, ...runIds]) expect(await statusOf(id), id).toBe('Gone')
  })

  test('what may be its own is not swept away, until a person has closed the incident', async () => {
    const { strays } = engine
    for (const id of [...liveIds, ...restingIds]) {
      expect(strays, id).toContainEqual(expect.objectContaining({ name: partOf(id) }))
      expect(parts.has(partOf(id)), id).toBe(true)
    }
    const [first] = restingIds as [string]
    expect(await engine.closeIncident((await at(first)).no, 'damaged')).toBe(true)
    await expect.poll(() => parts.has(partOf(first))).toBe(false)
    for (const id of liveIds) expect(parts.has(partOf(id)), id).toBe(true)
  })

  test('what has no status at all is found by its name, and only a back-up brings it back', async () => {
    const { because } = await engine.explain('damage.thing', 'lost')
    expect(because.join()).toMatch(/damage\.thing lost is damaged: status .*Restore it from a back-up/)
    const { no } = await at('lost')
    const said = { kind: 'setStatus', no, status: 'Broken', reason: 'looked at it', by: 'ann' } as const
    expect(await engine.submit(said)).toMatchObject({ accepted: false, rejection: { code: 'state_damaged' } })
  })
})
