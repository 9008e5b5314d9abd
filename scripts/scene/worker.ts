// A worker process of the scene: an engine on the SQLite file, told over IPC what is asked of it. It is here to be killed.
import { join } from 'node:path'
import { createEngine } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { databases } from '../../examples/database.ts'
import type { Asked, Told, WorkerSettings } from './messages.ts'
import { driverOn } from './world.ts'

const settings = JSON.parse(process.env['SCENE_WORKER']!) as WorkerSettings
const tell = (told: Told) => void process.send?.(told)

const store = openSqliteStore({ file: join(settings.folder, 'shop.db') })
const engine = createEngine({
  store,
  lifecycles: { database: databases },
  drivers: { database: driverOn(settings) },
  options: {
    name: settings.name,
    concurrency: settings.concurrency,
    leaseMs: 5_000,
    healEveryMs: 500,
    // So that a newcomer need not wait for what takes ten minutes in earnest.
    inventoryEveryMs: 400,
    sweepEveryMs: 400,
    strayGraceMs: 600,
  },
  log: (_level, message, fields) => {
    const name = fields?.['name']
    tell({ told: 'log', message, name: typeof name === 'string' ? name : '' })
  },
})

async function ask(asked: Asked): Promise<void> {
  const shop = engine.client('you')
  if (asked.operation === 'create') await shop.database.create({ id: asked.id, properties: { sizeGb: asked.sizeGb } })
  else if (asked.operation === 'grow') await shop.database.grow(asked.id, { sizeGb: asked.sizeGb })
  else await shop.database.delete(asked.id)
}

process.on('message', (asked: Asked) => {
  ask(asked).then(
    () => tell({ told: 'accepted', no: asked.no }),
    (error: unknown) => tell({ told: 'refused', no: asked.no, reason: String(error) }),
  )
})
// Ctrl-C reaches the whole group; the narrator decides what becomes of us. Without it there is nothing to do here.
process.on('SIGINT', () => {})
process.on('disconnect', () => process.exit(1))
process.on('SIGTERM', () => {
  void engine
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
})

await engine.start()
tell({ told: 'ready', incarnation: engine.incarnation })
