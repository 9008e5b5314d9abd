// Random commands, sensible and absurd, in random order and with time passing: every check holds after every one of them, and
// when the world is left alone with a driver that works, everything comes to rest.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drivers, every, likely } from '../../test/decision/commands.ts'
import { families, statusesOf, worldIn } from '../../test/decision/families.ts'
import { restOf, settle } from '../testing/settle.ts'

/** What is done, as numbers: which command of those that there are, after how much time. */
const acts = fc.array(
  fc.record({
    sense: fc.integer({ min: 0, max: 9 }),
    which: fc.nat({ max: 100_000 }),
    laterMs: fc.constantFrom(0, 0, 0, 1_000, 60_000, 3_600_001, 8 * 86_400_000),
  }),
  { minLength: 1, maxLength: 40 },
)

describe.each(families)('$type', (family) => {
  const statuses = statusesOf(family)

  test('any sequence of commands keeps all checks, and comes to rest when it is left alone', () => {
    fc.assert(
      fc.property(fc.constantFrom(...statuses), acts, (status, sequence) => {
        const t = worldIn(family, status)
        for (const { sense, which, laterMs } of sequence) {
          t.advance(laterMs)
          if (sense === 0) t.fireTimers()
          const sensible = likely(t, family)
          const commands = sense > 3 && sensible.length > 0 ? sensible : [...every(t, family)]
          t.send(commands[which % commands.length]!)
        }
        settle(t, drivers['always answers']!(family), 2_000)
        expect([...t.resources.values()].filter((one) => restOf(t, one) === null)).toEqual([])
      }),
      {
        numRuns: Number(process.env['PROPERTY_RUNS'] ?? 25),
        seed: Number(process.env['SEED'] ?? 4711),
        endOnFailure: false,
      },
    )
  })
})
