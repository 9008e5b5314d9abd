// Point 10: a step that asks operations of related resources and waits for their runs.
import { previous, resourceType } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ovc } from '../../catalogues/ovc/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { askKey } from './owed.ts'

function shop(...tools: [id: string, status: string][]) {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  for (const [id, status] of tools)
    t.place('w.tool', id, status, { parent: { no: t.get('s').no }, properties: { rpm: status === 'Busy' ? 5 : 0 } })
  return t
}

const afloat = {
  properties: z.object({}),
  statuses: {
    stable: { Up: 'Sails.', Down: 'Lies.' },
    transitional: { Stopping: 'Stops.', Slowing: 'Slows down.' },
    failed: { Lost: 'Lost.' },
  },
} as const
const fleet = resourceType('t.fleet', afloat)
const ship = resourceType('t.ship', afloat)
const how = z.object({ hard: z.boolean().default(false) })
const create = { from: [], steps: {}, to: 'Up', onFailure: 'Lost' } as const
const ships = ship.relations({ fleet: { parent: fleet } }).lifecycle({
  operations: {
    create,
    stop: { from: ['Up'], input: how, steps: { halt: { during: 'Stopping' } }, to: 'Down', onFailure: previous },
  },
  heal: { Stopping: { resume: true, unowned: { status: 'Lost' } }, Slowing: { status: 'Lost' } },
})
const fleets = fleet.relations({ ships: { children: ship } }).lifecycle({
  operations: {
    create,
    stop: {
      from: ['Up'],
      input: how,
      steps: { all: { during: 'Stopping', ask: { ships: { operation: 'stop', input: ({ input }) => input } } } },
      to: 'Down',
      onFailure: previous,
    },
    slow: {
      from: ['Up'],
      steps: {
        all: { during: 'Slowing', ask: { ships: { operation: 'stop', in: ['Up'], input: () => ({ hard: false }) } } },
      },
      to: 'Down',
      onFailure: previous,
    },
  },
  heal: {
    Stopping: { status: previous, attempt: 'stop', unowned: { status: 'Lost' } },
    Slowing: { status: previous, attempt: 'slow', unowned: { status: 'Lost' } },
  },
})

describe('10 ask', () => {
  test("10 the entry owes a request per related resource in the right status, with a deterministic key and the asker's lane", () => {
    const t = shop(['a', 'Busy'], ['b', 'Busy'], ['c', 'Idle'])
    t.asks = false
    const { begun } = t.request('s', 'close')
    const site = t.get('s')
    expect(t.owedBy('s')).toEqual(['stop(a)', 'stop(b)'])
    const call = t.call('s', 'a')
    expect(t.askFor(site, call)).toMatchObject({
      operation: 'stop',
      key: askKey(call.key),
      lane: 'user',
      askedBy: { no: site.no, begun },
      by: 'run 1-2',
    })
  })

  test('10 it waits without a worker; with the last end the step is done', () => {
    const t = shop(['a', 'Busy'], ['b', 'Busy'])
    t.request('s', 'close')
    expect(t.statuses('a', 'b')).toEqual(['Stopping', 'Stopping'])
    t.done('a')
    expect(t.get('s').run!.items).toHaveLength(1)
    t.done('b')
    expect(t.owedBy('s')).toEqual(['lock'])
    expect(
      t
        .eventsOf('s')
        .map(({ kind, by }) => [kind, by])
        .slice(-2),
    ).toEqual([
      ['itemDone', 'a run it asked for'],
      ['itemDone', 'a run it asked for'],
    ])
  })

  test('10 a failed run fails the step, and the others that it asked for are taken back', () => {
    const t = shop(['a', 'Busy'], ['b', 'Busy'])
    t.request('s', 'close')
    t.failed('a', 'jammed')
    expect(t.status('s')).toBe('Closing')
    t.done('b')
    expect(t.get('s')).toMatchObject({ status: 'Open', description: 'Not closed: a: stop failed: jammed' })
  })

  test('10 a refused request fails the step with the refusal', () => {
    const t = shop(['a', 'Busy'])
    t.request('a', 'delete')
    t.request('s', 'close')
    expect(t.get('s').run).toMatchObject({ step: 1 })
    const busy = new TableTop(Object.values(ovc))
    busy.place('ovc.account', 'p', 'CONFIRMED', { properties: { enabled: true } })
    const parent = { no: busy.get('p').no }
    busy.place('ovc.image', 'i', 'CREATED', { parent, properties: { enabled: true, system: true } })
    busy.request('p', 'delete', {})
    expect(busy.get('p')).toMatchObject({ status: 'CONFIRMED', description: expect.stringContaining('it needs that') })
  })

  test('10 `failed: goOn` does not fail the step', () => {
    const t = shop(['a', 'Idle'])
    t.request('s', 'clear')
    t.done('s')
    t.done('s', undefined, 'a')
    expect(t.status('a')).toBe('Starting')
    t.failed('a', 'no power')
    expect(t.get('s')).toMatchObject({ status: 'Open', run: null, description: '' })
  })

  test('10 what is in the target status already counts as done; nothing to ask is done at once', () => {
    const t = shop(['c', 'Idle'])
    t.request('s', 'close')
    expect(t.owedBy('s')).toEqual(['lock'])
  })

  test('10 the end of a run told twice, or of a run that an earlier step asked for, changes nothing', () => {
    const t = shop(['a', 'Busy'], ['b', 'Busy'])
    const { begun } = t.request('s', 'close')
    const asked = t.get('a').run!.begun
    const ended = {
      kind: 'relatedRunEnded',
      no: t.get('s').no,
      begun,
      item: { no: t.get('a').no, begun: asked },
      outcome: 'succeeded',
      reason: '',
    } as const
    expect(t.refused(ended).code).toBe('step_not_waiting')
    expect(t.refused({ ...ended, item: { ...ended.item, begun: asked - 1 } }).code).toBe('step_not_waiting')
    t.done('a')
    expect(t.refused(ended).code).toBe('step_not_waiting')
    expect(t.get('s').run!.items).toHaveLength(1)
  })

  test('10 a request sent again with its key finds the run under way, or tells how it ended', () => {
    const t = shop(['a', 'Busy'], ['b', 'Busy'])
    t.request('s', 'close')
    const again = t.askFor(t.get('s'), t.call('s', 'a'))
    expect(t.ok(again).changes).toMatchObject({ writes: [], followUps: [] })
    const { no } = t.get('a')
    t.decideOne(t.ending('a', { kind: 'done', result: null }))
    expect(t.status('a')).toBe('Idle')
    expect(t.get('s').run!.items).toHaveLength(2)
    t.ok(again)
    expect(t.get('s').run!.items!.map((item) => item.no)).not.toContain(no)
  })

  test('10 a run that healing attempts again is still the run that was asked for', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'CONFIRMED', { properties: { enabled: true } })
    t.place('ovc.cloudspace', 'q', 'DEPLOYED', { parent: { no: t.get('p').no }, properties: { enabled: true } })
    t.request('p', 'delete', { reason: 'old' })
    expect(t.statuses('p', 'q')).toEqual(['DELETING', 'DELETING'])
    const again = t.askFor(t.get('p'), t.call('p'))
    t.heal('q')
    expect(t.get('q').run).toMatchObject({ operation: 'delete', by: 'healing', askedBy: { no: t.get('p').no } })
    t.ok(again)
    expect(t.status('p')).toBe('DELETING')
    t.done('q')
    expect(t.statuses('p', 'q')).toEqual(['DELETED', 'DELETED'])
  })

  test('10 an asker that healing attempts again waits for what the run before it had asked for', () => {
    const t = new TableTop([fleets, ships])
    t.create('t.fleet', 'f')
    for (const id of ['a', 'b', 'c']) t.create('t.ship', id, { parent: { no: t.get('f').no } })
    t.place('t.ship', 'wreck', 'Down', { parent: { no: t.get('f').no } })
    t.request('f', 'stop')
    // What is there already is not asked.
    expect(t.owedBy('f')).toEqual(['stop(a)', 'stop(b)', 'stop(c)'])
    t.done('c')
    const [first, second] = [t.get('a').run!, t.get('b').run!]
    t.heal('f')
    expect(t.get('f')).toMatchObject({ status: 'Stopping', run: { operation: 'stop', by: 'healing' } })
    expect([t.get('a').run, t.get('b').run]).toMatchObject([{ begun: first.begun }, { begun: second.begun }])
    t.done('a')
    expect(t.status('f')).toBe('Stopping')
    t.done('b')
    expect(t.statuses('f', 'a', 'b', 'c')).toEqual(['Down', 'Down', 'Down', 'Down'])
    expect(t.undelivered).toEqual([])
  })

  test('10 so also where it asks only those that stand; what another began, or was asked otherwise, is refused as before', () => {
    const t = new TableTop([fleets, ships])
    t.create('t.fleet', 'f')
    for (const id of ['a', 'b']) t.create('t.ship', id, { parent: { no: t.get('f').no } })
    t.request('b', 'stop')
    t.request('f', 'slow')
    expect(t.get('f').run!.items).toHaveLength(1)
    t.heal('f')
    expect(t.owedBy('f')).toEqual(['stop(a)'])
    t.done('a')
    expect(t.status('f')).toBe('Down')
    const other = new TableTop([fleets, ships])
    other.create('t.fleet', 'f')
    other.create('t.ship', 'a', { parent: { no: other.get('f').no } })
    other.request('f', 'stop', { hard: true })
    const { no, run } = other.get('f')
    const asked = {
      kind: 'requestOperation',
      type: 't.ship',
      no: other.get('a').no,
      operation: 'stop',
      by: 'x',
    } as const
    expect(other.refused({ ...asked, input: { hard: true } }).code).toBe('operation_in_progress')
    expect(other.refused({ ...asked, askedBy: { no, begun: run!.begun } }).code).toBe('operation_in_progress')
  })

  test('10 an attempt of healing that is refused tells the asker', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'CONFIRMED', { properties: { enabled: true } })
    const image = { enabled: true, system: false }
    t.place('ovc.image', 'i', 'CREATED', { parent: { no: t.get('p').no }, properties: image })
    t.request('p', 'delete', { reason: 'old' })
    t.resources.set(t.get('i').no, { ...t.get('i'), properties: { ...image, system: true } })
    t.heal('i')
    expect(t.get('i')).toMatchObject({ status: 'CREATED', run: null })
    expect(t.get('p')).toMatchObject({ status: 'CONFIRMED', description: expect.stringContaining('it needs that') })
  })

  test('10 a spent budget tells the asker, too', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'CONFIRMED', { properties: { enabled: true } })
    const image = t.place('ovc.image', 'i', 'CREATED', {
      parent: { no: t.get('p').no },
      properties: { enabled: true, system: false },
    })
    t.request('p', 'delete', { reason: 'old' })
    expect(t.status('i')).toBe('DELETING')
    for (let n = 0; n < 6; n++) {
      t.heal('i')
      t.advance(700_000)
      const { no, epoch, run } = t.get('i')
      if (run !== null) t.ok({ kind: 'progressReported', no, epoch, text: 'begins', by: 'worker' })
    }
    expect(t.get(image)).toMatchObject({ status: 'CREATED', run: null })
    expect(t.get('p').status).toBe('CONFIRMED')
  })

  test('10 an end whose message was lost is told with how it ended, when it is asked for again', () => {
    const lost = (end: (t: TableTop) => void) => {
      const t = shop(['a', 'Busy'])
      t.request('s', 'close')
      const again = t.askFor(t.get('s'), t.call('s', 'a'))
      end(t)
      expect(t.status('s')).toBe('Closing')
      t.ok(again)
      return t.get('s')
    }
    const jammed = { kind: 'failed', code: 'x', reason: 'jammed', terminal: true } as const
    const failed = lost((t) => t.decideOne(t.ending('a', jammed)))
    expect(failed).toMatchObject({ status: 'Open', description: 'Not closed: a: stop failed: jammed' })
    const silent = lost((t) => {
      t.decideOne(t.ending('a', jammed))
      t.resources.set(t.get('a').no, { ...t.get('a'), description: '' })
    })
    expect(silent.description).toBe('Not closed: a: its run ended failed')
    const done = lost((t) => t.decideOne(t.ending('a', { kind: 'done', result: null })))
    expect(done).toMatchObject({ status: 'Closing', run: { step: 1, code: '', reasons: [] } })
    // Put elsewhere by hand since, the record of the run is what counts.
    const moved = lost((t) => {
      t.decideOne(t.ending('a', { kind: 'done', result: null }))
      t.ok({ kind: 'setStatus', no: t.get('a').no, status: 'Bad', reason: 'x', by: 'ann' })
    })
    expect(moved).toMatchObject({ run: { step: 1 } })
  })

  test('10 a step that asks is skipped with what it asked for; the code says whether it was refused or failed', () => {
    const t = shop(['a', 'Busy'])
    t.request('s', 'close')
    t.ok({ kind: 'skipStep', no: t.get('s').no, by: 'ann', reason: 'leave it' })
    expect(t.get('a')).toMatchObject({ status: 'Bad', description: expect.stringContaining('skipped: leave it') })
    expect(t.owedBy('s')).toEqual(['lock'])
    const failed = shop(['a', 'Busy'], ['b', 'Busy'])
    failed.request('s', 'close')
    failed.failed('a', 'jammed')
    expect(failed.lastEvent('s')).toMatchObject({ kind: 'itemFailed', detail: { code: 'ask_failed', left: 1 } })
    const refused = shop(['a', 'Busy'], ['b', 'Busy'])
    refused.asks = false
    const { begun, resource } = refused.request('s', 'close')
    const item = { no: refused.get('a').no, begun: 0 }
    const told = { kind: 'relatedRunEnded', no: resource.no, begun, item, outcome: 'refused', reason: 'no' } as const
    expect(refused.refused({ ...told, begun: begun + 1 }).code).toBe('step_not_waiting')
    expect(refused.refused({ ...told, no: 99 }).code).toBe('step_not_waiting')
    refused.ok(told)
    expect(refused.lastEvent('s')).toMatchObject({ kind: 'itemFailed', detail: { code: 'ask_refused', reason: 'no' } })
  })

  test('10 only what it asked for itself is withdrawn with it', () => {
    const t = shop(['a', 'Busy'])
    t.asks = false
    t.request('s', 'close')
    const ask = t.askFor(t.get('s'), t.call('s', 'a'))
    t.request('a', 'stop')
    t.request('a', 'stop')
    t.ok(ask)
    t.ok({ kind: 'cancelRun', no: t.get('s').no, by: 'ann', reason: 'stay open' })
    expect(t.get('a').queue).toMatchObject([{ operation: 'stop', by: 'ann' }])
    expect(t.lastEvent('a')).toMatchObject({ kind: 'dropped', begun: 0, detail: { reason: expect.any(String) } })
    const asker = { no: t.get('s').no, begun: 2 }
    const cancel = { kind: 'cancelRun', no: t.get('a').no, askedBy: asker, by: 'x', reason: 'x' } as const
    expect(t.refused(cancel).code).toBe('run_not_found')
    expect(t.get('a').run).toMatchObject({ operation: 'stop' })
  })

  test('10 a round of trying again asks anew', () => {
    const t = new TableTop(workshop)
    t.create('w.site', 's')
    t.place('w.tool', 'a', 'Busy', { parent: { no: t.get('s').no }, properties: { rpm: 5 } })
    t.asks = false
    t.request('s', 'close')
    const { key } = t.call('s', 'a')
    const { no, run } = t.get('s')
    t.ok({
      kind: 'relatedRunEnded',
      no,
      begun: run!.begun,
      item: { no: t.get('a').no, begun: 0 },
      outcome: 'refused',
      reason: 'no',
    })
    t.request('s', 'close')
    expect(t.call('s', 'a').key).not.toBe(key)
  })

  test('10 a cancelled asker takes its requests back', () => {
    const t = shop(['a', 'Busy'])
    t.request('s', 'close')
    t.ok({ kind: 'cancelRun', no: t.get('s').no, by: 'ann', reason: 'stay open' })
    expect(t.statuses('s', 'a')).toEqual(['Open', 'Bad'])
    expect(t.get('a').description).toContain('cancelled by run 1-2')
  })

  test('10 a request that waits its turn belongs to its asker when it begins, and when it is dropped', () => {
    const t = shop(['a', 'Idle'])
    t.request('a', 'start')
    t.done('a', { rpm: 7 })
    expect(t.status('a')).toBe('Busy')
    t.request('a', 'stop')
    t.request('s', 'close')
    expect(t.owedBy('s')).toEqual(['lock'])
    const waiting = shop(['a', 'Busy'])
    waiting.asks = false
    waiting.request('s', 'close')
    const ask = waiting.askFor(waiting.get('s'), waiting.call('s', 'a'))
    waiting.request('a', 'stop')
    waiting.ok(ask)
    expect(waiting.get('a').queue).toMatchObject([{ operation: 'stop', askedBy: { no: waiting.get('s').no } }])
    expect(waiting.ok(ask).changes.followUps).toEqual([])
    waiting.done('a')
    expect(waiting.owedBy('s')).toEqual(['lock'])
    const dropped = shop(['a', 'Busy'])
    dropped.asks = false
    dropped.request('s', 'close')
    const asked = dropped.askFor(dropped.get('s'), dropped.call('s', 'a'))
    dropped.request('a', 'stop')
    dropped.ok(asked)
    dropped.failed('a', 'jammed')
    expect(dropped.lastEvent('a')).toMatchObject({ kind: 'dropped', begun: 0 })
    expect(dropped.get('s')).toMatchObject({
      status: 'Open',
      description: expect.stringContaining('Not closed: a: Cannot stop w.tool a: it is Bad'),
    })
  })

  test('10 what waits its turn is withdrawn with its asker, and a request that comes too late begins nothing', () => {
    const t = shop(['a', 'Busy'])
    t.asks = false
    t.request('s', 'close')
    const ask = t.askFor(t.get('s'), t.call('s', 'a'))
    t.request('a', 'stop')
    t.ok(ask)
    t.ok({ kind: 'cancelRun', no: t.get('s').no, by: 'ann', reason: 'stay open' })
    expect(t.get('a')).toMatchObject({ status: 'Stopping', queue: [] })
    expect(t.lastEvent('a')).toMatchObject({ kind: 'dropped', detail: { operation: 'stop' } })
    expect(t.refused({ ...ask, key: 'another' })).toMatchObject({ code: 'step_not_waiting' })
  })

  test('10 the end of a request that waited its turn, when the message was lost, is told by where it stands', () => {
    const t = shop(['a', 'Busy'])
    t.asks = false
    t.request('s', 'close')
    const ask = t.askFor(t.get('s'), t.call('s', 'a'))
    t.request('a', 'stop')
    t.ok(ask)
    t.decideOne(t.ending('a', { kind: 'done', result: null }))
    expect(t.get('a')).toMatchObject({ status: 'Idle', run: null, queue: [] })
    t.ok(ask)
    expect(t.owedBy('s')).toEqual(['lock'])
  })
})
