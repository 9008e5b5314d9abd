// A process that works until its disk is full, and goes on when there is room again: node full-disk-process.ts <orders as JSON>. It tells
// in lines of JSON what it acknowledges and what its engine says; `room` on its input takes the ballast away, `end` ends it in order, and
// the end of the input at once.
import { copyFileSync, existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { createEngine } from '../../src/engine/engine.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { lifecycles, Puppet } from '../../src/testing/engine-bench.ts'
import { ask } from '../postgres/ask.ts'
import { startPostgres, type PostgresServer } from '../postgres/server.ts'

export interface Orders {
  readonly store: 'sqlite' | 'postgres'
  /** On the small disk. */
  readonly folder: string
  /** So much of it is left; null: its size is not what is limited. */
  readonly roomBytes: number | null
  /** Where the store is copied to at the end, or the ids that it has are written: it outlives the small disk. */
  readonly copy: string
}

const orders = JSON.parse(process.argv[2]!) as Orders
const say = (line: object) => void process.stdout.write(`${JSON.stringify(line)}\n`)
const ballast = join(orders.folder, 'ballast')
const file = join(orders.folder, 'store.db')

let server: PostgresServer | null = null
if (orders.store === 'postgres') {
  process.env['TMPDIR'] = orders.folder
  // A server that starts itself again after a crash has been seen to stay, for ever, without the process that recovers it.
  const settings = { max_wal_size: '32MB', min_wal_size: '32MB', restart_after_crash: 'off' }
  server = await startPostgres({ durable: true, settings })
}
const open = async (): Promise<Store> =>
  server === null
    ? openSqliteStore({ file })
    : openPostgresStore({ url: server.url, schema: 'full', patienceMs: 2_000 })
const store = await open()
const puppet = new Puppet()
const engine = createEngine({
  store,
  lifecycles,
  drivers: {
    'bench.rack': puppet.driver('mount', 'unmount', 'polishBox'),
    'bench.box': puppet.driver('cut', 'glue', 'toil', 'unplug', 'burn', 'toiled', 'alive'),
  },
  options: { leaseMs: 2_000, healEveryMs: 200 },
  log: (level, message, fields) => {
    if (level === 'warn' || level === 'error') say({ message, error: inspect(fields, { breakLength: Infinity }) })
  },
})
await engine.start()
say({ ready: true })

/** Takes nearly all the room there is. */
async function fill(): Promise<void> {
  if (orders.roomBytes === null) return
  const { bavail, bsize } = statfsSync(orders.folder)
  writeFileSync(ballast, Buffer.alloc(bavail * bsize - orders.roomBytes, 1))
  // The next thing that is written needs another file of the log, which is larger than the room that is left.
  if (server !== null) await ask(server, 'select pg_switch_wal()').catch(() => {})
}

const acknowledgedFirst = 30
let acknowledged = 0
let isOver = false
async function work(user: number): Promise<void> {
  for (let n = 0; !isOver; n++) {
    const id = `r${user}-${n}`
    for (;;) {
      try {
        await engine.create('bench.rack', { id, name: 'x'.repeat(200), properties: {} }, { by: 'test', key: id })
        say({ acknowledged: id })
        if (++acknowledged === acknowledgedFirst) void fill()
        break
      } catch (error) {
        const { code, message } = error as { code?: string; message: string }
        say({ refused: code ?? 'none', message })
        if (isOver) return
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
}
const users = [0, 1, 2, 3].map((user) => work(user))

async function end(): Promise<void> {
  isOver = true
  await Promise.all(users)
  await engine.stop()
  await store.close()
  if (server === null) {
    for (const part of ['', '-wal']) if (existsSync(file + part)) copyFileSync(file + part, orders.copy + part)
  } else {
    writeFileSync(orders.copy, JSON.stringify(await ask(server, 'select id from "full".resource')))
    await server.remove()
  }
  process.exit(0)
}

/** One that takes longer is ended and started again. */
const startsWithinMs = 10_000

/** A server that finds no room for its log ends itself: whoever runs it starts it again, in vain until there is room. */
async function supervise(one: PostgresServer): Promise<void> {
  while (!isOver) {
    if (!one.isRunning) {
      // What it said is gone when it starts.
      say({ log: one.log })
      const overdue = setTimeout(() => void (one.isRunning && one.crash()), startsWithinMs)
      await one.start().catch(() => {})
      clearTimeout(overdue)
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
if (server !== null) void supervise(server)

/** Whoever gave the orders is gone: nothing that was started here outlives it. */
async function vanish(): Promise<void> {
  isOver = true
  if (server?.isRunning) await server.crash()
  process.exit(1)
}

createInterface({ input: process.stdin })
  .on('line', (line) => void (line === 'room' ? rmSync(ballast) : end()))
  .on('close', () => void vanish())
