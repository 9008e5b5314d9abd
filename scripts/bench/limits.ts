// Limits of the machine that the notes give beside the goals: with them two machines can be compared. They judge nothing.
import { addressOf } from '../../src/store/postgres/address.ts'
import { numbersOf, textsFrom, textsOf } from '../../src/store/postgres/texts.ts'
import { commitSettings } from '../../src/store/postgres/statements.ts'
import { Wire } from '../../src/store/postgres/wire.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import { median } from './load.ts'

const schema = 'limits'
const roundMs = 2_000
const rowsOfStatement = 1_000
/** Each connection has rows of its own. */
const rowsOfConnection = 10_000
/** Connections, and what the machine did that the goals were set on. */
const updates = { 1: 267_000, 4: 519_000 } as const
const commits = { 1: 3_650, 10: 7_200, 20: 15_400 } as const

const statements = {
  many: `update item i set status = v.status, step = v.step, at = v.at
    from unnest($1::int8[], ${textsOf(2)}, $3::int4[], $4::float8[]) v(no, status, step, at) where i.no = v.no`,
  one: 'update item set step = step + 1 where no = $1::int8',
}

export async function limits({ runs, ground, say }: Options): Promise<Figure[]> {
  const url = ground.placeOf(schema).split('#')[0]!
  const open = () =>
    Wire.open({
      address: addressOf({ url }),
      settings: { ...commitSettings, search_path: schema, synchronous_commit: 'on' },
      statements,
      openMs: 5_000,
    })
  const wires = await Promise.all(Array.from({ length: 20 }, open))
  await wires[0]!.query(`create schema ${schema};
    create table ${schema}.item (no bigint primary key, status text not null, step integer not null, at float8 not null);
    insert into ${schema}.item select i, 'running', 0, 0 from generate_series(0, ${4 * rowsOfConnection - 1}) i;
    analyze ${schema}.item`)
  const updating = await perSecond(Object.keys(updates), runs, say, (at, turn) => {
    const from = at * rowsOfConnection + ((turn * rowsOfStatement) % rowsOfConnection)
    const all = <T>(value: (i: number) => T) => Array.from({ length: rowsOfStatement }, (_, i) => value(i))
    const values = [
      numbersOf(all((i) => from + i)),
      textsFrom(all(() => 'running')),
      numbersOf(all(() => turn)),
      numbersOf(all(() => turn)),
    ]
    return wires[at]!.run([{ name: 'many', values }])
  })
  const committing = await perSecond(Object.keys(commits), runs, say, (at, turn) =>
    wires[at]!.run([{ name: 'one', values: [String(at * rowsOfStatement + (turn % rowsOfStatement))] }]),
  )
  await Promise.all(wires.map((wire) => wire.close()))
  const rows = updating.map((rate) => rate * rowsOfStatement)
  return [
    figure('rows a second, updated by statements of 1,000', updates, rows),
    figure('commits of one row a second', commits, committing),
  ]
}

/** Turns a second that so many connections make together, each with its own work. */
async function perSecond(
  counts: readonly string[],
  runs: number,
  say: (text: string) => void,
  work: (at: number, turn: number) => Promise<unknown>,
): Promise<number[]> {
  const found: number[] = []
  for (const count of counts) {
    const rates: number[] = []
    for (let round = 1; round <= runs; round++) {
      const until = performance.now() + roundMs
      let turns = 0
      const keepOn = async (at: number) => {
        for (let turn = 0; performance.now() < until; turn++, turns++) await work(at, turn)
      }
      await Promise.all(Array.from({ length: Number(count) }, (_, at) => keepOn(at)))
      rates.push((turns * 1_000) / roundMs)
      say(`limits, ${count} connections, round ${round} of ${runs}: ${thousands(rates.at(-1)!)}/s`)
    }
    found.push(median(rates))
  }
  return found
}

function figure(what: string, there: Readonly<Record<string, number>>, here: readonly number[]): Figure {
  const listed = Object.keys(there)
  return {
    value: here[0]!,
    details: Object.fromEntries(listed.map((count, i) => [`connections${count}`, here[i]!])),
    what: `Limits of the machine: ${what}, on ${listed.join(', ')} connections`,
    found: here.map(thousands).join(', '),
    goal: `none; where the goals were set ${Object.values(there).map(thousands).join(', ')}`,
    isMet: true,
  }
}
