// homeostat/sqlite: a store in a file.
export { openSqliteStore, type SqliteStoreOptions } from './store/sqlite/sqlite-store.ts'
