// homeostat/postgres: a store in a PostgreSQL database, for many processes on many machines.
// A project that compiles these sources sees only the files that they lead to, and nothing can import this one: it is no module.
// oxlint-disable-next-line typescript/triple-slash-reference
/// <reference path="./store/postgres/pg-client.d.ts" />
export { openPostgresStore, type PostgresStore, type PostgresStoreOptions } from './store/postgres/postgres-store.ts'
export type { Durability } from './store/postgres/suitability.ts'
