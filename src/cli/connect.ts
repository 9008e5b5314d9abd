// How a command reaches what it asks: a server by its address, the server of this machine, or a store without any server.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterwards } from '../base/clock.ts'
import { secretText } from '../base/random.ts'
import { HttpClient } from '../client/http-client.ts'
import { CliError, exits } from './cli-error.ts'
import { loadConfig, togetherOf } from './config.ts'
import { isPostgres, openStore, shownPlace, storeOf } from './open-store.ts'
import { secretKeys } from './secret-keys.ts'
import { findData, readServerFile } from './server-file.ts'

export interface ReachOptions {
  readonly url?: string
  readonly token?: string
  readonly data?: string
  /** Go to the store itself: a file or an address; `true`: the one that the config names. */
  readonly store?: string | true
  readonly config?: string
  /** Seconds for which a server may say nothing. */
  readonly patience?: string
}

export interface Reached {
  readonly api: HttpClient
  /** In the words of a user. */
  readonly where: string
  readonly close: () => Promise<void>
}

/** What takes long is told, so that nobody has to guess whether it still waits. */
export async function reach(options: ReachOptions, tell: (words: string) => void = () => {}): Promise<Reached> {
  const patienceMs = patienceOf(options)
  const how = { retries, patienceMs, fetch: telling(tell, patienceMs) }
  const token = options.token ?? (process.env['HOMEOSTAT_TOKEN'] || process.env['HOMEOSTAT_ADMIN_TOKEN'] || undefined)
  if (options.store !== undefined) return reachStore(options)
  const url = options.url ?? (process.env['HOMEOSTAT_URL'] || undefined)
  const data = options.data === undefined ? findData('.') : resolve(options.data)
  const found = data === null ? null : readServerFile(data)
  if (url !== undefined) {
    checkUrl(url)
    // The server of this folder, by its address: its owner need not say who he is. Nobody else is sent its token.
    const own = found !== null && isSame(found.url, url) ? found.token : undefined
    return { api: new HttpClient({ ...how, url, token: token ?? own }), where: url, close: async () => {} }
  }
  if (found === null) {
    throw new CliError(
      exits.unavailable,
      `No server runs ${data === null ? 'for this folder' : `on ${data}`}.`,
      'Start one (npm start, or homeostat serve), name one with --url, or go to the store itself with --store.',
    )
  }
  const api = new HttpClient({ ...how, url: found.url, token: token ?? found.token })
  return { api, where: found.url, close: async () => {} }
}

function checkUrl(url: string): void {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return
  throw new CliError(exits.usage, `'${url}' is no address of a server.`, 'Give one like http://127.0.0.1:4600.')
}

function isSame(own: string, given: string): boolean {
  const place = (text: string) => {
    const { protocol, hostname, port } = new URL(text)
    return `${protocol}//${['localhost', '[::1]'].includes(hostname) ? '127.0.0.1' : hostname}:${port}`
  }
  return URL.canParse(given) && place(own) === place(given)
}

/** A server that is away comes back soon, or somebody should be told. */
const retries = 3
const defaultPatienceSeconds = '15'
/** A person begins to wonder by then. */
const wonderMs = 4_000

function patienceOf({ patience = defaultPatienceSeconds }: ReachOptions): number {
  const ms = Number(patience) * 1_000
  if (patience !== '' && ms > 0 && Number.isFinite(ms)) return ms
  throw new CliError(exits.usage, `--patience takes a number of seconds above 0, not '${patience}'.`)
}

function telling(tell: (words: string) => void, patienceMs: number): typeof globalThis.fetch {
  let isTold = false
  return (...given) => {
    const wonder = () => {
      if (!isTold) tell('The server has not answered yet; still waiting. Ctrl-C ends it.')
      isTold = true
    }
    return globalThis.fetch(...given).finally(afterwards(Math.min(wonderMs, patienceMs / 2), wonder))
  }
}

/** The same contract, served by this process for its own eyes. Without a worker: what is asked for is carried out by others. */
async function reachStore(options: ReachOptions): Promise<Reached> {
  const { createEngine } = await import('../engine/engine.ts')
  const { createServer } = await import('../server/http-server.ts')
  const data = resolve(options.data ?? 'data')
  const config = await loadConfig(options.config, { data, isDev: false })
  const place = storeOf(data, options.store === true ? config.store : options.store)
  // Who only looks makes nothing: a mistyped name would be answered with an empty store.
  if (!isPostgres(place) && !existsSync(place.file))
    throw new CliError(
      exits.notFound,
      `There is no store ${place.file}.`,
      'Name one that is there: a file, or postgres://... homeostat serve makes one.',
    )
  const store = await openStore(place)
  const { lifecycles } = togetherOf(config)
  const engine = createEngine({ store, lifecycles, options: { name: 'command line', worker: false } })
  await engine.start()
  const token = secretText()
  const keys = secretKeys(data, { make: false })
  const { allowCalls } = config
  // Who only looks sends nobody anything, and ends before it would be answered.
  const webhooks = { ...config.webhooks, sends: false }
  const server = createServer({ engine, port: 0, adminToken: token, allowCalls, webhooks, secretKeys: keys })
  const url = await server.start()
  return {
    api: new HttpClient({ url, token, retries: 0, patienceMs: patienceOf(options) }),
    where: await shownPlace(place),
    async close() {
      await server.stop()
      await engine.stop()
      await store.close()
    },
  }
}
