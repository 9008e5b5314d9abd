// Two real PostgreSQL servers: a primary, and a synchronous standby without which nothing is acknowledged. They can be killed, frozen
// and made to change places, with the old primary coming back. The npm binaries have no pg_basebackup and no pg_rewind: a standby is
// made by copying the primary's folder in backup mode, and a primary that lost its place is replaced by such a copy.
import { spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort, PostgresServer, startPostgres, temporaryForServers } from '../../test/postgres/server.ts'
import { pause, until } from '../waiting.ts'

const settings: Readonly<Record<string, string>> = {
  synchronous_commit: 'on',
  max_connections: '160',
  // What a standby that is being made, or was away, has missed.
  wal_keep_size: '256MB',
  max_wal_size: '256MB',
  wal_retrieve_retry_interval: '100ms',
  wal_receiver_status_interval: '1s',
  recovery_init_sync_method: 'syncfs',
  shared_buffers: '64MB',
  log_min_messages: 'log',
}

const settingsFor = (isSynchronous: boolean): Record<string, string> => ({
  ...settings,
  synchronous_standby_names: isSynchronous ? '*' : '',
})

/** How a primary loses its place: it dies; or it is frozen, and wakes up as one that knows nothing of the other. */
export type Loss = 'killed' | 'frozen'

export class Cluster {
  #primary: PostgresServer
  #standby: PostgresServer | null = null
  /** A primary that lost its place and has not been told. */
  #former: PostgresServer | null = null

  readonly #isSynchronous: boolean

  private constructor(primary: PostgresServer, isSynchronous: boolean) {
    this.#primary = primary
    this.#isSynchronous = isSynchronous
  }

  /** Not synchronous: a control, in which what was acknowledged may be lost. */
  static async start(isSynchronous = true): Promise<Cluster> {
    // It takes requests alone until its standby is there.
    const cluster = new Cluster(
      await startPostgres({ durable: true, settings: settingsFor(isSynchronous) }),
      isSynchronous,
    )
    try {
      await cluster.#addStandby()
    } catch (error) {
      await cluster.remove()
      throw error
    }
    return cluster
  }

  /** Where changes are taken. */
  get port(): number {
    return this.#primary.port
  }

  get url(): string {
    return this.#primary.url
  }

  get standbyUrl(): string | null {
    return this.#standby?.url ?? null
  }

  /** Kills the primary and starts it again in its place. */
  async killPrimary(): Promise<void> {
    await killed(this.#primary)
    await started(this.#primary)
  }

  /** Until it is back, commits wait. */
  async killStandby(): Promise<void> {
    if (this.#standby === null) return
    await killed(this.#standby)
    await started(this.#standby)
  }

  /** Freezes the primary with all its processes, for a while. */
  async freezePrimary(ms: number): Promise<void> {
    const server = this.#primary
    signalAll(server, 'SIGSTOP')
    try {
      await pause(ms)
    } finally {
      signalAll(server, 'SIGCONT')
    }
  }

  /**
   * The standby takes over. `moved` is called as soon as it takes changes; a frozen primary goes on for `aliveMs` after that, with all its
   * connections, before it is ended. Meanwhile a new standby is made.
   */
  async failOver(loss: Loss, moved: () => void, aliveMs: number): Promise<void> {
    const standby = this.#standby
    if (standby === null) return
    const former = this.#primary
    this.#former = former
    if (loss === 'killed') await killed(former)
    else signalAll(former, 'SIGSTOP')
    await ask(standby.url, 'select pg_promote(true, 60)')
    this.#primary = standby
    this.#standby = null
    moved()
    await Promise.all([this.#afterlife(former, loss, aliveMs), this.#addStandby()])
  }

  /** It comes back as the primary that it was, for those who still have its address. */
  async #afterlife(former: PostgresServer, loss: Loss, aliveMs: number): Promise<void> {
    if (loss === 'frozen') signalAll(former, 'SIGCONT')
    else await started(former)
    await pause(aliveMs)
    await former.remove()
    this.#former = null
  }

  /** Ends everything that was started here. */
  async remove(): Promise<void> {
    for (const server of [this.#former, this.#standby, this.#primary]) {
      if (server === null) continue
      if (server.isRunning) signalAll(server, 'SIGCONT')
      await server.remove().catch(() => {})
    }
  }

  async #addStandby(): Promise<void> {
    const primary = this.#primary
    const { programs } = primary
    const folder = mkdtempSync(join(temporaryForServers(), 'homeostat-pg-'))
    const { uid, gid } = programs.account
    const port = await freePort()
    const standby = new PostgresServer({
      programs,
      folder,
      port,
      settings: {
        listen_addresses: '127.0.0.1',
        ...settingsFor(this.#isSynchronous),
        primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres application_name=standby`,
      },
    })
    mkdirSync(standby.data, { mode: 0o700 })
    if (uid !== undefined) for (const one of [folder, standby.data]) chownSync(one, uid, gid!)
    const backup = new pg.Client(primary.url)
    backup.on('error', () => {})
    try {
      await backup.connect()
      await backup.query(`select pg_backup_start('standby', fast => true)`)
      await copied(primary.data, standby.data, programs.account)
      const { rows } = await backup.query<{ labelfile: string }>(
        'select labelfile from pg_backup_stop(wait_for_archive => false)',
      )
      const write = (name: string, text: string) => {
        writeFileSync(join(standby.data, name), text, { mode: 0o600 })
        if (uid !== undefined) chownSync(join(standby.data, name), uid, gid!)
      }
      write('backup_label', rows[0]!.labelfile)
      write('standby.signal', '')
      await standby.start()
      this.#standby = standby
      await until('the standby follows', 60_000, async () =>
        (await syncStates(primary.url)).includes(this.#isSynchronous ? 'sync' : 'async'),
      )
    } catch (error) {
      if (this.#standby !== standby) await standby.remove()
      throw error
    } finally {
      await backup.end().catch(() => {})
    }
  }
}

const syncStates = async (url: string) => (await ask(url, 'select sync_state from pg_stat_replication')) as string[]

/** Several statements, whose results nobody wants. */
export async function carryOut(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end().catch(() => {})
  }
}

/** The first column of the rows. */
export async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map((row) => Object.values(row)[0])
  } finally {
    await client.end().catch(() => {})
  }
}

/** A server that was killed may find a process of its own that has not ended yet. */
async function started(server: PostgresServer): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await server.start()
    } catch (error) {
      if (tries === 20) throw error
      await pause(100)
    }
  }
}

/** All its processes at once, as when its machine goes. */
async function killed(server: PostgresServer): Promise<void> {
  const children = childrenOf(server.pid)
  process.kill(server.pid, 'SIGSTOP')
  for (const pid of [...children, ...childrenOf(server.pid)]) sendTo(pid, 'SIGKILL')
  await server.crash()
}

function sendTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

function signalAll(server: PostgresServer, signal: 'SIGSTOP' | 'SIGCONT'): void {
  // The first process first: while it is frozen nobody is born.
  sendTo(server.pid, signal)
  for (const pid of childrenOf(server.pid)) sendTo(pid, signal)
}

function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean).map(Number) : []
}

/** What changes while it is copied is mended by the log; the log itself comes over the wire. */
const left = ['postmaster.pid', 'postmaster.opts', 'pg_wal/*', 'pg_replslot/*', 'pg_stat_tmp/*', 'pg_notify/*']

/** As the account of the servers, whose files they are. */
function copied(from: string, to: string, account: object): Promise<void> {
  const without = left.map((name) => `--exclude='./${name}'`).join(' ')
  const script = `{ tar -C '${from}' ${without} --warning=no-file-changed --warning=no-file-removed -cf - . || [ $? -eq 1 ]; } | tar -C '${to}' -xf -`
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', script], { ...account, stdio: ['ignore', 'ignore', 'pipe'], cwd: to })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`the folder could not be copied (${code}): ${said}`)),
    )
  })
}
