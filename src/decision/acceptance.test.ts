// Points 1, 2, 3 and 16: when statuses change, what is skipped, where `previous` leads, what is required.
import { previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const door = resourceType('t.door', {
  properties: z.object({ turns: z.number().default(0), isOiled: z.boolean().default(true) }),
  statuses: {
    stable: { Shut: 'Shut.', Ajar: 'Ajar.' },
    transitional: { Oiling: 'Oiled.', Turning: 'Turned.', Ending: 'Removed.' },
    failed: { Stuck: 'Stuck.' },
    terminal: { Gone: 'Removed.' },
  },
})
const doors = door.lifecycle({
  operations: {
    create: { from: [], steps: {}, to: 'Shut', onFailure: 'Stuck' },
    turn: {
      from: ['Shut', 'Ajar', 'Stuck'],
      input: z.object({ by: z.number().default(1) }),
      requires: [
        { isOiled: true },
        { says: 'it is turned at all', test: ({ input }) => input.by !== 0 },
        { says: 'it is not turned too far', test: ({ input, resource }) => input.by + resource.properties.turns < 9 },
      ],
      steps: {
        look: { during: 'Turning', result: z.object({ isDry: z.boolean() }) },
        oil: {
          during: 'Oiling',
          when: { says: 'it is dry', test: ({ results }) => results.look?.isDry === true },
          result: z.object({ drops: z.number() }),
        },
        push: {
          during: {
            status: 'Turning',
            set: { turns: ({ input, resource }) => resource.properties.turns + input.by },
            say: 'It is pushed.',
          },
          progress: '1m',
        },
      },
      to: [
        { when: { turns: 5 }, status: 'Stuck', say: 'Turned to the stop.' },
        { when: { says: 'it was oiled', test: ({ results }) => results.oil !== undefined }, status: 'Ajar' },
        { status: previous },
      ],
      onFailure: previous,
    },
    end: {
      from: ['*'],
      ifBusy: 'preempt',
      ifTerminal: 'succeed',
      steps: { unhinge: { during: 'Ending' } },
      to: 'Gone',
      onFailure: previous,
    },
  },
  heal: {
    Oiling: { resume: true, unowned: { status: 'Stuck' } },
    Turning: { status: 'Stuck', attempt: 'turn' },
    Ending: { attempt: 'end' },
  },
})

function shutDoor() {
  const t = new TableTop([doors])
  t.create('t.door', 'd')
  return t
}

describe('1 when statuses change', () => {
  test('1 an operation without steps lands in the commit that accepts it', () => {
    const t = new TableTop([doors])
    const { resource, begun } = t.ok(t.creating('t.door', 'd'))
    expect(resource).toMatchObject({ status: 'Shut', revision: 1, epoch: 1, run: null, properties: { turns: 0 } })
    expect(begun).toBe(1)
    expect(t.endedRun(resource.no, 1)).toMatchObject({ operation: 'create', outcome: 'succeeded', status: 'Shut' })
    expect(t.eventsOf('d').map(({ kind, from, to }) => [kind, from, to])).toEqual([['accepted', '', 'Shut']])
  })

  test('1 acceptance clears the description, raises the epoch and enters the first step in one commit', () => {
    const t = shutDoor()
    t.ok({ kind: 'setStatus', no: t.get('d').no, status: 'Stuck', reason: 'rust', by: 'ann' })
    const before = t.get('d')
    expect(before.description).toContain('rust')
    const { resource, begun } = t.request('d', 'turn', { by: 2 })
    expect(resource).toMatchObject({
      status: 'Turning',
      description: '',
      epoch: before.epoch + 1,
      revision: before.revision + 1,
    })
    expect(begun).toBe(resource.epoch)
    expect(resource.properties['turns']).toBe(0)
    expect(t.owedBy('d')).toEqual(['look'])
  })

  test('1 each success stores its result and enters the next step with its changes; after the last, `to` is judged on that state', () => {
    const t = shutDoor()
    t.request('d', 'turn', { by: 5 })
    expect(t.done('d', { isDry: false })).toMatchObject({ status: 'Turning', properties: { turns: 5 } })
    expect(t.get('d').run).toMatchObject({ step: 2, steps: [0, 2], results: { look: { isDry: false } } })
    expect(t.done('d')).toMatchObject({ status: 'Stuck', description: 'Turned to the stop.', run: null })
    expect(t.lastEvent('d')).toMatchObject({ kind: 'landed', from: 'Turning', to: 'Stuck', begun: 2 })
  })

  test('1 a step begins anew: attempts, doubts and words of the one before are not its own; what it says is shown meanwhile', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    t.done('d', { isDry: true })
    t.failed('d', 'empty can', { terminal: false })
    t.now = t.call('d').dueAt
    t.heal('d')
    const { no, epoch } = t.get('d')
    t.ok({ kind: 'progressReported', no, epoch, text: 'drips', by: 'worker' })
    expect(t.get('d').run).toMatchObject({ step: 1, attempt: 2, resumed: 1, uncertain: true, progress: 'drips' })
    t.advance(600_000)
    expect(t.done('d', { drops: 3 })).toMatchObject({
      description: 'It is pushed.',
      run: { step: 2, attempt: 1, rounds: 0, progress: '', progressAt: t.now + 60_000, uncertain: false, resumed: 0 },
    })
    t.failed('d', 'heavy', { terminal: false })
    expect(t.get('d').run).toMatchObject({ step: 2, attempt: 2 })
  })

  test('1 what is terminal has nothing left to do where that is declared: it succeeds and changes nothing; else it is refused', () => {
    const t = shutDoor()
    t.request('d', 'end')
    t.done('d')
    const before = t.get('d')
    expect(t.ok(t.asking('d', 'end', undefined, { key: 'k' }))).toMatchObject({ resource: before, begun: 0 })
    // The same key is answered the same; what is asked must fit all the same.
    expect(t.ok(t.asking('d', 'end', undefined, { key: 'k' })).begun).toBe(0)
    expect(t.refused(t.asking('d', 'end', { why: 1 })).code).toBe('input_invalid')
    expect(t.refused(t.asking('d', 'turn')).message).toBe('Cannot turn t.door d: it is Gone, for good.')
    expect(t.get('d')).toBe(before)
  })

  test('1 the history has one event per decision, and each tells where it led', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    t.done('d', { isDry: true })
    t.done('d', { drops: 3 })
    t.done('d')
    expect(t.eventsOf('d').map(({ kind, from, to, begun }) => [kind, from, to, begun])).toEqual([
      ['accepted', '', 'Shut', 1],
      ['accepted', 'Shut', 'Turning', 2],
      ['stepDone', 'Turning', 'Oiling', 2],
      ['stepDone', 'Oiling', 'Turning', 2],
      ['landed', 'Turning', 'Ajar', 2],
    ])
  })
})

describe('2 skipped steps', () => {
  test('2 a skipped step shows no status, owes no call, has no result and is told with its words', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    const after = t.done('d', { isDry: false })
    expect(after.status).toBe('Turning')
    expect(t.lastEvent('d').detail).toMatchObject({ step: 'look', next: 'push', skipped: ['oil: not it is dry'] })
    t.done('d')
    expect(t.status('d')).toBe('Shut')
  })

  test('2 a step is judged when its turn comes, on the results of the steps before', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    expect(t.done('d', { isDry: true }).status).toBe('Oiling')
    expect(t.owedBy('d')).toEqual(['oil'])
  })

  test('2 resumption does not judge skipped steps again', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    t.done('d', { isDry: true })
    expect(t.heal('d').run).toMatchObject({ step: 1, steps: [0, 1] })
    t.done('d', { drops: 1 })
    expect(t.get('d').run!.steps).toEqual([0, 1, 2])
  })
})

describe('3 previous', () => {
  test('3 previous is the settled status stood in when the run was accepted', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    t.done('d', { isDry: true })
    t.done('d', { drops: 1 })
    t.done('d')
    expect(t.status('d')).toBe('Ajar')
    t.request('d', 'turn')
    t.failed('d', 'too heavy')
    expect(t.get('d')).toMatchObject({ status: 'Ajar', description: 'turn failed: too heavy' })
  })

  test("3 a pre-empting run inherits the interrupted run's previous", () => {
    const t = shutDoor()
    t.request('d', 'turn')
    t.done('d', { isDry: true })
    expect(t.status('d')).toBe('Oiling')
    t.request('d', 'end')
    expect(t.get('d').run!.previous).toBe('Shut')
    t.advance(30_000)
    t.failed('d', 'screws')
    expect(t.status('d')).toBe('Shut')
  })

  test('3 after a healing follow-up it is the status healing landed in', () => {
    const t = shutDoor()
    t.request('d', 'turn')
    t.heal('d')
    expect(t.get('d').run).toMatchObject({ operation: 'turn', previous: 'Stuck' })
    t.failed('d', 'still heavy')
    expect(t.status('d')).toBe('Stuck')
  })

  test('3 an attempt that begins where it was found keeps the previous of the run that was healed', () => {
    const t = shutDoor()
    t.request('d', 'end')
    t.heal('d')
    expect(t.get('d')).toMatchObject({ status: 'Ending', run: { operation: 'end', previous: 'Shut', by: 'healing' } })
  })

  test('3 a run without a settled past cannot go back: it is parked with an incident, not put somewhere', () => {
    const t = new TableTop([doors])
    t.place('t.door', 'd', 'Ending')
    t.heal('d', 'unowned')
    t.failed('d', 'screws')
    expect(t.get('d')).toMatchObject({ status: 'Ending', run: { parked: { code: 'declaration_defect' } } })
    expect(t.incidents.map(({ kind }) => kind)).toEqual(['unowned', 'declaration_defect'])
    t.ok({ kind: 'retryRun', no: t.get('d').no, by: 'ann' })
    t.done('d')
    expect(t.status('d')).toBe('Gone')
  })
})

test('3 asked for in a transitional status that nobody works on, there is no previous, either', () => {
  const t = new TableTop([doors])
  t.place('t.door', 'd', 'Oiling')
  expect(t.request('d', 'end').resource).toMatchObject({ status: 'Ending', run: { previous: '' } })
})

describe('16 requirements', () => {
  test('16 all that do not hold are reported at once, in order and in words', () => {
    const t = shutDoor()
    const { code, message, details } = t.refused(t.asking('d', 'turn', { by: 0 }))
    expect(code).toBe('requirement_not_met')
    expect(details).toEqual(['it is turned at all'])
    expect(message).toBe('Cannot turn t.door d: it needs that it is turned at all.')
    const dry = t.place('t.door', 'dry', 'Shut', { properties: { isOiled: false, turns: 20 } })
    expect(t.refused(t.asking(dry, 'turn', {})).details).toEqual(['isOiled is true', 'it is not turned too far'])
  })

  test('16 they are judged at acceptance only', () => {
    const t = shutDoor()
    t.request('d', 'turn', { by: 8 })
    t.done('d', { isDry: false })
    expect(t.get('d').properties['turns']).toBe(8)
    t.done('d')
    expect(t.status('d')).toBe('Shut')
  })

  test('16 a status that the operation does not start from is refused with what is allowed', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    const { code, message, details } = t.refused(t.asking('s', 'open'))
    expect(code).toBe('operation_not_allowed')
    expect(message).toBe('Cannot open w.site s: it is Open; open starts from Closed.')
    expect(details).toEqual({ status: 'Open', allowed: ['close', 'clear', 'delete'] })
  })

  test('16 while a run is under way it is refused with that run, and with what may be asked for all the same', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.request('s', 'close')
    expect(t.refused(t.asking('s', 'clear'))).toMatchObject({
      code: 'operation_in_progress',
      message: 'Cannot clear w.site s: it is Closing (run 1-2 of close is under way). Wait for it or cancel it.',
      details: { status: 'Closing', run: '1-2', allowed: ['delete'] },
    })
  })

  test('16 input goes through its schema with its defaults, and what does not fit is refused with its faults', () => {
    const t = shutDoor()
    const { code, details } = t.refused(t.asking('d', 'turn', { by: 'x' }))
    expect([code, details]).toEqual(['input_invalid', [expect.stringMatching(/^by: /)]])
    for (const some of [{ by: 1 }, 5, 'x'])
      expect(t.refused(t.asking('d', 'end', some)).message).toBe('end of t.door takes no input. Leave it out.')
    for (const nothing of [undefined, null, {}]) expect(shutDoor().request('d', 'end', nothing).begun).toBe(2)
    expect(t.request('d', 'turn').resource.run!.input).toEqual({ by: 1 })
  })

  test('16 a stale revision, another tenant and an unknown name are refused', () => {
    const t = shutDoor()
    expect(t.refused(t.asking('d', 'turn', {}, { ifRevision: 9 })).code).toBe('revision_conflict')
    expect(t.refused(t.asking('d', 'turn', {}, { tenant: 'other' })).code).toBe('resource_not_found')
    expect(t.refused(t.asking('d', 'fly')).code).toBe('operation_unknown')
    expect(t.refused({ kind: 'requestOperation', type: 't.door', id: 'nix', operation: 'turn', by: 'ann' }).code).toBe(
      'resource_not_found',
    )
    expect(t.refused(t.creating('t.door', 'd')).code).toBe('already_exists')
  })

  test('16 the same key with the same request gets the same run; with another request it is refused', () => {
    const t = shutDoor()
    const { begun } = t.request('d', 'turn', { by: 2 }, { key: 'k' })
    expect(t.request('d', 'turn', { by: 2 }, { key: 'k' }).begun).toBe(begun)
    expect(t.refused(t.asking('d', 'turn', { by: 3 }, { key: 'k' })).code).toBe('key_reused')
  })
})
