// One question to a server, on a connection of its own: the first column of the rows.
import pg from 'pg'
import type { PostgresServer } from './server.ts'

export async function ask(server: PostgresServer, sql: string): Promise<unknown[]> {
  const client = new pg.Client(server.url)
  // Whoever waits for an answer is told that the connection is gone.
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.map((row) => Object.values(row)[0])
  } finally {
    await client.end()
  }
}
