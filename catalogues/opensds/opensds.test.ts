// OpenSDS's declarations against the tables of the specification: every transition, request, failure, cross rule and healing row.
import { checkLifecycles, edgesOf } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { attachments, opensds, snapshots, volumes } from './index.ts'
import { Table } from './table.ts'

const set = Object.values(opensds)

const volumeStatuses = Object.values(volumes.resource.statuses).flatMap((kind) => Object.keys(kind))
const living = volumeStatuses.filter((status) => status !== 'Deleted')

/** A volume in this status with the attachments that belong to it. */
function volumeIn(status: string, properties: object = {}): Table {
  const t = new Table()
  t.volume(status, properties)
  const beside: Record<string, string> = { InUse: 'Attached', Attaching: 'Attaching', Detaching: 'Detaching' }
  if (beside[status] !== undefined) t.attachment('x', beside[status])
  return t
}

describe('the declaration', () => {
  test('check finds nothing', () => {
    expect(checkLifecycles(set)).toEqual([])
  })

  test('3.1: the statuses and their kinds are those of the table', () => {
    const kinds = ({ resource }: { resource: { statuses: object } }) =>
      Object.values(resource.statuses).map((kind: object) => Object.keys(kind).sort().join(' '))
    expect(kinds(volumes)).toEqual([
      'Available InUse',
      'Attaching Creating Deleting Detaching Extending',
      'Error ErrorDeleting ErrorExtending',
      'Deleted',
    ])
    expect(kinds(snapshots)).toEqual(['Available', 'Creating Deleting', 'Error ErrorDeleting', 'Deleted'])
    expect(kinds(attachments)).toEqual(['Attached', 'Attaching Detaching', 'ErrorAttaching ErrorDetaching', 'Detached'])
  })

  test('3.2: the edges, healing apart, are those of the table', () => {
    const edges = (lifecycle: (typeof set)[number]) => {
      const found = edgesOf(lifecycle, set).filter(({ kind }) => kind !== 'heal')
      const by = new Map<string, Set<string>>()
      for (const { from, to } of found) by.set(from, (by.get(from) ?? new Set()).add(to))
      return Object.fromEntries([...by].map(([from, to]) => [from, [...to].sort().join(' ')]))
    }
    expect(edges(volumes)).toEqual({
      '': 'Creating',
      Creating: 'Available Error',
      // Available -> InUse and back, directly, only when attachments are healed that the volume did not know.
      Available: 'Attaching Deleting Detaching Extending InUse',
      // To InUse only by a reset, with an attachment that could not be detached.
      Extending: 'Available ErrorExtending InUse',
      ErrorExtending: 'Deleting Extending',
      Attaching: 'Available InUse',
      InUse: 'Attaching Available Detaching',
      Detaching: 'Available InUse',
      Error: 'Deleting',
      ErrorDeleting: 'Deleting',
      Deleting: 'Deleted ErrorDeleting',
    })
    const dropped = { Available: 'Deleted Deleting', Error: 'Deleted Deleting', ErrorDeleting: 'Deleted Deleting' }
    expect(edges(snapshots)).toEqual({
      '': 'Creating',
      Creating: 'Available Error',
      ...dropped,
      Deleting: 'Deleted ErrorDeleting',
    })
    expect(edges(attachments)).toEqual({
      '': 'Attaching',
      Attaching: 'Attached ErrorAttaching',
      Attached: 'Detached Detaching',
      ErrorAttaching: 'Detached Detaching',
      ErrorDetaching: 'Detached Detaching',
      Detaching: 'Detached ErrorDetaching',
    })
  })

  test('every error status has a way out that an operation opens', () => {
    for (const lifecycle of set) {
      const out = new Set(edgesOf(lifecycle, set).flatMap(({ kind, from }) => (kind === 'step' ? [from] : [])))
      for (const failed of Object.keys((lifecycle.resource as { statuses: { failed: object } }).statuses.failed))
        expect(out).toContain(failed)
    }
  })
})

test('decision 0.7: a refusal names the status that is in the way and what is wanted', () => {
  const t = volumeIn('Extending')
  expect(t.refused(t.attaching('a')).message).toBe(
    'Cannot create opensds.attachment a: it needs that volume is Available or InUse (it is Extending).',
  )
  const u = volumeIn('Available')
  u.attachment('a', 'ErrorAttaching')
  for (const id of ['p', 'q', 'r', 's', 't']) u.snapshot(id, 'Available')
  expect(u.refused(u.asking('v', 'delete')).message).toMatch(
    /snapshots.* \(p is Available, q is Available, r is Available, 2 more\); and that .*attachments.* \(a is ErrorAttaching\)\.$/,
  )
  const w = volumeIn('Available')
  w.snapshot('s', 'Available')
  w.ok(w.creatingVolume({ size: 10 }, 's'))
  expect(w.refused(w.asking('s', 'delete')).message).toContain('(w is Creating)')
})

describe('3.2 volume: create', () => {
  test.each([
    ['a size of 0', { size: 0 }, 'size'],
    ['a size below 0', { size: -1 }, 'size'],
    ['half a GB', { size: 1.5 }, 'size'],
    ['no size', {}, 'size'],
    ['an empty profile', { size: 1, profile: '' }, 'profile'],
    ['a name with other characters', { size: 1, name: 'my/volume' }, 'only letters, digits'],
    ['an empty name', { size: 1, name: '' }, 'name'],
    ['a name of 256 characters', { size: 1, name: 'n'.repeat(256) }, 'name'],
  ])('none -> Creating is refused for %s', (_what, properties, words) => {
    const t = new Table()
    const { code, message } = t.refused(t.creatingVolume(properties))
    expect(code).toBe('properties_invalid')
    expect(message).toContain(words)
  })

  test('none -> Creating -> Available; profile and zone have defaults; a name of 255 characters is good', () => {
    const t = new Table()
    t.ok(t.creatingVolume({ size: 1, name: 'n'.repeat(255) }))
    expect(t.get('w')).toMatchObject({ status: 'Creating', ledger: [{ kind: 'volume', state: 'meant' }] })
    t.done('w')
    expect(t.get('w')).toMatchObject({ status: 'Available', ledger: [{ state: 'there' }] })
    expect(t.get('w').properties).toMatchObject({ profile: 'default', zone: 'default', multiAttach: false })
  })

  test('Creating -> Error, whatever failed; delete leads out and clears away what may be there', () => {
    const t = new Table()
    t.ok(t.creatingVolume({ size: 1 }))
    t.failed('w', 'no pool has room', { code: 'no_capacity' })
    expect(t.get('w')).toMatchObject({
      status: 'Error',
      description: 'create failed: no pool has room',
      ledger: [{ state: 'unknown' }],
    })
    t.request('w', 'delete')
    t.done('w')
    expect(t.get('w')).toMatchObject({ status: 'Deleted', ledger: [] })
  })

  test.each([
    ['Creating', 10, 'the snapshot it is made from is Available'],
    ['Deleting', 10, 'the snapshot it is made from is Available'],
    ['Error', 10, 'the snapshot it is made from is Available'],
    ['Available', 9, 'at least as large as the snapshot'],
  ])('from a snapshot that is %s, with size %i, it is refused', (status, size, words) => {
    const t = volumeIn('Available')
    t.snapshot('s', status)
    const { code, message } = t.refused(t.creatingVolume({ size }, 's'))
    expect([code, message]).toEqual(['requirement_not_met', expect.stringContaining(words)])
  })

  test('from an Available snapshot of the same size it is made; meanwhile the snapshot is not deleted', () => {
    const t = volumeIn('Available')
    t.snapshot('s', 'Available')
    t.ok(t.creatingVolume({ size: 10 }, 's'))
    expect(t.refused(t.asking('s', 'delete')).message).toContain('none of its copies is Creating')
    t.done('w')
    t.request('s', 'delete')
    t.done('s')
    expect(t.statuses('w', 's')).toEqual(['Available', 'Deleted'])
  })
})

describe('3.2 volume: extend and reset', () => {
  test.each(living)('extend of a volume that is %s', (status) => {
    const t = volumeIn(status)
    const asking = t.asking('v', 'extend', { size: 11 })
    if (status === 'Available' || status === 'ErrorExtending') {
      t.ok(asking)
      expect(t.status('v')).toBe('Extending')
      return
    }
    const { code, message } = t.refused(asking)
    expect(code).toBe('operation_not_allowed')
    expect(message).toContain(`it is ${status}; extend starts from Available, ErrorExtending`)
  })

  test.each([10, 9])('Available -> Extending is refused for %i GB: the new size must be larger than 10', (size) => {
    const t = volumeIn('Available')
    const { code, message } = t.refused(t.asking('v', 'extend', { size }))
    expect([code, message]).toEqual(['requirement_not_met', expect.stringContaining('the new size is larger')])
  })

  test('Extending -> Available with the new size', () => {
    const t = volumeIn('Available')
    t.request('v', 'extend', { size: 20 })
    t.doUntil('v', '')
    expect(t.get('v')).toMatchObject({ status: 'Available', properties: { size: 20 } })
  })

  test('the size is the real one where the backend says so', () => {
    const t = volumeIn('ErrorExtending')
    t.request('v', 'extend', { size: 15 })
    t.doUntil('v', 'growVolume')
    t.done('v', { size: 20 })
    expect(t.get('v')).toMatchObject({ status: 'Available', properties: { size: 20 } })
  })

  test.each([
    ['Available', 'checkCapacity', 'Available'],
    ['Available', 'growVolume', 'ErrorExtending'],
    ['ErrorExtending', 'checkCapacity', 'ErrorExtending'],
    ['ErrorExtending', 'growVolume', 'ErrorExtending'],
  ])('from %s, an extension that fails in %s leads to %s, with the old size and the reason', (from, step, to) => {
    const t = volumeIn(from)
    t.request('v', 'extend', { size: 20 })
    t.doUntil('v', step)
    t.failed('v', 'the pool is gone')
    const description = 'extend failed: the pool is gone'
    expect(t.get('v')).toMatchObject({ status: to, properties: { size: 10 }, description })
  })

  test('a cut growVolume is looked at: grown means done', () => {
    const t = volumeIn('Available')
    t.request('v', 'extend', { size: 20 })
    t.doUntil('v', 'growVolume')
    t.unknown('v')
    expect(t.owedBy('v')).toEqual(['realSize'])
    t.answered('v', 'grown', { size: 20 })
    expect(t.get('v')).toMatchObject({ status: 'Available', properties: { size: 20 } })
  })

  test('ErrorExtending -> Extending -> Available: reset takes the real size; where nobody can tell, it stays', () => {
    const t = volumeIn('ErrorExtending')
    t.request('v', 'reset')
    t.failed('v', 'no answer')
    expect(t.status('v')).toBe('ErrorExtending')
    t.request('v', 'reset')
    t.done('v', { size: 20 })
    expect(t.get('v')).toMatchObject({ status: 'Available', properties: { size: 20 } })
    expect(t.refused(t.asking('v', 'reset')).message).toContain('reset starts from ErrorExtending')
  })

  test('an attachment that could not be cleared away in ErrorExtending keeps no volume from its way out', () => {
    const t = volumeIn('Available')
    t.attachment('a', 'ErrorAttaching')
    t.request('v', 'extend', { size: 20 })
    expect(t.refused(t.asking('a', 'delete')).message).toContain('nothing but detaching happens to its volume')
    t.failed('v', 'x')
    t.request('v', 'extend', { size: 20 })
    t.doUntil('v', 'growVolume')
    t.failed('v', 'x')
    expect(t.status('v')).toBe('ErrorExtending')
    t.request('a', 'delete')
    expect(t.statuses('v', 'a')).toEqual(['ErrorExtending', 'Detaching'])
    expect(t.refused(t.asking('v', 'reset')).code).toBe('requirement_not_met')
    t.failed('a', 'x')
    expect(t.statuses('v', 'a')).toEqual(['ErrorExtending', 'ErrorDetaching'])
    expect(t.refused(t.asking('v', 'extend', { size: 20 })).message).toContain('none of its attachments')
    t.request('v', 'reset')
    t.done('v', { size: 10 })
    expect(t.status('v')).toBe('InUse')
    t.request('a', 'delete')
    t.done('a')
    expect(t.statuses('v', 'a')).toEqual(['Available', 'Detached'])
  })
})

describe('3.2 volume: delete', () => {
  test.each(living)('delete of a volume that is %s', (status) => {
    const t = volumeIn(status)
    if (['Available', 'Error', 'ErrorDeleting', 'ErrorExtending'].includes(status)) {
      t.request('v', 'delete')
      expect(t.status('v')).toBe('Deleting')
      t.done('v')
      expect(t.status('v')).toBe('Deleted')
      expect(t.refused(t.asking('v', 'delete')).message).toContain('it is Deleted, for good')
      return
    }
    const { code, message } = t.refused(t.asking('v', 'delete'))
    expect(code).toBe('operation_not_allowed')
    expect(message).toContain(`it is ${status}; delete starts from Available, Error, ErrorDeleting, ErrorExtending`)
  })

  test('delete does not pre-empt: while a run is under way it is refused, and the run is named', () => {
    const t = new Table()
    t.ok(t.creatingVolume({ size: 1 }))
    const { code, message } = t.refused(t.asking('w', 'delete'))
    expect([code, message]).toEqual(['operation_in_progress', expect.stringContaining('of create is under way')])
  })

  test.each(['Creating', 'Available', 'Deleting', 'Error', 'ErrorDeleting'])(
    'delete is refused while it has a snapshot, also one that is %s',
    (status) => {
      const t = volumeIn('Available')
      t.snapshot('s', status)
      const { code, message } = t.refused(t.asking('v', 'delete'))
      expect([code, message]).toEqual(['requirement_not_met', expect.stringContaining('snapshots')])
    },
  )

  test('delete is refused while it has an attachment row, also one that is ErrorAttaching', () => {
    const t = volumeIn('Available')
    t.attachment('a', 'ErrorAttaching')
    const { code, message } = t.refused(t.asking('v', 'delete'))
    expect([code, message]).toEqual(['requirement_not_met', expect.stringContaining('attachments')])
  })

  test('Deleting -> ErrorDeleting -> Deleting -> Deleted', () => {
    const t = volumeIn('Available')
    t.request('v', 'delete')
    t.failed('v', 'busy')
    expect(t.get('v')).toMatchObject({ status: 'ErrorDeleting', description: 'delete failed: busy' })
    t.request('v', 'delete')
    t.unknown('v')
    expect(t.owedBy('v')).toEqual(['volumeGone'])
    t.answered('v', 'yes')
    expect(t.status('v')).toBe('Deleted')
  })
})

describe('3.2 snapshot', () => {
  test.each(volumeStatuses)('none -> Creating, of a volume that is %s', (status) => {
    const t = volumeIn(status)
    if (status === 'Available' || status === 'InUse') {
      t.ok(t.takingSnapshot('s'))
      expect(t.get('s')).toMatchObject({ status: 'Creating', properties: { size: 10 } })
      t.done('s')
      expect(t.status('s')).toBe('Available')
      return
    }
    const { code, message } = t.refused(t.takingSnapshot('s'))
    expect(message).toContain(status === 'Deleted' ? 'Deleted' : 'volume is Available or InUse')
    expect(code).toBe(status === 'Deleted' ? 'parent_invalid' : 'requirement_not_met')
  })

  test('Creating -> Error, with the reason', () => {
    const t = volumeIn('Available')
    t.ok(t.takingSnapshot('s'))
    t.failed('s', 'no room')
    expect(t.get('s')).toMatchObject({ status: 'Error', description: 'create failed: no room' })
  })

  test.each(['Available', 'Error', 'ErrorDeleting'])('%s -> Deleting -> Deleted', (status) => {
    const t = volumeIn('Available')
    t.snapshot('s', status)
    t.request('s', 'delete')
    expect(t.status('s')).toBe('Deleting')
    t.done('s')
    expect(t.status('s')).toBe('Deleted')
  })

  test.each(['Creating', 'Deleting'])('delete of a snapshot that is %s is refused with its status', (status) => {
    const t = volumeIn('Available')
    t.snapshot('s', status)
    const { code, message } = t.refused(t.asking('s', 'delete'))
    expect(code).toBe('operation_not_allowed')
    expect(message).toContain(`it is ${status}; delete starts from Available, Error, ErrorDeleting`)
  })

  test('Deleting -> ErrorDeleting', () => {
    const t = volumeIn('Available')
    t.snapshot('s', 'Available')
    t.request('s', 'delete')
    t.failed('s', 'busy')
    expect(t.get('s')).toMatchObject({ status: 'ErrorDeleting', description: 'delete failed: busy' })
  })

  test('without its volume the row is dropped at once, and what is left is an orphan for the sweeper', () => {
    for (const gone of ['Deleted', null]) {
      const t = new Table()
      const parent = gone === null ? {} : { parent: { no: t.volume('Available').no } }
      const ledger = [{ kind: 'snapshot', ref: null }]
      t.place('opensds.snapshot', 's', 'ErrorDeleting', { ...parent, properties: { size: 1 }, ledger })
      if (gone !== null)
        t.ok({ kind: 'setStatus', no: t.get('v').no, status: gone, reason: 'lost in a fire', by: 'ann' })
      t.request('s', 'delete')
      expect(t.get('s')).toMatchObject({ status: 'Deleted', run: null, ledger: [{ state: 'orphaned' }] })
    }
  })
})

describe('3.2 and 3.3 attachment: it and its volume move together', () => {
  test.each(volumeStatuses)('none -> Attaching, to a volume that is %s', (status) => {
    const t = volumeIn(status, { multiAttach: true })
    if (status === 'Available' || status === 'InUse') {
      t.ok(t.attaching('a'))
      expect(t.statuses('a', 'v')).toEqual(['Attaching', 'Attaching'])
      return
    }
    const { code, message } = t.refused(t.attaching('a'))
    expect(code).toBe(status === 'Deleted' ? 'parent_invalid' : 'requirement_not_met')
    expect(message).toContain(status === 'Deleted' ? 'Deleted' : 'volume is Available or InUse')
  })

  test('InUse -> Attaching only if multiAttach', () => {
    const t = volumeIn('InUse', { multiAttach: false })
    const { code, message } = t.refused(t.attaching('a'))
    expect([code, message]).toEqual([
      'requirement_not_met',
      expect.stringContaining('a volume in use is shared only if it allows it'),
    ])
  })

  test('two may be detached at once: the last one frees the volume, and one that fails keeps it', () => {
    for (const fails of [false, true]) {
      const t = volumeIn('InUse', { multiAttach: true })
      t.attachment('a', 'Attached')
      t.request('x', 'delete')
      t.request('a', 'delete')
      expect(t.statuses('x', 'a', 'v')).toEqual(['Detaching', 'Detaching', 'Detaching'])
      if (fails) t.failed('x', 'busy')
      else t.done('x')
      expect(t.status('v')).toBe('Detaching')
      t.done('a')
      expect(t.statuses('x', 'v')).toEqual(fails ? ['ErrorDetaching', 'InUse'] : ['Detached', 'Available'])
    }
  })

  test("none -> Attaching is refused where the host's zones do not include the volume's", () => {
    const t = volumeIn('Available', { zone: 'north' })
    const { code, message } = t.refused(t.attaching('a', { hostZones: ['south'] }))
    expect([code, message]).toEqual(['requirement_not_met', expect.stringContaining("the host's zones include")])
    t.ok(t.attaching('a', { hostZones: ['south', 'north'] }))
  })

  test('Attaching -> Attached and InUse; the last detach -> Detached and Available', () => {
    const t = volumeIn('Available')
    t.ok(t.attaching('a'))
    t.done('a')
    expect(t.statuses('a', 'v')).toEqual(['Attached', 'InUse'])
    t.request('a', 'delete')
    expect(t.statuses('a', 'v')).toEqual(['Detaching', 'Detaching'])
    t.done('a')
    expect(t.statuses('a', 'v')).toEqual(['Detached', 'Available'])
    expect(t.way('v')).toEqual(['Available', 'Attaching', 'InUse', 'Detaching', 'Available'])
  })

  test('a detach with others left: the volume stays InUse', () => {
    const t = volumeIn('InUse', { multiAttach: true })
    t.ok(t.attaching('a'))
    t.done('a')
    t.request('a', 'delete')
    expect(t.status('v')).toBe('Detaching')
    t.done('a')
    expect(t.statuses('a', 'x', 'v')).toEqual(['Detached', 'Attached', 'InUse'])
  })

  test.each([
    ['nothing else attached', 'Available', 'Available'],
    ['another Attached', 'InUse', 'InUse'],
  ])('Attaching -> ErrorAttaching with %s: the volume goes back to %s', (_what, from, to) => {
    const t = volumeIn(from, { multiAttach: true })
    t.ok(t.attaching('a'))
    t.failed('a', 'no path to the host')
    expect(t.statuses('a', 'v')).toEqual(['ErrorAttaching', to])
    expect(t.get('a').description).toBe('create failed: no path to the host')
  })

  test('an attachment that could not be detached counts as one that uses the volume', () => {
    const t = new Table()
    t.volume('InUse', { multiAttach: true })
    t.attachment('x', 'ErrorDetaching')
    t.ok(t.attaching('a'))
    t.failed('a', 'x')
    expect(t.status('v')).toBe('InUse')
  })

  test('Detaching -> ErrorDetaching and InUse: the row stays, and is detached again', () => {
    const t = volumeIn('InUse')
    t.request('x', 'delete')
    t.failed('x', 'busy')
    expect(t.statuses('x', 'v')).toEqual(['ErrorDetaching', 'InUse'])
    expect(t.refused(t.asking('v', 'delete')).code).toBe('operation_not_allowed')
    t.request('x', 'delete')
    t.done('x')
    expect(t.statuses('x', 'v')).toEqual(['Detached', 'Available'])
    t.request('v', 'delete')
  })

  test('ErrorAttaching -> Detaching -> Detached, with the volume from Available and back', () => {
    const t = volumeIn('Available')
    t.attachment('a', 'ErrorAttaching')
    t.request('a', 'delete')
    expect(t.statuses('a', 'v')).toEqual(['Detaching', 'Detaching'])
    t.done('a')
    expect(t.statuses('a', 'v')).toEqual(['Detached', 'Available'])
  })

  test('ErrorAttaching -> Detaching -> ErrorDetaching: nobody knows whether it is attached, so the volume is InUse', () => {
    const t = volumeIn('Available')
    t.attachment('a', 'ErrorAttaching')
    t.request('a', 'delete')
    t.failed('a', 'x')
    expect(t.statuses('a', 'v')).toEqual(['ErrorDetaching', 'InUse'])
  })

  test('one at a time: nothing else is asked of a volume on the way, nor of its attachments', () => {
    const t = volumeIn('InUse', { multiAttach: true })
    t.ok(t.attaching('a'))
    expect(t.refused(t.attaching('b')).message).toContain('volume is Available or InUse')
    expect(t.refused(t.asking('x', 'delete')).message).toContain('nothing but detaching happens to its volume')
    expect(t.refused(t.asking('v', 'delete')).code).toBe('operation_in_progress')
    expect(t.refused(t.asking('v', 'extend', { size: 20 })).code).toBe('operation_in_progress')
    expect(t.refused(t.asking('a', 'delete')).code).toBe('operation_in_progress')
  })

  test('without its volume the row is dropped at once', () => {
    const t = new Table()
    t.place('opensds.attachment', 'a', 'ErrorDetaching', { properties: { hostId: 'h' } })
    t.request('a', 'delete')
    expect(t.get('a')).toMatchObject({ status: 'Detached', run: null })
  })

  test('3.3: who was too late writes nothing (fencing), and what it did is kept as evidence', () => {
    const t = volumeIn('Available')
    t.ok(t.attaching('a'))
    const late = t.ending('a', { kind: 'done', result: null })
    t.heal('a')
    expect(t.refused(late).code).toBe('fenced')
    expect([t.late.length, t.statuses('a', 'v')]).toEqual([1, ['Attaching', 'Attaching']])
    t.answered('a', 'yes')
    expect(t.statuses('a', 'v')).toEqual(['Attached', 'InUse'])
  })

  test.each([
    ['Attaching', 'isAttached', 'no', ['ErrorAttaching', 'Available']],
    ['Attaching', 'isAttached', 'yes', ['Attached', 'InUse']],
    ['Detaching', 'isDetached', 'no', ['ErrorDetaching', 'InUse']],
    ['Detaching', 'isDetached', 'yes', ['Detached', 'Available']],
  ])('3.3: a dock that never answers: %s ends at its deadline; %s says %s -> %j', (status, probe, answer, to) => {
    const t = volumeIn(status === 'Attaching' ? 'Available' : 'InUse')
    if (status === 'Attaching') t.ok(t.attaching('x'))
    else t.request('x', 'delete')
    t.advance(120_001)
    t.ok(t.deadline('x'))
    expect(t.owedBy('x')).toEqual([probe])
    t.answered('x', answer)
    expect(t.statuses('x', 'v')).toEqual(to)
  })

  test('3.3: the relation of a volume and its attachments is a rule that no hand can break', () => {
    const t = volumeIn('InUse')
    const setting = (id: string, status: string) =>
      t.refused({ kind: 'setStatus', no: t.get(id).no, status, reason: 'by hand', by: 'ann' })
    for (const [id, status] of [
      ['v', 'Available'],
      ['v', 'Deleting'],
      ['x', 'ErrorAttaching'],
      ['x', 'Detached'],
    ] as const)
      expect(setting(id, status).code).toBe('rule_breached')
  })
})
