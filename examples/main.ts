// main.ts: creates a database and waits for it. Kill it with -9 at any moment and start it again: it goes on where it was.
import { createEngine } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { databases, driver } from './database.ts'

const store = openSqliteStore({ file: 'shop.db' })
const engine = createEngine({ store, lifecycles: { database: databases }, drivers: { database: driver } })
await engine.start()

const shop = engine.client('me')
const before = await shop.database.get('orders')
if (before) console.log(`orders is there already: ${before.status}`)
else await shop.database.create({ id: 'orders', properties: { sizeGb: 10 } })

const [run] = await engine.runsOf('shop.database', 'orders')
await engine.waitForRun(run!.id, { timeoutMs: 60_000 })
const { because } = await engine.explain('shop.database', 'orders')
console.log(because.join('\n'))

await engine.stop()
await store.close()
