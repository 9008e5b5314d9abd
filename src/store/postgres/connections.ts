// The connections of one handle, by what they are for: what hangs in one kind does not stand in the way of another.
import { addressOf } from './address.ts'
import { resolverStatements } from './committer.ts'
import { closerStatements } from './incident-closer.ts'
import { loadStatements } from './loader.ts'
import { quoted } from './migrations.ts'
import type { PostgresStoreOptions } from './postgres-store.ts'
import { readStatements } from './reader.ts'
import { commitSettings } from './statements.ts'
import { verifyStatements } from './verifier.ts'
import { Wire, type Statements, type WireOptions } from './wire.ts'
import { Wires } from './wires.ts'
import { workerStatements } from './workers.ts'

export const openMs = 10_000
/** Longer than a server that is well ever takes; a stop with a silent one takes as long, and supervisors wait for half a minute. */
export const usualPatienceMs = 10_000
/** For a look through all of history. */
const longMs = 600_000

/**
 * The server's side of keeping a connection alive: the locks and the transaction of a machine that vanished are given up after a minute
 * or so, not after the two hours that are usual.
 */
const noticingTheDead = { tcp_keepalives_idle: '10', tcp_keepalives_interval: '10', tcp_keepalives_count: '6' }

export const settingStatements = {
  setFromNothing: `insert into setting as s (name, value) values ($1::text, $2::text) on conflict (name) do update set value = excluded.value
    where s.value = 'null' returning 1`,
  setFrom: 'update setting set value = $2::text where name = $1::text and value = $3::text returning 1',
  newHandle: `update counter set value = value + 1 where name = 'handle' returning value`,
} as const satisfies Statements

export class Connections {
  readonly base: Readonly<Record<string, string>>
  readonly reading: Readonly<Record<string, string>>
  private readonly committing: Readonly<Record<string, string>>
  readonly commits: Wires
  readonly resolvers: Wires
  readonly loads: Wires
  readonly reads: Wires
  private readonly options: PostgresStoreOptions

  constructor(options: PostgresStoreOptions) {
    this.options = options
    const { schema = 'homeostat', role, durability = 'disk' } = options
    this.base = {
      ...noticingTheDead,
      ...(role === undefined ? {} : { role: quoted(role) }),
      search_path: quoted(schema),
      // A database or role may be set to less: what is promised counts here.
      ...(durability === 'none' ? {} : { synchronous_commit: 'on' }),
    }
    this.committing = { ...commitSettings, ...this.base }
    this.reading = {
      ...this.committing,
      default_transaction_isolation: "'repeatable read'",
      default_transaction_read_only: 'on',
    }
    const writers = { ...workerStatements, ...settingStatements, ...closerStatements }
    const answerMs = options.patienceMs ?? usualPatienceMs
    const wires = (settings: Readonly<Record<string, string>>, statements: Statements, size = 2) =>
      new Wires((givenUp) => this.open({ settings, statements, answerMs, givenUp }), size)
    this.commits = wires(this.committing, writers, options.commits)
    this.resolvers = wires(this.committing, resolverStatements)
    this.loads = wires(this.reading, loadStatements)
    this.reads = wires(this.reading, { ...readStatements, ...verifyStatements })
  }

  open(how: Omit<WireOptions, 'address' | 'openMs'>): Promise<Wire> {
    return Wire.open({ address: addressOf(this.options), openMs, ...how })
  }

  /** One more for writing what takes long, by whoever closes it: no commit has to wait for it. */
  openForLong(): Promise<Wire> {
    return this.open({ settings: this.committing, statements: {}, answerMs: longMs })
  }

  async close(): Promise<void> {
    await Promise.all([this.commits.close(), this.resolvers.close(), this.loads.close(), this.reads.close()])
  }
}
