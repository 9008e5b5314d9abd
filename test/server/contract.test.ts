// The contract as documents: OpenAPI that fits together, pages, error codes, and a state of the process that can be believed.
import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { codes } from '../../src/base/errors.ts'
import { eventKinds } from '../../src/decision/state.ts'
import { parameterNames, parameterSchemas } from '../../src/protocol/route.ts'
import { openApi } from '../../src/protocol/openapi.ts'
import { routeNames, routeOf } from '../../src/protocol/routes.ts'
import { Judge } from '../../scripts/fuzz/judge.ts'
import { openShop, type Shop } from './workshop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await openShop()
})
afterEach(() => shop.close())

type Document = ReturnType<typeof openApi> & {
  paths: Record<
    string,
    Record<string, { operationId: string; parameters: { name: string; in: string }[]; responses: object }>
  >
  components: { schemas: Record<string, object> }
}

function references(value: unknown, found: string[] = []): string[] {
  if (value === null || typeof value !== 'object') return found
  for (const [key, inner] of Object.entries(value)) {
    if (key === '$ref') found.push(inner as string)
    else references(inner, found)
  }
  return found
}

test('OpenAPI 3.1 has every row, and everything it refers to', async () => {
  const document = (await shop.ask('GET', '/openapi.json')).json as Document
  expect(document['openapi']).toBe('3.1.1')
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  )
  const served = routeNames.filter((name) => routeOf(name).dev !== true)
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(served.toSorted())
  for (const { path, parameters, responses } of operations) {
    const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name)
    expect(inPath).toEqual(parameterNames(path))
    expect(Object.keys(responses).some((status) => status.startsWith('2'))).toBe(true)
    expect(Object.keys(responses)).toContain('401')
  }
  const found = new Set(references(document))
  expect(found.size).toBeGreaterThan(20)
  for (const reference of found) {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(reference)?.[1]
    expect(document.components.schemas[name ?? ''], reference).toBeDefined()
  }
  expect(JSON.stringify(document)).not.toMatch(/\$defs|__schema/)
})

test('the OpenAPI document is one by the word of an outside validator, with and without the development mode', async () => {
  const served = (await shop.ask('GET', '/openapi.json')).json as Record<string, unknown>
  for (const document of [served, openApi({ version: '0.1.0', dev: true })]) {
    const { valid, errors } = await new Validator().validate(document)
    expect([valid, errors ?? null]).toEqual([true, null])
  }
  // It would see a fault.
  expect((await new Validator().validate({ ...served, paths: { 'no-slash': { get: 7 } } })).valid).toBe(false)
})

test('an answer that the document does not tell of is found out', () => {
  const judge = new Judge(openApi({ version: '0.1.0' }))
  const fault = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    const type = status < 400 ? 'application/json' : 'application/problem+json'
    const told = { status, headers: { 'content-type': type, ...headers }, text: JSON.stringify(body) }
    return judge.faultOf({ method: 'GET', path: '/v1/views?x=1' }, told)
  }
  const refusal = { type: '', title: '', status: 404, detail: '', instance: '', code: 'forbidden', retryable: false }
  expect(fault(200, { items: [] })).toBeNull()
  expect(fault(403, refusal)).toBeNull()
  expect(fault(200, { items: [], more: 1 })).toContain('more')
  expect(fault(200, { items: [{ id: 7 }] })).toContain('items[0].id')
  expect(fault(200, { items: [] }, { location: '/' })).toContain('location')
  expect(fault(200, { items: [] }, { 'content-type': 'text/html' })).toContain('text/html')
  expect(fault(201, { items: [] })).toContain('does not tell of this status')
  expect(fault(403, { ...refusal, code: 'fenced' })).toContain('fenced')
  expect(fault(403, { ...refusal, code: undefined })).toContain('code')
})

test('no schema of the document refers to itself: generators of types fail at that', async () => {
  const { schemas } = ((await shop.ask('GET', '/openapi.json')).json as Document).components
  const reaches = (name: string, seen: readonly string[]): readonly string[] => {
    if (seen.includes(name)) throw new Error([...seen, name].join(' > '))
    return references(schemas[name]).flatMap((one) => reaches(one.split('/').at(-1)!, [...seen, name]))
  }
  for (const name of Object.keys(schemas)) expect(() => reaches(name, [])).not.toThrow()
})

test('every parameter of a path has its schema, and no two rows are the same', () => {
  const seen = new Set<string>()
  for (const name of routeNames) {
    const { method, path, permission, words } = routeOf(name)
    for (const parameter of parameterNames(path))
      expect(parameterSchemas[parameter], `${name} ${parameter}`).toBeDefined()
    expect(seen.has(`${method} ${path}`), `${method} ${path}`).toBe(false)
    seen.add(`${method} ${path}`)
    expect(words).toMatch(/[.:]/)
    if (method !== 'GET' && permission === null) expect(['signIn', 'signOut']).toContain(name)
  }
})

test('every code has its place on the page that problems refer to', async () => {
  const page = (await shop.ask('GET', '/docs/errors')).text
  for (const code of Object.keys(codes)) expect(page).toContain(`<dt id="${code}">`)
  const { json } = await shop.ask('GET', '/v1/nothing')
  expect(json.type).toBe('/docs/errors#route_not_found')
})

test('metrics have the names that dashboards rely on', async () => {
  const { run } = (await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })).json
  await shop.ask('GET', `/v1/runs/${run.id}?wait=30`)
  await expect
    .poll(async () => (await shop.ask('GET', '/metrics')).text)
    .toMatch(/homeostat_operations_total\{type="shop.box",operation="create",outcome="succeeded"\} 1/)
  const { text } = await shop.ask('GET', '/metrics')
  for (const name of [
    'homeostat_resources{type="shop.box",state="Ready",state_class="stable"} 1',
    'homeostat_resource_state_age_seconds',
    'homeostat_operation_duration_seconds_bucket',
    'homeostat_time_to_stable_seconds_count{type="shop.box",operation="create"} 1',
    'homeostat_step_attempts_total{type="shop.box",step="cut",result="done"} 1',
    'homeostat_step_attempts_total{type="shop.box",step="fold",result="done"} 1',
    'homeostat_preemptions_total',
    'homeostat_heals_total',
    'homeostat_heal_breaker_open{type="shop.box"} 0',
    '\nhomeostat_heal_last_pass_timestamp_seconds 1',
    'homeostat_stuck_resources',
    'homeostat_orphans',
    'homeostat_lease_lost_total 0',
    'homeostat_fenced_writes_total 0',
    'homeostat_claim_wait_seconds',
    'homeostat_worker_event_loop_lag_seconds',
    'homeostat_store_up 1',
    'homeostat_build_info{version="0.1.0"} 1',
    'homeostat_http_request_duration_seconds_count',
  ])
    expect(text).toContain(name)
})

test('a process without a worker gives no time of a last healing pass: a 0 would raise the alert for ever', async () => {
  const api = await openShop({ worker: false })
  const { text } = await api.ask('GET', '/metrics')
  expect(text).toContain('# TYPE homeostat_heal_last_pass_timestamp_seconds gauge')
  expect(text).not.toMatch(/^homeostat_heal_last_pass_timestamp_seconds/m)
  await api.close()
})

test('a process without a worker knows no strays and says so; so does one to who works for one tenant', async () => {
  const api = await openShop({ worker: false })
  expect((await api.ask('GET', '/v1/orphans')).json).toMatchObject({
    strays: [],
    straysUnknown: expect.stringContaining('has no worker'),
  })
  await api.close()
  expect((await shop.ask('GET', '/v1/orphans')).json).toMatchObject({ strays: [], straysUnknown: null })
  const { secret } = (await shop.ask('POST', '/v1/tokens', { body: { name: 'x', role: 'viewer', tenant: 'red' } })).json
  expect((await shop.ask('GET', '/v1/orphans', { token: secret })).json.straysUnknown).toMatch(/belong to no tenant/)
})

test('it is ready when healing has run, and says why not when the engine has stopped', async () => {
  await expect.poll(async () => (await shop.ask('GET', '/readyz', { token: null })).status).toBe(200)
  await shop.engine.stop()
  const answer = await fetch(`${shop.url}/readyz`)
  expect(answer.status).toBe(503)
  expect(await answer.json()).toMatchObject({ isReady: false, reasons: ['the engine is not running'] })
  expect((await fetch(`${shop.url}/livez`)).status).toBe(200)
  const refused = await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 1 } } })
  expect([refused.status, refused.json.code]).toEqual([503, 'engine_stopped'])
})

test('docs/api.md has every row of the contract, and no other', () => {
  const text = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
  const rows = [...text.matchAll(/^\| `([A-Z]+ \/[^`]*)` \| ([^|]+) \| (.*) \|$/gm)].map(([, call, who, words]) => [
    call,
    who,
    words,
  ])
  const expected = routeNames.map((name) => {
    const { method, path, permission, reach, words } = routeOf(name)
    const who = permission === null ? 'open' : `${permission}${reach === 'installation' ? ', all tenants' : ''}`
    return [`${method} ${path}`, who, words]
  })
  const byCall = (a: (string | undefined)[], b: (string | undefined)[]) => (a[0]! < b[0]! ? -1 : 1)
  expect(rows.toSorted(byCall)).toEqual(expected.toSorted(byCall))
})

test('docs/api.md tells every kind of event, and no other', () => {
  const text = readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8')
  const rows = /^\| `kind` .*\n\| --- .*\n((?:\|.*\n)+)/m.exec(text)?.[1] ?? ''
  const told = rows.split('\n').flatMap((row) => row.split('|')[1]?.match(/\w+/g) ?? [])
  expect(told.toSorted()).toEqual(eventKinds.toSorted())
})

test('the Grafana board and the alert rules name only figures that /metrics has', async () => {
  const { text } = await shop.ask('GET', '/metrics')
  const offered = new Set(
    [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(([, name, type]) => namesOf(name!, type!)),
  )
  const files = ['grafana/homeostat.json', 'prometheus/alerts.yml']
  for (const file of files) {
    const text = readFileSync(new URL(`../../deploy/${file}`, import.meta.url), 'utf8')
    const used = text.match(/\bhomeostat_\w+/g) ?? []
    expect(used.length, file).toBeGreaterThan(5)
    for (const name of used) expect(offered.has(name), `${name} in ${file}`).toBe(true)
    // Every process tells of the whole installation: the sum over processes would count it once for each.
    expect(text).not.toMatch(
      /sum( by \([^)]*\) )?\((rate\()?homeostat_(resources|stuck|orphans|heal|preempt|lease|step)/,
    )
  }
  const board = readFileSync(new URL('../../deploy/grafana/homeostat.json', import.meta.url), 'utf8')
  expect((JSON.parse(board) as { panels: object[] }).panels.length).toBeGreaterThan(10)
})

const namesOf = (name: string, type: string): string[] =>
  type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
