// The calling side of remote drivers against drivers that misbehave: whatever comes over the wire ends as what is known, never as a guess.
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { resourceType } from '../../src/index.ts'
import { completes } from '../../src/lifecycle/driver.ts'
import type { RemoteCall } from '../../src/remote/remote-driver.ts'
import { faultOfSignature, remoteDriver, signatureHeader, signed, timestampHeader } from '../../src/remote.ts'
import type { RemoteOptions } from '../../src/remote.ts'
import { outcomeOfThrown, outcomeOfValue } from '../../src/engine/call-outcome.ts'
import { callOf, secret } from './call.ts'
import { certificate, key } from './certificate.ts'

const disks = resourceType('shop.disk', {
  properties: z.object({}),
  statuses: { stable: { Ready: '' }, transitional: { Making: '' }, terminal: { Gone: '' } },
}).lifecycle({
  probes: { isThere: ['there', 'absent'] },
  operations: {
    create: {
      from: [],
      to: 'Ready',
      onFailure: 'Gone',
      steps: { make: { during: 'Making', undo: 'unmake', probe: 'isThere' } },
    },
  },
  heal: { Making: { resume: true, unowned: { status: 'Gone' } } },
})

type Answering = (given: any, response: ServerResponse, request: IncomingMessage) => void

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

async function listen(answering: Answering): Promise<{ readonly url: string; readonly got: any[] }> {
  const got: any[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const given = JSON.parse(Buffer.concat(parts).toString()) as unknown
      got.push(given)
      answering(given, response, request)
    })
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/driver?x=1`, got }
}

const say = (response: ServerResponse, answer: unknown) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))

type Functions = Record<string, (call: RemoteCall) => Promise<unknown>>
const driverAt = (url: string, options: Partial<RemoteOptions> = {}) =>
  remoteDriver(disks, { url, secret, privateAddresses: true, ...options }) as unknown as Functions & {
    sweeper: { destroy(thing: object): Promise<void>; inventory(): Promise<object[]> }
    [completes]: (token: string) => string | null
  }

/** As the engine would understand it. */
async function outcomeOf(driver: Functions, name: string, call = callOf()) {
  try {
    return outcomeOfValue(call.phase, name, await driver[name]!(call))
  } catch (thrown) {
    return outcomeOfThrown(name, thrown)
  }
}

test('the trace of a run goes along as a header; without one there is none', async () => {
  const seen: unknown[] = []
  const { url } = await listen((_, response, request) => {
    seen.push(request.headers['traceparent'])
    say(response, { kind: 'done' })
  })
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await driverAt(url)['make']!(callOf({ traceparent }))
  await driverAt(url)['make']!(callOf())
  expect(seen).toEqual([traceparent, undefined])
})

test('a driver that is not on the list of what may be called is not called', async () => {
  const { url, got } = await listen((_, response) => say(response, { kind: 'done' }))
  expect(() => driverAt(url, { allow: ['drivers.example.com'] })).toThrow(
    expect.objectContaining({ code: 'address_refused' }),
  )
  // A name may stand for an address that is not on the list: then it is refused when it is called.
  const byName = driverAt(url.replace('127.0.0.1', 'localhost'), { allow: ['10.0.0.0/8'] })
  expect(await outcomeOf(byName, 'make')).toMatchObject({ kind: 'failed', code: 'remote_unreachable' })
  expect(got).toEqual([])
  await driverAt(url, { allow: ['127.0.0.0/8'] })['make']!(callOf())
  expect(got).toHaveLength(1)
})

test('a call carries everything a driver needs, is signed, and has one function for every name of the declaration', async () => {
  let fault: string | null = 'not asked'
  const { url, got } = await listen((given, response, request) => {
    const body = JSON.stringify(given)
    const timestamp = String(request.headers[timestampHeader])
    const call = { method: 'POST', path: request.url!, timestamp, body }
    fault = faultOfSignature([secret], { ...call, signature: String(request.headers[signatureHeader]) }, Date.now())
    say(response, { kind: 'done', result: { size: 3 } })
  })
  const driver = driverAt(url, { completeAt: 'https://homeostat.example/' })
  expect(Object.keys(driver).toSorted()).toEqual(['isThere', 'make', 'sweeper', 'unmake'])
  expect(await driver['make']!(callOf({ deadlineAt: Date.now() + 60_000 }))).toEqual({ size: 3 })
  expect(fault).toBe(null)
  expect(got[0]).toMatchObject({
    version: 1,
    kind: 'step',
    function: 'make',
    key: '1-1/step/0//0',
    epoch: 1,
    attempt: 1,
    run: '1-1',
    operation: 'create',
    name: 'shop.disk/d-1/disk/1',
    resource: { type: 'shop.disk', id: 'd-1' },
    complete: { url: 'https://homeostat.example/v1/runs/1-1/steps/make:complete' },
  })
  expect(driver[completes](got[0].complete.token)).toBe('1-1/step/0//0')
  expect(driver[completes](`${got[0].complete.token.slice(0, -1)}x`)).toBe(null)
  expect(driverAt(url, { secret: 'another-secret-0123456789' })[completes](got[0].complete.token)).toBe(null)
})

test('while secrets are changed, calls are signed with both; old, changed and foreign signatures are refused', () => {
  const call = { method: 'POST', path: '/', timestamp: '1000', body: '{}' }
  const [before, after] = ['secret-before-0123456789', 'secret-after-0123456789']
  const signature = signed([after, before], call)
  const fault = (changes: object, secrets = [before], now = 1_000_000) =>
    faultOfSignature(secrets, { ...call, signature, ...changes }, now)
  expect(fault({})).toBe(null)
  expect(fault({}, [after])).toBe(null)
  expect(fault({}, ['secret-of-others-0123456789'])).toContain('wrong')
  expect(fault({ body: '{ }' })).toContain('wrong')
  expect(fault({ path: '/other' })).toContain('wrong')
  expect(fault({ method: 'PUT' })).toContain('wrong')
  expect(fault({ timestamp: '1001' })).toContain('wrong')
  expect(fault({ timestamp: '' })).toContain('missing')
  expect(fault({ signature: '' })).toContain('wrong')
  expect(fault({}, [before], 1_000_000 + 300_001)).toContain('too old')
  expect(fault({}, [before], 1_000_000 - 300_001)).toContain('too old')
})

test.each<[string, unknown, object]>([
  ['done', { kind: 'done' }, { kind: 'done', result: null }],
  ['again', { kind: 'again', afterMs: 1_500 }, { kind: 'again', afterMs: 1_500 }],
  [
    'failed',
    { kind: 'failed', code: 'quota', reason: 'no room', terminal: true },
    { kind: 'failed', code: 'quota', reason: 'no room', terminal: true },
  ],
  ['failed without words', { kind: 'failed' }, { kind: 'failed', code: 'failed', reason: 'failed', terminal: false }],
  [
    'failed with a long story',
    { kind: 'failed', code: 'quota', reason: 'x'.repeat(50_000), terminal: true },
    { kind: 'failed', code: 'quota', reason: expect.stringMatching(/^x{2000} …$/), terminal: true },
  ],
  ['unknown', { kind: 'unknown', reason: 'cut' }, { kind: 'unknown', reason: 'cut' }],
  ['stale', { kind: 'stale', epoch: 9 }, { kind: 'failed', code: 'stale_epoch', terminal: false }],
  ['an answer for probes', { kind: 'answered', answer: 'there' }, { kind: 'unknown' }],
  ['a kind that nobody knows', { kind: 'fine' }, { kind: 'unknown' }],
  ['more than there is', { kind: 'done', extra: 1 }, { kind: 'unknown' }],
  ['a list', [], { kind: 'unknown' }],
  ['nothing', null, { kind: 'unknown' }],
  ['a wait without end', { kind: 'again', afterMs: 1e12 }, { kind: 'unknown' }],
])('a step is answered with %s', async (_, answer, outcome) => {
  const { url } = await listen((_given, response) => say(response, answer))
  expect(await outcomeOf(driverAt(url), 'make')).toMatchObject(outcome)
})

test('a probe answers a word, perhaps with what was seen; anything else is no answer', async () => {
  let answer: unknown = { kind: 'answered', answer: 'there', observed: { size: 3 } }
  const { url } = await listen((_given, response) => say(response, answer))
  const ask = () => outcomeOf(driverAt(url), 'isThere', callOf({ phase: 'probe' }))
  expect(await ask()).toEqual({ kind: 'answered', answer: 'there', observed: { size: 3 } })
  answer = { kind: 'answered', answer: 'absent' }
  expect(await ask()).toEqual({ kind: 'answered', answer: 'absent', observed: null })
  answer = { kind: 'done' }
  expect(await ask()).toMatchObject({ kind: 'unknown' })
})

test.each<[string, Answering, object]>([
  ['401', (_, response) => void response.writeHead(401).end('the signature is wrong'), { code: 'remote_refused' }],
  ['a redirect', (_, response) => void response.writeHead(302, { location: '/x' }).end(), { code: 'remote_refused' }],
  [
    '429',
    (_, response) => void response.writeHead(429, { 'retry-after': '7' }).end(),
    { kind: 'again', afterMs: 7_000 },
  ],
  ['500', (_, response) => void response.writeHead(500).end(), { kind: 'unknown' }],
  ['502', (_, response) => void response.writeHead(502).end(), { kind: 'unknown' }],
  ['204', (_, response) => void response.writeHead(204).end(), { kind: 'unknown' }],
  ['garbage', (_, response) => void response.end('<html>'), { kind: 'unknown' }],
  ['a name twice', (_, response) => void response.end('{"kind":"done","kind":"failed"}'), { kind: 'unknown' }],
  ['broken bytes', (_, response) => void response.end(Buffer.from([0xff, 0xfe])), { kind: 'unknown' }],
  ['a cut before the answer', (_, response) => void response.socket!.destroy(), { kind: 'unknown' }],
  [
    'a cut in the answer',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"kind":', () => response.socket!.destroy())
    },
    { kind: 'unknown' },
  ],
  [
    'an answer without end',
    (_, response) => {
      const more = () => void (response.destroyed || response.write('x'.repeat(20_000), more))
      more()
    },
    { kind: 'unknown', reason: expect.stringContaining('more than 100000 bytes') },
  ],
  [
    'an answer that drips',
    (_, response) => {
      const drip = setInterval(() => response.write(' '), 5)
      response.on('close', () => clearInterval(drip))
    },
    { kind: 'unknown' },
  ],
  ['silence', () => {}, { kind: 'unknown' }],
])('what the driver sends is %s', async (_, answering, outcome) => {
  const { url } = await listen(answering)
  const driver = driverAt(url, { timeoutMs: 500, answerMaxBytes: 100_000 })
  expect(await outcomeOf(driver, 'make')).toMatchObject(outcome)
})

test('what could not be sent has not happened: nobody listens there', async () => {
  const taken = createTcpServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  const { port } = taken.address() as AddressInfo
  await new Promise((resolve) => taken.close(resolve))
  const outcome = await outcomeOf(driverAt(`http://127.0.0.1:${port}/`), 'make')
  expect(outcome).toMatchObject({ kind: 'failed', code: 'remote_unreachable', terminal: false })
})

test("over TLS, with a certificate of one's own authority; to whom it is not known, nothing is sent", async () => {
  let calls = 0
  const server = createTlsServer({ key, cert: certificate }, (request, response) => {
    calls++
    request.resume()
    if (calls === 2) response.socket!.destroy()
    else say(response, { kind: 'done', result: calls })
  })
  servers.push(server as unknown as Server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  for (const url of [`https://127.0.0.1:${port}/`, `https://localhost:${port}/`]) {
    const stranger = await outcomeOf(driverAt(url), 'make')
    expect(stranger).toMatchObject({ kind: 'failed', code: 'remote_unreachable' })
  }
  expect(calls).toBe(0)
  expect(await driverAt(`https://localhost:${port}/`, { ca: certificate })['make']!(callOf())).toBe(1)
  const cut = await outcomeOf(driverAt(`https://127.0.0.1:${port}/`, { ca: certificate }), 'make')
  expect(cut).toMatchObject({ kind: 'unknown' })
})

test('addresses are guarded as all outgoing calls are, and secrets must be long', () => {
  expect(() => driverAt('http://127.0.0.1/', { privateAddresses: false })).toThrow('may not be called')
  expect(() => driverAt('https://metadata.google.internal/', { privateAddresses: false })).toThrow('may not be called')
  expect(() => driverAt('http://127.0.0.1/', { secret: 'short' })).toThrow('too short')
})

test('an accepted step is asked for again with the same key until it has ended, also when the driver is away for a while', async () => {
  const answers: Answering[] = [
    (_, response) => say(response, { kind: 'accepted', lookAgainMs: 100, progress: 'half' }),
    (_, response) => void response.socket!.destroy(),
    (_, response) => say(response, { kind: 'done', result: 7 }),
  ]
  const { url, got } = await listen((given, response, request) => answers.shift()!(given, response, request))
  const told: string[] = []
  const driver = driverAt(url, { lookAgainMs: 100 })
  expect(await driver['make']!(callOf({ progress: (text) => void told.push(text) }))).toBe(7)
  expect(told).toEqual(['half'])
  expect(new Set(got.map(({ key, attempt }) => `${key} ${attempt}`)).size).toBe(1)
})

test('a call that is no longer owed is cancelled, and ends when the driver has said that it stopped', async () => {
  let stop: (() => void) | undefined
  const { url, got } = await listen((given, response) => {
    if (given.kind === 'step') say(response, { kind: 'accepted' })
    else stop = () => say(response, { kind: 'done' })
  })
  const abort = new AbortController()
  const calling = outcomeOf(driverAt(url), 'make', callOf({ abort, epoch: 4, attempt: 2 }))
  await expect.poll(() => got.length).toBe(1)
  abort.abort(new Error('the run no longer owes this call'))
  await expect.poll(() => stop).toBeDefined()
  let isOver = false
  const ended = calling.finally(() => (isOver = true))
  expect(isOver).toBe(false)
  stop!()
  expect(await ended).toMatchObject({ kind: 'unknown' })
  expect(got[1]).toMatchObject({ kind: 'cancel', function: 'make', key: '1-1/step/0//0', epoch: 4, attempt: 2 })
})

test('a call that another worker goes on with is not cancelled; nor is one that was never sent', async () => {
  const { url, got } = await listen((_given, response) => say(response, { kind: 'accepted' }))
  const driver = driverAt(url)
  const abort = new AbortController()
  const calling = outcomeOf(driver, 'make', callOf({ abort }))
  await expect.poll(() => got.length).toBe(1)
  abort.abort(Object.assign(new Error('the worker stops'), { isStillOwed: true }))
  await calling
  const over = new AbortController()
  over.abort(new Error('the run moved on'))
  await outcomeOf(driver, 'make', callOf({ abort: over }))
  expect(got.map(({ kind }) => kind)).toEqual(['step'])
})

test('not more calls at a time than allowed, over kept connections; a cancel gets through when all of them hang', async () => {
  let most = 0
  const held: ServerResponse[] = []
  const sockets = new Set<unknown>()
  const { url, got } = await listen((given, response, request) => {
    sockets.add(request.socket)
    if (given.kind === 'cancel') return say(response, { kind: 'done' })
    if (given.key === 'hangs') return
    held.push(response)
    most = Math.max(most, held.length)
    // Nobody is answered before three wait, or the last ones are here.
    if (held.length >= 3 || got.length > 37) for (const one of held.splice(0)) say(one, { kind: 'done' })
  })
  const driver = driverAt(url, { atOnce: 3 })
  await Promise.all(Array.from({ length: 40 }, (_, n) => driver['make']!(callOf({ key: `k-${n}` }))))
  expect(got.length).toBe(40)
  expect(most).toBe(3)
  expect(sockets.size).toBeLessThan(20)
  const aborts = [1, 2, 3, 4].map(() => new AbortController())
  const hanging = aborts.map((abort) => outcomeOf(driver, 'make', callOf({ abort, key: 'hangs' })))
  await expect.poll(() => got.length).toBe(43)
  aborts[0]!.abort(new Error('the run moved on'))
  await expect.poll(() => got.filter(({ kind }) => kind === 'cancel').length).toBe(1)
  // Its place goes to the one that waited.
  await expect.poll(() => got.length).toBe(45)
  for (const abort of aborts) abort.abort(new Error('the run moved on'))
  await Promise.all(hanging)
})

test('a kept connection that the driver has closed is not the end of a call: it is sent once more', async () => {
  let calls = 0
  const { url } = await listen((_given, response) => {
    // Says that it keeps the connection, answers once, and closes it at the next call.
    if (++calls === 2) response.socket!.destroy()
    else say(response, { kind: 'done', result: calls })
  })
  const driver = driverAt(url)
  expect(await driver['make']!(callOf())).toBe(1)
  expect(await driver['make']!(callOf())).toBe(3)
})

test('the inventory comes in pages, whole or not at all; a thing is destroyed or it is told why not', async () => {
  let isBroken = false
  let end: unknown = { kind: 'done' }
  const { url, got } = await listen((given, response) => {
    if (given.kind === 'destroy') return say(response, end)
    if (given.after === null)
      return say(response, { kind: 'inventory', things: [{ kind: 'disk', name: 'a' }], next: 'p2' })
    if (isBroken) return void response.writeHead(500).end()
    say(response, { kind: 'inventory', things: [{ kind: 'disk', name: 'b', ref: 1 }] })
  })
  const { sweeper } = driverAt(url)
  expect(await sweeper.inventory()).toEqual([
    { kind: 'disk', name: 'a' },
    { kind: 'disk', name: 'b', ref: 1 },
  ])
  isBroken = true
  await expect(sweeper.inventory()).rejects.toThrow('500')
  const thing = { kind: 'disk', name: 'a', ref: null, key: 'sweep/a', signal: new AbortController().signal }
  await sweeper.destroy(thing)
  expect(got.at(-1)).toEqual({
    version: 1,
    kind: 'destroy',
    type: 'shop.disk',
    key: 'sweep/a',
    thing: { kind: 'disk', name: 'a', ref: null },
  })
  end = { kind: 'failed', reason: 'it is in use' }
  await expect(sweeper.destroy(thing)).rejects.toThrow('it is in use')
})

test('docs/remote-drivers.md says what is sent: the fields of a step, and a signature that can be computed by hand', async () => {
  const page = readFileSync(new URL('../../docs/remote-drivers.md', import.meta.url), 'utf8')
  const { url, got } = await listen((_given, response) => say(response, { kind: 'done' }))
  await driverAt(url, { completeAt: 'https://homeostat.example' })['make']!(callOf())
  const shown = /### `step` and `undo`\n\n```json\n([\s\S]*?)```/.exec(page)![1]!
  expect(Object.keys(JSON.parse(shown) as object).toSorted()).toEqual(Object.keys(got[0] as object).toSorted())
  const call = { method: 'POST', path: '/homeostat', timestamp: '1789000000', body: '{"version":1}' }
  expect(page).toContain(`\n${signed(['example-secret-0123456789'], call)}\n`)
})
