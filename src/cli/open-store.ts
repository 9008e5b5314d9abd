// The store that a config names: a SQLite file, or a PostgreSQL database by its address. Each is loaded only where it is used.
import { dirname, join, resolve } from 'node:path'
import type { Store } from '../store/store.ts'
import { makeFolder } from './named-files.ts'

export const isPostgres = (store: string): boolean => /^postgres(ql)?:\/\//.test(store)

/** Where the store is: as the config says, else in the data folder. */
export const storeOf = (data: string, store: string | undefined): string =>
  store === undefined ? join(data, 'homeostat.db') : isPostgres(store) ? store : resolve(store)

/** Makes a folder for what must be kept, for nobody else to read, and makes sure that it can be written to. */
export const useFolder = (folder: string): void =>
  makeFolder(folder, { mode: 0o700, hint: 'Give another one with --data, or change its owner.' })

export async function openStore(store: string): Promise<Store> {
  if (isPostgres(store)) {
    const { openPostgresStore } = await import('../store/postgres/postgres-store.ts')
    return openPostgresStore({ url: store })
  }
  useFolder(dirname(store))
  const { openSqliteStore } = await import('../store/sqlite/sqlite-store.ts')
  return openSqliteStore({ file: store })
}
