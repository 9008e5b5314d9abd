// What has come to rest may linger among the live for a while: its row is changed where it is, and only many together are moved on to
// `settled`. A commit that ends a single run so writes three pages instead of five.
//
// Which ones linger is remembered here, as a guess: a statement that does not find a state where it was thought to be makes the batch
// be done again with care, and what was forgotten is moved when the next worker registers.
import type { StatementSync } from 'node:sqlite'
import { NumberMap } from '../../base/number-map.ts'
import type { No } from '../../decision/state.ts'
import type { Connection } from './connection.ts'

/** In the column `owner`: it is at rest. */
export const atRest = -1
/** So many are moved together. */
const together = 64

export const settledColumns = 'no, shape, revision, epoch, since, last, ended, wake, orphans, more'
/** A row that is there already is of before its latest run. */
export const takeOver = `on conflict (no) do update set shape = excluded.shape, revision = excluded.revision, epoch = excluded.epoch,
  since = excluded.since, last = excluded.last, ended = excluded.ended, wake = excluded.wake, orphans = excluded.orphans, more = excluded.more`

export class Lingering {
  private readonly nos = new NumberMap<No>()

  add(no: No): void {
    this.nos.set(no, no)
  }

  /** Whether it lingered; from now on it does not. */
  take(no: No): boolean {
    return this.nos.size > 0 && this.nos.delete(no)
  }

  /** Those to be moved now; null: not yet. They linger until it is known that they were moved. */
  toMove(): No[] | null {
    return this.nos.size < together ? null : this.nos.values()
  }

  moved(nos: readonly No[]): void {
    for (const no of nos) this.nos.delete(no)
  }
}

/** Moves them, inside a transaction. What has changed meanwhile is left alone. */
export class Mover {
  private readonly statements: readonly StatementSync[]

  constructor(connection: Connection) {
    this.statements = movingStatements(`owner = ${atRest} and no in (select value from json_each(?))`).map((sql) =>
      connection.prepare(sql),
    )
  }

  move(nos: string): void {
    for (const statement of this.statements) statement.run(nos)
  }
}

/** Whatever lingers, inside a transaction. */
export function moveAll(connection: Connection): void {
  for (const sql of movingStatements(`owner = ${atRest}`)) connection.prepare(sql).run()
}

const movingStatements = (which: string): readonly string[] => [
  `insert or fail into settled (${settledColumns})
    select no, shape, revision, epoch, since, last, ended, null, null, extra from live where ${which} ${takeOver}`,
  `delete from live where ${which}`,
]
