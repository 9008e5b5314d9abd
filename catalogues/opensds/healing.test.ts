// OpenSDS's healing (spec 3.4 and decision 0.4): what is recorded is resumed, what nobody owns lands by its row.
import { describe, expect, test } from 'vitest'
import { Table } from './table.ts'

/** More than the engine's budget, whatever it is. */
const often = 100

describe('decision 0.4, owner lost: the recorded step is resumed, its probe first', () => {
  type Row = [what: string, begin: (t: Table) => string, probe: string, happened: string, ends: string]
  const rows: Row[] = [
    ['volume Creating', (t) => (t.ok(t.creatingVolume({ size: 1 })), 'w'), 'volumeExists', 'yes', 'Available'],
    [
      'volume Extending',
      (t) => {
        t.volume()
        t.request('v', 'extend', { size: 20 })
        t.doUntil('v', 'growVolume')
        return 'v'
      },
      'realSize',
      'grown',
      'Available',
    ],
    ['volume Deleting', (t) => (t.volume(), t.request('v', 'delete'), 'v'), 'volumeGone', 'yes', 'Deleted'],
    ['snapshot Creating', (t) => (t.volume(), t.ok(t.takingSnapshot('s')), 's'), 'snapshotExists', 'yes', 'Available'],
    [
      'snapshot Deleting',
      (t) => (t.volume(), t.snapshot('s', 'Available'), t.request('s', 'delete'), 's'),
      'snapshotGone',
      'yes',
      'Deleted',
    ],
    ['attachment Attaching', (t) => (t.volume(), t.ok(t.attaching('a')), 'a'), 'isAttached', 'yes', 'Attached'],
    [
      'attachment Detaching',
      (t) => (t.volume('InUse'), t.attachment('a', 'Attached'), t.request('a', 'delete'), 'a'),
      'isDetached',
      'yes',
      'Detached',
    ],
  ]
  const failures: Record<string, string> = {
    'volume Creating': 'Error',
    'volume Extending': 'ErrorExtending',
    'volume Deleting': 'ErrorDeleting',
    'snapshot Creating': 'Error',
    'snapshot Deleting': 'ErrorDeleting',
    'attachment Attaching': 'ErrorAttaching',
    'attachment Detaching': 'ErrorDetaching',
  }

  test.each(rows)('%s: the probe says that it happened, and it is adopted', (_what, begin, probe, happened, ends) => {
    const t = new Table()
    const id = begin(t)
    t.heal(id)
    expect(t.owedBy(id)).toEqual([probe])
    t.answered(id, happened, probe === 'realSize' ? { size: 20 } : null)
    expect(t.status(id)).toBe(ends)
  })

  test.each(rows)('%s: the probe says that it did not happen, and it is repeated', (what, begin, probe, _yes, ends) => {
    const t = new Table()
    const id = begin(t)
    const step = t.call(id).function
    t.heal(id)
    t.answered(id, probe === 'realSize' ? 'same' : 'no')
    expect([what, t.owedBy(id)]).toEqual([what, [step]])
    t.done(id)
    expect(t.status(id)).toBe(ends)
  })

  test.each(rows)('%s: resumed too often, it comes to the error status of its action', (what, begin) => {
    const t = new Table()
    const id = begin(t)
    for (let n = 0; n < often && t.get(id).run !== null; n++) {
      t.advance(3_600_000)
      const { no, epoch } = t.get(id)
      t.send({ kind: 'progressReported', no, epoch, text: 'begun', by: 'worker' })
      t.heal(id)
    }
    expect(t.status(id)).toBe(failures[what])
    expect(t.get(id).description).toMatch(/was resumed \d+ times and never ended/)
  })

  test('a volume on the way is healed with its attachment, never alone', () => {
    const t = new Table()
    t.volume()
    t.ok(t.attaching('a'))
    expect(t.refused(t.healing('v', 'unowned')).code).toBe('healed_with_owner')
  })
})

describe('3.4, unowned: imported, edited by hand, or a bug', () => {
  test('volume Creating -> Error', () => {
    const t = new Table()
    t.volume('Creating')
    t.heal('v', 'unowned')
    expect(t.status('v')).toBe('Error')
    expect(t.incidents).toMatchObject([{ kind: 'unowned', status: 'Creating' }])
  })

  test.each([
    ['grown', { size: 20 }, 'Available', 20],
    ['same', { size: 10 }, 'Available', 10],
    ['unknown', null, 'ErrorExtending', 10],
  ])('volume Extending, the driver says %s (%j) -> %s with size %i', (answer, observed, status, size) => {
    const t = new Table()
    t.volume('Extending')
    t.heal('v', 'unowned')
    expect(t.owedBy('v')).toEqual(['realSize'])
    t.answered('v', answer, observed)
    expect(t.get('v')).toMatchObject({ status, properties: { size } })
  })

  test('volume Deleting -> delete is run again', () => {
    const t = new Table()
    t.volume('Deleting')
    t.heal('v', 'unowned')
    expect([t.status('v'), t.owedBy('v')]).toEqual(['Deleting', ['deleteVolume']])
    t.done('v')
    expect(t.status('v')).toBe('Deleted')
  })

  test('volume Deleting with a snapshot -> ErrorDeleting, and the reason why it is not attempted', () => {
    const t = new Table()
    t.volume('Deleting')
    t.snapshot('s', 'Available')
    t.heal('v', 'unowned')
    expect(t.status('v')).toBe('ErrorDeleting')
    expect(t.get('v').description).toContain('The attempt was refused')
  })

  test.each([
    ['Attaching', 'Attached', 'InUse'],
    ['Attaching', 'ErrorDetaching', 'InUse'],
    ['Attaching', 'ErrorAttaching', 'Available'],
    ['Attaching', null, 'Available'],
    ['Detaching', 'Attached', 'InUse'],
    ['Detaching', 'ErrorDetaching', 'InUse'],
    ['Detaching', 'ErrorAttaching', 'Available'],
    ['Detaching', null, 'Available'],
  ])('volume %s is recomputed from its attachments: %s -> %s', (status, beside, to) => {
    const t = new Table()
    t.volume(status)
    if (beside !== null) t.attachment('a', beside)
    t.heal('v', 'unowned')
    expect(t.status('v')).toBe(to)
  })

  test.each([
    [null, 'Available'],
    ['Attached', 'InUse'],
  ])('attachment Attaching -> ErrorAttaching; beside %s the volume goes to %s', (beside, to) => {
    const t = new Table()
    t.volume('Attaching')
    t.attachment('a', 'Attaching')
    if (beside !== null) t.attachment('b', beside)
    t.heal('a', 'unowned')
    expect(t.statuses('a', 'v')).toEqual(['ErrorAttaching', to])
  })

  test('attachment Detaching -> detach is run again', () => {
    const t = new Table()
    t.volume('Detaching')
    t.attachment('a', 'Detaching')
    t.heal('a', 'unowned')
    expect([t.statuses('a', 'v'), t.owedBy('a')]).toEqual([['Detaching', 'Detaching'], ['detach']])
    t.done('a')
    expect(t.statuses('a', 'v')).toEqual(['Detached', 'Available'])
  })

  test('snapshot Creating -> Error; snapshot Deleting -> delete is run again', () => {
    const t = new Table()
    t.volume()
    t.snapshot('c', 'Creating')
    t.snapshot('d', 'Deleting')
    t.heal('c', 'unowned')
    t.heal('d', 'unowned')
    expect([t.statuses('c', 'd'), t.owedBy('d')]).toEqual([['Error', 'Deleting'], ['deleteSnapshot']])
    t.done('d')
    expect(t.status('d')).toBe('Deleted')
  })

  test.each(['Available', 'InUse', 'Attaching', 'Detaching', 'ErrorExtending'])(
    'whatever was imported together with a volume that is %s comes to rest and can be deleted',
    (status) => {
      for (const [first, second] of [
        ['Attaching', 'Attaching'],
        ['Attaching', 'Detaching'],
        ['Detaching', 'Detaching'],
        ['Detaching', 'Attached'],
      ] as const) {
        const t = new Table()
        t.volume(status, { multiAttach: true })
        t.attachment('a', first)
        t.attachment('b', second)
        const rest = (...ids: string[]) => {
          for (let n = 0; n < 20; n++) {
            for (const id of ids) {
              while (t.get(id).run !== null) {
                expect(t.get(id).run?.parked).toBeNull()
                t.done(id)
              }
              if (['Attaching', 'Detaching'].includes(t.status(id))) t.send(t.healing(id, 'unowned'))
            }
          }
        }
        rest('a', 'b', 'v')
        for (const id of ['a', 'b']) if (t.status(id) !== 'Detached') t.request(id, 'delete')
        rest('a', 'b', 'v')
        t.request('v', 'delete')
        rest('v')
        expect([first, second, ...t.statuses('a', 'b', 'v')]).toEqual([
          first,
          second,
          'Detached',
          'Detached',
          'Deleted',
        ])
      }
    },
  )
})
