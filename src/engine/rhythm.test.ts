// Duties in their rhythm and alarms in their order, by a clock that is moved by hand.
import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import { Alarm } from './alarm.ts'
import { silent } from './log.ts'
import { Rhythm } from './rhythm.ts'

function make(pass: () => number | undefined | Promise<number | undefined>, clock = new ManualClock()) {
  const rhythm = new Rhythm({ clock, log: silent, name: 'test', pass, gapMs: 100, afterFailureMs: 5_000 })
  return { rhythm, clock }
}

test('a duty is done at once, then in its rhythm, and at once when woken, but not more often than the gap', async () => {
  const at: number[] = []
  const { rhythm, clock } = make(() => (at.push(clock.now() - 1_000_000), 1_000))
  rhythm.start()
  await clock.advance(2_500)
  expect(at).toEqual([0, 1_000, 2_000])
  rhythm.wake()
  rhythm.wake()
  await clock.advance(10)
  rhythm.wake()
  await clock.advance(500)
  expect(at).toEqual([0, 1_000, 2_000, 2_500, 2_600])
  await rhythm.stop()
  expect(clock.armed).toBe(0)
})

test('woken again and again before its time, it sets its timer once', async () => {
  // Every look at a real clock finds it a little later.
  class Running extends ManualClock {
    timers = 0
    #looks = 0
    override monotonic(): number {
      return super.monotonic() + (++this.#looks % 7) / 1_000
    }
    override after(ms: number, then: () => void): () => void {
      this.timers++
      return super.after(ms, then)
    }
  }
  const clock = new Running()
  const { rhythm } = make(() => undefined, clock)
  rhythm.start()
  await clock.advance(0)
  const before = clock.timers
  for (let i = 0; i < 50; i++) rhythm.wake()
  expect(clock.timers - before).toBe(1)
  await rhythm.stop()
})

test('a wake-up during a pass is not lost, and no pass overlaps another', async () => {
  let passes = 0
  let underWay = 0
  let release = () => {}
  const { rhythm, clock } = make(async () => {
    passes++
    expect(++underWay).toBe(1)
    await new Promise<void>((resolve) => (release = resolve))
    underWay--
    return undefined
  })
  rhythm.start()
  await clock.advance(0)
  rhythm.wake()
  await clock.advance(1_000)
  expect(passes).toBe(1)
  release()
  await clock.advance(1_000)
  expect(passes).toBe(2)
  const stopping = rhythm.stop()
  release()
  await stopping
  expect(clock.armed).toBe(0)
})

test('a pass that fails is tried again later', async () => {
  let passes = 0
  const { rhythm, clock } = make(() => {
    if (passes++ === 0) throw new Error('no')
    return undefined
  })
  rhythm.start()
  await clock.advance(4_900)
  expect(passes).toBe(1)
  await clock.advance(200)
  expect(passes).toBe(2)
  await rhythm.stop()
})

test('an alarm rings once for each moment, in order, whatever order they were set in', async () => {
  const clock = new ManualClock(0)
  const rung: number[] = []
  const alarm = new Alarm(clock, (nos) => void rung.push(...nos))
  for (const at of [50, 10, 40, 20, 30, 10]) alarm.set(at, at)
  await clock.advance(35)
  expect(rung).toEqual([10, 10, 20, 30])
  alarm.set(36, 36)
  await clock.advance(10)
  expect(rung).toEqual([10, 10, 20, 30, 36, 40])
  alarm.clear()
  expect(clock.armed).toBe(0)
})
