// A declaration may change what a status means. What stands in such a status is then put where it belongs now.
import { assert } from '../../base/assert.ts'
import type { KindOf } from '../store.ts'
import type { Connection } from './connection.ts'
import type { Places } from './places.ts'
import type { Reader } from './reader.ts'
import type { Shapes } from './shapes.ts'
import type { SheetWriter } from './sheet-writer.ts'
import { emptySheet } from './sheet.ts'

const page = 1000

/** Inside a writing transaction. */
export function rejudge(parts: {
  readonly connection: Connection
  readonly shapes: Shapes
  readonly places: Places
  readonly sheets: SheetWriter
  readonly reader: Reader
  readonly kindOf: KindOf
}): void {
  const { connection, shapes, places, sheets, reader, kindOf } = parts
  const changed = shapes.judge(kindOf)
  if (changed.length === 0) return
  const standing =
    connection.prepare(`select r.no from resource r left join live l using (no) left join settled s using (no)
    where coalesce(l.shape, s.shape) = ?1 and r.no > ?2 order by r.no limit ?3`)
  for (const { id } of changed) {
    for (let after = 0, more = true; more;) {
      const nos = (standing.all(id, after, page) as unknown as [number][]).map(([no]) => no)
      places.sheet = emptySheet()
      for (const no of nos) {
        const state = reader.resource(no)
        assert(state, `resource ${no} vanished`)
        places.change(state, state, state.last, null, true)
      }
      assert(sheets.write(places.sheet, null), 'what stands here was read in this transaction')
      after = nos.at(-1) ?? after
      more = nos.length === page
    }
  }
}
