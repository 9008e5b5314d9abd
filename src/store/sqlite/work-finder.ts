// What there is to be done among the live and the settled, of all or of one tenant. Inside a reading transaction of the caller.
import type { StatementSync } from 'node:sqlite'
import { unreachable } from '../../base/assert.ts'
import type { Millis } from '../../base/clock.ts'
import type { No } from '../../decision/state.ts'
import { toText } from '../codec.ts'
import { stateColumns } from '../state-row.ts'
import type { WorkCriterion } from '../store.ts'
import { numbers, valueIn, type Connection } from './connection.ts'

const fromLive = `select ${stateColumns} from live l join resource r using (no) left join settled s on s.no = l.no`

export class WorkFinder {
  private readonly ownedBy: StatementSync
  private readonly waiting: StatementSync
  private readonly withoutRun: StatementSync
  private readonly overdue: StatementSync
  private readonly timers: StatementSync
  private readonly orphans: StatementSync

  constructor(connection: Connection, { ofTenant }: { readonly ofTenant: boolean }) {
    const prepare = (sql: string) => connection.prepare(sql)
    const page = `${ofTenant ? 'and r.tenant = ?4 ' : ''}and l.no > ?2 order by l.no limit ?3`
    this.ownedBy = prepare(`${fromLive} where l.owner in (select value from json_each(?1)) ${page}`)
    this.waiting = prepare(`${fromLive} where l.owner = 0 and l.due <= ?1 ${page}`)
    this.withoutRun = prepare(
      `${fromLive} join shape on shape.id = l.shape where l.run is null and shape.kind = ?1 ${page}`,
    )
    this.overdue = prepare(`${fromLive} where l.overdue <= ?1 ${page}`)
    // Each part is cut to the limit by its own index or scan before the two are put together.
    const resting = 'not exists (select 1 from live where live.no = settled.no)'
    const andMine = (table: 'settled' | 'live') =>
      ofTenant ? `and exists (select 1 from resource where resource.no = ${table}.no and resource.tenant = ?3)` : ''
    this.timers = prepare(`select no from (
      select * from (select no, wake from settled where wake <= ?1 and ${resting} ${andMine('settled')} order by wake, no limit ?2)
      union all
      select * from (select no, ${valueIn('extra', 'wake')} as wake from live where ${valueIn('extra', 'wake')} <= ?1 ${andMine('live')} order by wake, no limit ?2)
    ) order by wake, no limit ?2`)
    this.orphans = prepare(`select no from (
      select * from (select no from settled where orphans = 1 and orphans is not null and no > ?1 and ${resting} ${andMine('settled')} order by no limit ?2)
      union all
      select * from (select no from live where ${valueIn('extra', 'orphans')} = 1 and no > ?1 ${andMine('live')} order by no limit ?2)
    ) order by no limit ?2`)
  }

  /** Rows of states, or numbers of resources where the states are to be read one by one. */
  find(
    query: WorkCriterion,
    { tenant, now, after, limit }: { tenant: string | undefined; now: Millis; after: No; limit: number },
  ): { readonly rows: readonly unknown[] } | { readonly nos: readonly No[] } {
    const mine = tenant === undefined ? [] : [toText(tenant)]
    switch (query.work) {
      case 'ownedBy':
        return { rows: this.ownedBy.all(JSON.stringify(query.owners), after, limit, ...mine) }
      case 'waiting':
      case 'overdue':
        return { rows: this[query.work].all(now, after, limit, ...mine) }
      case 'withoutRun':
        return { rows: this.withoutRun.all('transitional', after, limit, ...mine) }
      case 'timers':
        return { nos: numbers(this.timers.all(now, limit, ...mine)) }
      case 'orphans':
        return { nos: numbers(this.orphans.all(after, limit, ...mine)) }
      default:
        return unreachable(query)
    }
  }
}
