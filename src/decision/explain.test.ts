// Why and what next, told of the catalogues as their operators meet them: what is said must be what happens.
import { describe, expect, test } from 'vitest'
import { blazar } from '../../catalogues/blazar/index.ts'
import { opensds } from '../../catalogues/opensds/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import { TableTop, type Name } from '../testing/table-top.ts'
import { explain, type Pace } from './explain.ts'

const always: Pace = { leaseMs: 5_000, healEveryMs: 500, isAlive: () => true, held: () => null, isSwept: () => true }

const told = (t: TableTop, id: Name, pace: Partial<Pace> = {}) => explain(t.plans, t, t.get(id), { ...always, ...pace })

describe('timers of others that ask something of it', () => {
  const lease = (): TableTop => {
    const t = new TableTop(Object.values(blazar))
    t.create('blazar.lease', 'L', {
      properties: { startDate: 2_000_000, endDate: 12_000_000 },
      input: { reservations: [], minutesBeforeEndLease: 0 },
    })
    return t
  }

  test('a lease that waits is told to start by its event, at that time; then to end', () => {
    const t = lease()
    expect(t.status('L')).toBe('PENDING')
    expect(told(t, 'L').next).toEqual({
      what: expect.stringMatching(/^Timer start of blazar\.event \S+ asks for start\.$/),
      at: 2_000_000,
    })
    t.now = 2_000_000
    t.fireTimers()
    expect(t.status('L')).toBe('ACTIVE')
    expect(told(t, 'L').next).toEqual({ what: expect.stringContaining('asks for end.'), at: 12_000_000 })
    t.now = 12_000_000
    t.fireTimers()
    t.done('L')
    expect(t.status('L')).toBe('TERMINATED')
    expect(told(t, 'L').next).toBeNull()
  })

  test('of its own timers that is told with what is not so yet', () => {
    const t = new TableTop(Object.values(ovc))
    const { no } = t.place('ovc.account', 'a', 'DISABLED', { properties: { enabled: false } })
    t.place('ovc.cloudspace', 'c', 'PAUSED', { parent: { no }, properties: { enabled: true } })
    expect(told(t, 'c').next?.what).toBe(
      'Timer restart asks for resume, if by then it is enabled and account is CONFIRMED.',
    )
  })
})

test('what another moved where it stands is moved on by that, not healed', () => {
  const t = new TableTop(Object.values(opensds))
  const { no } = t.place('opensds.volume', 'v', 'Available', { properties: { size: 1 } })
  t.create('opensds.attachment', 'a', { parent: { no }, properties: { hostId: 'h' } })
  expect(t.status('v')).toBe('Attaching')
  const { next, settlesWithinMs } = told(t, 'v')
  expect(next?.what).toBe(
    'Of opensds.attachment a: If it is not done by then: isAttached is asked whether it happened all the same.',
  )
  expect(next?.at).toBe(t.now + 120_000)
  expect(settlesWithinMs).toBe(told(t, 'a').settlesWithinMs)
})

describe('a cluster that is deleted', () => {
  const active = (properties: object = {}): TableTop => {
    const t = new TableTop(Object.values(sahara))
    t.place('sahara.cluster', 'c', 'Active', { properties: { counts: { w: 1 }, ...properties } })
    return t
  }

  test('what it waits for after an interruption is the end of the interrupted call', () => {
    const t = active()
    t.request('c', 'scale', { counts: { w: 2 } })
    t.request('c', 'delete')
    expect(told(t, 'c').next).toEqual({
      what: 'Its first call is made once the interrupted one has ended, and at the latest then.',
      at: t.now + 30_000,
    })
  })

  test('attempts are counted in their round', () => {
    const t = active()
    t.request('c', 'delete')
    t.failed('c', 'nova is down', { code: 'down' })
    const { because, next } = told(t, 'c')
    expect(because).toContain('It is in step 1 of 5, refreshJobs, attempt 1 of round 2.')
    expect(next).toEqual({ what: 'The call is made again.', at: t.now + 60_000 })
  })

  test('what a forced one left behind is swept, or waits for somebody where that is set', () => {
    const t = new TableTop(Object.values(sahara))
    t.create('sahara.cluster', 'c', { properties: { counts: { w: 1 } } })
    for (const _ of ['validate', 'updateInfra', 'spawn']) t.done('c')
    t.request('c', 'delete', undefined, { force: true, reason: 'it hangs' })
    for (let n = 0; n < 9 && t.get('c').run !== null; n++) t.failed('c', 'nova is down', { code: 'down' })
    expect(told(t, 'c').because.at(-1)).toBe('It left behind sahara.cluster/c/machine/1: the sweeper looks after it.')
    expect(told(t, 'c', { isSwept: () => false }).because.at(-1)).toContain(
      'somebody has to sweep, adopt or write it off',
    )
  })

  test('what is needed and plainly not so is not among what may be asked', () => {
    expect(told(active(), 'c').allowed).toEqual(['scale', 'update', 'delete', 'expire'])
    expect(told(active({ isProtected: true }), 'c').allowed).toEqual(['scale', 'update'])
  })
})
