// homeostat/postgres: a store in a PostgreSQL database, for many processes on many machines.
export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store/postgres/postgres-store.ts'
export type { Durability } from './store/postgres/suitability.ts'
