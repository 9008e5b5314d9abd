// The cases of upstream's own tests (spec section 7: recyclebin_tests, cloudspace_tests, cloudbroker accounts, maintenance_tests).
import { describe, expect, test } from 'vitest'
import { CloudTable } from './cloud-table.ts'

describe('recyclebin_tests', () => {
  test('an empty cloudspace is deleted and destroyed; a second delete succeeds and does nothing', () => {
    const t = new CloudTable()
    expect(t.carryOut('c', 'delete')).toBe('DELETED')
    const { since, timers } = t.get('c')
    t.advance(1_000)
    expect(t.carryOut('c', 'delete')).toBe('DELETED')
    expect(t.get('c')).toMatchObject({ since, timers })
    expect(t.carryOut('c', 'destroy')).toBe('DESTROYED')
  })

  test.each(['account', 'cloudspace', 'machine', 'disk', 'image'] as const)(
    'destroying a %s twice and deleting a destroyed one succeed, and nothing changes',
    (kind) => {
      const t = new CloudTable()
      const x = `ovc.${kind}/x`
      t.put(kind, 'x', 'DELETED')
      expect(t.carryOut(x, 'destroy')).toBe('DESTROYED')
      const before = t.get(x)
      const events = t.eventsOf(x).length
      for (const operation of ['destroy', 'delete']) {
        expect(t.ok(t.asking(x, operation))).toMatchObject({ begun: 0, resource: { status: 'DESTROYED', run: null } })
      }
      expect(t.get(x)).toBe(before)
      expect(t.eventsOf(x)).toHaveLength(events)
      expect(t.owed()).toEqual([])
    },
  )

  test('whatever else is asked of what is destroyed is refused', () => {
    const t = new CloudTable()
    t.carryOut('c', 'destroy')
    expect(t.whyNot('c', 'deploy')).toBe('Cannot deploy ovc.cloudspace c: it is DESTROYED, for good.')
    t.carryOut('ovc.node/n', 'decommission')
    expect(t.whyNot('ovc.node/n', 'decommission')).toContain('it is DECOMMISSIONED, for good')
  })

  test('the second delete of account, machine, disk and image does nothing, too', () => {
    const t = new CloudTable()
    t.put('account', 'x', 'DELETED')
    t.put('machine', 'm', 'DELETED')
    t.put('disk', 'd', 'DELETED')
    t.put('image', 'i', 'DELETED')
    for (const name of ['x', 'm', 'd', 'i']) {
      t.request(name, 'delete')
      expect(t.get(name)).toMatchObject({ status: 'DELETED', run: null })
    }
  })

  test('a cloudspace with machines: refused by the user, deleted or destroyed with them by the operator', () => {
    for (const status of ['RUNNING', 'PAUSED', 'HALTED', 'ERROR']) {
      const t = new CloudTable()
      t.put('machine', 'm', status)
      expect(t.whyNot('c', 'delete')).toContain('its machines are deleted')
      expect(t.whyNot('c', 'destroy')).toContain(
        'its machines are in the bin or only models, or to be destroyed with it',
      )
      expect(t.statuses('c', 'm')).toEqual(['DEPLOYED', status])
      expect(t.carryOut('c', 'destroy', { withMachines: true, reason: 'unpaid' })).toBe('DESTROYED')
      expect(t.status('m')).toBe('DESTROYED')
      expect(t.eventsOf('m').find(({ kind }) => kind === 'accepted')?.detail?.['input']).toEqual({ reason: 'unpaid' })
    }
  })

  test('what is in the bin, or only a model, keeps no cloudspace from being destroyed', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'DELETED')
    t.put('machine', 'v', 'VIRTUAL')
    expect(t.carryOut('c', 'destroy')).toBe('DESTROYED')
    expect(t.statuses('m', 'v')).toEqual(['DESTROYED', 'DESTROYED'])
  })

  test('deleting a DEPLOYING cloudspace fails', () => {
    const t = new CloudTable({ cloudspace: 'VIRTUAL' })
    t.request('c', 'deploy')
    expect(t.refused(t.asking('c', 'delete')).code).toBe('operation_in_progress')
    expect(t.refused(t.asking('c', 'destroy')).code).toBe('operation_in_progress')
  })

  test('a cloudspace is not restored while its account is deleted or disabled, nor twice, nor after it is destroyed', () => {
    const closed = new CloudTable({ account: 'DISABLED', cloudspace: 'DELETED' })
    expect(closed.whyNot('c', 'restore')).toContain('account')
    const t = new CloudTable({ account: 'DELETED', cloudspace: 'DELETED' })
    expect(t.whyNot('c', 'restore')).toContain('account')
    t.carryOut('a', 'restore')
    expect(t.carryOut('c', 'restore')).toBe('DEPLOYED')
    expect(t.whyNot('c', 'restore')).toContain('it is DEPLOYED; restore starts from DELETED')
    t.carryOut('c', 'destroy')
    expect(t.whyNot('c', 'restore')).toContain('DESTROYED, for good')
  })

  test.each([
    ['machine', 'm', 'HALTED'],
    ['image', 'i', 'CREATED'],
    ['disk', 'd', 'CREATED'],
  ] as const)('a %s (%s) is restored to %s once, not twice, and not after it is destroyed', (kind, id, to) => {
    const t = new CloudTable()
    t.put(kind, id, 'DELETED')
    expect(t.carryOut(id, 'restore')).toBe(to)
    expect(t.whyNot(id, 'restore')).toContain(`it is ${to}`)
    expect(t.carryOut(id, 'destroy')).toBe('DESTROYED')
    expect(t.whyNot(id, 'restore')).toContain('for good')
  })

  test('an image in use, or still creating, or of the system, is not deleted', () => {
    const t = new CloudTable()
    t.put('image', 'used', 'CREATED')
    t.put('machine', 'm', 'HALTED', { links: { image: 'used' } })
    t.put('image', 'system', 'CREATED', { properties: { system: true } })
    t.put('image', 'young', 'CREATING')
    expect(t.whyNot('used', 'delete')).toContain('no machine uses it')
    expect(t.whyNot('used', 'destroy')).toContain('no machine uses it')
    expect(t.whyNot('system', 'delete')).toContain('it is no image of the system')
    expect(t.whyNot('system', 'destroy')).toContain('it is no image of the system')
    expect(t.whyNot('young', 'delete')).toContain('it is CREATING')
    t.carryOut('m', 'delete')
    expect(t.carryOut('used', 'delete')).toBe('DELETED')
  })

  test('the same name is refused while it lies in the bin', () => {
    const t = new CloudTable()
    t.carryOut('c', 'delete')
    const again = t.creating('ovc.cloudspace', 'c', { parent: { no: t.get('a').no }, properties: { enabled: true } })
    expect(t.refused(again).message).toContain('ovc.cloudspace c exists already')
  })

  test('what an operator disabled comes back disabled', () => {
    const t = new CloudTable({ cloudspace: 'DISABLED', enabled: false })
    const off = { properties: { enabled: false } }
    t.put('account', 'x', 'DELETED', off)
    t.put('image', 'i', 'DELETED', off)
    t.carryOut('c', 'delete')
    expect(t.carryOut('c', 'restore')).toBe('DISABLED')
    expect(t.carryOut('x', 'restore')).toBe('DISABLED')
    expect(t.carryOut('i', 'restore')).toBe('DISABLED')
  })
})

test('cloudspace_tests 007: disable and enable; a firewall that does not start leaves it PAUSED', () => {
  const t = new CloudTable()
  t.carryOut('c', 'disable')
  expect(t.carryOut('c', 'enable')).toBe('DEPLOYED')
  t.carryOut('c', 'disable')
  t.request('c', 'enable')
  t.failed('c', 'no route')
  expect(t.get('c')).toMatchObject({ status: 'PAUSED', properties: { enabled: true } })
})

test('cloudbroker accounts 004-012: what is asked of an account in the wrong status names status and way out', () => {
  const t = new CloudTable()
  expect(t.whyNot('a', 'enable')).toBe('Cannot enable ovc.account a: it is CONFIRMED; enable starts from DISABLED.')
  t.carryOut('a', 'disable')
  expect(t.whyNot('a', 'disable')).toContain('it is DISABLED; disable starts from CONFIRMED')
  expect(t.whyNot('a', 'update', { name: 'x' })).toContain('it is DISABLED')
  const child = t.creating('ovc.cloudspace', 'new', { parent: { no: t.get('a').no }, properties: { enabled: true } })
  expect(t.refused(child).message).toContain('account')
  t.carryOut('a', 'enable')
  expect(t.carryOut('a', 'delete')).toBe('DELETED')
  expect(t.carryOut('a', 'restore')).toBe('CONFIRMED')
})

test('maintenance_tests 001-005: moving back to a node in maintenance fails', () => {
  const t = new CloudTable()
  t.put('machine', 'm', 'RUNNING', { links: { node: 'n' } })
  t.carryOut('ovc.node/n', 'maintain')
  expect(t.get('m')).toMatchObject({ status: 'RUNNING', links: { node: t.get('ovc.node/n2').no } })
  expect(t.refused(t.asking('m', 'migrate', { node: 'n' })).code).toBe('rule_breached')
  t.carryOut('ovc.node/n', 'enable')
  expect(t.carryOut('m', 'migrate', { node: 'n' })).toBe('RUNNING')
})

test('test_objectqueue: a chain of cascades ends, and a failing link ends the chain with its reason', () => {
  const t = new CloudTable()
  t.put('machine', 'm', 'RUNNING')
  t.request('a', 'disable')
  expect(t.statuses('a', 'c', 'm')).toEqual(['DISABLING', 'PAUSING', 'STOPPING'])
  t.failed('m', 'it hangs')
  t.finishAll()
  expect(t.statuses('a', 'c', 'm')).toEqual(['CONFIRMED', 'DEPLOYED', 'RUNNING'])
  expect(t.get('a').description).toContain('it hangs')
})
