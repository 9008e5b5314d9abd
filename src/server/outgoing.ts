// Calls to addresses that strangers have given: https only, every address that the name stands for is looked at, and the connection goes
// to one that was looked at, so that a name cannot change its mind in between. No redirects, little time, little text.
import { lookup } from 'node:dns/promises'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { HomeostatError } from '../base/errors.ts'
import type { AllowList } from './allow-list.ts'

export interface OutgoingOptions {
  /** Addresses of this machine and of private networks are allowed, and plain http to them: for tests and development. */
  readonly privateAddresses: boolean
  /** Only these may be called; left out: whatever the other rules leave. */
  readonly allow?: AllowList | undefined
}

export interface Posted {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const patienceMs = 5_000
const answerMax = 64 * 1024
const ports: ReadonlySet<string> = new Set(['', '443', '8443'])

/** Everything that is not an address of the open Internet. One list for each family: a list with both takes every IPv4 address for a mapped one. */
const closed4 = new BlockList()
const closed6 = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  closed4.addSubnet(network, prefix, 'ipv4')
// Only 2000::/3 is given out: beside it are this machine, private networks, and IPv4 addresses in every disguise.
for (const [network, prefix] of [
  ['::', 3],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1],
] as const)
  closed6.addSubnet(network, prefix, 'ipv6')

export const isOpenAddress = (address: string): boolean => {
  const family = isIP(address)
  if (family === 0) return false
  return family === 6 ? !closed6.check(address, 'ipv6') : !closed4.check(address, 'ipv4')
}

/** The parts of an address that can be judged before it is called. Throws `address_refused`. */
export function checkedUrl(text: string, { privateAddresses, allow }: OutgoingOptions): URL {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw refused(text, 'it is no address')
  }
  if (url.username !== '' || url.password !== '') throw refused(url.href, 'it holds a password')
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  if (allow !== undefined && !mayBeOn(allow, host)) throw refused(url.href, notListed)
  if (privateAddresses && (url.protocol === 'http:' || url.protocol === 'https:')) {
    if (url.protocol === 'http:' && isOpenAddress(host))
      throw refused(url.href, 'beyond private networks only https is called')
    return url
  }
  if (url.protocol !== 'https:') throw refused(url.href, 'only https is called')
  if (!ports.has(url.port)) throw refused(url.href, `port ${url.port} is not called`)
  if (isIP(host) !== 0 && !isOpenAddress(host)) throw refused(url.href, 'it is a private address')
  if (isIP(host) === 0 && (!host.includes('.') || /\.(local|internal|localhost|home\.arpa)\.?$/i.test(host)))
    throw refused(url.href, 'the name is of a private network')
  return url
}

const notListed = 'it is not on the list of what may be called'

/** What a name stands for is looked at when it is called. */
const mayBeOn = (allow: AllowList, host: string): boolean =>
  isIP(host) === 0 ? allow.hasName(host) || allow.hasNetworks : allow.hasAddress(host)

type Resolve = (host: string) => Promise<readonly { readonly address: string; readonly family: number }[]>
const systemResolve: Resolve = (host) => lookup(host, { all: true })

/**
 * For the connection itself: it asks once what the name stands for, looks at every answer, and the connection goes to one that was looked
 * at. A name that changes its mind between two questions is asked only once. Names are told apart from addresses by Node, which asks
 * for names only: `checkedUrl` has looked at the others.
 */
export function guardedLookup(url: URL, options: OutgoingOptions, resolve: Resolve = systemResolve): LookupFunction {
  const checked = async (host: string) => {
    const found = await resolve(host)
    if (found.length === 0) throw refused(url.href, 'the name stands for no address')
    const { allow } = options
    if (allow !== undefined && !allow.hasName(host) && !found.every(({ address }) => allow.hasAddress(address)))
      throw refused(url.href, notListed)
    if (!options.privateAddresses && found.some(({ address }) => !isOpenAddress(address)))
      throw refused(url.href, 'the name stands for a private address')
    if (url.protocol === 'http:' && found.some(({ address }) => isOpenAddress(address)))
      throw refused(url.href, 'beyond private networks only https is called')
    return found
  }
  return (host, given, tell) => {
    checked(host).then(
      (found) => {
        if (given.all) (tell as unknown as (error: null, all: readonly object[]) => void)(null, found)
        else tell(null, found[0]!.address, found[0]!.family)
      },
      (error: unknown) => tell(error as NodeJS.ErrnoException, '', 4),
    )
  }
}

export interface Exchanged {
  readonly status: number
  readonly text: string
}

/** Connections that are kept for the next call to the same place: each went to an address that was looked at when it was made. */
export class KeptConnections {
  readonly http = new HttpAgent({ keepAlive: true })
  readonly https = new HttpsAgent({ keepAlive: true })

  close(): void {
    this.http.destroy()
    this.https.destroy()
  }
}

type Patience = OutgoingOptions & {
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** Left out: a connection for this call alone. */
  readonly kept?: KeptConnections | undefined
}

/** The status of the answer. Throws when there is none in time. */
export async function post(posted: Posted, options: Patience): Promise<number> {
  return (await exchange({ ...posted, method: 'POST' }, options)).status
}

/** The whole answer. Throws when there is none in time, or too much of it. */
export async function exchange(
  { url: text, method, headers, body }: Posted & { readonly method: 'GET' | 'POST' },
  options: Patience,
): Promise<Exchanged> {
  const url = checkedUrl(text, options)
  const { kept } = options
  const agent = kept === undefined ? false : url.protocol === 'https:' ? kept.https : kept.http
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const { timeoutMs = patienceMs } = options
  // From the first question to the last byte: an answer that drips is not waited for longer than one that does not come.
  const tooLate = AbortSignal.timeout(timeoutMs)
  const signal = options.signal === undefined ? tooLate : AbortSignal.any([tooLate, options.signal])
  const length = method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {}
  return new Promise((resolve, reject) => {
    let isAnswered = false
    let isOver = false
    const failed = (error: Error): void => {
      if (isOver) return
      isOver = true
      if (tooLate.aborted) reject(new Error(`it did not answer within ${timeoutMs} ms`))
      // One that was kept may have been closed meanwhile: whatever came of this call, it is made again on a new one.
      else if (asked.reusedSocket && !isAnswered && !signal.aborted)
        exchange({ url: text, method, headers, body }, { ...options, kept: undefined }).then(resolve, reject)
      else reject(inWords(error))
    }
    const asked = request(
      url,
      { method, headers: { ...headers, ...length }, agent, signal, lookup: guardedLookup(url, options) },
      (response) => {
        isAnswered = true
        const parts: Buffer[] = []
        let size = 0
        response.on('data', (part: Buffer) => {
          size += part.length
          if (size > answerMax) asked.destroy(new Error(`it answered more than ${answerMax} bytes`))
          else parts.push(part)
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString('utf8') }),
        )
        response.on('error', failed)
      },
    )
    asked.on('error', failed)
    asked.on('upgrade', (_response, socket) => {
      socket.destroy()
      isAnswered = true
      failed(new Error('it wants to speak something else than HTTP (101)'))
    })
    // Whatever becomes of the connection, and whether anything is told of it: nobody waits longer.
    signal.addEventListener('abort', () => failed(new Error('it was given up')), { once: true })
    asked.end(method === 'POST' ? body : undefined)
  })
}

const plainly: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ECONNRESET: 'it closed the connection without an answer',
  EPIPE: 'it closed the connection without an answer',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  EPROTO: 'it does not speak TLS as it should',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by nobody who is trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by nobody who is trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is signed by nobody who is trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by nobody who is trusted here',
}

/** What the system says, for people who look why nothing arrives. Its code stays, for who looks further. */
function inWords(error: Error): Error {
  const { code = '' } = error as NodeJS.ErrnoException
  const words = code.startsWith('HPE_') ? 'its answer is no HTTP' : plainly[code]
  return words === undefined ? error : new Error(`${words} (${code})`, { cause: error })
}

const refused = (url: string, why: string) =>
  new HomeostatError('address_refused', `${url.slice(0, 200)} may not be called: ${why}.`)
