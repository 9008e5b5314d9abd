// Resources, their runs and lifecycles over real HTTP.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { eventWords } from '../../src/protocol/event-words.ts'
import { openShop, type Answered, type Shop } from './workshop.ts'

let shop: Shop
beforeEach(async () => {
  shop = await openShop()
})
afterEach(() => shop.close())

const create = (id: string, more = {}) =>
  shop.ask('POST', '/v1/resources/shop.box', { body: { id, properties: { size: 1 }, ...more } })

/** Until the run has ended. */
async function ended(run: string) {
  const { json } = await shop.ask('GET', `/v1/runs/${run}?wait=30`)
  expect(json.isOver).toBe(true)
  return json
}

test('a resource is created, read, operated, waited for and deleted', async () => {
  const created = await create('b-1', { name: 'first' })
  expect(created.status).toBe(202)
  expect(created.json.resource).toMatchObject({ id: 'b-1', type: 'shop.box', name: 'first', tenant: 'default' })
  expect(created.headers.get('location')).toBe(`/v1/runs/${created.json.run.id}`)
  const run = await ended(created.json.run.id)
  expect(run).toMatchObject({ state: 'succeeded', operation: 'create', resource: { type: 'shop.box', id: 'b-1' } })
  expect(run.steps).toMatchObject([
    { name: 'cut', state: 'done' },
    { name: 'fold', state: 'done' },
  ])
  expect(run.events.at(0)).toMatchObject({ kind: 'landed', to: 'Ready' })

  const read = await shop.ask('GET', '/v1/resources/shop.box/b-1')
  expect(read.json).toMatchObject({ status: 'Ready', kind: 'stable', properties: { size: 1, label: '' } })
  expect(read.json.allowed).toEqual(['grow', 'seal', 'delete'])
  expect(read.json.refused).toMatchObject([{ operation: 'unseal', code: 'operation_not_allowed' }])
  expect(read.headers.get('etag')).toBe(read.json.etag)
  const again = await shop.ask('GET', '/v1/resources/shop.box/b-1', { headers: { 'if-none-match': read.json.etag } })
  expect(again.status).toBe(304)

  const grown = await shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body: { size: 3 } })
  expect(grown.status).toBe(202)
  await ended(grown.json.run.id)
  expect((await shop.ask('GET', '/v1/resources/shop.box/b-1')).json.properties.size).toBe(3)

  const deleted = await shop.ask('DELETE', '/v1/resources/shop.box/b-1')
  expect(deleted.status).toBe(202)
  await ended(deleted.json.run.id)
  expect((await shop.ask('GET', '/v1/resources/shop.box/b-1')).json.kind).toBe('terminal')
})

test('the same asked by two hundred at once: one creates and the others are refused, one deletes and the others join it', async () => {
  const together = (ask: () => Promise<Answered>) => Promise.all(Array.from({ length: 200 }, ask))
  const created = await together(() => create('b-1'))
  expect(created.filter(({ status }) => status === 202)).toHaveLength(1)
  expect(created.filter(({ json }) => json.code === 'already_exists')).toHaveLength(199)
  await ended(created.find(({ status }) => status === 202)!.json.run.id)
  shop.hands.held.add('burn')
  const deleted = await together(() => shop.ask('DELETE', '/v1/resources/shop.box/b-1'))
  expect(new Set(deleted.map(({ status }) => status))).toEqual(new Set([202]))
  const runs = new Set<string>(deleted.map(({ json }) => json.run.id as string))
  expect(runs.size).toBe(1)
  // Nor does anybody who asks for less take the force from it.
  const forced = await shop.ask('DELETE', '/v1/resources/shop.box/b-1?force=true&reason=fire')
  const again = await shop.ask('DELETE', '/v1/resources/shop.box/b-1')
  expect(runs.has(forced.json.run.id)).toBe(false)
  expect(again.json.run.id).toBe(forced.json.run.id)
  expect(await ended(forced.json.run.id)).toMatchObject({ state: 'forced' })
})

test('what is refused is a problem with a stable code, the status and what is allowed', async () => {
  await ended((await create('b-1')).json.run.id)
  const refused = await shop.ask('POST', '/v1/resources/shop.box/b-1:unseal')
  expect(refused.status).toBe(409)
  expect(refused.headers.get('content-type')).toContain('application/problem+json')
  expect(refused.json).toMatchObject({
    type: '/docs/errors#operation_not_allowed',
    status: 409,
    code: 'operation_not_allowed',
    retryable: false,
    details: { status: 'Ready', allowed: ['grow', 'seal', 'delete'] },
  })
  const cases: [string, string, unknown, number, string][] = [
    ['GET', '/v1/resources/shop.box/nobody', undefined, 404, 'resource_not_found'],
    ['GET', '/v1/resources/shop.lamp', undefined, 404, 'type_unknown'],
    ['GET', '/v1/runs/zz-1', undefined, 404, 'run_not_found'],
    ['GET', '/v1/runs/not%20a%20run', undefined, 404, 'run_not_found'],
    ['GET', '/v1/nothing', undefined, 404, 'route_not_found'],
    ['PUT', '/v1/resources/shop.box', {}, 405, 'method_not_allowed'],
    ['PATCH', '/v1/resources/shop.box', {}, 405, 'method_not_allowed'],
    ['POST', '/v1/resources/shop.box', { properties: { size: 'large' } }, 400, 'properties_invalid'],
    ['POST', '/v1/resources/shop.box', { id: 'b-1', properties: { size: 1 } }, 409, 'already_exists'],
    ['POST', '/v1/resources/shop.box', { status: 'Ready', properties: { size: 1 } }, 400, 'request_invalid'],
    ['POST', '/v1/resources/shop.box/b-1:grow', { size: -1 }, 400, 'input_invalid'],
    ['POST', '/v1/resources/shop.box/b-1:dance', {}, 404, 'operation_unknown'],
    ['GET', '/v1/resources/shop.box?pageSize=9999', undefined, 400, 'request_invalid'],
    ['GET', '/v1/resources/shop.box?surprise=1', undefined, 400, 'request_invalid'],
    ['GET', '/v1/resources/shop.box?name=a&name=b', undefined, 400, 'request_invalid'],
    ['GET', '/v1/resources/shop.box?pageToken=zz', undefined, 400, 'request_invalid'],
    ['GET', '/v1/resources/shop.box/%E0%A4%A', undefined, 400, 'request_invalid'],
  ]
  for (const [method, path, body, status, code] of cases) {
    const answer = await shop.ask(method, path, { body })
    expect([path, answer.status, answer.json?.code]).toEqual([path, status, code])
  }
})

test('strict JSON: duplicate names, dangerous names, depth, size, encoding and types of bodies are refused', async () => {
  const post = (text: string, headers = {}) => shop.ask('POST', '/v1/resources/shop.box', { text, headers })
  const deep = `{"properties":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`
  for (const text of [
    '{"id":"a","id":"b"}',
    '{"properties":{"__proto__":{"size":1}}}',
    deep,
    '{"id":',
    'null x',
    '[1,]',
    '{"a" 1}',
  ]) {
    const answer = await post(text)
    expect([text.slice(0, 30), answer.status, answer.json.code]).toEqual([text.slice(0, 30), 400, 'request_invalid'])
  }
  expect((await post(`{"id":"${'x'.repeat(1_100_000)}"}`)).json.code).toBe('limit_exceeded')
  expect((await post('id=1', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(415)
  expect((await post('{}', { 'content-type': 'application/x-ndjson' })).status).toBe(415)
  const bytes = await fetch(`${shop.url}/v1/resources/shop.box`, {
    method: 'POST',
    headers: { authorization: 'Bearer admin-token-of-the-tests-0123456789', 'content-type': 'application/json' },
    body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  })
  expect(bytes.status).toBe(400)
})

test('an operation asked with If-Match is refused when the resource has changed', async () => {
  await ended((await create('b-1')).json.run.id)
  const { etag } = (await shop.ask('GET', '/v1/resources/shop.box/b-1')).json
  const sealed = await shop.ask('POST', '/v1/resources/shop.box/b-1:seal', { headers: { 'if-match': etag } })
  expect(sealed.status).toBe(202)
  await ended(sealed.json.run.id)
  const stale = await shop.ask('POST', '/v1/resources/shop.box/b-1:unseal', { headers: { 'if-match': etag } })
  expect([stale.status, stale.json.code]).toEqual([412, 'revision_conflict'])
  const odd = await shop.ask('POST', '/v1/resources/shop.box/b-1:unseal', { headers: { 'if-match': '"other"' } })
  expect(odd.status).toBe(412)
})

test('a request asked again with its idempotency key does nothing more', async () => {
  const headers = { 'idempotency-key': 'k-1' }
  const body = { properties: { size: 2 } }
  const [one, two] = await Promise.all([
    shop.ask('POST', '/v1/resources/shop.box', { body, headers }),
    shop.ask('POST', '/v1/resources/shop.box', { body, headers }),
  ])
  expect(one.json.resource.id).toBe(two.json.resource.id)
  const other = await shop.ask('POST', '/v1/resources/shop.box', { body: { properties: { size: 3 } }, headers })
  expect([other.status, other.json.code]).toEqual([422, 'key_reused'])
  // The name under which it is kept is ours: whoever asked does not know it.
  expect(other.json.detail).not.toContain('http/')
  expect((await shop.ask('GET', '/v1/resources/shop.box')).json.items).toHaveLength(1)

  // Of requests that carry no key in their command: found by the record that was written with them.
  await ended(one.json.run.id)
  const { etag } = (await shop.ask('GET', `/v1/resources/shop.box/${one.json.resource.id}`)).json
  const repair = () =>
    shop.ask('POST', `/v1/resources/shop.box/${one.json.resource.id}:setStatus`, {
      body: { status: 'Sealed', reason: 'test' },
      headers: { 'idempotency-key': 'k-2', 'if-match': etag },
    })
  const first = await repair()
  expect([first.status, first.json.resource.status]).toEqual([200, 'Sealed'])
  const again = await repair()
  expect([again.status, again.json.resource.revision]).toEqual([200, first.json.resource.revision])
  expect(again.headers.get('idempotent-replayed')).toBe('true')
})

test('lists are paged and filtered', async () => {
  for (let n = 0; n < 7; n++) await create(`b-${n}`, { name: n % 2 === 0 ? 'even' : 'odd' })
  await expect
    .poll(async () => (await shop.ask('GET', '/v1/resources/shop.box?status=Ready&total=true')).json.total)
    .toBe(7)
  const ids: string[] = []
  for (let token = ''; token !== null;) {
    const page = (await shop.ask('GET', `/v1/resources/shop.box?pageSize=3${token && `&pageToken=${token}`}`)).json
    ids.push(...page.items.map((one: { id: string }) => one.id))
    token = page.nextPageToken
  }
  expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `b-${n}`))
  const found = async (query: string) =>
    (await shop.ask('GET', `/v1/resources/shop.box?${query}`)).json.items.map((one: { id: string }) => one.id)
  expect(await found('name=odd')).toEqual(['b-1', 'b-3', 'b-5'])
  expect(await found('q=B-4')).toEqual(['b-4'])
  expect(await found('kind=failed')).toEqual([])
  expect(await found('status=Ready,Sealed&pageSize=2')).toEqual(['b-0', 'b-1'])
  expect((await shop.ask('GET', '/v1/resources?kind=stable')).json.items).toHaveLength(7)
})

test('what is called exactly as the text comes first, and once, however many hold it', async () => {
  for (const id of ['a-b', 'b-b', 'c-b', 'b', 'd-b']) await create(id)
  await shop.ask('POST', '/v1/resources/shop.shelf', { body: { id: 'b' } })
  const pages = async (path: string, pageSize: number) => {
    const found: string[][] = []
    for (let token = ''; token !== null;) {
      const { json } = await shop.ask('GET', `${path}&pageSize=${pageSize}${token && `&pageToken=${token}`}`)
      if (json.items.length > 0) found.push(json.items.map((one: { type: string; id: string }) => one.id))
      token = json.nextPageToken
    }
    return found
  }
  expect(await pages('/v1/resources/shop.box?q=b', 2)).toEqual([['b', 'a-b'], ['b-b', 'c-b'], ['d-b']])
  expect(await pages('/v1/resources/shop.box?q=b', 1)).toEqual([['b'], ['a-b'], ['b-b'], ['c-b'], ['d-b']])
  expect((await pages('/v1/resources?q=b', 3))[0]).toEqual(['b', 'b', 'a-b'])
  // More than a page of them: none comes first, and none is lost.
  expect((await pages('/v1/resources?q=b', 1)).flat().toSorted()).toEqual(['a-b', 'b', 'b', 'b-b', 'c-b', 'd-b'])
  expect(await pages('/v1/resources/shop.box?q=b&kind=failed', 2)).toEqual([])
})

test('history, runs, explanation, ledger and relations of a resource', async () => {
  await ended((await shop.ask('POST', '/v1/resources/shop.shelf', { body: { id: 's-1' } })).json.run.id)
  const tray = await shop.ask('POST', '/v1/resources/shop.tray', { body: { id: 't-1', parent: 's-1' } })
  await ended(tray.json.run.id)
  await ended((await create('b-1')).json.run.id)
  await ended((await create('b-2', { links: { near: 'b-1' } })).json.run.id)
  const get = async (path: string) => (await shop.ask('GET', `/v1/resources/${path}`)).json
  expect((await get('shop.box/b-2')).links).toEqual({ near: { type: 'shop.box', id: 'b-1' } })
  expect((await get('shop.tray/t-1')).parent).toEqual({ type: 'shop.shelf', id: 's-1' })
  expect((await get('shop.tray?parent=s-1')).items).toMatchObject([{ id: 't-1' }])
  expect((await get('shop.shelf/s-1/related')).relations.trays).toMatchObject([{ id: 't-1' }])
  const history = await get('shop.box/b-1/history')
  expect(history.items.map((event: { kind: string }) => event.kind)).toEqual(['landed', 'stepDone', 'accepted'])
  const page = await get('shop.box/b-1/history?pageSize=2')
  expect((await get(`shop.box/b-1/history?pageToken=${page.nextPageToken}`)).items).toHaveLength(1)
  expect((await get('shop.box/b-1/runs')).items).toMatchObject([{ operation: 'create', state: 'succeeded' }])
  expect((await get('shop.box/b-1/explain')).because[0]).toContain('b-1 is Ready (stable)')
  expect((await get('shop.box/b-1/ledger')).items).toMatchObject([{ kind: 'wood', state: 'there' }])
  expect((await get('shop.box/b-2/related')).relations.near).toMatchObject([{ id: 'b-1' }])
})

test('lifecycles are data and pictures', async () => {
  const all = await shop.ask('GET', '/v1/lifecycles')
  expect(all.json.items.map((one: { type: string }) => one.type)).toEqual(['shop.shelf', 'shop.tray', 'shop.box'])
  const one = await shop.ask('GET', '/v1/lifecycles/shop.box')
  expect(one.json.heal.Making.words).toBeTypeOf('string')
  const svg = await shop.ask('GET', '/v1/lifecycles/shop.box/diagram.svg?theme=dark')
  expect(svg.headers.get('content-type')).toContain('image/svg+xml')
  expect(svg.text).toContain('>Growing</text>')
  expect((await shop.ask('GET', '/v1/lifecycles/shop.box/diagram.mmd')).text).toContain('stateDiagram')
})

test('a run that hangs is cancelled, one that is parked is retried, and the reason is kept', async () => {
  shop.hands.held.add('fold')
  const { json } = await create('b-1')
  await expect.poll(() => shop.hands.calls.map(({ step }) => step)).toContain('fold')
  const run = (await shop.ask('GET', `/v1/runs/${json.run.id}`)).json
  expect(run).toMatchObject({ isOver: false, state: 'running', steps: [{ state: 'done' }, { state: 'running' }] })
  const noReason = await shop.ask('POST', `/v1/runs/${json.run.id}:cancel`, { body: {} })
  expect(noReason.status).toBe(400)
  const cancelled = await shop.ask('POST', `/v1/runs/${json.run.id}:cancel`, { body: { reason: 'no longer wanted' } })
  expect(cancelled.status).toBe(200)
  shop.hands.let('fold')
  expect(await ended(json.run.id)).toMatchObject({ isOver: true })
  expect((await shop.ask('GET', '/v1/resources/shop.box/b-1')).json.status).toBe('Broken')
  const over = await shop.ask('POST', `/v1/runs/${json.run.id}:cancel`, { body: { reason: 'again' } })
  expect(over.json.code).toBe('run_not_found')
  expect((await shop.ask('GET', '/v1/runs?state=ended')).json.items).toHaveLength(1)
})

test('delete wins over a run that hangs; forced it needs a reason and leaves its things as orphans', async () => {
  shop.hands.held.add('fold')
  await create('b-1')
  await expect.poll(() => shop.hands.calls.map(({ step }) => step)).toContain('fold')
  shop.hands.held.add('burn')
  shop.hands.let('fold')
  const refused = await shop.ask('DELETE', '/v1/resources/shop.box/b-1?force=true')
  expect(refused.json.code).toBe('reason_required')
  const forced = await shop.ask('DELETE', '/v1/resources/shop.box/b-1?force=true&reason=hangs')
  expect(forced.status).toBe(202)
  // Why it was forced is nothing that failed.
  expect(forced.json.run).toMatchObject({ forced: true, reasons: [] })
  await ended(forced.json.run.id)
  shop.hands.let('burn')
  const { items } = (await shop.ask('GET', '/v1/orphans')).json
  expect(items).toMatchObject([{ resource: { id: 'b-1' }, entry: { kind: 'wood', state: 'orphaned' } }])
  const path = `/v1/orphans/${encodeURIComponent(items[0].id)}`
  const swept = await shop.ask('POST', `${path}:sweep`, { body: { reason: 'tidy up' } })
  expect(swept.json).toMatchObject({ swept: true })
  expect((await shop.ask('GET', '/v1/orphans')).json.items).toEqual([])
  expect((await shop.ask('POST', `${path}:writeOff`, { body: { reason: 'gone' } })).json.code).toBe('orphan_not_found')
})

test('import takes existing objects in, line by line, and tells which do not fit', async () => {
  const lines = [
    { id: 'i-1', status: 'Ready', properties: { size: 1 } },
    { id: 'i-2', status: 'Nowhere', properties: { size: 1 } },
    { id: 'i-3', status: 'Growing', properties: { size: 1 }, ledger: [{ kind: 'wood', ref: 7 }] },
  ]
  const text = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"broken\n`
  const headers = { 'content-type': 'application/x-ndjson', 'idempotency-key': 'import-1' }
  const send = () => shop.ask('POST', '/v1/resources/shop.box:import?reason=migration', { text, headers })
  const first = await send()
  expect(first.json.imported).toBe(2)
  expect(first.json.refused).toMatchObject([
    { line: 2, code: 'status_unknown' },
    { line: 4, code: 'request_invalid' },
  ])
  expect((await send()).json.imported).toBe(2)
  expect((await shop.ask('GET', '/v1/resources/shop.box?total=true')).json.total).toBe(2)
  // What came in while in transition is healed.
  await shop.ask('POST', '/v1/healing:run')
  await expect.poll(async () => (await shop.ask('GET', '/v1/resources/shop.box/i-3')).json.status).toBe('Ready')
  expect((await shop.ask('GET', '/v1/incidents')).json.items).toMatchObject([
    { kind: 'unowned', resource: { id: 'i-3' } },
  ])
})

test('the runs of a resource come in pages, the one under way first', async () => {
  await ended((await create('p-1')).json.run.id)
  for (let size = 2; size < 5; size++)
    await ended((await shop.ask('POST', '/v1/resources/shop.box/p-1:grow', { body: { size } })).json.run.id)
  shop.hands.held.add('burn')
  const { run } = (await shop.ask('DELETE', '/v1/resources/shop.box/p-1')).json
  for (const pageSize of [1, 2, 5]) {
    const found: string[] = []
    let pages = 0
    for (let token: string | null = ''; token !== null; pages++) {
      const query: string = `pageSize=${pageSize}${token === '' ? '' : `&pageToken=${token}`}`
      const page: Answered['json'] = (await shop.ask('GET', `/v1/resources/shop.box/p-1/runs?${query}`)).json
      found.push(...page.items.map(({ operation }: { operation: string }) => operation))
      token = page.nextPageToken
    }
    expect([found, pages]).toEqual([['delete', 'grow', 'grow', 'grow', 'create'], Math.ceil(5 / pageSize)])
  }
  shop.hands.let('burn')
  await ended(run.id)
})

test('where an operation may not begin, that is the reason, not the input that was left out', async () => {
  const { run } = (await shop.ask('POST', '/v1/resources/shop.box', { body: { id: 'o-1', properties: { size: 1 } } }))
    .json
  await shop.ask('GET', `/v1/runs/${run.id}?wait=30`)
  const sealed = (await shop.ask('POST', '/v1/resources/shop.box/o-1:seal')).json
  await shop.ask('GET', `/v1/runs/${sealed.run.id}?wait=30`)
  const grow = await shop.ask('POST', '/v1/resources/shop.box/o-1:grow')
  expect([grow.status, grow.json.code]).toEqual([409, 'operation_not_allowed'])
  const { refused } = (await shop.ask('GET', '/v1/resources/shop.box/o-1')).json
  expect(refused.map(({ code }: { code: string }) => code)).toEqual(['operation_not_allowed', 'operation_not_allowed'])
})

test('an accepted request says whether it was begun, waits its turn, or had nothing left to do', async () => {
  const shelf = (await shop.ask('POST', '/v1/resources/shop.shelf', { body: { id: 'o-2' } })).json
  await shop.ask('GET', `/v1/runs/${shelf.run.id}?wait=30`)
  shop.hands.held.add('place')
  const tray = await shop.ask('POST', '/v1/resources/shop.tray', { body: { id: 'o-3', parent: 'o-2' } })
  const polish = await shop.ask('POST', '/v1/resources/shop.tray/o-3:polish')
  expect([tray.json.outcome, polish.json.outcome, polish.json.run]).toEqual(['begun', 'queued', null])
  expect(polish.json.resource.queued).toMatchObject([{ operation: 'polish' }])
  shop.hands.let('place')
  await shop.ask('GET', `/v1/runs/${tray.json.run.id}?wait=30`)
  await vi.waitFor(async () => {
    expect((await shop.ask('GET', '/v1/resources/shop.tray/o-3')).json).toMatchObject({ run: null, queued: [] })
  }, 30_000)
  const gone = (await shop.ask('DELETE', '/v1/resources/shop.tray/o-3')).json
  await shop.ask('GET', `/v1/runs/${gone.run.id}?wait=30`)
  const again = await shop.ask('DELETE', '/v1/resources/shop.tray/o-3')
  expect([again.status, again.json.outcome, again.json.run]).toEqual([202, 'over', null])
})

test('a list of runs tells why those that ended failed, each of its own, and looks it up once', async () => {
  await ended((await create('b-1')).json.run.id)
  const lookedUp = vi.spyOn(shop.engine, 'runHistories')
  const cancelled = async (reason: string) => {
    shop.hands.held.add('glue')
    const { run } = (await shop.ask('POST', '/v1/resources/shop.box/b-1:seal')).json
    await shop.ask('POST', `/v1/runs/${run.id}:cancel`, { body: { reason } })
    shop.hands.let('glue')
    return (await ended(run.id)).id as string
  }
  const [first, second] = [await cancelled('not now'), await cancelled('not here')]
  await ended((await shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body: { size: 2 } })).json.run.id)
  for (const path of ['/v1/runs', '/v1/runs?state=ended', '/v1/resources/shop.box/b-1/runs']) {
    const { items } = (await shop.ask('GET', path)).json as { items: { id: string; reasons: string[] }[] }
    const told = items.flatMap(({ id, reasons }) => (reasons.length === 0 ? [] : [[id, reasons]]))
    expect(told).toEqual([
      [second, [expect.stringContaining('not here')]],
      [first, [expect.stringContaining('not now')]],
    ])
  }
  // Once of each: who cancelled it was told already.
  expect(lookedUp.mock.calls.length).toBeLessThanOrEqual(2)
})

test('a name that the schema does not know is refused, not dropped: it may be a mistyped one', async () => {
  const made = await create('b-1', { properties: { size: 1, lable: 'x' } })
  expect(made.json).toMatchObject({
    code: 'properties_invalid',
    detail: "The properties of the new shop.box do not fit: lable: there is no such name. Did you mean 'label'?",
  })
  await ended((await create('b-1')).json.run.id)
  const grow = (body: object) => shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body })
  expect((await grow({ size: 2, sise: 3 })).json).toMatchObject({
    code: 'input_invalid',
    detail: expect.stringContaining("Did you mean 'size'?"),
  })
  expect((await shop.ask('GET', '/v1/resources/shop.bx')).json).toMatchObject({
    code: 'type_unknown',
    detail: "No lifecycle of type 'shop.bx' is loaded. Did you mean 'shop.box'?",
  })
  // Reasons come in order: first whether it is there, and may be asked.
  const seal = (id: string) => shop.ask('POST', `/v1/resources/shop.box/${id}:grow`, { body: { nix: 1 } })
  expect((await seal('nowhere')).json.code).toBe('resource_not_found')
  await ended((await shop.ask('POST', '/v1/resources/shop.box/b-1:seal')).json.run.id)
  expect((await seal('b-1')).json.code).toBe('operation_not_allowed')
  const line = JSON.stringify({ id: 'b-2', status: 'Ready', properties: { size: 1, colour: 'red' } })
  const headers = { 'content-type': 'application/x-ndjson' }
  const taken = await shop.ask('POST', '/v1/resources/shop.box:import?reason=test', { text: line, headers })
  expect(taken.json).toMatchObject({ imported: 0, refused: [{ line: 1, code: 'properties_invalid' }] })
  const bulk = { filter: { type: 'shop.box' }, operation: 'grow', input: { sise: 1 }, reason: 'test' }
  expect((await shop.ask('POST', '/v1/bulk', { body: bulk })).json.code).toBe('input_invalid')
})

test('a status that nothing has is refused in filters: an empty list would be believed', async () => {
  const asked = (path: string) => shop.ask('GET', path)
  expect((await asked('/v1/resources/shop.box?status=Redy')).json).toMatchObject({
    code: 'status_unknown',
    detail: expect.stringMatching(/'Redy' is no status of shop.box. It has .*Ready/),
  })
  expect((await asked('/v1/resources?status=Redy')).json.code).toBe('status_unknown')
  expect((await asked('/v1/resources?status=Standing')).status).toBe(200)
  const filter = { type: 'shop.box', status: ['Redy'] }
  const bulk = { filter, operation: 'seal', reason: 'test', dryRun: true }
  expect((await shop.ask('POST', '/v1/bulk', { body: bulk })).json.code).toBe('status_unknown')
})

test.each([
  [
    'POST',
    '/v1/resources/shop.box',
    { text: 'x', headers: { 'content-type': 'text/plain' } },
    'Content-Type: application/json',
  ],
  ['POST', '/v1/resources/shop.box', { text: `"${'x'.repeat(1_100_000)}"` }, '1 MB of JSON'],
  ['GET', '/v1/resources/shop.box/%E0%A4%A', {}, 'two hex digits'],
])('what is wrong outside the contract says what would be right: %s %s', async (method, path, given, words) => {
  const { status, json } = await shop.ask(method, path, given)
  expect(status).toBeLessThan(500)
  expect(json.detail).toContain(words)
})

test('what is tried until it works tells its attempt in the present round, and the round; once it worked, it is done', async () => {
  for (const [type, body] of [
    ['shelf', { id: 's' }],
    ['tray', { id: 't', parent: 's' }],
  ] as const)
    await ended((await shop.ask('POST', `/v1/resources/shop.${type}`, { body })).json.run.id)
  shop.hands.failing.add('take')
  const { run } = (await shop.ask('DELETE', '/v1/resources/shop.tray/t')).json
  expect([run.attempt, run.round]).toEqual([1, 1])
  // Each round has two attempts.
  const seen = new Set<string>()
  await vi.waitFor(async () => {
    const now = (await shop.ask('GET', `/v1/runs/${run.id}`)).json
    const summary = (await shop.ask('GET', '/v1/resources/shop.tray/t')).json.run
    for (const { attempt, round } of [now, summary]) seen.add(`${attempt} of ${round}`)
    expect(now.round).toBe(3)
  }, 30_000)
  expect([...seen].filter((one) => !/^[12] of [123]$/.test(one))).toEqual([])
  const { items } = (await shop.ask('GET', '/v1/resources/shop.tray/t/history')).json
  const told = items.filter(({ kind }: { kind: string }) => kind === 'attemptFailed' || kind === 'failed')
  expect(told.map(eventWords).toReversed().slice(0, 4)).toEqual([
    'take failed at attempt 1: take went wrong',
    'take failed as often as it may: take went wrong; it is tried again later',
    'take failed at attempt 1 of round 2: take went wrong',
    'take failed as often as it may: take went wrong; it is tried again later',
  ])
  shop.hands.failing.delete('take')
  expect(await ended(run.id)).toMatchObject({
    state: 'succeeded',
    attempt: 0,
    round: 0,
    steps: [{ name: 'take', state: 'done' }],
  })
})
