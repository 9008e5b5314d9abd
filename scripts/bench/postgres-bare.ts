// The limit of this machine on PostgreSQL: the same operation written by hand, with nothing but its rows. An operation is inserted, then
// four times a step row is inserted and the operation updated; what gathers while one of two connections is free is one transaction and one
// round trip, its rows as arrays. No history, rules, fences or checks of input. The plans by index are forced, as the store has them: without that
// the planner reads whole tables and the figure moves by three times. There are two, alike but for their tables:
// - tuned: as fast as we know how to make it, with room in the pages for updates, as the store's have.
// - plain: on tables that nothing was arranged for. Which of the two the goals were set by is not known (ADR 26).
import { addressOf } from '../../src/store/postgres/address.ts'
import type { Step } from '../../src/store/postgres/pipeline.ts'
import { commitSettings } from '../../src/store/postgres/statements.ts'
import { numbersOf, textsFrom, textsOf } from '../../src/store/postgres/texts.ts'
import { Wire, type Statements } from '../../src/store/postgres/wire.ts'

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

export type Kind = 'plain' | 'tuned'

/** How full the pages of operations are when they are new, in percent: what is left is for their updates. */
const filled: Readonly<Record<Kind, number>> = { plain: 100, tuned: 45 }

const tablesOf = (schema: string, kind: Kind) => `create schema ${schema};
  create table ${schema}.op (no bigint primary key, name text not null, input text not null, status text not null, step integer not null,
    at float8 not null) with (fillfactor = ${filled[kind]});
  create table ${schema}.step (op bigint not null, step integer not null, result text not null, at float8 not null, primary key (op, step));`

const stepTexts = textsOf(3)
const statements: Statements = {
  begin: `insert into op (no, name, input, status, step, at) select no, 'create', '{"sizeGb":10}', 'running', 0, at
    from unnest($1::int8[], $2::float8[]) v(no, at)`,
  step: `insert into step (op, step, result, at) select op, step, result, at
    from unnest($1::int8[], $2::int4[], ${stepTexts}, $4::float8[]) v(op, step, result, at)`,
  update: `update op o set status = v.status, step = v.step, at = v.at
    from unnest($1::int8[], $2::int4[], ${stepTexts}, $4::float8[]) v(no, step, status, at) where o.no = v.no`,
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

  static async open(url: string, kind: Kind): Promise<PostgresBare> {
    const schema = `bare_${kind}`
    const address = addressOf({ url })
    const first = await Wire.open({ address, settings: {}, statements: {}, openMs: 5_000 })
    await first.query(tablesOf(schema, kind))
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
  const [no, begunAt] = [numbersOf(begins.no), numbersOf(begins.at)]
  const [op, step, at] = [numbersOf(done.op), numbersOf(done.step), numbersOf(done.at)]
  const [result, status] = [textsFrom(done.result), textsFrom(done.status)]
  const found: Step[] = []
  if (begins.no.length > 0) found.push({ name: 'begin', values: [no, begunAt] })
  if (done.op.length > 0) {
    found.push({ name: 'step', values: [op, step, result, at] })
    found.push({ name: 'update', values: [op, step, status, at] })
  }
  return found
}
