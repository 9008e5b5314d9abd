// `homeostat serve` and `homeostat work`: a store, an engine and a server put together, started in order, and ended in order.
import { createServer as createProbe } from 'node:net'
import { join, resolve } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { systemClock } from '../base/clock.ts'
import { codes } from '../base/errors.ts'
import { secretText } from '../base/random.ts'
import { createEngine, type Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import { createServer, type HomeostatServer } from '../server.ts'
import { endSoon, isReaderBehind, outliveDrivers, outliveReader } from './bystanders.ts'
import { CliError, exits } from './cli-error.ts'
import { compileSooner } from './compile-sooner.ts'
import { loadConfig, togetherOf, type Config } from './config.ts'
import { devSwitches } from './dev-mode.ts'
import { logTo } from './log.ts'
import { openStore, shownPlace, storeOf, useFolder } from './open-store.ts'
import { consoleFolder, plainPages } from './pages.ts'
import { counted, type Printer } from './print.ts'
import { secretKeys } from './secret-keys.ts'
import { lastToken, removeOwnServerFile, runningServer, writeServerFile } from './server-file.ts'
import { version } from './version.ts'

export interface ServeOptions {
  readonly config?: string
  readonly data: string
  readonly store?: string
  readonly host?: string
  readonly port?: string
  readonly dev?: boolean
  readonly demo?: boolean
  /** False: others carry out what is asked for here. */
  readonly worker: boolean
  /** False: only a worker. */
  readonly api: boolean
  /** False: without pages. */
  readonly console: boolean
}

const defaultPort = 4600
/** So many times as long as calls under way may take: then it ends in any case. */
const stopPatiences = 2.5

/** Runs until it is told to stop. */
export async function serve(options: ServeOptions, printer: Printer): Promise<void> {
  const data = resolve(options.data)
  const isDev = options.dev ?? false
  compileSooner()
  useFolder(data)
  const config = await loadConfig(options.config, { data, isDev })
  if (options.demo && config.demo === undefined)
    throw new CliError(exits.usage, 'The config has no demo.', 'Leave --demo out.')
  const host = options.host ?? config.host ?? '127.0.0.1'
  const port = portOf(options.port ?? process.env['PORT'], config.port ?? defaultPort)
  // Before anything is opened or begun: whoever starts it twice by mistake must not take work over for a moment.
  if (options.api) {
    await mustBeAlone(data)
    await mustBeFree(host, port)
  }

  const isLogJson = printer.isJson || !process.stderr.isTTY
  const log = logTo({ clock: systemClock, isJson: isLogJson, isReaderBehind, note: (line) => printer.note(line) })
  outliveReader()
  outliveDrivers(log)
  const say = (words: string) => (isLogJson ? log('info', words) : printer.note(words))
  const place = storeOf(data, options.store ?? config.store)
  const store = await openStore(place, log)
  const { lifecycles, drivers } = togetherOf(config)
  const engine = createEngine({
    store,
    lifecycles,
    drivers,
    log,
    options: { name: options.api ? 'serve' : 'work', ...config.engine, worker: options.worker },
  })
  await engine.start()
  // From here on there is something to hand over: whoever is told that it runs may tell it to stop in that very moment.
  const toldToStop = untilToldToStop(say)
  const server = !options.api
    ? null
    : await startServer({ config, options, engine, host, port, data, log, isDev }).catch(async (error: unknown) => {
        await engine.stop()
        await store.close()
        throw error
      })
  const demo = new AbortController()
  if (options.demo) beginDemo(config, engine, demo.signal, log)
  await tellStart({ server, data, options, printer, count: lifecycles.length, store: await shownPlace(place) })

  // The engine's timers keep nothing alive: neither while it serves nor while it waits for what is under way.
  const release = keepAlive()
  await toldToStop
  demo.abort()
  say('Stopping: what is under way is finished or handed over. Ctrl-C again ends it at once.')
  if (server !== null) removeOwnServerFile(data)
  endInAnyCase(stopPatiences * engine.settings.stopPatienceMs, say)
  await server?.stop()
  await engine.stop()
  await store.close()
  for (const world of config.worlds ?? []) await world.close()
  release()
  say('Stopped.')
  endSoon()
}

interface Starting {
  readonly config: Config
  readonly options: ServeOptions
  readonly engine: Engine
  readonly host: string
  readonly port: number
  readonly data: string
  readonly log: Log
  readonly isDev: boolean
}

async function startServer(given: Starting): Promise<HomeostatServer> {
  const { config, options, engine, host, port, data, log, isDev } = given
  const { access = 'closed', secure = false, proxies = [], oidc } = config.auth ?? {}
  const own = process.env['HOMEOSTAT_ADMIN_TOKEN'] || undefined
  const token = own ?? lastToken(data) ?? secretText()
  const server = createServer({
    engine,
    host,
    port,
    access,
    secure,
    proxies,
    oidc,
    allowCalls: config.allowCalls,
    webhooks: config.webhooks,
    secretKeys: secretKeys(data, { make: true }),
    ...(config.rate === undefined ? {} : { rate: config.rate }),
    connections: config.connections,
    version: version(),
    log,
    adminToken: token,
    dev: isDev ? devSwitches(config.worlds ?? []) : undefined,
    ...(options.console ? pagesHere() : {}),
  })
  const url = await server.start()
  writeServerFile(data, { url: reachable(url), pid: process.pid, ...(own === undefined ? { token } : {}) })
  return server
}

const pagesHere = () => {
  const folder = consoleFolder()
  return folder === null ? { pages: plainPages } : { console: folder }
}

/** An address that is listened on everywhere is reached here. */
const reachable = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')

async function tellStart(given: {
  readonly server: HomeostatServer | null
  readonly data: string
  readonly options: ServeOptions
  readonly printer: Printer
  readonly count: number
  readonly store: string
}): Promise<void> {
  const { server, data, options, printer, count, store } = given
  const what = [
    ...(server === null ? [] : [options.console ? 'API, console' : 'API']),
    ...(options.worker ? ['worker'] : []),
  ].join(' and ')
  const mode = options.dev ? ', development mode' : ''
  const ticket = await server?.newTicket()
  if (printer.isJson) {
    const url = server === null ? null : reachable(server.url)
    return printer.line(JSON.stringify({ version: version(), what, lifecycles: count, data, store, url, ticket }))
  }
  const where = store.startsWith(data) ? `Data in ${data}` : `Data in ${data}, store ${store}`
  printer.line(`Homeostat ${version()}: ${what} for ${counted(count, 'lifecycle')}${mode}. ${where}`)
  if (server === null) return
  printer.line(`Open ${printer.bold(`${reachable(server.url)}/#ticket=${ticket}`)}`)
  printer.line(printer.dim('     It signs you in once, within a quarter of an hour. Ctrl-C stops the server.'))
}

function beginDemo(config: Config, engine: Engine, signal: AbortSignal, log: Log): void {
  void config.demo?.(engine, signal).catch((error: unknown) => log('error', 'the demo has ended', { error }))
}

function portOf(given: string | undefined, otherwise: number): number {
  if (given === undefined || given === '') return otherwise
  const port = Number(given)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new CliError(exits.usage, `'${given}' is not a port.`, 'Give a number from 0 to 65535; 0 takes a free one.')
}

/** A data folder is of one server: its file leads to it, and tells whoever restores a back-up that it runs. */
async function mustBeAlone(data: string): Promise<void> {
  const other = await runningServer(data)
  if (other === null) return
  const { pid, url, isSilent } = other
  throw new CliError(
    exits.unavailable,
    `A server runs on ${data} already: process ${pid}, ${url}${isSilent ? ', which does not answer' : ''}.`,
    isSilent
      ? `End it: kill ${pid}, or kill -9 ${pid} when that does nothing. If that process is something else, remove ${join(data, 'server.json')}.`
      : 'Stop it, or give this one a data folder of its own with --data. homeostat work adds a worker.',
  )
}

/** Listens for a moment: the answer is better than the server's, and it comes before anything else is done. */
function mustBeFree(host: string, port: number): Promise<void> {
  const probe = createProbe()
  return new Promise((done, fail) => {
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
        return fail(
          new CliError(
            exits.unavailable,
            `${host} is no address of this machine (${code}).`,
            'Give one that it has: 127.0.0.1 is reached from here alone, 0.0.0.0 from everywhere.',
          ),
        )
      const reason = code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not for you' : `gives ${code}`
      const hint = `Take another one: --port ${port + 1}, or PORT=${port + 1}. 0 takes a free one.`
      fail(new CliError(exits.unavailable, `Port ${port} on ${host} ${reason}.`, hint))
    })
    probe.listen(port, host, () => probe.close(() => done()))
  })
}

/**
 * The first signal lets it end in order, a second Ctrl-C ends it at once. SIGTERM may come twice for one: whoever ends a group of
 * processes tells bin/homeostat too, which hands it on.
 */
function untilToldToStop(say: (words: string) => void): Promise<void> {
  return new Promise((done) => {
    let isStopping = false
    const stop = (signal: NodeJS.Signals) => {
      if (!isStopping) {
        isStopping = true
        return done()
      }
      if (signal === 'SIGTERM') return
      say('Ended at once: what was under way is taken over at the next start.')
      process.exit(exits.interrupted)
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

/** A store that does not answer has its own patience, asked one question after another: supervisors do not wait for so long. */
function endInAnyCase(ms: number, say: (words: string) => void): void {
  systemClock.after(ms, () => {
    say('The store does not answer. Ended without it: others take over what was under way when the lease has lapsed.')
    process.exit(codes.store_unavailable.exit)
  })
}

/** An open handle that does nothing. */
function keepAlive(): () => void {
  const { port1 } = new MessageChannel()
  port1.on('message', () => {})
  return () => port1.close()
}
