// Resources whose stored state could not be read whole: what is decided about them, and about those related to them.
import { describe, expect, test } from 'vitest'
import { shelves, things } from '../../test/damage/shelves.ts'
import { TableTop } from '../testing/table-top.ts'
import type { Command } from './command.ts'
import { explain, type Pace } from './explain.ts'
import type { Damage } from './state.ts'

const ofRun: Damage = { isRunOnly: true, why: 'run (is at no step)', texts: { run: '[7' } }
const ofLedger: Damage = { isRunOnly: false, why: 'extra (is no object)', texts: { extra: '[7' } }

const pace: Pace = { leaseMs: 1_000, healEveryMs: 1_000, isAlive: () => true, held: () => null, isSwept: () => true }

/** A shelf with two things on it that are being made. */
function shop() {
  const t = new TableTop([shelves, things])
  t.create('damage.shelf', 's', { properties: { label: 's' } })
  const parent = { no: t.get('s').no }
  for (const id of ['a', 'b']) {
    t.create('damage.thing', id, { parent, properties: { size: 1 } })
    t.done(id, { weight: 7 })
  }
  return t
}

/** As a store gives it back. */
function damage(t: TableTop, id: string, damaged: Damage) {
  const found = t.get(id)
  const isLost = damaged.isRunOnly ? { run: null } : { ledger: [], timers: {} }
  t.resources.set(found.no, { ...found, ...isLost, damaged })
}

const damages = (t: TableTop) => t.incidents.filter(({ kind }) => kind === 'damaged')

describe('only the record of its run is damaged', () => {
  test('it is healed as one that has none, and the text that could not be read is kept', () => {
    const t = shop()
    damage(t, 'a', ofRun)
    t.heal('a', 'unowned')
    expect(t.get('a')).toMatchObject({ status: 'Broken', ledger: [{ kind: 'part' }] })
    expect('damaged' in t.get('a')).toBe(false)
    expect(damages(t)).toMatchObject([{ no: t.get('a').no, status: 'Making', evidence: { run: '[7' } }])
  })

  test('a delete wins over it', () => {
    const t = shop()
    damage(t, 'a', ofRun)
    t.request('a', 'delete')
    t.done('a')
    expect([t.status('a'), damages(t).length]).toEqual(['Gone', 1])
  })
})

describe('more than that is damaged', () => {
  test('every command about it is refused, with the way out and an incident; nothing of it changes', () => {
    const t = shop()
    const ended = t.ending('a', { kind: 'done', result: null })
    damage(t, 'a', ofLedger)
    const { no, epoch } = t.get('a')
    const before = t.get('a')
    const by = 'x'
    const commands: Command[] = [
      t.asking('a', 'delete'),
      t.asking('a', 'delete', undefined, { force: true, reason: 'now' }),
      t.asking('a', 'grow', { size: 2 }),
      ended,
      t.healing('a', 'ownerLost'),
      t.healing('a', 'unowned', { override: true }),
      t.deadline('a'),
      { kind: 'claim', no, owner: 3, by },
      { kind: 'progressReported', no, epoch, text: 'half', by },
      { kind: 'handOver', no, epoch, by },
      { kind: 'timerFired', no, timer: 'ageing', by },
      { kind: 'cancelRun', no, reason: 'why not', by },
    ]
    for (const command of commands) {
      const reported = damages(t).length
      const { code, message } = t.refused(command)
      expect([command.kind, code]).toEqual([command.kind, 'state_damaged'])
      expect(message).toBe(
        'The stored state of damage.thing a is damaged: extra (is no object). Look what there really is and set its status by hand, or restore it from a back-up.',
      )
      expect([command.kind, damages(t).length]).toEqual([command.kind, reported + 1])
    }
    expect(t.get('a')).toBe(before)
  })

  test('it is explained by that alone, and nothing may be asked of it', () => {
    const t = shop()
    damage(t, 'a', ofLedger)
    expect(explain(t.plans, t, t.get('a'), pace)).toMatchObject({
      because: [expect.stringContaining('is damaged: extra (is no object)')],
      next: null,
      settlesWithinMs: null,
      allowed: [],
    })
  })

  test('a person sets its status, which gives up what could not be read and keeps it as evidence', () => {
    const t = shop()
    damage(t, 'a', ofLedger)
    const { no, epoch } = t.get('a')
    const said = { kind: 'setStatus', no, status: 'Ready', by: 'ann' } as const
    expect(t.refused({ ...said, reason: ' ' }).code).toBe('reason_required')
    t.ok({ ...said, reason: 'seen' })
    expect(t.get('a')).toMatchObject({ status: 'Ready', epoch: epoch + 1, run: null, ledger: [] })
    expect('damaged' in t.get('a')).toBe(false)
    expect(damages(t)).toMatchObject([{ no, evidence: { extra: '[7' } }])
    t.request('a', 'grow', { size: 2 })
  })

  test('what has no status, or no revision, nobody can repair', () => {
    for (const lost of [{ status: '' }, { revision: Number.NaN }, { epoch: Number.NaN }]) {
      const t = shop()
      damage(t, 'a', ofLedger)
      const { no } = t.get('a')
      t.resources.set(no, { ...t.get('a'), ...lost })
      const { code, message } = t.refused({ kind: 'setStatus', no, status: 'Ready', reason: 'seen', by: 'ann' })
      expect([code, message]).toEqual([
        'state_damaged',
        expect.stringMatching(/damaged: .*\. Restore it from a back-up\.$/),
      ])
    }
  })
})

test('a run that asks a damaged one fails by its own answer: here it tries again later, and says because of whom', () => {
  const t = shop()
  for (const id of ['a', 'b']) t.done(id)
  damage(t, 'a', ofLedger)
  t.request('s', 'scrap')
  // It asks again when it is due; that is not waited for here.
  t.asks = false
  t.done('b')
  expect(t.statuses('s', 'a', 'b')).toEqual(['Clearing', 'Ready', 'Gone'])
  expect(t.get('s')).toMatchObject({
    run: { rounds: 1 },
    description: expect.stringContaining('damage.thing a is damaged'),
  })
  expect(t.undelivered.map(({ rejection }) => rejection.code)).toContain('state_damaged')
})
