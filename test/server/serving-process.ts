// The program that the tests of the server kill: the shop of workshop.ts on a SQLite file, served on a port that it is given.
import { flushCompileCache } from 'node:module'
import { openSqliteStore } from '../../src/sqlite.ts'
import { openShop } from './workshop.ts'

const { file, port } = JSON.parse(process.argv[2]!) as { readonly file: string; readonly port: number }
const shop = await openShop({
  store: openSqliteStore({ file }),
  server: {
    port,
    webhooks: { privateAddresses: true, firstWaitMs: 10, tries: 5 },
    rate: { perSecond: 100_000, burst: 100_000 },
  },
})
// It is killed, and never ends in order: what it has compiled is kept for the next one now.
flushCompileCache()
process.send?.({ url: shop.url })
process.on('message', () => {
  globalThis.gc?.()
  const { rss, heapUsed, external } = process.memoryUsage()
  process.send?.({ rss, heap: heapUsed + external })
})
process.on('disconnect', () => process.exit(0))
