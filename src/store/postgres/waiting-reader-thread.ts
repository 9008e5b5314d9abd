// The thread's side of reading while another waits: takes questions one after another and wakes who waits with the answer.
import { workerData } from 'node:worker_threads'
import type { Ask } from '../../decision/situation.ts'
import { addressOf } from './address.ts'
import { Loader, loadStatements } from './loader.ts'
import { Shapes } from './shapes.ts'
import type { Reading, ReadingOrder } from './waiting-reader.ts'
import { Wire } from './wire.ts'
import { Wires } from './wires.ts'

const { address, settings, port, answered } = workerData as ReadingOrder
const open = () => Wire.open({ address: addressOf(address), settings, statements: loadStatements, openMs: 5_000 })
const wires = new Wires(open, 1)
const loader = new Loader(wires, new Shapes(wires))

port.on('message', (asks: readonly Ask[]) => {
  void loader
    .load(asks)
    .then(
      (answers): Reading => ({ answers }),
      (error: unknown): Reading => ({ error: (error as Error).message }),
    )
    .then((reading) => {
      port.postMessage(reading)
      Atomics.add(answered, 0, 1)
      Atomics.notify(answered, 0)
    })
})
