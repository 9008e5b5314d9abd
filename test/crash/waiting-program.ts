// A program of a user that has nothing but the engine: it asks for something, and stops while the call of its driver is under way.
import { createEngine } from 'homeostat'
import { createMemoryStore } from 'homeostat/testing'
import { databases } from '../../examples/database.ts'

const never = () => new Promise<void>(() => {})
const engine = createEngine({
  store: createMemoryStore(),
  lifecycles: { database: databases },
  drivers: {
    database: { makeDisk: never, startServer: never, growDisk: never, stopServer: never, removeDisk: never },
  },
  options: { stopPatienceMs: 200 },
})
await engine.start()
await engine.client('ann').database.create({ id: 'orders', properties: { sizeGb: 1 } })
const told: string[] = []
const first = engine.stop().then(() => told.push('first'))
const second = engine.stop().then(() => told.push('second'))
// Whoever asks again waits for the same end.
await second
console.log(told.join(' '))
await first
