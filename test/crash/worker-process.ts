// The program that the crash tests kill: an engine on the folder's store whose drivers act on a folder. It is told what to do over
// IPC and answers after the commit: an answer that the parent has received is an acknowledgement.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { createEngine } from '../../src/engine/engine.ts'
import type { EngineSettings } from '../../src/engine/options.ts'
import { block, driversOn, type DriverOrders } from './driver.ts'
import { dyingStore, type DeathAt } from './dying-store.ts'
import { boxes, racks } from './lifecycles.ts'
import type { Order, Reply } from './orders.ts'
import { openStoreOf } from './store-of.ts'
import { World } from './world.ts'

export interface WorkerOrders extends DriverOrders {
  readonly folder: string
  readonly death?: DeathAt | undefined
  readonly settings?: Partial<EngineSettings> | undefined
}

const orders = JSON.parse(process.env['CRASH_ORDERS']!) as WorkerOrders
const say = (reply: Reply) => void process.send?.(reply)

let commits = 0
const opened = await openStoreOf(orders.folder)
const store = dyingStore(opened, orders.death, (count) => (commits = count))
const engine = createEngine({
  store,
  lifecycles: [racks, boxes],
  drivers: driversOn(new World(orders.folder), orders),
  options: { name: `pid ${process.pid}`, ...orders.settings },
  log: (level, message, fields) => {
    appendFileSync(
      join(orders.folder, `worker-${process.pid}.log`),
      `${Date.now()} ${level} ${message} ${inspect(fields)}\n`,
    )
    if (message === 'this worker is no longer an owner') say({ said: 'lost' })
  },
})

async function carryOut(order: Order): Promise<unknown> {
  switch (order.do) {
    case 'submit': {
      const decision = await engine.submit(order.command)
      if (!decision.accepted)
        return { accepted: false, code: decision.rejection.code, message: decision.rejection.message }
      const { no, id, status } = decision.resource
      return { accepted: true, no, id, status, begun: decision.begun }
    }
    case 'commits':
      return commits
    case 'incarnation':
      return engine.incarnation
    case 'block':
      block(order.ms)
      return null
    case 'heal':
      engine.heal.run()
      return null
    case 'preview':
      return engine.heal.preview(order.limit)
  }
}

process.on('message', (order: Order) => {
  carryOut(order).then(
    (answer) => say({ said: 'answer', to: order.id, answer }),
    (error: unknown) => say({ said: 'failed', to: order.id, reason: String(error) }),
  )
})
process.on('SIGTERM', () => {
  void engine
    .stop()
    .then(() => store.close())
    .then(() => process.exit(0))
})
process.on('disconnect', () => process.exit(1))

await engine.start()
say({ said: 'ready', incarnation: engine.incarnation })
