// Nothing is changed on anybody's behalf without its entry in the audit: the two are one commit. Shown by a store that takes no entry
// any more, on which then nothing can be changed.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { canonical } from '../../src/base/json.ts'
import { HomeostatError } from '../../src/base/errors.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import { emptyBatch, type Batch, type Beside, type Store } from '../../src/store/store.ts'
import type { Incident } from '../../src/decision/state.ts'
import { auditWords } from '../../src/protocol/audit-words.ts'
import { openShop, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 60_000 })

/** Refuses whatever brings an entry for the journal, once it is told to. */
class Illiterate {
  isOn = false

  over(store: Store): Store {
    const refuse = ({ journal = [] }: Beside): void => {
      if (this.isOn && journal.length > 0) throw new HomeostatError('store_corrupt', 'It does not write.')
    }
    return new Proxy(store, {
      get(target, name, receiver) {
        if (name === 'commit')
          return (batch: Batch) => {
            refuse(batch)
            return target.commit(batch)
          }
        if (name === 'closeIncident')
          return (no: number, kind: Incident['kind'], beside: Beside = {}) => {
            refuse(beside)
            return target.closeIncident(no, kind, beside)
          }
        const value: unknown = Reflect.get(target, name, receiver)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
}

let store: Store
let pen: Illiterate
let shop: Shop
beforeEach(async () => {
  pen = new Illiterate()
  store = createMemoryBackend().open() as Store
  shop = await openShop({ store: pen.over(store), server: { webhooks: { privateAddresses: true } } })
})
afterEach(() => shop.close())

const admin = async (method: string, path: string, body?: unknown, headers?: Record<string, string>) => {
  const answer = await shop.ask(method, path, { body, headers: headers ?? {} })
  expect(answer.status, `${method} ${path} ${answer.text}`).toBeLessThan(300)
  return answer.json
}
const audit = async () => (await admin('GET', '/v1/audit?pageSize=500')).items

/** What anybody may have changed. */
async function picture(): Promise<string> {
  const kinds = ['token', 'account', 'session', 'ticket', 'webhook', 'dead letter', 'bulk', 'once', 'healing', 'view']
  const records = await Promise.all(kinds.map(async (kind) => store.records({ kind, after: '', limit: 1_000 })))
  const resources = (await store.list({ after: 0, limit: 1_000 })).map(({ no, status, run, ledger, properties }) => [
    no,
    status,
    run === null ? null : [run.operation, run.step, run.parked !== null],
    ledger.map(({ name, state }) => [name, state]),
    properties,
  ])
  return canonical([records, resources, await store.incidents({ limit: 100 })] as never)
}

async function orphan(): Promise<string> {
  shop.hands.held.add('fold')
  await admin('POST', '/v1/resources/shop.box', { id: 'lost', properties: { size: 1 } })
  await vi.waitFor(async () => {
    expect((await admin('GET', '/v1/resources/shop.box/lost')).run?.step).toBe('fold')
  }, 30_000)
  shop.hands.held.add('burn')
  const { run } = await admin('DELETE', '/v1/resources/shop.box/lost?force=true&reason=test')
  await admin('GET', `/v1/runs/${run.id}?wait=30`)
  return (await admin('GET', '/v1/orphans')).items[0].id
}

test('a store that takes no entry of the audit takes no change either, whatever is asked for', async () => {
  const lost = encodeURIComponent(await orphan())
  const { run } = await admin('POST', '/v1/resources/shop.box', { id: 'hung', properties: { size: 1 } })
  const { token } = await admin('POST', '/v1/tokens', { name: 'test', role: 'viewer' })
  const { webhook } = await admin('POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/x' })
  await admin('POST', '/v1/accounts', { name: 'ann', password: 'correct horse battery', role: 'admin' })
  const signIn = { account: 'ann', password: 'correct horse battery' }
  const signed = await shop.ask('POST', '/v1/session', { token: null, body: signIn })
  const cookie = signed.headers.get('set-cookie')!.split(';')[0]!
  const { no } = (await shop.engine.get('shop.box', 'hung'))!
  const incident = { no, kind: 'overdue', at: 1, status: 'Making', text: '', evidence: {} } as const
  await store.commit({ ...emptyBatch, incidents: [incident] })
  const { items } = await admin('GET', '/v1/incidents')
  await vi.waitFor(async () => {
    expect((await admin('GET', '/v1/resources/shop.box/hung')).run?.step).toBe('fold')
  }, 30_000)
  const ticket = await shop.server.newTicket()
  const reason = { reason: 'test' }
  const changes: readonly (readonly [method: string, path: string, body?: unknown, headers?: object])[] = [
    ['POST', '/v1/resources/shop.box', { properties: { size: 1 } }],
    ['POST', '/v1/resources/shop.box/hung:setStatus', { status: 'Broken', ...reason }, { 'if-match': '*' }],
    ['DELETE', '/v1/resources/shop.box/hung'],
    ['POST', `/v1/runs/${run.id}:cancel`, reason],
    ['PUT', '/v1/healing/modes/shop.box/Making', { mode: 'off', ...reason }],
    ['PUT', '/v1/healing/breakers/shop.box', { isOpen: true, ...reason }],
    ['POST', `/v1/orphans/${lost}:sweep`, reason],
    ['POST', `/v1/orphans/${lost}:writeOff`, reason],
    ['POST', `/v1/incidents/${items[0].id}:close`, reason],
    ['POST', '/v1/bulk', { filter: { type: 'shop.box' }, operation: 'seal', ...reason }],
    ['POST', '/v1/tokens', { name: 'x', role: 'viewer' }],
    ['DELETE', `/v1/tokens/${token.id}`],
    ['POST', '/v1/accounts', { name: 'bob', password: 'correct horse battery', role: 'viewer' }],
    ['PUT', '/v1/accounts/ann/password', { password: 'another long password' }],
    ['DELETE', '/v1/accounts/ann'],
    ['POST', '/v1/webhooks', { url: 'http://127.0.0.1:9/y' }],
    ['POST', `/v1/webhooks/${webhook.id}:rotateSecret`],
    ['POST', `/v1/webhooks/${webhook.id}:replay`, { after: 0 }],
    ['POST', `/v1/webhooks/${webhook.id}:pause`],
    ['POST', `/v1/webhooks/${webhook.id}:resume`],
    ['DELETE', `/v1/webhooks/${webhook.id}`],
    ['POST', '/v1/session', signIn],
    ['POST', '/v1/session', { ticket }],
    ['DELETE', '/v1/session', undefined, { cookie, 'x-homeostat': '1', authorization: '' }],
  ]
  const before = await picture()
  pen.isOn = true
  for (const [method, path, body, headers = {}] of changes) {
    const isSession = 'cookie' in headers
    const { authorization: _, ...sent } = headers as Record<string, string>
    const answer = await shop.ask(method, path, { body, headers: sent, ...(isSession ? { token: null } : {}) })
    expect([method, path, answer.json?.code]).toEqual([method, path, expect.stringMatching(/^store_/)])
    expect(await picture(), `${method} ${path}`).toBe(before)
  }
  // With a pen again, each is done: the store refused nothing but the entry.
  pen.isOn = false
  await admin('PUT', '/v1/healing/modes/shop.box/Making', { mode: 'off', ...reason })
  expect(await picture()).not.toBe(before)
  shop.hands.let('burn')
  shop.hands.let('fold')
})

test('what calls the outside is written down before it is called, and again with its end', async () => {
  const lost = await orphan()
  shop.hands.failing.add('sweep')
  const sweep = () => admin('POST', `/v1/orphans/${encodeURIComponent(lost)}:sweep`, { reason: 'test' })
  expect((await sweep()).swept).toBe(false)
  shop.hands.failing.delete('sweep')
  expect((await sweep()).swept).toBe(true)
  const swept = (await audit()).filter(({ action }: { action: string }) => action === 'sweepOrphan')
  expect(swept.map(({ outcome, target }: { outcome: string; target: string }) => [outcome, target])).toEqual([
    ['begun', lost],
    ['failed', lost],
    ['begun', lost],
    ['done', lost],
  ])
  shop.hands.let('burn')
  shop.hands.let('fold')
})

test('who signs in or out, who fails to, who sets what healing may do, and what was set before, are told', async () => {
  await admin('POST', '/v1/accounts', { name: 'ann', password: 'correct horse battery', role: 'operator' })
  const signIn = (password: string) =>
    shop.ask('POST', '/v1/session', { token: null, body: { account: 'ann', password } })
  expect((await signIn('wrong')).status).toBe(401)
  const cookie = (await signIn('correct horse battery')).headers.get('set-cookie')!.split(';')[0]!
  const fromPage = { cookie, 'x-homeostat': '1', 'sec-fetch-site': 'same-origin' }
  const forced = await shop.ask('DELETE', '/v1/resources/shop.box/b-1?force=true&reason=x', {
    token: null,
    headers: fromPage,
  })
  expect(forced.status).toBe(403)
  await shop.ask('DELETE', '/v1/session', { token: null, headers: fromPage })
  await admin('PUT', '/v1/healing/modes/shop.box/Making', { mode: 'approve', reason: 'why' })
  await admin('PUT', '/v1/healing/modes/shop.box/Making', { mode: 'off', reason: 'why' })
  const told = (await audit()).map(
    ({ action, principal, target, outcome, detail }: Record<string, unknown>) =>
      `${String(principal)} ${String(action)} ${String(target)} ${String(outcome)} ${JSON.stringify(detail)}`,
  )
  expect(told.slice(1)).toEqual([
    'nobody signIn account/ann denied null',
    'nobody signIn account/ann done null',
    'ann deleteResource shop.box/b-1 denied null',
    'ann signOut account/ann done null',
    'admin token setHealingMode shop.box/Making done {"mode":"approve","was":"auto"}',
    'admin token setHealingMode shop.box/Making done {"mode":"off","was":"approve"}',
  ])
  expect((await admin('GET', '/v1/audit:verify')).isSound).toBe(true)
})

test('who comes with a token that is not good, or is sent by a page elsewhere, is told', async () => {
  const { token, secret } = await admin('POST', '/v1/tokens', { name: 'old', role: 'admin' })
  await admin('DELETE', `/v1/tokens/${token.id}`)
  expect((await shop.ask('DELETE', '/v1/resources/shop.box/b-1', { token: secret })).status).toBe(401)
  const ticket = await shop.server.newTicket()
  const signed = await shop.ask('POST', '/v1/session', { token: null, body: { ticket } })
  const cookie = signed.headers.get('set-cookie')!.split(';')[0]!
  const forged = { cookie, 'x-homeostat': '1', 'sec-fetch-site': 'cross-site' }
  expect((await shop.ask('DELETE', '/v1/resources/shop.box/b-2', { token: null, headers: forged })).status).toBe(403)
  const denied = (await audit()).filter(({ outcome }: { outcome: string }) => outcome === 'denied')
  expect(denied).toMatchObject([
    { principal: 'nobody', action: 'deleteResource', target: 'shop.box/b-1', address: '127.0.0.1' },
    { principal: 'local', action: 'deleteResource', target: 'shop.box/b-2' },
  ])
})

test('each target of a bulk operation is in the audit, with the reason of the whole', async () => {
  for (const id of ['b-1', 'b-2']) {
    const { run } = await admin('POST', '/v1/resources/shop.box', { id, properties: { size: 1 } })
    await admin('GET', `/v1/runs/${run.id}?wait=30`)
  }
  const { bulk } = await admin('POST', '/v1/bulk', {
    filter: { type: 'shop.box' },
    operation: 'seal',
    reason: 'moving house',
    perSecond: 100,
  })
  await vi.waitFor(async () => expect((await admin('GET', `/v1/bulk/${bulk.id}`)).state).toBe('done'), 30_000)
  const items = (await audit()).filter(({ detail }: { detail: { bulk?: string } | null }) => detail?.bulk === bulk.id)
  expect(items.map(({ target, reason }: Record<string, string>) => [target, reason])).toEqual([
    ['shop.box/b-1', 'moving house'],
    ['shop.box/b-2', 'moving house'],
  ])
})

test('modes and breakers that were set before they were records hold until they are changed', async () => {
  await store.changeSetting('healing modes', null, { 'shop.box/Making': 'off' })
  await store.changeSetting('healing breakers', null, { 'shop.box': { openedAt: 1, reason: 'before' } })
  const modeOf = async (status: string) =>
    (await admin('GET', '/v1/healing')).modes.find(
      (one: { type: string; status: string }) => one.type === 'shop.box' && one.status === status,
    ).mode
  expect(await modeOf('Making')).toBe('off')
  await admin('PUT', '/v1/healing/modes/shop.box/Growing', { mode: 'approve', reason: 'x' })
  expect([await modeOf('Making'), await modeOf('Growing')]).toEqual(['off', 'approve'])
  const { breakers } = await admin('GET', '/v1/healing')
  expect(breakers.find(({ type }: { type: string }) => type === 'shop.box')).toMatchObject({ isOpen: true })
})

test('what an old entry contains is found however many came after it: an answer that looked at so many says where to go on', async () => {
  const who = { at: 0, principal: 'ann', address: '127.0.0.1', tenant: null }
  const entry = (action: string) => ({ ...who, action, target: '', reason: '', outcome: 'done', detail: null })
  await store.commit({ ...emptyBatch, journal: [entry('plantNeedle')] })
  await store.commit({ ...emptyBatch, journal: Array.from({ length: 6_000 }, () => entry('makeHay')) })
  const look = (more: string) => admin('GET', `/v1/audit?q=needle${more}`)
  const first = await look('&order=newest')
  expect(first).toMatchObject({ items: [], nextPageToken: '1002' })
  expect(await look('&order=newest&pageToken=1002')).toMatchObject({ items: [{ n: 1 }], nextPageToken: null })
  expect((await look('&pageSize=1')).items).toMatchObject([{ n: 1, action: 'plantNeedle' }])
  const some = await admin('GET', '/v1/audit?q=HAY&order=newest&pageSize=2')
  expect(some).toMatchObject({ items: [{ n: 6_001 }, { n: 6_000 }], nextPageToken: '6000' })
})

test('a forced delete is found as what it is, and an operation by its name', async () => {
  for (const id of ['b-1', 'b-2']) {
    const { run } = await admin('POST', '/v1/resources/shop.box', { id, properties: { size: 1 } })
    await admin('GET', `/v1/runs/${run.id}?wait=30`)
  }
  await admin('DELETE', '/v1/resources/shop.box/b-1')
  await admin('DELETE', '/v1/resources/shop.box/b-2?force=true&reason=hangs')
  const found = async (q: string) => (await admin('GET', `/v1/audit?q=${q}`)).items.map(auditWords)
  expect(await found('forced')).toEqual(['deleteResource (delete, forced)'])
  expect(await found('(delete')).toEqual(['deleteResource (delete)', 'deleteResource (delete, forced)'])
})

test.each(['/v1/audit:verify', '/v1/audit?q=nothing'])('%s of a long audit holds up nobody else', async (path) => {
  const entry = { at: 0, principal: 'ann', action: 'x', target: '', reason: '', outcome: 'done' }
  await store.commit({ ...emptyBatch, journal: Array.from({ length: 6_000 }, () => entry) })
  let turn = 0
  let next = setImmediate(function count() {
    turn++
    next = setImmediate(count)
  })
  const turns: number[] = []
  const journal = store.journal.bind(store)
  vi.spyOn(store, 'journal').mockImplementation((after, limit) => {
    turns.push(turn)
    return journal(after, limit)
  })
  await admin('GET', path)
  clearImmediate(next)
  expect(turns.length).toBeGreaterThan(5)
  expect(new Set(turns).size).toBe(turns.length)
})

test('a delete gives its reason to an operation that asks for one, and the audit keeps it however it was asked for', async () => {
  const gone = async (asked: Promise<{ run: { id: string } }>) => {
    const { input, state } = await admin('GET', `/v1/runs/${(await asked).run.id}?wait=30`)
    return [state, input]
  }
  for (const id of ['s-1', 's-2', 's-3', 's-4']) await gone(admin('POST', '/v1/resources/shop.shelf', { id }))
  const [reason, why] = [{ reason: 'full of worms' }, 'reason=full%20of%20worms']
  expect(await gone(admin('DELETE', `/v1/resources/shop.shelf/s-1?${why}`))).toEqual(['succeeded', reason])
  expect(await gone(admin('POST', '/v1/resources/shop.shelf/s-2:delete', reason))).toEqual(['succeeded', reason])
  expect(await gone(admin('DELETE', '/v1/resources/shop.shelf/s-3'))).toEqual(['succeeded', { reason: '' }])
  // It is input: what the lifecycle says of it holds.
  const long = await shop.ask('DELETE', `/v1/resources/shop.shelf/s-4?reason=${'x'.repeat(51)}`)
  expect(long.json).toMatchObject({ code: 'input_invalid', detail: expect.stringContaining('reason') })
  // One whose operation takes nothing is deleted as before.
  await gone(admin('POST', '/v1/resources/shop.box', { id: 'b-1', properties: { size: 1 } }))
  expect(await gone(admin('DELETE', `/v1/resources/shop.box/b-1?${why}`))).toEqual(['succeeded', null])
  const kept = (await audit()).filter(
    ({ detail }: { detail: { operation?: string } }) => detail?.operation === 'delete',
  )
  const told = kept.map((one: { target: string; reason: string }) => [one.target.split('/')[1], one.reason])
  expect(Object.fromEntries(told)).toEqual({
    's-1': 'full of worms',
    's-2': 'full of worms',
    's-3': '',
    'b-1': 'full of worms',
  })
})
