// Damage that is cheap to see when a database is opened: rows that stand for all others. Without them nothing could be committed, or all
// would wait for a number that never comes; the rest is found when it is read.
import { HomeostatError } from '../../base/errors.ts'
import type { Wire } from './wire.ts'

export async function mustLookSound(wire: Wire, schema: string): Promise<void> {
  const [row] = await wire.query(
    `select (select events from feed where one = 1), (select coalesce(max(first), 0) from event),
      (select string_agg(v.name, ', ') from (values ('handle'), ('incarnation')) v(name)
        where not exists (select 1 from counter c where c.name = v.name))`,
  )
  const [head, last, missing] = row as readonly (string | null)[]
  const damage =
    missing !== null
      ? `a counter is gone: ${missing}`
      : head === null
        ? 'the row of its feed is gone'
        : Number(last) > Number(head)
          ? `it has event ${last}, its feed ends at ${head}`
          : null
  if (damage === null) return
  throw new HomeostatError(
    'store_corrupt',
    `The schema ${schema} is damaged: ${damage}. Stop all processes and restore a back-up.`,
  )
}
