// The lease as the process itself sees it: renewed, nearly over, lost, given back.
import { describe, expect, test } from 'vitest'
import { HomeostatError } from '../base/errors.ts'
import type { Heartbeat, Store } from '../store/store.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { silent } from './log.ts'

interface Behaviour {
  beat: () => boolean | Promise<boolean>
}

async function make(behaviour: Behaviour, more: Partial<Store> = {}) {
  const clock = new ManualClock()
  const lost: string[] = []
  const ended: string[] = []
  const store = {
    register: () => 7,
    beat: () => behaviour.beat(),
    end: ({ as }: { as: string }) => (ended.push(as), true),
    ...more,
  } as unknown as Store
  const onLost = (reason: string) => void lost.push(reason)
  const keeper = new LeaseKeeper({ store, clock, log: silent, name: 'test', leaseMs: 9_000, onLost })
  await keeper.start()
  return { clock, keeper, lost, ended }
}

describe('the lease keeper', () => {
  test('renews the lease for as long as it lives and says goodbye', async () => {
    let beats = 0
    const { clock, keeper, lost, ended } = await make({ beat: () => (beats++, true) })
    await clock.advance(30_000)
    expect([beats, keeper.mayStart(), lost]).toEqual([10, true, []])
    await keeper.stop()
    expect([keeper.mayStart(), ended, clock.armed]).toEqual([false, ['ended'], 0])
  })

  test('a refused beat is the end, told once; nothing is said to the store any more', async () => {
    const { clock, keeper, lost, ended } = await make({ beat: () => false })
    await clock.advance(30_000)
    expect([keeper.mayStart(), keeper.isLive, lost.length]).toEqual([false, false, 1])
    await keeper.stop()
    expect([ended, clock.armed]).toEqual([[], 0])
  })

  test('asked to confirm, it says what the store says, and is lost at once when that refuses it', async () => {
    let isKnown = true
    const { keeper, lost } = await make({ beat: () => isKnown })
    expect([await keeper.confirm(), lost]).toEqual([true, []])
    isKnown = false
    expect([await keeper.confirm(), keeper.mayStart(), lost.length]).toEqual([false, false, 1])
    isKnown = true
    expect([await keeper.confirm(), lost.length]).toEqual([false, 1])
  })

  test('a store that does not answer: nothing is begun in the last part of the lease, and then it is lost', async () => {
    const { clock, keeper, lost } = await make({ beat: () => new Promise(() => {}) })
    await clock.advance(7_100)
    expect([keeper.mayStart(), lost]).toEqual([true, []])
    await clock.advance(200)
    expect([keeper.mayStart(), lost]).toEqual([false, []])
    await clock.advance(2_000)
    expect(lost).toHaveLength(1)
    expect(clock.armed).toBe(0)
  })

  test('the lease counts from the moment the renewal was sent, not from its answer', async () => {
    let answer: (isRenewed: boolean) => void = () => {}
    let isSlow = true
    const { clock, keeper } = await make({
      beat: () =>
        isSlow ? ((isSlow = false), new Promise<boolean>((resolve) => (answer = resolve))) : new Promise(() => {}),
    })
    await clock.advance(3_000)
    await clock.advance(3_500)
    answer(true)
    // Sent at 3 s: may start until 3 + 9 - 1.8 = 10.2 s.
    await clock.advance(3_600)
    expect(keeper.mayStart()).toBe(true)
    await clock.advance(200)
    expect(keeper.mayStart()).toBe(false)
    await keeper.stop()
  })

  test('beats that fail are tried again sooner; one that succeeds in time saves the lease', async () => {
    let failures = 4
    const { clock, keeper, lost } = await make({
      beat: () => {
        if (failures-- > 0) throw new HomeostatError('store_unavailable', 'away')
        return true
      },
    })
    await clock.advance(60_000)
    expect([keeper.mayStart(), lost]).toEqual([true, []])
    await keeper.stop()
  })

  test('a heartbeat of the store is watched instead of beating', async () => {
    let age = 0
    let isLost = false
    let isStopped = false
    const heartbeat: Heartbeat = {
      lastRenewalAgeMs: () => age,
      lost: () => isLost,
      stop: () => void (isStopped = true),
    }
    const { clock, keeper, lost } = await make(
      { beat: () => expect.fail('the store beats by itself') },
      { keepBeating: () => heartbeat },
    )
    await clock.advance(60_000)
    expect([keeper.mayStart(), lost]).toEqual([true, []])
    age = 8_000
    expect(keeper.mayStart()).toBe(false)
    age = 0
    isLost = true
    await clock.advance(9_000)
    expect([lost.length, isStopped]).toEqual([1, true])
    await keeper.stop()
  })
})
