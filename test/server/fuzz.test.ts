// Requests by chance: made from the contract and broken in every way that came to mind. The server never answers with a fault of its
// own, and never hangs. `FUZZ_REQUESTS` sets how many.
import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { codes } from '../../src/base/errors.ts'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { parameterNames } from '../../src/protocol/route.ts'
import { routeNames, routeOf, type RouteName } from '../../src/protocol/routes.ts'
import { adminToken, openShop, type Shop } from './workshop.ts'

const requests = Number(process.env['FUZZ_REQUESTS'] ?? 20_000)
const seed = Number(process.env['FUZZ_SEED'] ?? 1)
const atOnce = 16

let shop: Shop
const defects: unknown[] = []
beforeAll(async () => {
  shop = await openShop({
    server: {
      rate: { perSecond: 1_000_000, burst: 1_000_000 },
      webhooks: { privateAddresses: true, tries: 1 },
      log: (level, message, fields) => void (level === 'error' && defects.push([message, fields])),
      dev: {
        faults: async () => [],
        setFault: async (fault) => fault,
        clearFaults: async () => {},
        truth: async () => [],
        strike: async () => {},
      },
    },
  })
})
afterAll(() => shop.close())

const oddTexts = [
  '',
  ' ',
  '~1',
  '~zzzzzzzzzzz',
  '..',
  '.',
  '%',
  '%00',
  '%2e%2e%2f',
  '\u0000',
  'a'.repeat(300),
  '😀',
  '\ud800',
  "' or 1=1 --",
  '"',
  '\\',
  '<script>',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  '-1',
  '1e999',
  '0',
  '9'.repeat(30),
  'true',
  '[]',
  '{}',
  ':',
  '::seal',
  'b-1',
  'b-2',
  'shop.box',
  'shop.shelf',
  'Ready',
  'seal',
  'delete',
  'create',
  'cut',
  '1-1',
  '2-1',
  'r1',
  '"r1"',
  '*',
  '\r\nx: y',
  'http://127.0.0.1:9/',
  'https://[::1]/',
]
const oddNumbers = [0, -1, 1, 2, 0.5, 1e308, -1e308, 2 ** 31, 2 ** 53, Number.MAX_SAFE_INTEGER]

const pick = <T>(random: Random, from: readonly T[]): T => from[random.below(from.length)]!

function oddJson(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 4 : 7)
  if (kind === 0) return pick(random, oddTexts)
  if (kind === 1) return pick(random, oddNumbers)
  if (kind === 2) return null
  if (kind === 3) return random.below(2) === 0
  if (kind === 4) return Array.from({ length: random.below(4) }, () => oddJson(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [pick(random, [...oddTexts, ...names]), oddJson(random, depth + 1)]),
  )
}
/** Names that bodies and queries know. */
const names = [
  'id',
  'name',
  'tenant',
  'parent',
  'links',
  'properties',
  'input',
  'operation',
  'status',
  'reason',
  'filter',
  'type',
  'mode',
  'size',
  'key',
  'outcome',
  'kind',
  'pageSize',
  'pageToken',
  'after',
  'wait',
  'q',
  'url',
  'role',
  'scopes',
  'days',
  'password',
  'account',
  'ticket',
  'does',
  'perSecond',
  'dryRun',
  'force',
  'total',
  'stuck',
]

const good: Partial<Record<RouteName, unknown>> = {
  createResource: { properties: { size: 1 } },
  setStatus: { status: 'Ready', reason: 'fuzz' },
  createBulk: { filter: { type: 'shop.box' }, operation: 'seal', reason: 'fuzz', dryRun: true },
  approveHealing: { type: 'shop.box', id: 'b-1', reason: 'fuzz' },
  createToken: { name: 'x', role: 'viewer' },
  createWebhook: { url: 'http://127.0.0.1:9/' },
}

/** Sometimes right, sometimes with one thing changed, sometimes nonsense. */
function bodyFor(random: Random, name: RouteName): string | undefined {
  const how = random.below(10)
  if (how === 0) return undefined
  if (how === 1)
    return pick(random, [
      '{',
      '[',
      '"',
      '{"a":1,"a":2}',
      '{"__proto__":1}',
      '\u0000',
      '1'.repeat(400),
      '['.repeat(500),
      '{"a":'.repeat(50),
    ])
  const base = good[name] ?? { reason: 'fuzz' }
  if (how < 5) return JSON.stringify(name === 'createResource' ? { ...base, id: `b-${random.below(500)}` } : base)
  if (how < 8) return JSON.stringify({ ...base, [pick(random, names)]: oddJson(random) })
  return JSON.stringify(oddJson(random))
}

const busiest: readonly RouteName[] = ['createResource', 'createResource', 'operate', 'getResource', 'deleteResource']

interface Shot {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string | undefined
}

/** What the parameter of a path usually is. */
function likely(random: Random, parameter: string): string {
  if (parameter === 'type') return 'shop.box'
  if (parameter === 'id') return `b-${random.below(500)}`
  if (parameter === 'operation') return pick(random, ['seal', 'unseal', 'grow', 'delete'])
  return pick(random, ['cut', 'Making', '1-1', '2-1', 'shop.box/b-1/wood/1'])
}

const safe = (text: string) => encodeURIComponent(text.toWellFormed())
const latin = (text: string) => text.replace(/[^\x20-\x7e]/g, '')

function shot(random: Random): Shot {
  // Signing in costs 20 MB and 40 ms each: seldom.
  const chosen = pick(random, random.below(4) === 0 ? busiest : routeNames)
  const name =
    ['signIn', 'createAccount', 'setPassword'].includes(chosen) && random.below(50) > 0 ? 'listResources' : chosen
  const route = routeOf(name)
  let { path } = route
  for (const parameter of parameterNames(path)) {
    const value = random.below(4) === 0 ? pick(random, oddTexts) : likely(random, parameter)
    path = path.replace(`{${parameter}}`, safe(value))
  }
  if (random.below(5) === 0) path += `?${safe(pick(random, names))}=${safe(pick(random, oddTexts))}`
  if (random.below(10) === 0)
    path += `${path.includes('?') ? '&' : '?'}${safe(pick(random, names))}=${random.below(50)}`
  if (random.below(40) === 0) path = `/${pick(random, ['v1', '', '..', '%ff', '%2F%2F', 'v1/../../etc/passwd', '*'])}`
  const method =
    random.below(20) === 0 ? pick(random, ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']) : route.method
  const body = method === 'GET' || method === 'HEAD' ? undefined : bodyFor(random, name)
  const headers: Record<string, string> = { accept: 'application/json' }
  if (random.below(30) > 0) headers['authorization'] = `Bearer ${adminToken}`
  if (body !== undefined)
    headers['content-type'] =
      random.below(20) === 0
        ? pick(random, ['text/plain', 'application/x-ndjson', '', 'x'])
        : route.lines
          ? 'application/x-ndjson'
          : 'application/json'
  if (random.below(5) === 0) headers['idempotency-key'] = latin(pick(random, oddTexts))
  if (random.below(8) === 0 || route.condition === 'ifMatchDemanded')
    headers['if-match'] = latin(pick(random, oddTexts))
  if (random.below(20) === 0) headers['last-event-id'] = latin(pick(random, oddTexts))
  return { method, path, headers, body }
}

const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

function fire({ method, path, headers, body }: Shot): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    // Node frames the body of a DELETE only when its length is said.
    const framed = body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) }
    const asked = request(shop.url, { method, path, headers: framed, agent, timeout: 20_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('timeout', () => asked.destroy(new Error('it hangs')))
    asked.on('error', reject)
    asked.end(body)
  })
}

test(`${requests} requests by chance: no fault of the server's own, no hang, every refusal a problem`, async () => {
  const random = seededRandom(seed)
  for (const id of ['b-1', 'b-2'])
    await shop.ask('POST', '/v1/resources/shop.box', { body: { id, properties: { size: 1 } } })
  const statuses = new Map<number, number>()
  const faults: unknown[] = []
  const one = async () => {
    // A long poll for a run that never ends would only wait.
    const made = shot(random)
    const answer = await fire({ ...made, path: made.path.replace(/wait=\d+/, 'wait=0') }).catch((error: unknown) => ({
      status: 0,
      text: String(error),
    }))
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    const isProblem = answer.status < 400 || made.method === 'HEAD' || isOurs(answer.text)
    if (answer.status === 0 || answer.status >= 500 || !isProblem) faults.push({ ...made, ...answer })
  }
  for (let done = 0; done < requests && faults.length < 5; done += atOnce)
    await Promise.all(Array.from({ length: atOnce }, one))
  expect(faults, `seed ${seed}`).toEqual([])
  expect(defects).toEqual([])
  // It has seen more than refusals.
  expect(statuses.get(200) ?? 0).toBeGreaterThan(requests / 50)
  expect(statuses.get(202) ?? 0).toBeGreaterThan(50)
  expect((await shop.ask('GET', '/v1/audit:verify')).json.isSound).toBe(true)
}, 300_000)

function isOurs(text: string): boolean {
  try {
    return (JSON.parse(text) as { code: string }).code in codes
  } catch {
    return false
  }
}
