// Point 16, second half: requests that wait their turn.
import { resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const press = resourceType('t.press', {
  properties: z.object({ isOld: z.boolean().default(false) }),
  statuses: {
    stable: { Idle: 'Idle.' },
    transitional: { Pressing: 'Presses.' },
    failed: { Jammed: 'Jammed.', Burst: 'Burst.' },
    terminal: { Gone: 'Gone.' },
  },
})
const presses = press.lifecycle({
  rules: { whole: { says: 'none of ours bursts', holds: { Burst: { isOld: true } } } },
  operations: {
    create: { from: [], steps: {}, to: 'Idle', onFailure: 'Jammed' },
    print: {
      from: ['Idle'],
      ifBusy: 'queue',
      queueBehind: 2,
      input: z.object({ words: z.string().transform((text) => text.split(' ')) }),
      steps: { roll: { during: 'Pressing' } },
      to: 'Idle',
      onFailure: 'Jammed',
    },
    clean: { from: ['Idle'], steps: { wipe: { during: 'Pressing' } }, to: 'Idle', onFailure: 'Jammed' },
    burst: { from: ['Idle'], ifBusy: 'queue', steps: {}, to: 'Burst', onFailure: 'Jammed' },
    scrap: {
      from: ['Idle'],
      ifBusy: 'queue',
      steps: { melt: { during: 'Pressing' } },
      to: 'Gone',
      onFailure: 'Jammed',
    },
    oil: {
      from: ['Idle'],
      ifBusy: 'queue',
      requires: [
        {
          says: 'there is oil',
          test: () => {
            throw new Error('no idea')
          },
        },
      ],
      steps: { drip: { during: 'Pressing' } },
      to: 'Idle',
      onFailure: 'Jammed',
    },
  },
  heal: { Pressing: { status: 'Jammed' } },
})

function busyPress() {
  const t = new TableTop([presses])
  t.create('t.press', 'p')
  t.request('p', 'print', { words: 'to be' })
  return t
}

function busySite() {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  t.request('s', 'close')
  return t
}

describe('16 queue', () => {
  test('16 a request waits while a run is under way, and begins in the commit of its landing, judged on that state', () => {
    const t = busySite()
    const { begun, resource } = t.request('s', 'open')
    expect([begun, resource.queue]).toMatchObject([0, [{ operation: 'open', by: 'ann' }]])
    expect(t.lastEvent('s')).toMatchObject({ kind: 'queued', detail: { operation: 'open', place: 1 } })
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Opening', queue: [], run: { operation: 'open', previous: 'Closed' } })
    expect(
      t
        .eventsOf('s')
        .slice(-2)
        .map(({ kind, from, to }) => [kind, from, to]),
    ).toEqual([
      ['landed', 'Closing', 'Closed'],
      ['accepted', 'Closed', 'Opening'],
    ])
  })

  test('16 one that is refused when its turn comes is told and dropped; the next one begins', () => {
    const t = busySite()
    t.request('s', 'close')
    t.request('s', 'open')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Opening', queue: [] })
    expect(
      t
        .eventsOf('s')
        .map(({ kind }) => kind)
        .slice(-3),
    ).toEqual(['landed', 'dropped', 'accepted'])
    expect(t.eventsOf('s').find(({ kind }) => kind === 'dropped')!.detail).toMatchObject({
      operation: 'close',
      reason: 'Cannot close w.site s: it is Closed; close starts from Open.',
    })
  })

  test('16 they begin in order, one after another', () => {
    const t = busySite()
    for (const operation of ['open', 'close', 'open']) t.request('s', operation)
    const seen: string[] = []
    while (t.get('s').run !== null) {
      seen.push(t.get('s').run!.operation)
      t.done('s', { key: 'k' })
    }
    expect(seen).toEqual(['close', 'open', 'close', 'open'])
  })

  test('16 a failure, a cancellation and a repair begin what waits, too', () => {
    const failed = busySite()
    failed.request('s', 'close')
    failed.failed('s', 'x')
    failed.done('s')
    expect(failed.get('s').run).toMatchObject({ operation: 'close' })
    const set = busySite()
    set.request('s', 'open')
    set.ok({ kind: 'setStatus', no: set.get('s').no, status: 'Closed', reason: 'seen', by: 'ann' })
    expect(set.get('s').run).toMatchObject({ operation: 'open' })
  })

  test('16 a start that would break a rule is dropped: it does not fail the run before it', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.place('w.tool', 'a', 'Busy', { parent: { no: t.get('s').no }, properties: { rpm: 2 } })
    t.request('a', 'stop')
    t.request('a', 'stop')
    t.done('a')
    expect(t.get('a')).toMatchObject({ status: 'Idle', run: null, queue: [] })
    expect(t.ended.filter((run) => run.operation === 'stop').map(({ outcome }) => outcome)).toEqual([
      'succeeded',
      'succeeded',
    ])
  })

  test('16 what is moved to rest by another begins what waits; what is moved to its end drops it', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's', { properties: { isOpen: false } })
    t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no }, properties: { rpm: 1 } })
    t.request('s', 'clear')
    t.request('a', 'stop')
    expect(t.get('a').queue).toHaveLength(1)
    t.done('s')
    t.done('s', undefined, 'a')
    expect(t.get('a')).toMatchObject({ status: 'Stopping', queue: [] })
    t.request('a', 'stop')
    t.request('s', 'delete', {}, { force: true, reason: 'now' })
    t.failed('s', 'x', { item: 'a' })
    t.failed('s', 'y')
    expect(t.get('a')).toMatchObject({ status: 'Gone', queue: [], run: null })
  })

  test('16 a pre-empting operation goes first; what waits is judged after it', () => {
    const t = busySite()
    t.request('s', 'open')
    t.request('s', 'delete')
    t.done('s')
    t.done('s')
    expect(t.get('s')).toMatchObject({ status: 'Gone', queue: [] })
    expect(t.eventsOf('s').at(-1)).toMatchObject({ kind: 'dropped' })
  })

  test('16 the same key waits once; more than a hundred are refused', () => {
    const t = busySite()
    t.request('s', 'open', undefined, { key: 'k' })
    t.request('s', 'open', undefined, { key: 'k' })
    expect(t.get('s').queue).toHaveLength(1)
    for (let n = 0; n < 99; n++) t.request('s', 'open')
    expect(t.refused(t.asking('s', 'open')).code).toBe('limit_exceeded')
  })

  test('16 the input was judged when it was asked, and is not judged again', () => {
    const t = busySite()
    expect(t.refused(t.asking('s', 'open', { nix: 1 })).code).toBe('input_invalid')
    const made = busyPress()
    made.request('p', 'print', { words: 'or not' }, { by: 'ben', trace: '00-a-b-01' })
    expect(made.get('p').queue).toMatchObject([{ at: made.now }])
    made.done('p')
    expect(made.get('p').run).toMatchObject({ input: { words: ['or', 'not'] }, by: 'ben', trace: '00-a-b-01' })
    expect(made.lastEvent('p').detail).toMatchObject({ operation: 'print', input: { words: ['or', 'not'] } })
  })

  test('16 behind a run that lets some wait, whatever is asked for waits, up to so many', () => {
    const t = busyPress()
    for (let n = 1; n <= 2; n++) expect(t.request('p', 'clean').resource.queue).toHaveLength(n)
    expect(t.refused(t.asking('p', 'clean')).code).toBe('operation_in_progress')
    t.done('p')
    expect(t.get('p').run).toMatchObject({ operation: 'clean' })
    expect(t.refused(t.asking('p', 'clean')).code).toBe('operation_in_progress')
  })

  test('16 a fault of the declaration drops what waits, with an incident; the landing before it stands', () => {
    const t = busyPress()
    t.request('p', 'oil')
    t.done('p')
    expect(t.get('p')).toMatchObject({ status: 'Idle', run: null, queue: [] })
    const text = 'A function of the declaration threw (there is oil): no idea'
    expect(t.lastEvent('p')).toMatchObject({ kind: 'dropped', detail: { operation: 'oil', reason: text } })
    expect(t.incidents).toMatchObject([{ no: t.get('p').no, kind: 'declaration_defect', status: 'Idle', text }])
  })

  test('16 of one that a rule forbids nothing is left but that it was dropped', () => {
    const t = busyPress()
    t.request('p', 'burst')
    const { changes } = t.ok(t.ending('p', { kind: 'done', result: null }))
    expect(changes.ended.map(({ operation }) => operation)).toEqual(['print'])
    expect(changes.events.map(({ kind }) => kind)).toEqual(['landed', 'dropped'])
    expect(t.get('p')).toMatchObject({ status: 'Idle', run: null, queue: [] })
  })

  test('16 what removes is served as a delete when its turn comes', () => {
    const t = busyPress()
    t.request('p', 'scrap')
    t.done('p')
    expect(t.get('p').run).toMatchObject({ operation: 'scrap', lane: 'delete' })
    const other = busyPress()
    other.request('p', 'clean')
    other.done('p')
    expect(other.get('p').run).toMatchObject({ operation: 'clean', lane: 'user' })
  })
})
