// The thread's side: takes sheets, carries each out in a transaction of its own connection, and tells what became of it.
import { parentPort, workerData } from 'node:worker_threads'
import { HomeostatError, messageOf } from '../../base/errors.ts'
import type { SheetAnswer, SheetOrder, ThreadOrder } from './commit-thread.ts'
import { Connection, isConstraint } from './connection.ts'
import { LogKeeper } from './log-keeper.ts'
import { Shapes } from './shapes.ts'
import { unpack } from './sheet-packing.ts'
import { SheetWriter } from './sheet-writer.ts'
import { sameHeads, Turns } from './turns.ts'
import { Verifier } from './verifier.ts'

const { file, patienceMs, me } = workerData as ThreadOrder
const port = parentPort!
const connection = new Connection({
  file,
  readonly: false,
  synchronous: 'full',
  patienceMs,
  // SQLite goes through its whole cache after every commit that has divided a page: a large one costs more than it saves.
  cacheKiB: 8_000,
  checkpointPages: 0,
})
const log = new LogKeeper(connection, { file, patienceMs })
const turns = new Turns(connection, me)
const sheets = new SheetWriter(connection)
const verifier = new Verifier(connection, new Shapes(connection))

port.on('message', (order: SheetOrder | 'stop') => {
  if (order !== 'stop') {
    const answer = answerTo(order)
    port.postMessage(answer)
    if (answer.outcome === 'done') log.committed()
    return
  }
  log.stop()
  connection.close()
  port.close()
})
port.postMessage('ready')

function answerTo(order: SheetOrder): SheetAnswer {
  try {
    return carryOut(order)
  } catch (error) {
    turns.undo()
    if (isConstraint(error)) return { outcome: 'mismatch' }
    const told = turns.told(error)
    const code = told instanceof HomeostatError ? told.code : null
    return { outcome: 'failed', code, message: messageOf(told) }
  }
}

function carryOut({ parcel, from, to }: SheetOrder): SheetAnswer {
  const sheet = unpack(parcel)
  turns.begin()
  const feed = turns.feed()
  if (!sameHeads(feed, from)) {
    turns.undo()
    return { outcome: 'moved', feed }
  }
  if (!verifier.guardsHold(sheet.guards) || !sheets.write(sheet, turns.ledTo(to))) {
    turns.undo()
    return { outcome: 'mismatch' }
  }
  turns.commit(to, sheet.events.length > 0)
  return { outcome: 'done' }
}
