// Creation: order and failure table of spec 2.2, row by row.
import { describe, expect, test } from 'vitest'
import { active, doUntil, members, properties, table } from './on-table.ts'
import { multipleNames } from './scaling.ts'

const stages = [
  ['1', 'validate', 'Validating'],
  ['2', 'updateInfra', 'InfraUpdating'],
  ['3', 'spawn', 'Spawning'],
  ['4', 'awaitBoot', 'Waiting'],
  ['5', 'prepare', 'Preparing'],
  ['6', 'configure', 'Configuring'],
  ['7', 'startServices', 'Starting'],
] as const

const creating = () => {
  const t = table()
  t.create('sahara.cluster', 'c', { properties })
  return t
}

describe('2.2 create', () => {
  test('2.2 row 8, test_ops order of create: all stages in their order, then Active, its instances with it', () => {
    const t = creating()
    expect(doUntil(t, 'c')).toEqual(stages.map(([, , status]) => status))
    expect(t.status('c')).toBe('Active')
    expect(t.get('c').description).toBe('')
    expect(members(t)).toEqual(['w0 Active', 'w1 Active'])
  })

  test('2.2: the instances come to be with Spawning, in the same commit as the intent in the ledger', () => {
    const t = creating()
    doUntil(t, 'c', 'updateInfra')
    expect(members(t)).toEqual([])
    t.done('c')
    expect(members(t)).toEqual(['w0 Spawning', 'w1 Spawning'])
    expect(t.get('c').ledger).toMatchObject([{ kind: 'machine', state: 'meant' }])
  })

  test.each(stages)(
    '2.2 row %s: %s fails in %s: all machines are killed, Error with the reason',
    (row, step, status) => {
      const t = creating()
      doUntil(t, 'c', step)
      expect(t.status('c')).toBe(status)
      t.failed('c', 'no quota')
      if (Number(row) > 2) {
        expect(t.owedBy('c')).toEqual(['terminateInstances'])
        expect(t.status('c')).toBe(status)
        t.done('c')
      }
      expect(t.status('c')).toBe('Error')
      expect(t.get('c').description).toBe('Creating cluster failed for the following reason(s): no quota')
      expect(members(t)).toEqual([])
      expect(t.get('c').ledger).toEqual([])
    },
  )

  test.each(stages.slice(2))(
    '2.2: when the killing after %s fails in %s too, both reasons are told and the rest is an orphan',
    (...stage) => {
      const t = creating()
      doUntil(t, 'c', stage[1])
      t.failed('c', 'error1')
      t.failed('c', 'error2')
      expect(t.status('c')).toBe('Error')
      expect(t.get('c').description).toBe('Creating cluster failed for the following reason(s): error1, error2')
      expect(t.get('c').ledger).toMatchObject([{ kind: 'machine', state: 'orphaned' }])
    },
  )

  test('api/v2 test_clusters: a quota failure leaves an Error row; nothing but delete leads out of Error', () => {
    const t = creating()
    t.failed('c', 'Quota exceeded', { code: 'QuotaException' })
    expect(t.status('c')).toBe('Error')
    const { code, message } = t.refused(t.asking('c', 'scale', { counts: { w: 3 } }))
    expect(code).toBe('operation_not_allowed')
    expect(message).toContain('it is Error; scale starts from Active')
    t.request('c', 'delete')
    expect(t.status('c')).toBe('Deleting')
  })

  test('2.2: the description is cleared when an operation starts', () => {
    const t = active()
    t.request('c', 'scale', { counts: { w: 3 } })
    t.failed('c', 'no')
    expect(t.get('c').description).not.toBe('')
    t.request('c', 'scale', { counts: { w: 3 } })
    expect(t.get('c').description).toBe('')
  })

  test('2.1: a wrong field is refused at once, in words', () => {
    const t = table()
    const { code, message } = t.refused(t.creating('sahara.cluster', 'c', { properties: { counts: { w: -1 } } }))
    expect(code).toBe('properties_invalid')
    expect(message).toContain('counts')
  })

  test('api/v2 test_clusters: several at once are numbered -01, -02', () => {
    expect(multipleNames('test', 2)).toEqual(['test-01', 'test-02'])
    expect(multipleNames('test', 100).at(-1)).toBe('test-100')
  })
})
