// The store that a config names: a SQLite file, or a PostgreSQL database by its address, with settings where it needs any. Each is loaded
// only where it is used.
import { dirname, join, resolve } from 'node:path'
import type { Log } from '../engine/log.ts'
import type { PostgresStoreOptions } from '../store/postgres/postgres-store.ts'
import type { Store } from '../store/store.ts'
import { CliError, exits } from './cli-error.ts'
import { makeFolder } from './named-files.ts'

export type PostgresPlace = Omit<PostgresStoreOptions, 'readonly' | 'clock' | 'log'>
export type Place = { readonly file: string } | PostgresPlace

export const isPostgres = (place: Place): place is PostgresPlace => 'url' in place

/** Where the store is: as the config says, else in the data folder. */
export function storeOf(data: string, store: string | PostgresPlace | undefined): Place {
  if (store === undefined) return { file: join(data, 'homeostat.db') }
  if (typeof store !== 'string') return store
  // Also one that is mistyped: it is no name of a file.
  if (/^postgres(ql)?:/i.test(store)) return { url: store }
  const [scheme] = /^[a-z][\w+.-]+:\/\//i.exec(store) ?? []
  if (scheme === undefined) return { file: resolve(store) }
  throw new CliError(
    exits.usage,
    `A store of ${scheme} is not known.`,
    'Give a file for SQLite, or postgres://user@host:5432/database.',
  )
}

/** Without the password. */
export async function shownPlace(place: Place): Promise<string> {
  if (!isPostgres(place)) return place.file
  const { shownAddress } = await import('../store/postgres/address.ts')
  return `${shownAddress(place.url)}${place.schema === undefined ? '' : `, schema ${place.schema}`}`
}

/** Makes a folder for what must be kept, for nobody else to read, and makes sure that it can be written to. */
export const useFolder = (folder: string): void =>
  makeFolder(folder, { mode: 0o700, hint: 'Give another one with --data, or change its owner.' })

export async function openStore(place: Place, log?: Log): Promise<Store> {
  if (isPostgres(place)) {
    const { openPostgresStore } = await import('../store/postgres/postgres-store.ts')
    return openPostgresStore({ ...place, log: (line, level) => log?.(level, `store: ${line}`) })
  }
  useFolder(dirname(place.file))
  const { openSqliteStore } = await import('../store/sqlite/sqlite-store.ts')
  return openSqliteStore({ file: place.file })
}
