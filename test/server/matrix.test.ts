// Every row of the contract x every role x own and other tenant: made from the table, so that a new row is tested at once.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'
import { permissionsOf, roles, type Role } from '../../src/protocol/permissions.ts'
import { parameterNames, pathOf } from '../../src/protocol/route.ts'
import { routeNames, routeOf, type RouteName } from '../../src/protocol/routes.ts'
import { switchesOf } from '../../src/server.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import { emptyBatch, type Store } from '../../src/store/store.ts'
import { createSimulatedWorld } from '../../src/worlds.ts'
import { openShop, type Answered, type Shop } from './workshop.ts'

type Tenant = 'red' | 'blue'
const tenants = ['red', 'blue'] as const
/** In everything of a tenant that could be read: it must never reach the other one. */
const secretOf = (tenant: Tenant) => `SECRET-OF-${tenant.toUpperCase()}`

let shop: Shop
const tokens = new Map<string, string>()
/** What the parameters of paths are for a tenant; `nobody` has none of them. */
const things = new Map<Tenant | 'nobody', Record<string, string>>()

const bodies: Partial<Record<RouteName, unknown>> = {
  createResource: { properties: { size: 1 } },
  setStatus: { status: 'Ready', reason: 'matrix' },
  cancelRun: { reason: 'matrix' },
  skipStep: { reason: 'matrix' },
  completeStep: { key: 'k', outcome: { kind: 'done' } },
  approveAllHealing: { reason: 'matrix', dryRun: true },
  setHealingMode: { mode: 'auto', reason: 'matrix' },
  setBreaker: { isOpen: false, reason: 'matrix' },
  sweepOrphan: { reason: 'matrix' },
  adoptOrphan: { reason: 'matrix' },
  writeOffOrphan: { reason: 'matrix' },
  closeIncident: { reason: 'matrix' },
  createBulk: { filter: { type: 'shop.box' }, operation: 'seal', reason: 'matrix', dryRun: true },
  createWebhook: { url: 'http://127.0.0.1:9/hook' },
  replayWebhook: { after: 1 },
  signIn: { account: 'nobody', password: 'not the password' },
  createToken: { name: 'new', role: 'viewer' },
  createAccount: { name: 'account-of-matrix', password: 'a long password here', role: 'viewer' },
  setPassword: { password: 'another long password' },
  setFault: { does: 'fail' },
  saveView: { name: 'mine', search: 'q=x' },
  drainWorker: { reason: 'matrix' },
}
const queries: Partial<Record<RouteName, string>> = { importResources: '?reason=matrix' }
/** Rows that a role may call and that answer with these although nothing is wrong with the matrix. */
const noise: ReadonlySet<RouteName> = new Set(['signIn', 'getSession', 'signOut'])
/** What removes something comes last. */
const isLast = (name: RouteName) => Number(routeOf(name).method === 'DELETE')
const names = routeNames.filter((name) => !noise.has(name)).toSorted((a, b) => isLast(a) - isLast(b))

const call = (
  name: RouteName,
  token: string | null,
  of: Tenant | 'nobody',
  more: Record<string, string> = {},
): Promise<Answered> => {
  const { method, path, lines, condition, form } = routeOf(name)
  const body =
    name === 'approveHealing' ? { type: 'shop.box', id: things.get(of)!['stuck'], reason: 'matrix' } : bodies[name]
  return shop.ask(method, `${pathOf(path, things.get(of)!)}${queries[name] ?? ''}`, {
    token,
    ...(lines ? { text: '{"status":"Ready","properties":{"size":1}}' } : { body }),
    headers: {
      ...(lines ? { 'content-type': 'application/x-ndjson' } : {}),
      ...(condition === 'ifMatchDemanded' ? { 'if-match': '*' } : {}),
      ...(form === 'events' ? { accept: 'application/json' } : {}),
      ...more,
    },
  })
}

beforeAll(async () => {
  const world = createSimulatedWorld({ clock: systemClock, random: seededRandom(1) })
  const store = createMemoryBackend().open() as Store
  shop = await openShop({
    store,
    server: {
      rate: { perSecond: 100_000, burst: 100_000 },
      webhooks: { privateAddresses: true },
      // In development mode, so that its rows are met too.
      dev: switchesOf({ world }, async () => {}),
    },
  })
  const admin = async (method: string, path: string, body?: unknown) => {
    const answer = await shop.ask(method, path, { body })
    expect(answer.status, `${method} ${path} ${answer.text}`).toBeLessThan(300)
    return answer.json
  }
  for (const role of roles) {
    tokens.set(`${role} all`, (await admin('POST', '/v1/tokens', { name: role, role })).secret)
    for (const tenant of tenants)
      tokens.set(`${role} ${tenant}`, (await admin('POST', '/v1/tokens', { name: role, role, tenant })).secret)
  }
  for (const tenant of tenants) {
    const label = secretOf(tenant)
    const add = async (id: string) => {
      const { run } = await admin('POST', '/v1/resources/shop.box', {
        id,
        tenant,
        name: label,
        properties: { size: 1, label },
      })
      return run.id as string
    }
    const run = await add(`${tenant}-box`)
    await admin('GET', `/v1/runs/${run}?wait=30`)
    // One that hangs and is deleted by force leaves an orphan.
    shop.hands.held.add('fold')
    await add(`${tenant}-lost`)
    await vi.waitFor(async () => {
      const { run: lost } = await admin('GET', `/v1/resources/shop.box/${tenant}-lost`)
      if (lost?.step !== 'fold') throw new Error('it does not hang yet')
    }, 30_000)
    shop.hands.held.add('burn')
    const forced = await admin('DELETE', `/v1/resources/shop.box/${tenant}-lost?force=true&reason=matrix`)
    await admin('GET', `/v1/runs/${forced.run.id}?wait=30`)
    shop.hands.let('fold')
    shop.hands.let('burn')
    // One that came in while in transition, and is not healed by itself, is stuck; healing proposes what it would do.
    await admin('PUT', '/v1/healing/modes/shop.box/Growing', { mode: 'approve', reason: 'matrix' })
    const line = JSON.stringify({ id: `${tenant}-stuck`, tenant, status: 'Growing', properties: { size: 1, label } })
    await shop.ask('POST', '/v1/resources/shop.box:import?reason=matrix', {
      text: line,
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const hook = await admin('POST', '/v1/webhooks', { url: `http://127.0.0.1:9/${label}`, tenant })
    const bulk = await shop.ask('POST', '/v1/bulk', {
      token: tokens.get(`admin ${tenant}`)!,
      body: { filter: { type: 'shop.box', status: ['Sealed'] }, operation: 'unseal', reason: label },
    })
    const token = await admin('POST', '/v1/tokens', { name: label, role: 'viewer', tenant })
    await admin('POST', '/v1/accounts', {
      name: `${tenant}-account`,
      password: 'a long password here',
      role: 'viewer',
      tenant,
    })
    const view = await shop.ask('POST', '/v1/views', {
      token: tokens.get(`admin ${tenant}`)!,
      body: { name: label, search: 'q=1' },
    })
    const { no } = (await shop.engine.get('shop.box', `${tenant}-box`))!
    const incident = { no, kind: 'overdue', at: 1, status: 'Making', text: label, evidence: { label } } as const
    await store.commit({ ...emptyBatch, incidents: [incident] })
    const orphans = (await admin('GET', '/v1/orphans')).items as { id: string; tenant: string }[]
    things.set(tenant, {
      type: 'shop.box',
      id: `${tenant}-box`,
      stuck: `${tenant}-stuck`,
      operation: 'seal',
      run,
      step: 'cut',
      status: 'Making',
      account: `${tenant}-account`,
      webhook: hook.webhook.id,
      token: token.token.id,
      orphan: orphans.find((one) => one.tenant === tenant)!.id,
      incident: (await admin('GET', '/v1/incidents')).items.find((one: { tenant: string }) => one.tenant === tenant).id,
      fault: 'none',
      bulk: bulk.json.bulk.id,
      view: view.json.id,
      // None that lives.
      worker: '999',
    })
  }
}, 60_000)
afterAll(() => shop.close())

describe('without a token', () => {
  test.each(names)('%s', async (name) => {
    const answer = await call(name, null, 'red')
    expect(answer.status).toBe(routeOf(name).permission === null ? routeOf(name).status : 401)
    if (answer.status === 401) expect(answer.json.code).toBe('unauthenticated')
  })
})

const isAllowed = (role: Role, name: RouteName) => {
  const { permission } = routeOf(name)
  return permission === null || permissionsOf[role].includes(permission)
}
/** Paths that name something of a tenant; of `type` and `status` there is one for all. */
const namesThings = (name: RouteName) =>
  name === 'approveHealing' ||
  parameterNames(routeOf(name).path).some((one) => !['type', 'status', 'operation', 'step', 'fault'].includes(one))

/** Rows that have changed something for somebody. */
const changed = new Set<RouteName>()

describe.each(roles)('a %s', (role) => {
  test.each(names)('%s of the other tenant, and of its own', async (name) => {
    const { permission, reach, status } = routeOf(name)
    const isRefused = !isAllowed(role, name) || (permission !== null && reach === 'installation')
    const token = tokens.get(`${role} red`)!
    const foreign = await call(name, token, 'blue')
    expect(foreign.text).not.toContain(secretOf('blue'))
    if (isRefused) expect([foreign.status, foreign.json.code]).toEqual([403, 'forbidden'])
    else if (namesThings(name))
      expect([foreign.status, foreign.json.code]).toEqual([404, expect.stringMatching(/_not_found$/)])
    else expect(foreign.status).toBeLessThan(500)
    // Lists show what is of the own tenant only.
    if (!namesThings(name)) expect(foreign.text).not.toMatch(/blue-/)

    const own = await call(name, token, 'red')
    expect(own.text).not.toContain(secretOf('blue'))
    if (isRefused) expect(own.status).toBe(403)
    else if (routeOf(name).method === 'GET')
      expect([own.status, own.text.slice(0, 200)]).toEqual([status, expect.anything()])
    else expect([401, 403, 500, 503]).not.toContain(own.status)

    const everywhere = await call(name, tokens.get(`${role} all`)!, 'blue')
    for (const { status: ended } of [own, everywhere])
      if (ended < 300 && routeOf(name).method !== 'GET') changed.add(name)
    if (isAllowed(role, name)) expect([401, 403, 500, 503]).not.toContain(everywhere.status)
    else expect(everywhere.status).toBe(403)
  })
})

test('what is of another is answered as what never was, to the letter, by every row that names something', async () => {
  // One that is under way: what has ended can be steered by nobody.
  const box = { id: 'blue-live', tenant: 'blue', properties: { size: 1 } }
  shop.hands.later.add('fold')
  const { run } = (await shop.ask('POST', '/v1/resources/shop.box', { body: box })).json
  const keyOf = () => shop.hands.calls.findLast(({ step }) => step === 'fold')?.key
  await vi.waitFor(() => expect(keyOf()).toContain(run.id), 30_000)
  const blue = things.get('blue')!
  const live = { ...blue, id: 'blue-live', run: run.id as string, step: 'fold' }
  const absent = Object.fromEntries(Object.keys(live).map((one) => [one, `no-${one}`]))
  things.set('nobody', { ...live, ...absent, type: 'shop.box', status: 'Making', operation: 'seal', run: 'zzzzz-1' })
  things.set('blue', live)
  bodies.completeStep = { key: keyOf(), outcome: { kind: 'done' } }
  const told = ({ status, json, headers }: Answered, of: Record<string, string>) => {
    const { instance: _, ...problem } = json as Record<string, unknown>
    const text = Object.values(of)
      .toSorted((a, b) => b.length - a.length)
      .reduce((all, one) => all.replaceAll(one, '?'), JSON.stringify(problem))
    return { status, text, headers: [...headers.keys()].toSorted() }
  }
  const rows = names.filter((name) => namesThings(name) && routeOf(name).reach === 'tenant')
  for (const name of rows)
    for (const more of [{}, { 'if-match': '"r999"' }, { 'if-none-match': '*' }, { 'idempotency-key': 'k' }]) {
      const token = tokens.get(`${isAllowed('worker', name) ? 'worker' : 'admin'} red`)!
      const [foreign, none] = [await call(name, token, 'blue', more), await call(name, token, 'nobody', more)]
      const words = `${name} ${JSON.stringify(more)}`
      expect(foreign.json.code, words).toMatch(/_not_found$/)
      expect(told(foreign, live), words).toEqual(told(none, things.get('nobody')!))
    }
  expect(rows.length).toBeGreaterThan(30)
  // Nothing was done to it.
  expect((await shop.ask('GET', `/v1/runs/${run.id}`)).json).toMatchObject({ isOver: false, state: 'running' })
  things.set('blue', blue)
  shop.hands.later.delete('fold')
})

test('what a tenant makes is its own: it makes nothing elsewhere, and nothing for all', async () => {
  const made = { name: 'made', password: 'a long password here', role: 'viewer' }
  const url = 'http://127.0.0.1:9/'
  const bulk = { filter: { type: 'shop.box' }, operation: 'seal', reason: 'x', dryRun: true }
  const lines = { 'content-type': 'application/x-ndjson' }
  const line = (tenant?: string) => JSON.stringify({ status: 'Ready', properties: { size: 1 }, tenant })
  const red = (path: string, body: object, tenant?: string) =>
    shop.ask('POST', path, { token: tokens.get('admin red')!, body: { ...body, tenant } })
  const importing = (tenant?: string) =>
    shop.ask('POST', '/v1/resources/shop.box:import?reason=x', {
      token: tokens.get('admin red')!,
      text: line(tenant),
      headers: lines,
    })
  const ways: readonly (readonly [string, (tenant?: string) => Promise<Answered>, (json: any) => string | null])[] = [
    ['token', (tenant) => red('/v1/tokens', { name: 'made', role: 'admin' }, tenant), (json) => json.token.tenant],
    ['account', (tenant) => red('/v1/accounts', { ...made, name: `made-${tenant}` }, tenant), (json) => json.tenant],
    ['webhook', (tenant) => red('/v1/webhooks', { url }, tenant), (json) => json.webhook.tenant],
    [
      'resource',
      (tenant) => red('/v1/resources/shop.box', { properties: { size: 1 } }, tenant),
      (json) => json.resource.tenant,
    ],
  ]
  for (const [what, make, tenantOf] of ways) {
    for (const tenant of [undefined, 'red']) expect(tenantOf((await make(tenant)).json), what).toBe('red')
    const elsewhere = await make('blue')
    expect([elsewhere.status, elsewhere.json.code], what).toEqual([403, 'forbidden'])
  }
  const before = (await shop.ask('GET', '/v1/resources/shop.box?tenant=blue&total=true')).json.total
  expect((await importing()).json.imported).toBe(1)
  expect((await importing('blue')).json).toMatchObject({ imported: 0, refused: [{ code: 'forbidden' }] })
  expect((await shop.ask('GET', '/v1/resources/shop.box?tenant=blue&total=true')).json.total).toBe(before)
  expect((await shop.ask('POST', '/v1/bulk', { token: tokens.get('operator red')!, body: bulk })).text).not.toMatch(
    /blue-/,
  )
})

test('names of the other tenant in bodies, queries and streams are as if nobody had them', async () => {
  const token = tokens.get('operator red')!
  const shelf = { id: 'blue-shelf', tenant: 'blue' }
  await shop.ask('POST', '/v1/resources/shop.shelf', { body: shelf })
  const red = (method: string, path: string, body?: unknown) => shop.ask(method, path, { token, body })
  /** The answer for what is another's, and for what never was: the same but for the name. */
  const alike = async (ask: (name: string) => Promise<Answered>, existing: string, code: string) => {
    const [foreign, absent] = [await ask(existing), await ask('never-was')]
    expect([foreign.status, foreign.json.code]).toEqual([absent.status, absent.json.code])
    expect(foreign.json.code).toBe(code)
    expect(foreign.json.detail.replaceAll(existing, '?')).toBe(absent.json.detail.replaceAll('never-was', '?'))
  }
  const link = (near: string) => red('POST', '/v1/resources/shop.box', { properties: { size: 1 }, links: { near } })
  await alike(link, 'blue-box', 'link_invalid')
  await alike((parent) => red('POST', '/v1/resources/shop.tray', { parent }), 'blue-shelf', 'parent_invalid')
  await alike((id) => red('GET', `/v1/resources/shop.box/${id}`), 'blue-box', 'resource_not_found')
  await alike((id) => red('GET', `/v1/incidents?type=shop.box&id=${id}`), 'blue-box', 'resource_not_found')
  // What comes in names a parent and links, too.
  const brought = async (type: string, given: object) => {
    const answer = await shop.ask('POST', `/v1/resources/${type}:import?reason=x`, {
      token: tokens.get('admin red')!,
      text: JSON.stringify(given),
      headers: { 'content-type': 'application/x-ndjson' },
    })
    const [{ code, message }] = answer.json.refused
    return { ...answer, json: { code, detail: message } }
  }
  const linked = (near: string) => brought('shop.box', { status: 'Ready', properties: { size: 1 }, links: { near } })
  await alike(linked, 'blue-box', 'link_invalid')
  await alike((parent) => brought('shop.tray', { status: 'There', parent }), 'blue-shelf', 'parent_invalid')
  const tray = { id: 'blue-tray', parent: 'blue-shelf' }
  expect((await shop.ask('POST', '/v1/resources/shop.tray', { body: tray })).status).toBe(202)
  for (const path of ['shop.tray?parent=blue-shelf', 'shop.box?q=blue-box', 'shop.tray?q=blue-tray&total=true'])
    expect((await red('GET', `/v1/resources/${path}`)).json, path).toMatchObject({ items: [] })
  for (const path of ['shop.tray?parent=blue-shelf&total=true', 'shop.box?q=blue-box&total=true'])
    expect((await red('GET', `/v1/resources/${path}`)).json.total, path).toBe(0)
  expect((await red('GET', '/v1/resources?q=blue-box&stuck=true')).json.items).toEqual([])
  expect((await red('GET', '/v1/resources/shop.box?tenant=blue')).status).toBe(403)
  expect((await red('POST', '/v1/resources/shop.box', { tenant: 'blue', properties: { size: 1 } })).status).toBe(403)
  const bulk = { filter: { type: 'shop.box', tenant: 'blue' }, operation: 'seal', reason: 'x', dryRun: true }
  expect((await red('POST', '/v1/bulk', bulk)).status).toBe(403)
  // What healing proposes, and would do for whoever approves all of it.
  for (const tenant of tenants)
    await shop.ask('POST', '/v1/resources/shop.box:import?reason=x', {
      text: JSON.stringify({ id: `${tenant}-waits`, tenant, status: 'Growing', properties: { size: 1 } }),
      headers: { 'content-type': 'application/x-ndjson' },
    })
  const approved = await shop.ask('POST', '/v1/healing:approveAll', {
    token: tokens.get('admin red')!,
    body: { reason: 'x', dryRun: true },
  })
  expect(approved.text).toContain('red-waits')
  expect(approved.text).not.toContain('blue-')
  const events = await shop.ask('GET', '/v1/events?after=0&pageSize=500', {
    token,
    headers: { accept: 'application/json' },
  })
  expect(events.json.items.length).toBeGreaterThan(3)
  expect(new Set(events.json.items.map((one: { tenant: string }) => one.tenant))).toEqual(new Set(['red']))
  const stream = await fetch(`${shop.url}/v1/events?after=0`, { headers: { authorization: `Bearer ${token}` } })
  const reader = stream.body!.getReader()
  let text = ''
  // Until the last event of the own tenant has come, all others before it have been passed over.
  const last = `id: ${events.json.items.at(-1).id}\n`
  while (!text.includes(last)) text += Buffer.from((await reader.read()).value!).toString()
  await reader.cancel()
  expect(text).not.toMatch(/blue/i)
})

test('ids are unique over tenants: of one that another has nothing is told but that it is taken', async () => {
  const token = tokens.get('operator red')!
  const importing = tokens.get('admin red')!
  /** What is answered for an id, without the id itself and the number of the request. */
  const told = ({ status, json, headers }: Answered, id: string) => ({
    status,
    headers: [...headers.keys()].toSorted(),
    text: JSON.stringify({ ...json, instance: '' }).replaceAll(id, '?'),
  })
  const ways: ((id: string) => Promise<Answered>)[] = [
    (id) => shop.ask('POST', '/v1/resources/shop.box', { token, body: { id, properties: { size: 1 } } }),
    (id) =>
      shop.ask('POST', '/v1/resources/shop.box:import?reason=x', {
        token: importing,
        text: JSON.stringify({ id, status: 'Ready', properties: { size: 1 } }),
        headers: { 'content-type': 'application/x-ndjson' },
      }),
  ]
  for (const ask of ways) {
    const own = told(await ask('red-box'), 'red-box')
    expect(own.text).toContain('already_exists')
    // At rest, in transition, and gone for good.
    for (const id of ['blue-box', 'blue-stuck', 'blue-lost']) expect(told(await ask(id), id), id).toEqual(own)
  }
})

test('whatever has changed something is in the audit', async () => {
  const noted = new Set<string>()
  for (let token = ''; ;) {
    const page = (await shop.ask('GET', `/v1/audit?pageSize=500${token}`)).json
    for (const { action, outcome } of page.items) if (outcome !== 'denied') noted.add(action)
    if (page.nextPageToken === null) break
    token = `&pageToken=${page.nextPageToken}`
  }
  expect(changed.size).toBeGreaterThan(20)
  // These were only counted.
  expect([...changed].filter((name) => !noted.has(name)).toSorted()).toEqual(['approveAllHealing'])
})

test('what nobody may set is refused by name, in every body', async () => {
  const ofOurs = ['no', 'epoch', 'revision', 'run', 'holder', 'owner', 'by', 'createdAt', 'createdBy', 'expiresAt']
  const inner = [
    'permissions',
    'secret',
    'secrets',
    'principal',
    'version',
    'timers',
    'queue',
    'isAdmin',
    'within',
    'key',
  ]
  const token = tokens.get('admin all')!
  let asked = 0
  for (const name of names) {
    const { method, path, body, lines, condition, dev } = routeOf(name)
    const given = (lines ? { status: 'Ready', properties: { size: 1 } } : bodies[name]) as object | undefined
    if (body === null || given === undefined || dev || name === 'completeStep') continue
    for (const more of [ofOurs, inner]) {
      const odd = more.filter((one) => !(one in given) && !(one in ((body as { shape?: object }).shape ?? {})))
      const content = JSON.stringify({ ...given, ...Object.fromEntries(odd.map((one) => [one, 1])) })
      const answer = await shop.ask(method, `${pathOf(path, things.get('red')!)}${queries[name] ?? ''}`, {
        token,
        text: content,
        headers: {
          'content-type': lines ? 'application/x-ndjson' : 'application/json',
          ...(condition === 'ifMatchDemanded' ? { 'if-match': '*' } : {}),
        },
      })
      asked++
      const told = lines ? answer.json.refused[0] : answer.json
      expect([name, told.code]).toEqual([name, 'request_invalid'])
      if (!lines)
        expect(answer.json.violations.map((one: { path: string }) => one.path).toSorted(), name).toEqual(
          odd.map((one) => `body.${one}`).toSorted(),
        )
    }
  }
  expect(asked).toBeGreaterThan(30)
})

test('the matrix has met every row of the contract', () => {
  expect(names.length + noise.size).toBe(routeNames.length)
  for (const name of names) {
    const { body } = routeOf(name)
    const needsBody = body !== null && !body.safeParse(undefined).success && routeOf(name).lines !== true
    if (needsBody && name !== 'approveHealing') expect(body.safeParse(bodies[name]).success, name).toBe(true)
  }
})
