// After a restart (1.8) nothing stays stuck: with a recorded run it is resumed where it was, its failure answer follows when that
// never ends; without one (imported, edited by hand) the rows of B9 and decision 0.4 apply.
import type { TableTop } from 'homeostat/testing'
import { describe, expect, test } from 'vitest'
import {
  asked,
  doAll,
  doUntil,
  endDate,
  eventOf,
  leased,
  newTable,
  placed,
  reservationsOf,
  seen,
  started,
} from './lease-table.ts'

/** A lease in the middle of an operation, its worker lost. */
const cut: Readonly<Record<string, () => TableTop>> = {
  CREATING: () => {
    const t = newTable()
    t.ok(asked(t))
    t.done('L', undefined, reservationsOf(t)[0])
    return t
  },
  STARTING: () => {
    const t = leased()
    t.request('L', 'start')
    t.done('L', undefined, reservationsOf(t)[0])
    return t
  },
  UPDATING: () => {
    const t = started()
    t.request('L', 'update', { endDate: endDate + 1_000 })
    return t
  },
  TERMINATING: () => {
    const t = started()
    t.request('L', 'end')
    doUntil(t, 'endReservations')
    t.done('L', undefined, reservationsOf(t)[0])
    return t
  },
  DELETING: () => {
    const t = started()
    t.request('L', 'delete')
    doUntil(t, 'endReservations')
    t.done('L', undefined, reservationsOf(t)[0])
    return t
  },
}

describe('1.8, decision 0.4: the owner is lost, its run is recorded', () => {
  test.each([
    ['CREATING', 'PENDING | pending pending | UNDONE | UNDONE'],
    ['STARTING', 'ACTIVE | active active | DONE | UNDONE'],
    ['TERMINATING', 'TERMINATED | deleted deleted | DONE | DONE'],
    ['DELETING', 'gone | gone gone | gone | gone'],
  ])('%s goes on at its step, with what is left of it', (status, out) => {
    const t = cut[status]!()
    const second = reservationsOf(t)[1]!
    t.heal('L')
    expect(t.status('L')).toBe(status)
    expect(t.owedBy('L').map((call) => call.replace(/.*\(/, ''))).toEqual([`${second.id})`])
    doAll(t)
    expect(seen(t)).toBe(out)
  })

  test.each([
    ['yes', 0],
    ['no', 1],
  ])('UPDATING: the driver is asked whether it happened: %s', (answer, calls) => {
    const t = cut['UPDATING']!()
    t.heal('L')
    expect(t.owedBy('L')).toEqual(['reservationsUpdated'])
    t.answered('L', answer)
    expect(t.owed()).toHaveLength(calls)
    doAll(t)
    expect([t.status('L'), t.get('L').properties['endDate']]).toEqual(['ACTIVE', endDate + 1_000])
  })

  test.each([
    ['CREATING', 'gone | gone gone | gone | gone'],
    ['STARTING', 'ERROR | active error | ERROR | UNDONE'],
    ['UPDATING', 'ERROR | active active | DONE | UNDONE'],
    ['TERMINATING', 'ERROR | deleted active | DONE | ERROR'],
    ['DELETING', 'ERROR | deleted active | DONE | UNDONE'],
  ])('%s that kills every worker falls to the failure handler when the budget is spent', (status, out) => {
    const t = cut[status]!()
    for (let n = 0; n < 40 && t.get('L').run?.phase !== 'undo' && t.get('L').run !== null; n++) {
      const { no, epoch } = t.get('L')
      t.ok({ kind: 'progressReported', no, epoch, text: 'its call begins', by: 'worker' })
      t.heal('L')
      t.advance(3_600_000)
      t.claimant++
    }
    doAll(t)
    expect(seen(t)).toBe(out)
    expect(t.get('L').description).toContain('was resumed')
  })
})

describe('B9, decision 0.4: nobody owns it', () => {
  test.each([
    ['CREATING', [['pending'], 'UNDONE', 'UNDONE'], 'gone | gone | gone | gone'],
    ['STARTING', [['active', 'pending'], 'IN_PROGRESS', 'UNDONE'], 'ERROR | active error | ERROR | UNDONE'],
    ['STARTING', [['active'], 'UNDONE', 'IN_PROGRESS'], 'ERROR | active | UNDONE | ERROR'],
    ['UPDATING', [['pending'], 'UNDONE', 'UNDONE'], 'PENDING | pending | UNDONE | UNDONE'],
    ['UPDATING', [['active'], 'DONE', 'UNDONE'], 'ACTIVE | active | DONE | UNDONE'],
    ['UPDATING', [['deleted'], 'DONE', 'DONE'], 'TERMINATED | deleted | DONE | DONE'],
    ['UPDATING', [['error'], 'ERROR', 'UNDONE'], 'ERROR | error | ERROR | UNDONE'],
    ['UPDATING', [['active'], 'IN_PROGRESS', 'UNDONE'], 'ERROR | active | ERROR | UNDONE'],
    ['TERMINATING', [['active'], 'DONE', 'IN_PROGRESS'], 'ACTIVE | active | DONE | UNDONE'],
    ['TERMINATING', [['active', 'deleted'], 'DONE', 'IN_PROGRESS'], 'ERROR | active deleted | DONE | UNDONE'],
    ['TERMINATING', [['active'], 'ERROR', 'IN_PROGRESS'], 'ERROR | active | ERROR | UNDONE'],
    ['TERMINATING', [['active'], 'IN_PROGRESS', 'IN_PROGRESS'], 'ERROR | active | ERROR | UNDONE'],
  ] as const)('%s with %j', (status, combination, out) => {
    const t = placed(status, combination)
    t.heal('L', 'unowned')
    expect(seen(t)).toBe(out)
    expect(t.incidents.map((one) => one.kind)).toEqual(['unowned'])
  })

  test('TERMINATING goes on: the end event comes again, and what is deleted already is skipped', () => {
    const t = placed('TERMINATING', [['active', 'deleted'], 'DONE', 'IN_PROGRESS'])
    t.heal('L', 'unowned')
    t.now = endDate
    t.fireTimers()
    doUntil(t, 'endReservations')
    expect(t.owedBy('L')).toEqual(['endReservations(r0)'])
    doAll(t)
    expect(seen(t)).toBe('TERMINATED | deleted deleted | DONE | DONE')
  })

  test('DELETING is deleted again, whatever is in progress', () => {
    const t = placed('DELETING', [['active', 'deleted'], 'DONE', 'IN_PROGRESS'])
    t.heal('L', 'unowned')
    expect(seen(t)).toBe('DELETING | active deleted | DONE | ERROR')
    doAll(t)
    expect(t.status('L')).toBe('gone')
  })

  test.each([
    ['start', 'PENDING', 'UNDONE'],
    ['start', 'ACTIVE', 'DONE'],
    ['start', 'TERMINATED', 'DONE'],
    ['start', 'ERROR', 'ERROR'],
    ['end', 'PENDING', 'UNDONE'],
    ['end', 'ACTIVE', 'UNDONE'],
    ['end', 'TERMINATED', 'DONE'],
    ['end', 'ERROR', 'ERROR'],
    ['before_end', 'ACTIVE', 'UNDONE'],
    ['before_end', 'ERROR', 'UNDONE'],
  ] as const)('a claimed %s event of a lease that is %s: %s', (type, status, out) => {
    const usual = {
      PENDING: ['pending', 'UNDONE', 'UNDONE'],
      ACTIVE: ['active', 'DONE', 'UNDONE'],
      TERMINATED: ['deleted', 'DONE', 'DONE'],
      ERROR: ['error', 'ERROR', 'UNDONE'],
    }[status]
    const [reservation, start, end] = usual as [string, string, string]
    const at = (one: string, is: string) => (one === type ? 'IN_PROGRESS' : is)
    const t = placed(status, [[reservation], at('start', start), at('end', end)], at('before_end', 'UNDONE'))
    t.heal({ start: 's', end: 'e', before_end: 'b' }[type], 'unowned')
    expect(eventOf(t, type).status).toBe(out)
    expect(t.status('L')).toBe(status)
  })

  test.each(['STARTING', 'UPDATING', 'TERMINATING', 'DELETING'])(
    'a claimed event of a lease that is %s is healed with its lease, not before it',
    (status) => {
      const t = placed(status, [['active'], 'IN_PROGRESS', 'IN_PROGRESS'])
      expect(t.refused(t.healing('s', 'unowned')).code).toBe('healed_with_owner')
      t.heal('L', 'unowned')
      expect(seen(t)).not.toContain('IN_PROGRESS')
    },
  )
})
