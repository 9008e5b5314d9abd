// Exhaustive: every lifecycle of every catalogue, every status, every phase of every operation that a driver can lead it into,
// times every kind of command with plausible and absurd parameters. Nothing throws, nothing breaks, everything has a way out.
import { describe, expect, test } from 'vitest'
import { drivers, every, explore } from '../../test/decision/commands.ts'
import { families, statusesOf } from '../../test/decision/families.ts'
import { restOf, settle } from '../testing/settle.ts'
import { TableTop } from '../testing/table-top.ts'
import type { Found } from './command.ts'

/** The same world some time later, where nobody asks anybody by himself. */
function waiting(world: TableTop, laterMs: number): TableTop {
  const t = new TableTop(world)
  t.asks = false
  t.advance(laterMs)
  return t
}

describe.each(families)('$type', (family) => {
  test('every command in every state is decided without a throw and breaks nothing', () => {
    let decided = 0
    for (const status of statusesOf(family)) {
      for (const world of explore(family, status, 25)) {
        for (const later of [0, 2 * 86_400_000]) {
          let t = waiting(world, later)
          for (const command of every(world, family)) {
            // What changed nothing leaves the table as it was for the next command.
            if (t.send(command).changes !== null) t = waiting(world, later)
            decided++
          }
        }
      }
    }
    expect(decided).toBeGreaterThan(500)
  })

  let explored: readonly TableTop[] | undefined
  /** The same for every driver; none of them is changed, but copied. */
  const worlds = () => (explored ??= statusesOf(family).flatMap((status) => explore(family, status, 60)))

  test.each(Object.keys(drivers))('every transitional state has a way out with a driver that %s', (driver) => {
    const answer = drivers[driver]!(family)
    const stuck: string[] = []
    for (const world of worlds()) {
      for (const found of ['ownerLost', 'overdue', 'unowned'] satisfies Found[]) {
        const t = new TableTop(world)
        if (found === 'overdue') t.advance(3_600_001)
        for (const one of t.resources.values())
          if (one.run !== null || restOf(t, one) === null) t.send(t.healing(one, found))
        settle(t, answer)
        for (const one of t.resources.values()) if (restOf(t, one) === null) stuck.push(`${one.type} in ${one.status}`)
      }
    }
    expect(stuck).toEqual([])
  })
})
