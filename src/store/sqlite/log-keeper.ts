// Keeps the log short while much is written. Copying it back to the file takes longer than several commits: a thread of its own does
// that beside the thread that commits. SQLite begins the log anew only when a writer finds all of it copied, and beside a busy writer
// that never comes by itself: when the log has become long, the writer copies the little that is left and so begins it anew.
import { Worker } from 'node:worker_threads'
import { threadFile } from '../thread-file.ts'
import type { Connection } from './connection.ts'

export interface LogKeeperOrder {
  readonly file: string
  readonly patienceMs: number
}

/** So many commits are worth copying. */
const commitsTogether = 40

export class LogKeeper {
  private readonly connection: Connection
  private readonly thread: Worker
  private readonly longLog: number
  private commits = 0
  private isCopying = false
  private isLong = false
  private isGone = false

  /** `connection` is the one that commits; a log of `longLog` pages, usually 64 MB, is begun anew. */
  constructor(connection: Connection, order: LogKeeperOrder, longLog = 16_000) {
    this.longLog = longLog
    this.connection = connection
    this.thread = new Worker(threadFile(import.meta.url), { workerData: order })
    this.thread.unref()
    this.thread.on('message', (pages: number) => {
      this.isCopying = false
      this.isLong = pages >= this.longLog
    })
    const gone = () => {
      this.isGone = true
      this.isCopying = false
    }
    this.thread.on('error', gone)
    this.thread.on('exit', gone)
  }

  stop(): void {
    void this.thread.terminate()
  }

  /** Called after each commit. */
  committed(): void {
    if (this.isLong) {
      this.isLong = false
      this.connection.checkpoint()
    }
    if (++this.commits < commitsTogether || this.isCopying) return
    this.commits = 0
    // Without the thread the writer copies everything itself.
    if (this.isGone) return void this.connection.checkpoint()
    this.isCopying = true
    this.thread.postMessage('copy')
  }
}
