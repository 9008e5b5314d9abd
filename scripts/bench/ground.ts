// What a benchmark runs on: a store of some kind, and the bare limit of the same machine on the same ground.
import { join } from 'node:path'
import { openPostgresStore } from '../../src/postgres.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { addressOf } from '../../src/store/postgres/address.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import type { Store } from '../../src/store/store.ts'
import { startPostgres } from '../../test/postgres/server.ts'
import { Bare } from './bare.ts'
import { PostgresBare } from './postgres-bare.ts'

/** The same operation written by hand. */
export interface BareStore {
  run(done: () => void): void
  /** What is wrong with the rows; empty when all is well. */
  audit(operations: number): string[] | Promise<string[]>
  close(): void | Promise<void>
}

export interface Ground {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** A store of this name; the same when it is opened again. */
  openStore(name: string, options?: { readonly thread?: 'auto' | 'never' }): Promise<Store>
  /** The same store for a process of its own: see child.ts. */
  placeOf(name: string): string
  /** The bare group commit, as fast as we know how to make it. */
  openBare(): Promise<BareStore>
  /** The same on tables that nothing was arranged for, where that is another: told beside it, and no goal is judged by it (ADR 26). */
  openPlain?(): Promise<BareStore>
  /** Latency beside the bare one that is still good, and ratios of throughput: the goal and what is a regression. */
  readonly goals: { readonly latency: number; readonly throughput: number; readonly regression: number }
  /**
   * Whoever is measured later finds what the first one found: files for the log that are there already, and a memory in which nothing waits to
   * be written. Without that, from the seventh round of P2 on every new page made the server write out an old one, and all loops lost a quarter.
   */
  refresh(): Promise<void>
  close(): Promise<void>
}

export function sqliteGround(folder: string): Ground {
  const placeOf = (name: string) => join(folder, `${name}.db`)
  return {
    name: 'SQLite',
    openStore: async (name, { thread = 'auto' } = {}) => openSqliteStore({ file: placeOf(name), thread }),
    placeOf,
    openBare: async () => new Bare(placeOf('bare')),
    goals: { latency: 1.25, throughput: 0.5, regression: 0.45 },
    refresh: async () => {},
    close: async () => {},
  }
}

/** A server of its own with everything durable. */
export async function postgresGround(): Promise<Ground> {
  const settings = { shared_buffers: '512MB', max_wal_size: '4GB', min_wal_size: `${agedMegabytes}MB` }
  const server = await startPostgres({ durable: true, settings })
  await age(server.url)
  const schemaOf = (name: string) => name.replaceAll('-', '_')
  return {
    name: 'PostgreSQL',
    openStore: (name) => openPostgresStore({ url: server.url, schema: schemaOf(name) }),
    placeOf: (name) => `${server.url}#${schemaOf(name)}`,
    openBare: () => PostgresBare.open(server.url, 'tuned'),
    openPlain: () => PostgresBare.open(server.url, 'plain'),
    goals: { latency: 1.5, throughput: 0.6, regression: 0.5 },
    refresh: () => withServer(server.url, (wire) => wire.query('checkpoint')),
    close: () => server.remove(),
  }
}

/** More than any benchmark writes until it refreshes its ground: with 1 GB, P3, which measures one process before it measures two, ran out of files. */
const agedMegabytes = 2_048
const eachMegabytes = 8

/**
 * A fresh server makes its write-ahead files when a commit first needs them, and every commit waits for that: 50 ms for each 16 MB. One that
 * was in use has them, and takes them again.
 */
async function age(url: string): Promise<void> {
  const message = `pg_logical_emit_message(false, 'bench', repeat('x', ${eachMegabytes} * 1000 * 1000))`
  await withServer(url, async (wire) => {
    await wire.query(`select ${message} from generate_series(1, ${agedMegabytes / eachMegabytes})`)
    await wire.query('checkpoint')
  })
}

async function withServer(url: string, work: (wire: Wire) => Promise<unknown>): Promise<void> {
  const wire = await Wire.open({ address: addressOf({ url }), settings: {}, statements: {}, openMs: 5_000 })
  await work(wire)
  await wire.close()
}
