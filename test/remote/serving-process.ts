// The program that the tests of remote drivers kill: the disks of examples/remote-disks.ts on a SQLite file, with a driver elsewhere.
import { flushCompileCache } from 'node:module'
import { disks, disksAt } from '../../examples/remote-disks.ts'
import { createEngine, type Engine } from '../../src/index.ts'
import { createServer } from '../../src/server.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { adminToken } from '../server/workshop.ts'
import { secret } from './call.ts'

const { file, port, driver } = JSON.parse(process.argv[2]!) as { file: string; port: number; driver: string }
const engine = createEngine({
  store: openSqliteStore({ file }),
  lifecycles: { disk: disks },
  drivers: {
    disk: disksAt({
      url: driver,
      secret,
      privateAddresses: true,
      completeAt: `http://127.0.0.1:${port}`,
      timeoutMs: 10_000,
    }),
  },
  options: { leaseMs: 3_000, healEveryMs: 200, sweepEveryMs: 300, inventoryEveryMs: 300, strayGraceMs: 0 },
}) as unknown as Engine
await engine.start()
const server = createServer({ engine, port, adminToken })
// It is killed, and never ends in order: what it has compiled is kept for the next one now.
flushCompileCache()
process.send?.({ url: await server.start() })
process.on('disconnect', () => process.exit(0))
