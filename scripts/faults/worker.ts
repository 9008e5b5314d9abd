// A worker process of the harness: an engine on the proxied server and the far world, that takes requests on a socket of its own. It is
// here to be killed and frozen. What it answers was committed.
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { inspect } from 'node:util'
import { createEngine } from 'homeostat'
import { openPostgresStore } from 'homeostat/postgres'
import type { Asked, Told, WorkerOrders } from './messages.ts'
import { openFarWorld } from './far-world.ts'
import { driversOn, engineSettings, lifecycles, schema } from './systems.ts'

const orders = JSON.parse(process.env['FAULTS_WORKER']!) as WorkerOrders
const say = (text: string) => void (orders.isTold && process.stderr.write(`${orders.name}: ${text}\n`))

// Whoever started it is gone: so is this.
process.on('disconnect', () => process.exit(1))
process.on('SIGINT', () => {})

/** The wall clock of this process, put wrong by so much. */
let clockOffMs = 0
const trueNow = Date.now
Date.now = () => trueNow() + clockOffMs
process.on('message', (message: { readonly clockOffMs: number }) => (clockOffMs = message.clockOffMs))

const world = await openFarWorld(orders.cloud)
const store = await opened()
const engine = createEngine({
  store,
  lifecycles,
  drivers: driversOn(world),
  options: { ...engineSettings, ...orders.settings, name: orders.name },
  log: (level, message, fields) => {
    if (level !== 'info' && level !== 'debug') say(`${level} ${message} ${inspect(fields, { breakLength: Infinity })}`)
  },
})

/** The server may be away while a worker starts. */
async function opened() {
  for (;;) {
    try {
      return await openPostgresStore({
        url: orders.url,
        schema,
        durability: orders.durability,
        commits: 1,
        patienceMs: orders.patienceMs,
        log: say,
      })
    } catch (error) {
      say(`cannot open the store yet: ${String(error)}`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

async function answerTo(asked: Asked): Promise<Told> {
  const { id } = asked
  try {
    if (asked.do === 'look') {
      const found = await engine.get(asked.type, asked.of)
      return { id, told: 'seen', status: found?.status ?? null, isBusy: found !== null && found.run !== null }
    }
    const decision = await engine.submit({ kind: 'requestOperation', by: 'client', ...asked.request })
    if (decision.accepted) return { id, told: 'accepted', no: decision.resource.no, begun: decision.begun }
    const { code, message } = decision.rejection
    return { id, told: 'refused', code, message }
  } catch (error) {
    const code = (error as { code?: unknown }).code
    return { id, told: 'refused', code: typeof code === 'string' ? code : 'store_unavailable', message: String(error) }
  }
}

const server = createServer((socket) => {
  socket.on('error', () => {})
  const lines = createInterface({ input: socket })
  lines.on('error', () => {})
  lines.on('line', (line) => {
    void answerTo(JSON.parse(line) as Asked).then((told) => {
      if (!socket.destroyed) socket.write(`${JSON.stringify(told)}\n`)
    })
  })
})

process.on('SIGTERM', () => {
  server.close()
  void engine
    .stop()
    .then(() => store.close())
    .finally(() => process.exit(0))
})

for (;;) {
  try {
    await engine.start()
    break
  } catch (error) {
    // An engine starts once: another process tries again.
    say(`could not start: ${String(error)}`)
    process.exit(75)
  }
}
rmSync(orders.socket, { force: true })
server.listen(orders.socket, () => process.send?.({ ready: engine.incarnation }))
