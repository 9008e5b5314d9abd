// History that is older than wanted goes, an hour after an hour; without a limit nothing is ever asked for.
import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import type { Removed, Retention, Store } from '../store/store.ts'
import { Historian } from './historian.ts'

const hour = 3_600_000

function watched(keepHistoryMs: number) {
  const clock = new ManualClock(100 * hour)
  const asked: Retention[] = []
  const signals: AbortSignal[] = []
  const told: unknown[] = []
  const removeHistory = async ({ before, keysBefore, signal }: Retention): Promise<Removed> => {
    signals.push(signal!)
    asked.push({ before, keysBefore })
    return { events: asked.length === 1 ? 7 : 0, runs: 0, keys: 0, late: 0 }
  }
  const store = { removeHistory } as unknown as Store
  const historian = new Historian({ store, clock, log: (...line) => void told.push(line), keepHistoryMs })
  return { clock, asked, signals, told, historian }
}

test('what is older than wanted is removed every hour, but not at the start, and it is told when something went', async () => {
  const { clock, asked, signals, told, historian } = watched(10 * hour)
  historian.start()
  await clock.advance(0)
  expect(asked).toEqual([])
  await clock.advance(60_000)
  const first = 90 * hour + 60_000
  expect(asked).toEqual([{ before: first, keysBefore: first }])
  await clock.advance(hour)
  expect(asked.at(-1)).toEqual({ before: first + hour, keysBefore: first + hour })
  expect(told).toEqual([['info', 'old history was removed', { events: 7, runs: 0, keys: 0, late: 0 }]])
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  await historian.stop()
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  expect(clock.armed).toBe(0)
})

test('without a limit nothing is removed', async () => {
  const { clock, asked, historian } = watched(0)
  historian.start()
  await clock.advance(10 * hour)
  expect(asked).toEqual([])
  await historian.stop()
})
