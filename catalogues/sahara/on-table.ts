// For the tests of this catalogue: clusters on a table top, and a driver that does whatever is owed.
import { TableTop } from 'homeostat/testing'
import { sahara } from './index.ts'
import { planOf, type Member } from './scaling.ts'

export const properties = { counts: { w: 2 } }

export const table = (): TableTop => new TableTop(Object.values(sahara))

/** What the driver answers to planScaling. */
export function plannedFor(t: TableTop, id: string): unknown {
  const { no, run } = t.get(id)
  const { counts, instances } = run!.input as { counts: Record<string, number>; instances: string[] }
  return planOf(t.children(no) as unknown as readonly Member[], counts, instances)
}

/** One owed call is done. */
export function step(t: TableTop, id: string): void {
  const { function: name, item } = t.call(id)
  t.done(id, name === 'planScaling' ? plannedFor(t, id) : undefined, item || undefined)
}

/** Everything that the run owes is done, until it stands before this function; the answer: the statuses that it showed. */
export function doUntil(t: TableTop, id: string, call = ''): string[] {
  const seen: string[] = []
  for (let n = 0; n < 60 && t.get(id).run !== null && t.call(id).function !== call; n++) {
    if (seen.at(-1) !== t.status(id)) seen.push(t.status(id))
    step(t, id)
  }
  return seen
}

/** A cluster that was created the whole way: two workers unless said otherwise. */
export function active(given: Record<string, unknown> = {}): TableTop {
  const t = table()
  t.create('sahara.cluster', 'c', { properties: { ...properties, ...given } })
  doUntil(t, 'c')
  return t
}

/** Living instances: name and status. */
export const members = (t: TableTop): string[] =>
  t.children(t.get('c').no).map(({ properties: is, status }) => {
    const { group, index } = is as { group: string; index: number }
    return `${group}${index} ${status}`
  })
