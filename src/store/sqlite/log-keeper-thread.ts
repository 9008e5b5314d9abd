// The thread's side of the log keeper: copies the log back to the file whenever it is told to.
import { parentPort, workerData } from 'node:worker_threads'
import { Connection } from './connection.ts'
import type { LogKeeperOrder } from './log-keeper.ts'

const { file, patienceMs } = workerData as LogKeeperOrder
const port = parentPort!
const connection = new Connection({ file, readonly: false, synchronous: 'full', patienceMs, checkpointPages: 0 })
port.on('message', () => port.postMessage(connection.checkpoint()))
