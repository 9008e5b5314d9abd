// The store that a folder of a crash test belongs to: a SQLite file in it, or the PostgreSQL schema that a note in it names.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'

const noteIn = (folder: string) => join(folder, 'postgres.json')

interface Note {
  readonly url: string
  readonly schema: string
}

/** From here on the folder's store is in this schema. */
export function usePostgres(folder: string, note: Note): void {
  writeFileSync(noteIn(folder), JSON.stringify(note))
}

export async function openStoreOf(folder: string, readonly = false): Promise<Store> {
  if (!existsSync(noteIn(folder))) return openSqliteStore({ file: join(folder, 'store.db'), readonly })
  const note = JSON.parse(readFileSync(noteIn(folder), 'utf8')) as Note
  // Only where it is needed: hundreds of workers are started that have no use for it.
  const { openPostgresStore } = await import('../../src/postgres.ts')
  return openPostgresStore({ ...note, durability: 'none', readonly })
}
