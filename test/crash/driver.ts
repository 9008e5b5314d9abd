// The drivers of the crash tests: they act on the world's files, and stop, block, fail or die where they are told to.
import { setTimeout as sleep } from 'node:timers/promises'
import { TerminalError, type Call, type Driver } from 'homeostat'
import { boxes, racks } from './lifecycles.ts'
import type { World } from './world.ts'

export interface DriverOrders {
  /** Kills its own process inside the nth call of this function: before or after what it does. */
  readonly killIn?: { readonly function: string; readonly at: 'begin' | 'end'; readonly nth: number } | undefined
  /** How long a blocking fill keeps the event loop. */
  readonly blockMs?: number | undefined
  /** How long every call takes at least. */
  readonly slowMs?: number | undefined
}

type AnyCall = Call<any, any, any, any, any>

/** SIGKILL to itself; nothing runs after it. */
export function die(): never {
  process.kill(process.pid, 'SIGKILL')
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
}

export function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

export function driversOn(world: World, orders: DriverOrders): Record<string, object> {
  const { killIn, blockMs = 0, slowMs = 0 } = orders
  let calls = 0
  const doing = async (fn: string, call: AnyCall, work: () => void | Promise<void>) => {
    world.record({
      pid: process.pid,
      function: fn,
      key: call.key,
      id: call.resource.id,
      attempt: call.attempt,
      epoch: call.epoch,
      at: Date.now(),
    })
    const isFatal = killIn?.function === fn && ++calls === killIn.nth
    if (slowMs > 0) await sleep(slowMs)
    if (isFatal && killIn.at === 'begin') die()
    await work()
    if (isFatal) die()
  }
  const fileOf = ({ ledger }: AnyCall) => ledger.find(({ kind }) => kind === 'file')?.name ?? ''

  const fill = async (call: Parameters<Driver<typeof boxes>['fill']>[0]) => {
    const { id, properties } = call.resource
    const name = fileOf(call)
    if (properties.behaviour === 'poison') process.abort()
    if (properties.behaviour === 'blocking') block(blockMs)
    if (properties.behaviour === 'slow') await sleep(150)
    while (properties.behaviour === 'stubborn' && !world.isOpen(id)) await sleep(20)
    while (properties.behaviour === 'held' && !world.isOpen(id)) await sleep(20, undefined, { signal: call.signal })
    if (properties.behaviour === 'faulty') throw new TerminalError('no_space', 'there is no room for it')
    world.fill(name, properties.size)
  }

  const boxDriver: Driver<typeof boxes> = {
    makeFile: (call) => doing('makeFile', call, () => world.make(call.name ?? '')),
    async pay(call) {
      await doing('pay', call, () => void world.pay(call.resource.id, call.key))
      return { receipt: call.key }
    },
    fill: (call) => doing('fill', call, () => fill(call)),
    refund: (call) => doing('refund', call, () => world.refund(call.resource.id)),
    removeFile: (call) =>
      doing('removeFile', call, () => {
        for (const { kind, name } of call.ledger) if (kind === 'file') world.remove(name)
      }),
    extend: (call) =>
      doing('extend', call, () => world.extend(fileOf(call), call.input.size - call.resource.properties.size)),
    note: (call) => doing('note', call, () => {}),
    look: (call) => doing('look', call, () => sleep(3_600_000, undefined, { signal: call.signal })),
    async isExtended(call) {
      await doing('isExtended', call, () => {})
      const { size } = call.input as { size: number }
      return world.sizeOf(fileOf(call)) === size ? 'yes' : 'no'
    },
    async isThere(call) {
      await doing('isThere', call, () => {})
      const size = world.sizeOf(fileOf(call))
      return size === null || size === 0 ? 'missing' : { answer: 'there', observed: { size } }
    },
    sweeper: {
      inventory: async () => world.things().map((name) => ({ kind: 'file', name })),
      destroy: async ({ name }) => world.remove(name),
    },
  }
  const rackDriver: Driver<typeof racks> = {
    lock: (call) => doing('lock', call, () => {}),
    unscrew: (call) => doing('unscrew', call, () => {}),
  }
  return { 'crash.box': boxDriver, 'crash.rack': rackDriver }
}
