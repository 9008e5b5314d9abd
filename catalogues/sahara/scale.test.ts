// Scaling: order and failure table of spec 2.3, choice of instances, rollback rule, row by row.
import { describe, expect, test } from 'vitest'
import { active, doUntil, members, plannedFor, properties, table } from './on-table.ts'
import { planOf, smaller } from './scaling.ts'

const failed = (reasons: string) => `Scaling cluster failed for the following reason(s): ${reasons}`

describe('2.3 order', () => {
  test('2.3 C-order, test_ops order of scale: decommission, terminate, create, configure; both at once in different groups', () => {
    const t = active({ counts: { w: 2, m: 1 } })
    t.request('c', 'scale', { counts: { w: 1, m: 2 } })
    expect(doUntil(t, 'c')).toEqual([
      'Validating',
      'Scaling',
      'Decommissioning',
      'Deleting Instances',
      'Adding Instances',
      'Configuring',
    ])
    expect(t.status('c')).toBe('Active')
    expect(members(t)).toEqual(['w0 Active', 'm0 Active', 'm1 Active'])
    expect(t.get('c').properties['counts']).toEqual({ w: 1, m: 2 })
  })

  test.each([
    ['grows', { w: 3 }, ['Validating', 'Scaling', 'Adding Instances', 'Configuring']],
    ['shrinks', { w: 1 }, ['Validating', 'Scaling', 'Decommissioning', 'Deleting Instances']],
    ['stays', { w: 2 }, ['Validating', 'Scaling']],
    ['gets a new group', { n: 1 }, ['Validating', 'Scaling', 'Adding Instances', 'Configuring']],
  ])('2.3: steps with nothing to do are skipped with their status when it %s', (_how, counts, statuses) => {
    const t = active()
    t.request('c', 'scale', { counts })
    expect(doUntil(t, 'c')).toEqual(statuses)
    expect(t.status('c')).toBe('Active')
  })

  test('api/v2 test_clusters: counts after a scale, with a new group; groups not named stay, empty ones go (utils/test_cluster)', () => {
    const t = active({ counts: { w: 2, m: 1 } })
    t.request('c', 'scale', { counts: { w: 0, n: 2 } })
    doUntil(t, 'c')
    expect(t.get('c').properties['counts']).toEqual({ m: 1, n: 2 })
  })

  test('2.3: the machines that stay are still in the ledger after a shrink', () => {
    const t = active()
    const before = t.get('c').ledger
    t.request('c', 'scale', { counts: { w: 1 } })
    doUntil(t, 'c')
    expect(t.get('c').ledger).toEqual(before)
    t.request('c', 'scale', { counts: { w: 2 } })
    doUntil(t, 'c')
    expect(t.get('c').ledger.map(({ state }) => state)).toEqual(['there', 'there'])
  })

  test.each(['Error', 'Spawning', 'Scaling', 'Deleting'])(
    '2.6: scale of a cluster in %s is refused with the status',
    (status) => {
      const t = table()
      t.place('sahara.cluster', 'c', status, { properties })
      const { code, message } = t.refused(t.asking('c', 'scale', { counts: { w: 3 } }))
      expect(code).toBe('operation_not_allowed')
      expect(message).toContain(`it is ${status}; scale starts from Active`)
    },
  )

  test('2.6: a second scale while one is under way is refused with what is under way', () => {
    const t = active()
    t.request('c', 'scale', { counts: { w: 3 } })
    const { code, message } = t.refused(t.asking('c', 'scale', { counts: { w: 4 } }))
    expect(code).toBe('operation_in_progress')
    expect(message).toContain('of scale is under way')
  })
})

describe('2.3 failure', () => {
  const both = { counts: { w: 1, m: 2 } }
  const scaling = (call: string) => {
    const t = active({ counts: { w: 2, m: 1 } })
    t.request('c', 'scale', both)
    doUntil(t, 'c', call)
    return t
  }
  const old = { w: 2, m: 1 }

  test.each(['validateScaling', 'planScaling'])(
    '2.3 validation: %s fails: Active with the reason, nothing changed',
    (call) => {
      const t = scaling(call)
      t.failed('c', 'error1')
      expect([t.status('c'), t.get('c').description]).toEqual(['Active', failed('error1')])
      expect(members(t)).toEqual(['w0 Active', 'w1 Active', 'm0 Active'])
      expect(t.get('c').properties['counts']).toEqual(old)
    },
  )

  test('2.3 decommission fails: Error, all nodes kept', () => {
    const t = scaling('decommission')
    expect(members(t)).toContain('w1 Decommissioning')
    t.failed('c', 'error1')
    expect([t.status('c'), t.get('c').description]).toEqual(['Error', failed('error1')])
    expect(members(t)).toEqual(['w0 Active', 'w1 Active', 'm0 Active'])
  })

  test('2.3 terminate fails: Rollback, the scale-down is finished, Active with the reason', () => {
    const t = scaling('deleteInstances')
    t.failed('c', 'error1', { item: t.call('c').item })
    expect(t.status('c')).toBe('Rollback')
    expect(t.owedBy('c')).toEqual(['finishScaleDown'])
    t.done('c')
    expect(t.status('c')).toBe('Active')
    expect(t.get('c').description).toMatch(/^Scaling cluster failed for the following reason\(s\): .*error1$/)
    expect(members(t)).toEqual(['w0 Active', 'm0 Active'])
    expect(t.get('c').properties['counts']).toEqual({ w: 1, m: 1 })
  })

  test('2.3 create fails, test_ops handler: rollback ok: new ones killed, Active + "... error1"; per group min(old, wanted)', () => {
    const t = scaling('addInstances')
    expect(members(t)).toContain('m1 Spawning')
    t.failed('c', 'error1')
    expect(t.status('c')).toBe('Rollback')
    expect(t.owedBy('c')).toEqual(['removeNewInstances'])
    t.done('c')
    expect(t.owedBy('c')).toEqual(['finishScaleDown'])
    t.done('c')
    expect([t.status('c'), t.get('c').description]).toEqual(['Active', failed('error1')])
    expect(members(t)).toEqual(['w0 Active', 'm0 Active'])
    expect(t.get('c').properties['counts']).toEqual({ w: 1, m: 1 })
    expect(t.get('c').ledger).toHaveLength(1)
  })

  test('2.3 create fails and, test_ops handler, the rollback fails: Error + "error1, error2", the rest is an orphan', () => {
    const t = scaling('addInstances')
    t.failed('c', 'error1')
    t.failed('c', 'error2')
    expect([t.status('c'), t.get('c').description]).toEqual(['Error', failed('error1, error2')])
    expect(t.get('c').ledger.map(({ state }) => state)).toEqual(['there', 'orphaned'])
  })

  test('2.3 configure fails: Error, nodes kept, the new ones too', () => {
    const t = scaling('configureNew')
    t.failed('c', 'error1')
    expect([t.status('c'), t.get('c').description]).toEqual(['Error', failed('error1')])
    expect(members(t)).toEqual(['w0 Active', 'm0 Active', 'm1 Active'])
    expect(t.get('c').ledger.map(({ state }) => state)).toEqual(['there', 'there'])
  })

  test('2.3 stale plan hazard: after every end no plan is left, and the next scale begins anew', () => {
    const t = scaling('addInstances')
    t.failed('c', 'error1')
    doUntil(t, 'c')
    expect(t.get('c').run).toBeNull()
    t.request('c', 'scale', { counts: { w: 2 } })
    expect(t.get('c').run!.results).toEqual({})
    doUntil(t, 'c')
    expect(members(t)).toEqual(['w0 Active', 'm0 Active', 'w1 Active'])
  })
})

describe('2.3 which instances go', () => {
  const at = (group: string, index: number) => ({
    id: `${group}${index}`,
    status: 'Active',
    properties: { group, index },
  })
  const four = [at('w', 0), at('w', 1), at('w', 2), at('w', 3), at('m', 0)]

  test('test_ops random choice: the highest number first', () => {
    expect(planOf(four, { w: 2 }, [])).toEqual({ removed: ['w3', 'w2'], added: [] })
  })

  test('api/v2 test_clusters: all to go are named, or some; by id or by name', () => {
    expect(planOf(four, { w: 2 }, ['w0', 'w-002']).removed).toEqual(['w1', 'w0'])
    expect(planOf(four, { w: 1 }, ['w0']).removed).toEqual(['w0', 'w3', 'w2'])
  })

  test('2.3: new ones are numbered on from the highest', () => {
    expect(planOf(four, { w: 5, n: 2 }, []).added).toEqual([
      { group: 'w', index: 4 },
      { group: 'n', index: 0 },
      { group: 'n', index: 1 },
    ])
  })

  test('2.3: a name that is unknown is refused, in words', () => {
    const t = active()
    const { code, message } = t.refused(t.asking('c', 'scale', { counts: { w: 1 }, instances: ['w-009'] }))
    expect(code).toBe('requirement_not_met')
    expect(message).toContain('every instance that is named belongs to the cluster')
    expect(t.status('c')).toBe('Active')
    expect(() => planOf(four, { w: 1 }, ['x'])).toThrow('there is no instance x')
  })

  test.each([
    ['its group stays as large', { counts: { w: 2 }, instances: ['w-001'] }],
    ['its group is not named', { counts: {}, instances: ['w-001'] }],
    ['its group grows', { counts: { w: 3 }, instances: ['w-001'] }],
    ['more are named than go', { counts: { w: 1 }, instances: ['w-001', 'w-002'] }],
  ])('2.3: a named instance that would stay is refused: %s', (_, input) => {
    const t = active()
    const { code, message } = t.refused(t.asking('c', 'scale', input))
    expect(code).toBe('requirement_not_met')
    expect(message).toContain('no more instances of a group are named than it shrinks by')
    expect(t.status('c')).toBe('Active')
  })

  test('2.3: one that is named twice, by id and by name, is one', () => {
    const t = active()
    const [first] = t.children(t.get('c').no)
    t.request('c', 'scale', { counts: { w: 1 }, instances: [first!.id, 'w-001'] })
    doUntil(t, 'c')
    expect(members(t)).toEqual(['w1 Active'])
  })

  test('2.3: a named instance goes', () => {
    const t = active()
    t.request('c', 'scale', { counts: { w: 1 }, instances: ['w-001'] })
    expect(t.status('c')).toBe('Validating')
    expect(plannedFor(t, 'c')).toMatchObject({ removed: [t.children(t.get('c').no)[0]!.id] })
    doUntil(t, 'c')
    expect(members(t)).toEqual(['w1 Active'])
  })

  test('2.3 rollback target: per group the smaller of old and wanted, new groups are left out', () => {
    expect(smaller({ a: 3, b: 1, c: 2 }, { a: 1, b: 4, d: 5 })).toEqual({ a: 1, b: 1, c: 2 })
  })
})
