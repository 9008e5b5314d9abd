// A declaration may change what a status means. What stands in such a status is then put where it belongs now, while no commit can be
// numbered: others find out when theirs is, and judge as the table says from then on.
import type { KindOf } from '../store.ts'
import { careful, Places } from './planner.ts'
import type { Shapes } from './shapes.ts'
import { Sheet } from './sheet.ts'
import { isOfStates, resourceParts, stepOf } from './statements.ts'
import { joinState, resourcesOf, stateColumns } from './states.ts'
import { numbersOf } from './texts.ts'
import type { Wire } from './wire.ts'

const page = 1000

export async function rejudge(wire: Wire, shapes: Shapes, kindOf: KindOf): Promise<void> {
  try {
    await wire.transaction(() => putAnew(wire, shapes, kindOf))
  } catch (error) {
    // What was judged is undone: the table says as what.
    await shapes.reload().catch(() => {})
    throw error
  }
}

async function putAnew(wire: Wire, shapes: Shapes, kindOf: KindOf): Promise<void> {
  await wire.query('select 1 from feed where one = 1 for update')
  const changed = await shapes.judge(wire, kindOf)
  const ids = numbersOf(changed.map(({ id }) => id))
  const standing = `select s.owner is not null, ${stateColumns} from resource r ${joinState}
    where s.shape = any($1::int4[]) and r.no > $2::int8 order by r.no limit ${page}`
  for (let after = 0, more = changed.length > 0; more;) {
    const rows = await wire.query(standing, [ids, after])
    const states = await resourcesOf(rows, shapes, 1)
    const live = new Set(states.filter((_, i) => rows[i]![0] === 't'))
    const sheet = new Sheet()
    const places = new Places(shapes, sheet, { ...careful, isLive: (state) => live.has(state) })
    for (const state of states) places.rejudge(state)
    for (const name of resourceParts) {
      const columns = sheet.find(name)
      if (columns === null) continue
      const extra = isOfStates(name) ? ['0', String(columns.count)] : []
      await wire.run([stepOf(columns, ...extra)])
    }
    after = states.at(-1)?.no ?? after
    more = states.length === page
  }
}
