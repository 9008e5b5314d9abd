// The limit of this machine: the same operation written by hand on SQLite, with nothing but its rows. An operation is inserted,
// then four times a step row is inserted and the operation updated; everything that gathers in a turn of the event loop is one
// transaction. No history, rules, fences or checks of input. WAL and synchronous=FULL, as the store has it.
// The rows are what an operation needs to be found and resumed: name, input, status, cursor; a result by operation and step.
import { DatabaseSync } from 'node:sqlite'

const steps = 4

/** What a step does in all benchmarks: nothing, later. */
const work = async (step: number): Promise<{ ok: boolean; step: number }> => ({ ok: true, step })

interface Waiting {
  readonly op: number
  /** 0: the operation begins. */
  readonly step: number
  readonly result: string
  readonly done: () => void
}

export class Bare {
  readonly #db: DatabaseSync
  readonly #write: (one: Waiting) => void
  readonly #begin
  readonly #commit
  #waiting: Waiting[] = []
  #count = 0

  constructor(file: string) {
    const db = new DatabaseSync(file)
    db.exec(`pragma journal_mode = wal; pragma synchronous = full;
      create table op (no integer primary key, name text not null, input text not null, status text not null,
        step integer not null, at integer not null) strict;
      create table step (op integer not null, step integer not null, result text not null, at integer not null,
        primary key (op, step)) strict, without rowid;`)
    const insertOp = db.prepare('insert into op (no, name, input, status, step, at) values (?, ?, ?, ?, ?, ?)')
    const insertStep = db.prepare('insert into step (op, step, result, at) values (?, ?, ?, ?)')
    const updateOp = db.prepare('update op set status = ?, step = ?, at = ? where no = ?')
    this.#begin = db.prepare('begin immediate')
    this.#commit = db.prepare('commit')
    this.#write = ({ op, step, result }) => {
      const now = Date.now()
      if (step === 0) return void insertOp.run(op, 'create', '{"sizeGb":10}', 'running', 0, now)
      insertStep.run(op, step, result, now)
      updateOp.run(step === steps ? 'done' : 'running', step, now, op)
    }
    this.#db = db
  }

  /** One operation, each part durable before the next begins. */
  run(done: () => void): void {
    const op = ++this.#count
    const goOn = (step: number) => {
      if (step === steps) return done()
      void work(step + 1).then((result) =>
        this.#gather({ op, step: step + 1, result: JSON.stringify(result), done: () => goOn(step + 1) }),
      )
    }
    this.#gather({ op, step: 0, result: '', done: () => goOn(0) })
  }

  #gather(one: Waiting): void {
    if (this.#waiting.push(one) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    const batch = this.#waiting
    this.#waiting = []
    this.#begin.run()
    for (const one of batch) this.#write(one)
    this.#commit.run()
    for (const one of batch) one.done()
  }

  /** What is wrong with the rows; empty when all is well. */
  audit(operations: number): string[] {
    const count = (sql: string) => Number(this.#db.prepare(sql).get()!['n'])
    const faults: string[] = []
    if (count(`select count(*) as n from op where status = 'done' and step = 4`) !== operations)
      faults.push('operations')
    if (count('select count(*) as n from step') !== steps * operations) faults.push('steps')
    return faults
  }

  close(): void {
    this.#db.close()
  }
}
