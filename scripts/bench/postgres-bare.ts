// The limit of this machine on PostgreSQL: the same operation written by hand, with nothing but its rows. An operation is inserted, then
// four times a step row is inserted and the operation updated; what gathers while a connection is free is one transaction and one round
// trip, a statement per table with its rows as arrays. No history, rules, fences or checks of input. The plans by index are forced, as
// the store has them: without that the planner reads whole tables and the figure moves by three times. The table of operations has room
// in its pages for updates, as the store's has; the same on plain tables is told too, and judges nothing.
import { addressOf } from '../../src/store/postgres/address.ts'
import type { Step } from '../../src/store/postgres/pipeline.ts'
import { commitSettings } from '../../src/store/postgres/statements.ts'
import { numbersOf, textsFrom, textsOf } from '../../src/store/postgres/texts.ts'
import { Wire } from '../../src/store/postgres/wire.ts'

const steps = 4
const connections = 2

/** What a step does in all benchmarks: nothing, later. */
const work = async (step: number): Promise<{ ok: boolean; step: number }> => ({ ok: true, step })

interface Waiting {
  readonly op: number
  /** 0: the operation begins. */
  readonly step: number
  readonly result: string
  readonly done: () => void
}

/** How full the pages of operations are when they are new, in percent: what is left is for their updates. */
export type Filled = 100 | 45

const tablesOf = (schema: string, filled: Filled) => `create schema ${schema};
  create table ${schema}.op (no bigint primary key, name text not null, input text not null, status text not null, step integer not null,
    at float8 not null) with (fillfactor = ${filled});
  create table ${schema}.step (op bigint not null, step integer not null, result text not null, at float8 not null, primary key (op, step));`

const statements = {
  begin: `insert into op (no, name, input, status, step, at) select no, 'create', '{"sizeGb":10}', 'running', 0, at
    from unnest($1::int8[], $2::float8[]) v(no, at)`,
  step: `insert into step (op, step, result, at) select op, step, result, at
    from unnest($1::int8[], $2::int4[], ${textsOf(3)}, $4::float8[]) v(op, step, result, at)`,
  update: `update op o set status = v.status, step = v.step, at = v.at
    from unnest($1::int8[], $2::int4[], ${textsOf(3)}, $4::float8[]) v(no, step, status, at) where o.no = v.no`,
}

export class PostgresBare {
  readonly #wires: readonly Wire[]
  readonly #free: Wire[]
  #waiting: Waiting[] = []
  #count = 0
  #isPlanned = false

  private constructor(wires: readonly Wire[]) {
    this.#wires = wires
    this.#free = [...wires]
  }

  static async open(url: string, filled: Filled): Promise<PostgresBare> {
    const schema = `bare_${filled}`
    const address = addressOf({ url })
    const first = await Wire.open({ address, settings: {}, statements: {}, openMs: 5_000 })
    await first.query(tablesOf(schema, filled))
    await first.close()
    const settings = { ...commitSettings, search_path: schema, synchronous_commit: 'on' }
    const open = () => Wire.open({ address, settings, statements, openMs: 5_000 })
    return new PostgresBare(await Promise.all(Array.from({ length: connections }, open)))
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
    this.#waiting.push(one)
    this.#plan()
  }

  #plan(): void {
    if (this.#isPlanned || this.#free.length === 0 || this.#waiting.length === 0) return
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      // An even share while both are free, as the engine does it.
      const share = this.#free.length > 1 && this.#waiting.length > 100 ? Math.ceil(this.#waiting.length / 2) : Infinity
      this.#send(this.#free.pop()!, this.#waiting.splice(0, share))
      this.#plan()
    })
  }

  #send(wire: Wire, batch: readonly Waiting[]): void {
    wire.run(stepsOf(batch)).then(
      () => {
        this.#free.push(wire)
        for (const one of batch) one.done()
        this.#plan()
      },
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  }

  /** What is wrong with the rows; empty when all is well. */
  async audit(operations: number): Promise<string[]> {
    const count = async (sql: string) => Number((await this.#wires[0]!.query(sql))[0]![0])
    const faults: string[] = []
    if ((await count(`select count(*) from op where status = 'done' and step = 4`)) !== operations)
      faults.push('operations')
    if ((await count('select count(*) from step')) !== steps * operations) faults.push('steps')
    return faults
  }

  async close(): Promise<void> {
    for (const wire of this.#wires) await wire.close()
  }
}

function stepsOf(batch: readonly Waiting[]): Step[] {
  const now = Date.now()
  const begins = { no: [] as number[], at: [] as number[] }
  const done = {
    op: [] as number[],
    step: [] as number[],
    result: [] as string[],
    status: [] as string[],
    at: [] as number[],
  }
  for (const { op, step, result } of batch) {
    if (step === 0) {
      begins.no.push(op)
      begins.at.push(now)
      continue
    }
    done.op.push(op)
    done.step.push(step)
    done.result.push(result)
    done.status.push(step === steps ? 'done' : 'running')
    done.at.push(now)
  }
  const found: Step[] = []
  if (begins.no.length > 0) found.push({ name: 'begin', values: [numbersOf(begins.no), numbersOf(begins.at)] })
  if (done.op.length > 0) {
    const [op, step, at] = [numbersOf(done.op), numbersOf(done.step), numbersOf(done.at)]
    found.push({ name: 'step', values: [op, step, textsFrom(done.result), at] })
    found.push({ name: 'update', values: [op, step, textsFrom(done.status), at] })
  }
  return found
}
