// Why and what next, told of the catalogues as their operators meet them: what is said must be what happens.
import { describe, expect, test } from 'vitest'
import { blazar } from '../../catalogues/blazar/index.ts'
import { opensds } from '../../catalogues/opensds/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop, type Name } from '../testing/table-top.ts'
import { explain, type Pace } from './explain.ts'

const always: Pace = { leaseMs: 5_000, healEveryMs: 500, isAlive: () => true, held: () => null, isSwept: () => true }

const told = (t: TableTop, id: Name, pace: Partial<Pace> = {}, lastFailure: string | null = null) =>
  explain(t.plans, t, t.get(id), { ...always, ...pace }, { lastFailure })

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

describe('a site', () => {
  const shop = (...tools: string[]) => {
    const t = new TableTop(workshop)
    t.create('w.site', 's', { properties: { isOpen: false } })
    for (const id of tools) t.place('w.tool', id, 'Idle', { parent: { no: t.get('s').no } })
    return t
  }
  const since = '1970-01-01T00:16:40.000Z'
  const closing = `w.site s is Closing (transitional) since ${since}: Being locked.`
  const close = `Run 1-2 of close, asked by ann at ${since}, is under way.`

  test('that is settled says what it says, and what may be asked of it', () => {
    const t = shop()
    t.ok({ kind: 'setStatus', no: t.get('s').no, status: 'Broken', reason: 'rust', by: 'ann' })
    expect(told(t, 's')).toEqual({
      because: [
        `w.site s is Broken (failed) since ${since}: Needs a look.`,
        'It says: Set to Broken by ann: rust',
        'It may be asked to clear, delete.',
      ],
      next: null,
      settlesWithinMs: null,
      allowed: ['clear', 'delete'],
    })
    expect(told(t, 's', { isSwept: () => false }).because).toHaveLength(3)
  })

  test('with a run tells the step, the attempt, what was heard and what failed, and who is at it', () => {
    const t = shop()
    t.request('s', 'close')
    const bound = 5_000 + 2 * 500 + (600_000 + 60_000) + 4 * (600_000 + 60_000)
    expect(told(t, 's')).toEqual({
      because: [closing, close, 'It is in step 2 of 2, lock, attempt 1.', 'Worker 1 is carrying it out.'],
      next: { what: 'If nothing is heard by then, the call is taken as cut.', at: t.now + 60_000 },
      settlesWithinMs: bound,
      allowed: ['delete'],
    })
    const { no, epoch } = t.get('s')
    t.ok({ kind: 'progressReported', no, epoch, text: 'half', by: 'worker' })
    t.failed('s', 'rust', { terminal: false })
    expect(told(t, 's', {}, 'rust')).toMatchObject({
      because: [
        closing,
        close,
        'It is in step 2 of 2, lock, attempt 2.',
        'The attempt before failed: rust.',
        'Its driver last said: half',
        'Worker 1 is carrying it out.',
      ],
      next: { what: 'The call is made again.', at: t.get('s').run!.dueAt },
    })
    t.now = t.get('s').run!.dueAt
    expect(told(t, 's').next).toMatchObject({ at: t.now + 60_000 })
    t.failed('s', 'jammed')
    expect(told(t, 's', {}, 'jammed')).toMatchObject({
      because: [
        expect.stringContaining('s is Undoing'),
        close,
        'It is being undone after step 2 of 2, lock, attempt 1.',
        'Its driver last said: half',
        'What failed: jammed.',
        'Worker 1 is carrying it out.',
      ],
      next: { what: 'If it is not done by then: undoing counts as failed.', at: t.now + 600_000 },
      settlesWithinMs: bound,
    })
  })

  test('whose worker is gone is healed soon, or waits for somebody where that is set; a parked one waits anyway', () => {
    const t = shop()
    t.request('s', 'close')
    const isAlive = (owner: number) => owner !== 1
    const { because, next } = told(t, 's', { isAlive })
    expect(because.at(-1)).toBe('Its worker 1 is gone.')
    expect(next).toEqual({
      what: expect.stringMatching(/^It is healed: if its run is recorded, go on/),
      at: t.now + 500,
    })
    const held = (_: unknown, found: string) => `${found} is healed by hand`
    expect(told(t, 's', { held }).because.at(-1)).toBe('Worker 1 is carrying it out.')
    expect(told(t, 's', { isAlive, held })).toEqual({
      because: [
        ...because,
        'Nothing happens by itself: ownerLost is healed by hand. Healing can be approved or asked for.',
      ],
      next: null,
      settlesWithinMs: null,
      allowed: ['delete'],
    })
    for (let n = 0; n < 4; n++) t.unknown('s')
    const { reason } = t.get('s').run!.parked!
    expect(told(t, 's', { isAlive, held })).toMatchObject({
      because: [
        closing,
        `It says: Parked: ${reason}`,
        close,
        'It is in step 2 of 2, lock, attempt 4.',
        `It is parked since ${since}: ${reason}`,
      ],
      next: null,
      settlesWithinMs: null,
    })
  })

  test('that nobody has taken yet waits for a worker, and not before it is due', () => {
    const t = shop()
    t.claimant = 0
    t.request('s', 'close')
    expect(told(t, 's', { isAlive: () => false, held: () => 'x' })).toMatchObject({
      because: [closing, close, 'It is in step 2 of 2, lock, attempt 1.', 'No worker has taken it yet.'],
      next: { what: 'A worker claims it.', at: t.now },
    })
    t.claimant = 1
    const { no } = t.get('s')
    t.ok({ kind: 'claim', no, owner: 1, by: 'worker' })
    t.again('s', 9_000)
    t.ok({ kind: 'handOver', no, epoch: t.get('s').epoch, by: 'worker' })
    expect(told(t, 's').next).toEqual({ what: 'A worker claims it.', at: t.now + 9_000 })
  })

  test('that is forced is told so with the reason, which is nothing that failed; it goes on and ends soon', () => {
    const t = shop()
    t.request('s', 'delete', {}, { force: true, reason: 'fire' })
    expect(told(t, 's')).toMatchObject({
      because: [
        expect.stringContaining('s is Removing'),
        `Run 1-2 of delete, asked by ann at ${since} and forced (fire), is under way.`,
        'It is in step 3 of 3, tear, attempt 1.',
        'Worker 1 is carrying it out.',
      ],
      next: { what: 'If it is not done by then: it goes on without it.', at: t.now + 3_000 },
      settlesWithinMs: 5_000 + 2 * 500 + 3_000 + 60_000,
    })
    const tool = shop('a')
    tool.request('s', 'delete', {}, { force: true, reason: 'fire' })
    tool.failed('s', 'nailed', { item: 'a' })
    expect(told(tool, 's').because).toContain('What failed: a: nailed.')
  })

  test('that goes over many names some of them; those that it holds tell of it, or of its end', () => {
    const t = shop('a', 'b', 'c', 'd', 'e', 'f', 'g')
    t.request('s', 'clear')
    t.done('s')
    const { because, next, settlesWithinMs } = told(t, 's')
    expect(because).toContain('It waits for a, b, c, d, e and 2 more.')
    expect(next).toEqual({ what: 'If it is not done by then: it is undone and put to Broken.', at: t.now + 3_600_000 })
    const packed = `w.tool a is Packed (transitional) since ${since}: In its box, while the site is cleared.`
    expect(told(t, 'a')).toEqual({
      because: [packed, 'Run 1-2 of w.site s moved it there and will move it on.'],
      next: { ...next!, what: `Of w.site s: ${next!.what}` },
      settlesWithinMs,
      allowed: ['delete'],
    })
    for (const id of ['f', 'g']) t.done('s', undefined, id)
    expect(told(t, 's').because).toContain('It waits for a, b, c, d, e.')
    t.ok({ kind: 'setStatus', no: t.get('s').no, status: 'Broken', reason: 'rust', by: 'ann' })
    const ended = { because: [packed, 'Run 1-2, which moved it there, has ended.'], allowed: ['delete'] }
    expect(told(t, 'a')).toEqual({
      ...ended,
      next: {
        what: 'It is healed: while its site is Clearing, it is healed with its site; otherwise, put it to Idle.',
        at: t.now + 500,
      },
      settlesWithinMs: 66_000,
    })
    const told1 = told(t, 'a', { held: (_, found) => `${found} is healed by hand` })
    expect(told1).toEqual({
      because: [
        ...ended.because,
        'Nothing happens by itself: unowned is healed by hand. Healing can be approved or asked for.',
      ],
      next: null,
      settlesWithinMs: null,
      allowed: ['delete'],
    })
  })
})

test('a tool that nobody works on, that is healed, asked about, tried again for ever', () => {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  t.place('w.tool', 'x', 'Stopping', { parent: { no: t.get('s').no } })
  expect(told(t, 'x').because.at(-1)).toBe(
    'No run is recorded for it: it was imported, edited by hand, or there is a bug.',
  )
  t.heal('x', 'unowned')
  expect(told(t, 'x')).toMatchObject({
    because: [
      expect.any(String),
      expect.stringMatching(/^Healing \S+, asked by healing at/),
      'Worker 1 is carrying it out.',
    ],
    next: { what: 'If it is not done by then: the answer counts as unknown.', at: t.now + 60_000 },
    settlesWithinMs: 66_000,
  })
  t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no } })
  t.request('a', 'start')
  t.unknown('a')
  expect(told(t, 'a')).toMatchObject({
    because: [
      expect.any(String),
      expect.any(String),
      'It asks whether a cut call happened, in step 1 of 1, spin, attempt 1.',
      expect.any(String),
    ],
    next: { what: 'If it is not done by then: the answer counts as unknown.' },
  })
  t.request('a', 'delete')
  t.now = t.get('a').run!.dueAt
  expect(told(t, 'a')).toMatchObject({
    next: { what: 'If it is not done by then: it is tried again after 60 s.' },
    settlesWithinMs: null,
  })
})

test('of a type that is not loaded nothing is known', () => {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  expect(explain(t.plans, t, { ...t.get('s'), type: 'no.such' }, always)).toEqual({
    because: ['No lifecycle of type no.such is loaded: nothing is known about Open.'],
    next: null,
    settlesWithinMs: null,
    allowed: [],
  })
})
