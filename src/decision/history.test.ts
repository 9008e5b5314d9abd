// What the history tells of everything that happens to a resource: people read it, and the console words it.
import { describe, expect, test } from 'vitest'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop, type Name } from '../testing/table-top.ts'

/** What was told since the first event: kind, where it led, detail. */
const told = (t: TableTop, name: Name) =>
  t
    .eventsOf(name)
    .slice(1)
    .map(({ kind, from, to, detail }) => [kind, from === to ? from : `${from} > ${to}`, detail])

const later = expect.any(Number) as number

function shop(...tools: string[]) {
  const t = new TableTop(workshop)
  t.create('w.site', 's', { properties: { isOpen: false } })
  for (const id of tools) t.place('w.tool', id, 'Idle', { parent: { no: t.get('s').no } })
  return t
}

describe('the history tells', () => {
  test('every attempt of a run that fails, what was taken back, and where that led', () => {
    const t = shop()
    t.request('s', 'close')
    t.failed('s', 'rust', { terminal: false })
    t.again('s', 2_000)
    t.failed('s', 'jammed')
    t.failed('s', 'stuck', { terminal: false })
    t.done('s')
    expect(told(t, 's')).toEqual([
      ['accepted', 'Open > Closing', { operation: 'close', next: 'lock' }],
      ['attemptFailed', 'Closing', { step: 'lock', attempt: 1, code: 'Broken', reason: 'rust', nextAt: later }],
      ['stepAgain', 'Closing', { call: 'step', step: 'lock', afterMs: 2_000 }],
      [
        'failed',
        'Closing > Undoing',
        { step: 'lock', code: 'Broken', reason: 'jammed', failed: true, phase: 'undo', next: 'lock' },
      ],
      ['undoFailed', 'Undoing', { undo: 'unlock', attempt: 1, code: 'Broken', reason: 'stuck', nextAt: later }],
      [
        'landed',
        'Undoing > Open',
        { undone: 'lock', failed: true, operation: 'close', description: 'Not closed: jammed' },
      ],
    ])
  })

  test('that undoing failed for good, with an incident', () => {
    const t = shop()
    t.request('s', 'close')
    t.failed('s', 'jammed')
    t.failed('s', 'lost the key')
    expect(told(t, 's').at(-1)).toEqual([
      'landed',
      'Undoing > Broken',
      {
        undo: 'unlock',
        code: 'Broken',
        reason: 'lost the key',
        undoFailed: true,
        failed: true,
        operation: 'close',
        description: 'Not closed: jammed, lost the key',
      },
    ])
    expect(t.incidents).toEqual([
      {
        no: t.get('s').no,
        kind: 'undo_failed',
        status: 'Undoing',
        at: t.now,
        text: 'Undoing close of w.site s failed: lost the key',
        evidence: { reasons: ['jammed', 'lost the key'], ledger: [] },
      },
    ])
  })

  test('of each of many what became of it, and who moved it', () => {
    const t = shop('a', 'b')
    t.request('s', 'clear')
    t.done('s')
    t.failed('s', 'dirt', { item: 'a', terminal: false })
    t.again('s', 1_000, 'b')
    t.done('s', undefined, 'b')
    t.failed('s', 'rust', { item: 'a', code: 'Rust' })
    t.done('s')
    t.done('s')
    expect(told(t, 's')).toEqual([
      ['accepted', 'Open > Clearing', { operation: 'clear', next: 'pack' }],
      ['stepDone', 'Clearing', { step: 'pack', next: 'clean' }],
      [
        'attemptFailed',
        'Clearing',
        { step: 'clean', code: 'Broken', reason: 'dirt', nextAt: later, item: 'a', attempt: 1 },
      ],
      ['stepAgain', 'Clearing', { step: 'clean', afterMs: 1_000, item: 'b', attempt: 1 }],
      ['itemDone', 'Clearing', { step: 'clean', item: 'b', left: 1 }],
      [
        'failed',
        'Clearing',
        { step: 'clean', item: 'a', code: 'Rust', reason: 'rust', failed: true, phase: 'undo', next: 'clean' },
      ],
      ['undone', 'Clearing', { undone: 'clean' }],
      [
        'landed',
        'Clearing > Broken',
        { undone: 'pack', failed: true, operation: 'clear', description: 'clear failed: a: rust' },
      ],
    ])
    expect(told(t, 'a')).toEqual([
      ['moved', 'Idle > Packed', { with: 'w.site s' }],
      ['moved', 'Packed > Bad', { with: 'w.site s' }],
    ])
  })

  test('of a call that was cut what was asked, what the answer was and what followed', () => {
    const t = shop('a')
    t.request('a', 'start')
    t.unknown('a')
    t.unknown('a', 'probe lost')
    t.answered('a', 'no')
    t.advance(120_000)
    t.ok(t.deadline('a'))
    t.answered('a', 'yes', { rpm: 3 })
    expect(told(t, 'a')).toEqual([
      ['accepted', 'Idle > Starting', { operation: 'start', next: 'spin' }],
      ['outcomeUnknown', 'Starting', { step: 'spin', reason: 'connection lost', probe: 'spinning' }],
      [
        'attemptFailed',
        'Starting',
        { step: 'spin', probe: 'spinning', attempt: 1, reason: 'probe lost', nextAt: later },
      ],
      ['probed', 'Starting', { step: 'spin', probe: 'spinning', answer: 'no', repeated: true }],
      ['outcomeUnknown', 'Starting', { step: 'spin', reason: 'spin was not done in time', probe: 'spinning' }],
      ['probed', 'Starting', { step: 'spin', probe: 'spinning', answer: 'yes', adopted: true }],
      ['landed', 'Starting > Busy', { step: 'spin', result: { rpm: 3 }, operation: 'start' }],
    ])
  })

  test('how something was found, and what healing did', () => {
    const t = shop()
    t.request('s', 'close')
    t.heal('s')
    t.advance(600_000)
    t.heal('s', 'overdue')
    expect(told(t, 's').slice(1)).toEqual([
      ['resumed', 'Closing', { found: 'ownerLost', phase: 'step', resumed: 1 }],
      ['resumed', 'Closing', { found: 'overdue', phase: 'step', resumed: 1 }],
      [
        'failed',
        'Closing > Undoing',
        {
          step: 'lock',
          code: 'deadline_exceeded',
          reason: 'lock was not done in time',
          failed: true,
          phase: 'undo',
          next: 'lock',
        },
      ],
    ])
    const clearing = shop('a')
    clearing.request('s', 'clear')
    clearing.heal('s')
    expect(told(clearing, 's').slice(1)).toEqual([
      ['healed', 'Clearing > Open', { found: 'ownerLost', from: 'Clearing', attempt: 'clear' }],
      ['accepted', 'Open > Clearing', { operation: 'clear', next: 'pack' }],
    ])
    expect(clearing.get('s').description).toBe(
      'Found in Clearing: its worker was lost. Healed: put to Open, clear is attempted again.',
    )
    const asked = shop('a')
    asked.request('a', 'delete')
    asked.ok({ kind: 'setStatus', no: asked.get('a').no, status: 'Stopping', reason: 'seen', by: 'ann' })
    asked.heal('a', 'unowned')
    asked.again('a', 500)
    asked.failed('a', 'no route')
    asked.answered('a', 'no')
    expect(told(asked, 'a').slice(1)).toEqual([
      ['statusSet', 'Scrapping > Stopping', { reason: 'seen' }],
      ['resumed', 'Stopping', { found: 'unowned', probe: 'spinning' }],
      ['stepAgain', 'Stopping', { probe: 'spinning', afterMs: 500 }],
      ['attemptFailed', 'Stopping', { probe: 'spinning', reason: 'no route', nextAt: later }],
      ['healed', 'Stopping > Idle', { found: 'unowned', from: 'Stopping', answer: 'no' }],
    ])
  })

  test('in an incident what was there when it was found', () => {
    const t = shop('a')
    t.request('s', 'close')
    const { no, epoch } = t.get('s')
    t.ok({ kind: 'progressReported', no, epoch, text: 'turns the key', by: 'worker' })
    t.advance(600_000)
    t.heal('s', 'overdue')
    t.place('w.tool', 'x', 'Stopping', { parent: { no }, properties: { rpm: 4 } })
    t.heal('x', 'unowned')
    expect(t.incidents).toEqual([
      {
        no,
        kind: 'overdue',
        status: 'Closing',
        at: t.now,
        text: 'w.site s was overdue in Closing although its worker was alive.',
        evidence: {
          since: 1_000_000,
          description: '',
          properties: { isOpen: false, note: '' },
          operation: 'close',
          phase: 'step',
          step: 1,
          attempt: 1,
          owner: 1,
          deadlineAt: 1_600_000,
          progress: 'turns the key',
        },
      },
      {
        no: t.get('x').no,
        kind: 'unowned',
        status: 'Stopping',
        at: t.now,
        text: 'w.tool x stood in Stopping with no run: imported, edited by hand, or a bug.',
        evidence: { since: t.now, description: '', properties: { rpm: 4 } },
      },
    ])
  })

  test('that a budget is spent, in doing and in undoing', () => {
    const lose = (t: TableTop, times: number) => {
      for (let n = 0; n < times && t.get('s').run !== null; n++) {
        t.advance(700_000)
        const { no, epoch } = t.get('s')
        t.ok({ kind: 'progressReported', no, epoch, text: 'begins', by: 'worker' })
        t.heal('s')
      }
    }
    const t = shop()
    t.request('s', 'close')
    lose(t, 6)
    const reason = 'lock was resumed 5 times and never ended'
    expect(told(t, 's').at(-1)).toEqual([
      'failed',
      'Closing > Undoing',
      { code: 'budget_spent', reason, found: 'ownerLost', failed: true, phase: 'undo', next: 'lock' },
    ])
    lose(t, 26)
    expect(told(t, 's').at(-1)).toEqual([
      'landed',
      'Undoing > Broken',
      {
        undo: 'unlock',
        code: 'budget_spent',
        reason: 'unlock was resumed 25 times and never ended',
        found: 'ownerLost',
        undoFailed: true,
        failed: true,
        operation: 'close',
        description: `Not closed: ${reason}, unlock was resumed 25 times and never ended`,
      },
    ])
  })
})
