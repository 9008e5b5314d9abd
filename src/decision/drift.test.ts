// Drift: settled resources are asked on a rhythm whether they are still as recorded.
import { describe, expect, test } from 'vitest'
import { ovc } from '../../catalogues/ovc/index.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import { driftTimer } from './timers.ts'

function tool(rpm = 0) {
  const t = new TableTop(workshop)
  t.create('w.site', 's')
  t.place('w.tool', 'a', 'Idle', { parent: { no: t.get('s').no }, properties: { rpm } })
  return t
}
function probe(t: TableTop, id = 'a') {
  t.now = t.get(id).timers[driftTimer]!
  return t.ok({ kind: 'timerFired', no: t.get(id).no, timer: driftTimer, by: 'clock' })
}

describe('drift', () => {
  test('the probe is a run that blocks nobody and shows nothing', () => {
    const t = tool()
    const { changes } = probe(t)
    expect(changes.events).toEqual([])
    expect(t.get('a')).toMatchObject({ status: 'Idle', run: { kind: 'drift', phase: 'healProbe', lane: 'background' } })
    expect(t.owedBy('a')).toEqual(['spinning'])
    expect(t.get('a').timers[driftTimer]).toBe(t.now + 60_000)
    const late = t.ending('a', { kind: 'answered', answer: 'yes', observed: null })
    t.request('a', 'start')
    expect(t.status('a')).toBe('Starting')
    expect(t.refused(late).code).toBe('fenced')
  })

  test('as recorded, it leaves no trace: no event, no record, no incident', () => {
    const t = tool()
    probe(t)
    const { changes } = t.ok(t.ending('a', { kind: 'answered', answer: 'no', observed: null }))
    expect([changes.events, changes.ended, changes.incidents]).toEqual([[], [], []])
    expect(t.get('a')).toMatchObject({ status: 'Idle', run: null, description: '' })
  })

  test('another status lands, with an incident and words', () => {
    const t = tool()
    probe(t)
    t.answered('a', 'yes', { rpm: 5 })
    expect(t.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 5 }, run: null, timers: {} })
    expect(t.get('a').description).toBe(
      'Found in Idle: the real state differs from the record (yes). Healed: put to Busy.',
    )
    expect(t.incidents).toMatchObject([{ kind: 'drifted', status: 'Idle' }])
    expect(t.ended.at(-1)).toMatchObject({ kind: 'drift', outcome: 'healed', status: 'Busy' })
  })

  test('the same status with other properties is written and told, and is no incident', () => {
    const t = tool(3)
    probe(t)
    t.answered('a', 'no')
    expect(t.get('a')).toMatchObject({ status: 'Idle', properties: { rpm: 0 } })
    expect(t.lastEvent('a')).toMatchObject({ kind: 'healed', from: 'Idle', to: 'Idle' })
    expect(t.incidents).toEqual([])
    const cloud = new TableTop(Object.values(ovc))
    cloud.place('ovc.machine', 'm', 'HALTED', { properties: { verified: false, memory: 1 } })
    probe(cloud, 'm')
    cloud.answered('m', 'halted', { verified: true })
    expect(cloud.get('m')).toMatchObject({ status: 'HALTED', properties: { verified: true } })
  })

  test('what cannot be told is asked again later, without a trace', () => {
    const t = tool()
    probe(t)
    for (let n = 0; n < 2; n++) t.failed('a', 'no route')
    const { changes } = t.ok(t.ending('a', { kind: 'failed', code: 'x', reason: 'no route', terminal: true }))
    expect(changes.events).toEqual([])
    expect(t.get('a')).toMatchObject({ run: null, timers: { [driftTimer]: t.now + 300_000 } })
    expect(t.events.filter(({ kind }) => kind === 'attemptFailed')).toEqual([])
  })

  test('a worker that dies with it costs nothing: it is dropped, and asked again in its rhythm', () => {
    const t = tool()
    probe(t)
    const { epoch } = t.get('a')
    t.heal('a')
    expect(t.get('a')).toMatchObject({ status: 'Idle', run: null, epoch: epoch + 1, heals: 0 })
  })

  test('a push from the backend is judged by the same row; one that says nothing about this status is refused', () => {
    const t = tool()
    const { no } = t.get('a')
    const push = { kind: 'observed', no, probe: 'spinning', observed: { rpm: 2 }, by: 'agent' } as const
    expect(t.refused({ ...push, answer: 'sideways' }).code).toBe('input_invalid')
    expect(t.refused({ ...push, probe: 'door', answer: 'locked' }).code).toBe('not_stuck')
    t.ok({ ...push, answer: 'yes' })
    expect(t.get('a')).toMatchObject({ status: 'Busy', properties: { rpm: 2 } })
    expect(t.refused({ ...push, answer: 'yes' }).code).toBe('not_stuck')
  })

  test('a push may say that nobody can tell, and counts while a probe is under way', () => {
    const t = tool()
    const { no } = t.get('a')
    const push = { kind: 'observed', no, probe: 'spinning', observed: null, by: 'agent' } as const
    t.ok({ ...push, answer: 'unknown' })
    expect(t.get('a')).toMatchObject({ run: null, timers: { [driftTimer]: t.now + 300_000 } })
    probe(t)
    const { epoch } = t.get('a')
    const late = t.ending('a', { kind: 'answered', answer: 'no', observed: null })
    t.ok({ ...push, answer: 'yes' })
    expect(t.get('a')).toMatchObject({ status: 'Busy', epoch: epoch + 1, run: null })
    expect(t.refused(late).code).toBe('fenced')
    expect(t.incidents).toMatchObject([{ no, text: 'w.tool a was recorded as Idle, but the probe answered yes.' }])
    expect(t.ended.at(-1)).toMatchObject({ begun: epoch + 1, acceptedAt: t.now, endedAt: t.now, by: 'healing' })
    expect(t.refused({ ...push, no: 99, answer: 'yes' }).code).toBe('resource_not_found')
  })

  test('a probe waits while the resource is busy, and keeps its rhythm; whoever fires it carries it out', () => {
    const t = tool()
    t.claimant = 6
    probe(t)
    expect(t.get('a').run).toMatchObject({ owner: 6, acceptedAt: t.now, deadlineAt: t.now + 60_000, previous: 'Idle' })
    const { revision } = t.get('a')
    t.advance(60_000)
    t.ok({ kind: 'timerFired', no: t.get('a').no, timer: driftTimer, by: 'clock' })
    expect(t.get('a')).toMatchObject({ revision: revision + 1, timers: { [driftTimer]: t.now + 60_000 } })
    expect(t.get('a').run!.acceptedAt).toBe(t.now - 60_000)
  })

  test('what nobody answered in time is asked again', () => {
    const t = tool()
    probe(t)
    t.advance(60_000)
    t.ok(t.deadline('a'))
    expect(t.get('a').run).toMatchObject({ kind: 'drift', probes: 2 })
    t.again('a', 3_000)
    expect(t.get('a').run).toMatchObject({ kind: 'drift', probes: 2, dueAt: t.now + 3_000 })
    expect(t.eventsOf('a')).toHaveLength(1)
  })

  test('a push about a busy resource is refused: it may be its own doing', () => {
    const t = tool()
    t.request('a', 'start')
    const { no } = t.get('a')
    expect(t.refused({ kind: 'observed', no, probe: 'spinning', answer: 'yes', observed: null, by: 'x' }).code).toBe(
      'not_stuck',
    )
  })

  test('properties that only the probe saw are written and told', () => {
    const t = new TableTop(Object.values(ovc))
    t.place('ovc.account', 'p', 'CONFIRMED', { properties: { enabled: true } })
    t.place('ovc.disk', 'k', 'CREATED', { parent: { no: t.get('p').no }, properties: { size: 1 } })
    const { properties } = t.get('k')
    expect(Object.keys(properties).length).toBeGreaterThan(1)
    probe(t, 'k')
    t.answered('k', 'there', { size: 9 })
    expect(t.get('k')).toMatchObject({ status: 'CREATED', properties: { ...properties, size: 9 } })
    expect(t.lastEvent('k')).toMatchObject({ kind: 'observed' })
  })
})
