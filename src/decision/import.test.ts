// Resources put where they stand by somebody else than an operation: imported, or repaired by hand.
import { describe, expect, test } from 'vitest'
import { databases } from '../../examples/database.ts'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'

const incoming = {
  kind: 'importResource',
  type: 'shop.database',
  id: 'd',
  status: 'Ready',
  properties: { sizeGb: 3 },
  by: 'ann',
} as const

describe('import', () => {
  test('14 an object comes in with its status, properties, ledger and timers', () => {
    const t = new TableTop([databases])
    t.ok({ ...incoming, name: 'main', tenant: 'acme', ledger: [{ kind: 'disk', ref: '/dev/x' }] })
    expect(t.get('d')).toMatchObject({
      status: 'Ready',
      name: 'main',
      tenant: 'acme',
      revision: 1,
      epoch: 1,
      run: null,
    })
    const entry = { kind: 'disk', state: 'there', begun: 0, step: '', since: t.now, sweeper: 0 }
    expect(t.get('d').ledger).toEqual([{ ...entry, name: 'shop.database/d/disk/1', ref: '/dev/x' }])
    expect(t.lastEvent('d')).toMatchObject({ kind: 'imported', from: '', to: 'Ready', begun: 0 })
    const site = new TableTop(workshop)
    site.place('w.site', 's', 'Open', { properties: { closesAt: 7_000_000 } })
    expect(site.get('s').timers).toEqual({ closing: 7_000_000 })
  })

  test('14 also in a transitional status: then it is healed as unowned', () => {
    const t = new TableTop([databases])
    t.ok({ ...incoming, status: 'Growing' })
    expect(t.heal('d', 'unowned').status).toBe('Ready')
  })

  test('14 unknown statuses, wrong properties and taken ids are refused', () => {
    const t = new TableTop([databases])
    t.ok(incoming)
    expect(t.refused(incoming).code).toBe('already_exists')
    expect(t.refused({ ...incoming, id: 'e', status: 'Lost' })).toMatchObject({
      code: 'status_unknown',
      message: expect.stringContaining('It has Ready, Creating, Growing, Deleting, Broken, Gone.'),
    })
    expect(t.refused({ ...incoming, id: 'e', properties: {} })).toMatchObject({
      code: 'properties_invalid',
      message: expect.stringMatching(/^The properties of shop.database e do not fit: /),
      details: [expect.stringMatching(/^sizeGb: /)],
    })
    expect(t.refused({ ...incoming, type: 'no.such' }).code).toBe('type_unknown')
    expect(t.refused({ ...incoming, id: 'e', parent: { no: 1 } }).code).toBe('parent_invalid')
    expect(t.refused({ ...incoming, id: 'e', links: { x: 'y' } }).code).toBe('link_invalid')
  })

  test('14 the same key brings it in once', () => {
    const t = new TableTop([databases])
    const { id: _, ...nameless } = incoming
    const first = t.ok({ ...nameless, key: 'k' })
    const again = t.ok({ ...nameless, key: 'k' })
    expect(again.resource.no).toBe(first.resource.no)
    expect(again.changes.writes).toEqual([])
    expect(t.key('k')).toMatchObject({ no: first.resource.no, begun: 0, at: t.now })
    expect(t.ok({ ...incoming, id: 'keyless' }).changes.key).toBeNull()
    expect(t.refused({ ...nameless, status: 'Broken', key: 'k' }).code).toBe('key_reused')
  })

  test('14 what is imported as gone owns nothing: its ledger is orphaned', () => {
    const t = new TableTop([databases])
    t.ok({ ...incoming, status: 'Gone', ledger: [{ kind: 'disk', ref: 1 }] })
    expect(t.get('d').ledger).toMatchObject([{ state: 'orphaned' }])
  })
})

describe('setStatus', () => {
  const set = (t: TableTop, status: string, more: object = {}) =>
    ({ kind: 'setStatus', no: t.get('d').no, status, reason: 'seen', by: 'ann', ...more }) as const

  function growing() {
    const t = new TableTop([databases])
    t.ok(incoming)
    t.request('d', 'grow', { sizeGb: 5 })
    return t
  }

  test('the epoch goes up, the run is closed, whoever was at work changes nothing more', () => {
    const t = growing()
    const late = t.ending('d', { kind: 'done', result: { device: 'x' } })
    const { epoch, run } = t.get('d')
    t.ok(set(t, 'Ready'))
    expect(t.get('d')).toMatchObject({
      status: 'Ready',
      epoch: epoch + 1,
      run: null,
      description: 'Set to Ready by ann: seen',
    })
    expect(t.ended.at(-1)).toMatchObject({ outcome: 'preempted', begun: run!.begun })
    expect(t.lastEvent('d')).toMatchObject({ kind: 'statusSet', begun: run!.begun })
    expect(t.refused(late).code).toBe('fenced')
  })

  test('it needs a reason, a status that exists and the revision that was read', () => {
    const t = growing()
    expect(t.refused(set(t, 'Ready', { reason: ' ' })).code).toBe('reason_required')
    expect(t.refused(set(t, 'Lost')).code).toBe('status_unknown')
    const { revision } = t.get('d')
    expect(t.refused(set(t, 'Ready', { ifRevision: 1 }))).toMatchObject({
      code: 'revision_conflict',
      details: { revision },
    })
    t.ok(set(t, 'Ready', { ifRevision: revision }))
  })

  test('what is gone is gone for good; set to gone, it leaves orphans', () => {
    const t = new TableTop([databases])
    t.ok({ ...incoming, ledger: [{ kind: 'disk', ref: 1 }] })
    t.ok(set(t, 'Gone'))
    expect(t.get('d').ledger).toMatchObject([{ state: 'orphaned' }])
    expect(t.refused(set(t, 'Ready')).code).toBe('operation_not_allowed')
    expect(t.ok(set(t, 'Gone', { reason: 'still' })).resource.description).toBe('Set to Gone by ann: still')
    expect(t.lastEvent('d')).toMatchObject({ kind: 'statusSet', begun: 0, detail: { reason: 'still' } })
  })

  test('set to a transitional status it is unowned, and healed', () => {
    const t = growing()
    t.ok(set(t, 'Creating'))
    expect(t.heal('d', 'unowned').status).toBe('Broken')
  })
})

describe('who carries a run out', () => {
  test('a run is claimed once, each time under a new epoch; an outcome of another epoch changes nothing', () => {
    const t = new TableTop([databases])
    t.ok(incoming)
    t.claimant = 0
    t.request('d', 'grow', { sizeGb: 5 })
    const { no, epoch } = t.get('d')
    t.ok({ kind: 'claim', no, owner: 4, by: 'a' })
    expect(t.get('d')).toMatchObject({ epoch: epoch + 1, run: { owner: 4 } })
    expect(t.refused({ kind: 'claim', no, owner: 5, by: 'b' }).code).toBe('operation_in_progress')
    expect(t.refused({ kind: 'handOver', no, epoch, by: 'a' }).code).toBe('fenced')
    expect(t.refused({ kind: 'claim', no: 99, owner: 5, by: 'b' }).code).toBe('run_not_found')
    expect(t.refused({ kind: 'handOver', no: 99, epoch, by: 'a' }).code).toBe('fenced')
    expect(t.refused({ kind: 'progressReported', no: 99, epoch, text: '', by: 'a' }).code).toBe('fenced')
    expect(t.refused({ kind: 'deadlinePassed', no: 99, epoch, by: 'a' }).code).toBe('fenced')
    expect(t.lastEvent('d')).toMatchObject({ kind: 'claimed', from: 'Growing', to: 'Growing', detail: null })
  })

  test('given back, it is uncertain only if a call may have been begun', () => {
    const given = (prepare: (t: TableTop) => void) => {
      const t = new TableTop([databases])
      t.ok(incoming)
      t.request('d', 'grow', { sizeGb: 5 })
      prepare(t)
      const { no, epoch } = t.get('d')
      const { resource } = t.ok({ kind: 'handOver', no, epoch, by: 'a' })
      expect(resource).toMatchObject({ epoch: epoch + 1, run: { owner: 0 } })
      expect(t.lastEvent('d')).toMatchObject({ kind: 'handedOver', detail: null })
      return resource.run!.uncertain
    }
    expect(given(() => {})).toBe(true)
    expect(given((t) => t.again('d', 0))).toBe(true)
    expect(given((t) => t.again('d', 9_000))).toBe(false)
    const back = (t: TableTop) => t.ok({ kind: 'handOver', no: t.get('d').no, epoch: t.get('d').epoch, by: 'a' })
    expect(given((t) => void back(t))).toBe(true)
    expect(
      given((t) => {
        t.again('d', 9_000)
        back(t)
        t.advance(9_000)
      }),
    ).toBe(false)
    expect(
      given((t) => {
        while (t.get('d').run!.parked === null) t.unknown('d')
        t.advance(60_000)
      }),
    ).toBe(false)
  })

  test('what it says of its progress is kept in short, and told', () => {
    const t = new TableTop([databases])
    t.ok(incoming)
    t.request('d', 'grow', { sizeGb: 5 })
    const { no, epoch, run } = t.get('d')
    t.ok({ kind: 'progressReported', no, epoch, text: 'x'.repeat(501), by: 'a' })
    expect(t.get('d').run).toEqual({ ...run!, progress: 'x'.repeat(500) })
    expect(t.lastEvent('d')).toMatchObject({ kind: 'progressed', detail: { text: 'x'.repeat(500) } })
  })
})
