// Fires requests by chance at a server and judges every answer: no fault of the server's own, no hang, every refusal a problem with a
// known code, every answer as the document tells, and nothing of another tenant in what a tenant's principal is told.
import { Agent, request, type IncomingHttpHeaders } from 'node:http'
import { codes, type ErrorCode } from '../../src/base/errors.ts'
import { seededRandom } from '../../src/base/random.ts'
import { HttpClient } from '../../src/client.ts'
import { Judge } from './judge.ts'
import { Shots, type Shot } from './shots.ts'

export interface FuzzOptions {
  readonly url: string
  readonly adminToken: string
  readonly requests: number
  readonly seed: number
  readonly say?: (text: string) => void
}

export interface FuzzResult {
  readonly requests: number
  readonly operations: number
  /** Operations of the document that were answered with success at least once. */
  readonly reached: number
  readonly statuses: Readonly<Record<string, number>>
  /** Answers that were looked through for what is of the other tenant. */
  readonly lookedThrough: number
  readonly faults: readonly Fault[]
}

export interface Fault {
  readonly what: 'a fault of its own' | 'a hang' | 'no problem' | 'foreign bytes' | 'not as documented'
  readonly shot: Shot
  readonly who: string
  readonly answer: string
}

const atOnce = 16
const hangMs = 20_000
const faultsMax = 5
/** Stands in everything that the other tenant has, and in no request. */
const mark = 'ofTheOthers7f3a91'

interface Shooter {
  readonly who: string
  readonly token: string | null
  /** Sees one tenant, or nothing: what is of another one must not be told. */
  readonly isBound: boolean
}

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { url, adminToken, requests, seed, say = () => {} } = options
  const random = seededRandom(seed)
  const admin = new HttpClient({ url, token: adminToken })
  const shooters = await people(admin, adminToken)
  await furnish(url, admin)
  const document: unknown = await (await fetch(`${url}/openapi.json`)).json()
  const judge = new Judge(document)
  const shots = new Shots({ document, random, vocabulary, seldom, often })
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const statuses: Record<string, number> = {}
  const reached = new Set<string>()
  const faults: Fault[] = []
  let lookedThrough = 0
  const one = async () => {
    const shot = shots.next()
    const shooter = shooters[random.below(shooters.length)]!
    const answer = await fire(url, agent, shot, shooter.token)
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
    if (answer.status >= 200 && answer.status < 300) reached.add(shot.operation)
    if (shooter.isBound) lookedThrough++
    const what = faultOf(shot, shooter, answer)
    const odd = what === null ? judge.faultOf(shot, answer) : null
    if (what !== null) faults.push({ what, shot, who: shooter.who, answer: answer.text.slice(0, 2_000) })
    else if (odd !== null)
      faults.push({
        what: 'not as documented',
        shot,
        who: shooter.who,
        answer: `${odd}: ${answer.text.slice(0, 2_000)}`,
      })
    else if (random.below(20) === 0) learnFrom(shots, answer.text)
  }
  for (let done = 0; done < requests && faults.length < faultsMax; done += atOnce) {
    await Promise.all(Array.from({ length: Math.min(atOnce, requests - done) }, one))
    if (done % 10_000 < atOnce) say(`${done.toLocaleString('en')} of ${requests.toLocaleString('en')} requests`)
  }
  agent.destroy()
  const fired = Object.values(statuses).reduce((all, count) => all + count, 0)
  const operations = shots.operations.length
  return { requests: fired, operations, reached: reached.size, statuses, lookedThrough, faults }
}

function faultOf({ method }: Shot, { isBound }: Shooter, { status, text }: Answer): Fault['what'] | null {
  if (status === 0) return 'a hang'
  if (status >= 500) return 'a fault of its own'
  if (status >= 400 && method !== 'HEAD' && !isProblem(text, status)) return 'no problem'
  return isBound && text.includes(mark) ? 'foreign bytes' : null
}

function isProblem(text: string, status: number): boolean {
  try {
    return codes[(JSON.parse(text) as { readonly code: ErrorCode }).code].http === status
  } catch {
    return false
  }
}

/** All roles, within a tenant and beyond, and nobody. */
async function people(admin: HttpClient, adminToken: string): Promise<Shooter[]> {
  const shooters: Shooter[] = [
    ...Array.from({ length: 3 }, () => ({ who: 'admin of all', token: adminToken, isBound: false })),
    { who: 'nobody', token: null, isBound: true },
    { who: 'a wrong token', token: 'x'.repeat(43), isBound: true },
  ]
  for (const role of ['viewer', 'operator', 'admin', 'worker'] as const) {
    const { secret } = await admin.call('createToken', { body: { name: `ours ${role}`, role, tenant: 'ours' } })
    const shooter = { who: `${role} of ours`, token: secret, isBound: true }
    shooters.push(...Array.from({ length: role === 'admin' || role === 'operator' ? 3 : 1 }, () => shooter))
  }
  return shooters
}

/** Things of ours, and the same of the others with the mark wherever text is kept. */
async function furnish(url: string, admin: HttpClient): Promise<void> {
  const role = 'admin' as const
  const { secret } = await admin.call('createToken', { body: { name: mark, role, tenant: 'theirs' } })
  const password = 'a long enough one'
  await admin.call('createAccount', { body: { name: mark, role, tenant: 'theirs', password } })
  const theirs = new HttpClient({ url, token: secret })
  const ours = new HttpClient({ url, token: await ourToken(admin) })
  for (let n = 0; n < 10; n++) {
    const properties = { size: 1 + n, label: '' }
    await ours.call('createResource', { path: { type: 'shop.box' }, body: { id: `b-${n}`, properties } })
    const body = { id: `f-${n}`, name: mark, properties: { size: 1, label: mark } }
    await theirs.call('createResource', { path: { type: 'shop.box' }, body })
  }
  await theirs.call('createBulk', {
    body: { filter: { type: 'shop.box' }, operation: 'seal', reason: mark, perSecond: 1 },
  })
}

async function ourToken(admin: HttpClient): Promise<string> {
  const body = { name: 'ours furnishing', role: 'admin', tenant: 'ours' } as const
  return (await admin.call('createToken', { body })).secret
}

const numbered = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`)

const vocabulary = {
  type: ['shop.box', 'shop.box', 'shop.box', 'shop.shelf', 'shop.tray'],
  id: [...numbered('b', 60), ...numbered('f', 10)],
  operation: ['seal', 'unseal', 'grow', 'delete', 'create'],
  status: ['Ready', 'Sealed', 'Making', 'Broken', 'Gone', 'Standing'],
  step: ['cut', 'fold', 'glue', 'burn'],
  tenant: ['ours', 'theirs'],
  parent: ['s-1', 'b-1'],
  run: ['1-1', '2-1', '3-2'],
  orphan: ['shop.box/b-1/wood/1', 'shop.box/f-1/wood/1'],
  url: ['http://127.0.0.1:9/', 'http://127.0.0.1:1/x'],
  reason: ['fuzz'],
}
/** Signing in costs 20 MB and 40 ms each; a webhook is sent everything from then on. */
const seldom = ['signIn', 'createAccount', 'setPassword', 'createWebhook']
const often = ['createResource', 'createResource', 'operate', 'getResource', 'deleteResource']

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

function fire(url: string, agent: Agent, shot: Shot, token: string | null): Promise<Answer> {
  const { method, path, headers, body } = shot
  const all: Record<string, string> = { ...headers }
  if (token !== null) all['authorization'] = `Bearer ${token}`
  // Node frames the body of a DELETE only when its length is said.
  if (body !== undefined) all['content-length'] = String(Buffer.byteLength(body))
  return new Promise((resolve) => {
    const asked = request(url, { method, path, headers: all, agent, timeout: hangMs }, (response) => {
      const status = response.statusCode ?? 0
      let text = ''
      const over = () => resolve({ status, headers: response.headers, text })
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        // A stream never ends: its beginning is enough.
        if ((response.headers['content-type'] ?? '').startsWith('text/event-stream')) {
          response.destroy()
          over()
        }
      })
      response.on('end', over)
      response.on('error', over)
    })
    asked.on('timeout', () => asked.destroy(new Error('it hangs')))
    asked.on('error', (error) => resolve({ status: 0, headers: {}, text: String(error) }))
    asked.end(body)
  })
}

/** Ids from what was told, except of the others: then an echo would look like a leak. And not of tokens: ours are still needed. */
function learnFrom(shots: Shots, text: string): void {
  if (text.includes(mark) || text.includes('"expiresAt"')) return
  for (const [, found] of text.slice(0, 20_000).matchAll(/"(?:id|run|key|etag|nextPageToken)":"([^"\\]{1,100})"/g))
    shots.learn(found!)
}
