// How a database's steps are done: its disk is a file, its server a process, in a world that outlives whoever uses it. Put the calls of
// your own cloud here. Every call may come again with the same key: it must do nothing twice.
import type { Driver } from 'homeostat'
import { guardOf, sweeperOf, type World } from 'homeostat/worlds'
import type { databases } from './database.ts'

const gb = 2 ** 30

export const createDriver = (world: World): Driver<typeof databases> => ({
  makeDisk: async (call) => {
    const disk = { kind: 'disk', name: call.name!, sizeBytes: call.resource.properties.sizeGb * gb }
    await world.create(disk, guardOf(call, 'makeDisk'))
  },
  startServer: async (call) => {
    for (const { name } of call.ledger) await world.start(name, guardOf(call, 'startServer'))
  },
  growDisk: async (call) => {
    for (const { name } of call.ledger) await world.resize(name, call.input.sizeGb * gb, guardOf(call, 'growDisk'))
  },
  stopServer: async (call) => {
    for (const { name } of call.ledger) await world.stop(name, guardOf(call, 'stopServer'))
  },
  removeDisk: async (call) => {
    for (const { name } of call.ledger) await world.destroy(name, guardOf(call, 'removeDisk'))
  },
  sweeper: sweeperOf(world, 'shop.database'),
})
