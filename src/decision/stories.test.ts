// The stories by which the language was found, told again on the real core with the real catalogues: four systems, each commit
// judged from outside.
import { describe, expect, test } from 'vitest'
import { blazar } from '../../catalogues/blazar/index.ts'
import { opensds } from '../../catalogues/opensds/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import { TableTop } from '../testing/table-top.ts'

const blazarTable = () => new TableTop(Object.values(blazar))
const saharaTable = () => new TableTop(Object.values(sahara))
const opensdsTable = () => new TableTop(Object.values(opensds))
const ovcTable = () => new TableTop(Object.values(ovc))

/** Everything that a run owes is done, until it owes nothing or stands before this function. */
function doUntil(t: TableTop, id: string, call: string, results: Record<string, unknown> = {}): void {
  for (let n = 0; n < 30 && t.get(id).run !== null && t.call(id).function !== call; n++) {
    t.done(id, results[t.call(id).function], t.call(id).item || undefined)
  }
}
const doAll = (t: TableTop, id: string, results: Record<string, unknown> = {}) => doUntil(t, id, '', results)

describe('Blazar', () => {
  const properties = { startDate: 10, endDate: 20, degraded: false }

  function leased() {
    const t = blazarTable()
    t.now = 0
    t.create('blazar.lease', 'L', {
      properties,
      input: { reservations: [{ resourceType: 'a' }, { resourceType: 'b' }] },
    })
    doAll(t, 'L')
    const [r0, r1, start, end] = t.children(t.get('L').no)
    return { t, r0: r0!, r1: r1!, start: start!, end: end! }
  }

  test('a lease is created, started and ended; its events move in the same commit', () => {
    const { t, r0, r1, start, end } = leased()
    expect(t.status('L')).toBe('PENDING')
    t.request('L', 'start')
    expect(t.statuses('L', start, end)).toEqual(['STARTING', 'IN_PROGRESS', 'UNDONE'])
    doAll(t, 'L')
    expect(t.statuses('L', start, r0)).toEqual(['ACTIVE', 'DONE', 'active'])
    t.request('L', 'end')
    expect(t.statuses('L', start, end)).toEqual(['TERMINATING', 'DONE', 'IN_PROGRESS'])
    doAll(t, 'L')
    expect(t.statuses('L', end, r1)).toEqual(['TERMINATED', 'DONE', 'deleted'])
  })

  test('one reservation fails on start, the other goes on: ERROR with active and error', () => {
    const { t, r0, r1, start } = leased()
    t.request('L', 'start')
    t.failed('L', 'no host', { item: r0 })
    expect(t.status('L')).toBe('STARTING')
    t.done('L', undefined, r1)
    expect(t.statuses('L', r0, r1, start)).toEqual(['ERROR', 'error', 'active', 'ERROR'])
    expect(t.get('L').description).toBe(`start failed: ${r0.id}: no host`)
  })

  test('B1 B5: delete pre-empts a hanging start, then itself; the old epoch writes nothing', () => {
    const { t, r0, start } = leased()
    t.request('L', 'start')
    const late = t.ending('L', { kind: 'done', result: null }, r0)
    t.request('L', 'delete')
    expect(t.statuses('L', start)).toEqual(['DELETING', 'ERROR'])
    expect(t.refused(late).code).toBe('fenced')
    expect(t.late).toHaveLength(1)
    t.advance(2 * 3_600_000)
    t.request('L', 'delete')
    expect(t.ended.filter((run) => run.outcome === 'preempted').map((run) => run.operation)).toEqual([
      'start',
      'delete',
    ])
    doAll(t, 'L')
    expect(t.statuses('L', r0, start)).toEqual(['gone', 'gone', 'gone'])
  })

  test.each([
    ['InvalidInput', 'PENDING'],
    ['Boom', 'ERROR'],
  ])('an update that fails with %s leads to %s', (code, to) => {
    const { t } = leased()
    t.request('L', 'update', { endDate: t.now + 30 })
    t.failed('L', 'x', { code })
    t.done('L')
    expect(t.status('L')).toBe(to)
  })

  test('an update moves the dates of the lease and of its events, and its status is derived', () => {
    const { t, end } = leased()
    const endDate = t.now + 30
    t.request('L', 'update', { endDate })
    doAll(t, 'L')
    expect([t.status('L'), t.get(end).properties['time'], t.get('L').properties['endDate']]).toEqual([
      'PENDING',
      endDate,
      endDate,
    ])
  })

  function placed(status: string, reservations: readonly string[], start: string, end: string) {
    const t = blazarTable()
    const lease = t.place('blazar.lease', 'L', status, { properties })
    const parent = { no: lease.no }
    const reservation = { resourceType: 'a', missingResources: false, resourcesChanged: false }
    reservations.forEach((one, i) => t.place('blazar.reservation', `r${i}`, one, { parent, properties: reservation }))
    t.place('blazar.event', 's', start, { parent, properties: { eventType: 'start_lease', time: 1 } })
    t.place('blazar.event', 'e', end, { parent, properties: { eventType: 'end_lease', time: 2 } })
    return t
  }

  test.each([
    ['STARTING', ['active', 'pending'], 'IN_PROGRESS', 'UNDONE', ['ERROR', 'active', 'error', 'ERROR', 'UNDONE']],
    ['UPDATING', ['active'], 'DONE', 'UNDONE', ['ACTIVE', 'active', undefined, 'DONE', 'UNDONE']],
    ['TERMINATING', ['active'], 'DONE', 'IN_PROGRESS', ['ACTIVE', 'active', undefined, 'DONE', 'UNDONE']],
    ['TERMINATING', ['active', 'deleted'], 'DONE', 'IN_PROGRESS', ['ERROR', 'active', 'deleted', 'DONE', 'UNDONE']],
    ['CREATING', ['pending'], 'UNDONE', 'UNDONE', ['gone', 'gone', undefined, 'gone', 'gone']],
  ])('B9: an unowned lease in %s with %j is healed', (status, reservations, start, end, out) => {
    const t = placed(status, reservations, start, end)
    t.heal('L', 'unowned')
    expect(['L', 'r0', 'r1', 's', 'e'].map((id) => t.find(id)?.status)).toEqual(out)
    expect(t.incidents.map((one) => one.kind)).toEqual(['unowned'])
  })

  test('the literal decision 0.4 (TERMINATING always back to ACTIVE) would break table 1.4', () => {
    const t = placed('TERMINATING', ['deleted'], 'DONE', 'IN_PROGRESS')
    expect(
      t.refused({ kind: 'setStatus', no: t.get('L').no, status: 'ACTIVE', reason: 'as printed', by: 'ann' }).code,
    ).toBe('rule_breached')
  })
})

describe('Sahara', () => {
  const properties = { counts: { w: 2 }, isTransient: false, isProtected: false, unfinishedJobs: 0 }

  function running() {
    const t = saharaTable()
    const { no } = t.place('sahara.cluster', 'c', 'Active', { properties })
    for (const index of [0, 1])
      t.place('sahara.instance', `i${index}`, 'Active', { parent: { no }, properties: { group: 'w', index } })
    return t
  }

  test.each([
    ['validate', ''],
    ['awaitBoot', 'terminateInstances'],
  ])('a creation that fails in %s leaves the row in Error, and no instance', (step, undo) => {
    const t = saharaTable()
    t.create('sahara.cluster', 'c', { properties })
    doUntil(t, 'c', step)
    t.failed('c', 'e1')
    if (undo !== '') {
      expect(t.owedBy('c')).toEqual([undo])
      t.done('c')
    }
    expect(t.status('c')).toBe('Error')
    expect(t.get('c').description).toBe('Creating cluster failed for the following reason(s): e1')
    expect(t.children(t.get('c').no)).toEqual([])
  })

  const grow = { removed: [], added: [{ group: 'w', index: 2 }] }
  const shrink = { removed: ['i1'], added: [] }
  test.each([
    ['validation', 'validateScaling', grow, false, 'Active', 'e1'],
    ['adding, rolled back', 'addInstances', grow, false, 'Active', 'e1'],
    ['adding, and the rollback fails', 'addInstances', grow, true, 'Error', 'e1, e2'],
    ['decommissioning', 'decommission', shrink, false, 'Error', 'e1'],
    ['configuring', 'configureNew', grow, false, 'Error', 'e1'],
  ])('scaling fails in %s', (_name, step, planScaling, undoFails, to, reasons) => {
    const t = running()
    t.request('c', 'scale', { counts: { w: 3 }, instances: [] })
    doUntil(t, 'c', step, { planScaling })
    t.failed('c', 'e1')
    if (t.status('c') === 'Rollback') {
      expect(t.owedBy('c')).toEqual(['removeNewInstances'])
      if (undoFails) t.failed('c', 'e2')
      else t.done('c')
    }
    expect(t.status('c')).toBe(to)
    expect(t.get('c').description).toBe(`Scaling cluster failed for the following reason(s): ${reasons}`)
    expect(t.get('c').properties['counts']).toEqual({ w: 2 })
  })

  test('scaling down only: adding and configuring are skipped with their statuses', () => {
    const t = running()
    t.request('c', 'scale', { counts: { w: 1 }, instances: [] })
    const seen: string[] = []
    while (t.get('c').run !== null) {
      seen.push(t.status('c'))
      const { function: call, item } = t.call('c')
      t.done('c', call === 'planScaling' ? shrink : undefined, item || undefined)
    }
    expect(seen).toEqual(['Validating', 'Scaling', 'Decommissioning', 'Deleting Instances'])
    expect([...t.statuses('c', 'i1'), t.get('c').properties['counts']]).toEqual(['Active', 'gone', { w: 1 }])
    expect(t.lastEvent('c').detail).toMatchObject({
      skipped: ['addInstances: not a group grows', 'configureNew: not a group grows'],
    })
  })

  test('delete of a scaling cluster wins, fails, stays Deleting with the reason, and is tried again', () => {
    const t = running()
    t.request('c', 'scale', { counts: { w: 3 } })
    t.request('c', 'delete')
    t.failed('c', 'heat down')
    expect(t.status('c')).toBe('Deleting')
    expect(t.get('c').description).toBe('Deleting cluster failed for the following reason(s): heat down')
    expect(t.owedBy('c')).toEqual(['refreshJobs'])
    expect(t.call('c').dueAt).toBe(t.now + 60_000)
  })
})

describe('OpenSDS', () => {
  function available(multiAttach: boolean) {
    const t = opensdsTable()
    t.place('opensds.volume', 'v', 'Available', { properties: { size: 1, multiAttach } })
    const attaching = (id: string) =>
      t.creating('opensds.attachment', id, { parent: { no: t.get('v').no }, properties: { hostId: id } })
    return { t, attaching }
  }

  test('volume and attachment move together, several share where allowed, the last detach frees', () => {
    const { t, attaching } = available(true)
    t.ok(attaching('a'))
    expect(t.statuses('a', 'v')).toEqual(['Attaching', 'Attaching'])
    expect(t.refused(attaching('b')).code).toBe('requirement_not_met')
    t.done('a')
    expect(t.status('v')).toBe('InUse')
    t.ok(attaching('b'))
    t.failed('b', 'x')
    expect(t.statuses('b', 'v')).toEqual(['ErrorAttaching', 'InUse'])
    t.request('a', 'delete')
    expect(t.status('v')).toBe('Detaching')
    t.done('a')
    expect(t.statuses('a', 'v')).toEqual(['Detached', 'Available'])
  })

  test('a volume that may not be shared refuses a second attachment in words', () => {
    const { t, attaching } = available(false)
    t.ok(attaching('a'))
    t.done('a')
    expect(t.refused(attaching('b')).message).toContain('a volume in use is shared only if it allows it')
  })

  test.each([
    ['checkCapacity', 'Available'],
    ['growVolume', 'ErrorExtending'],
  ])('an extension that fails in %s leads to %s', (step, to) => {
    const { t } = available(false)
    t.request('v', 'extend', { size: 2 })
    doUntil(t, 'v', step)
    t.failed('v', 'x')
    expect(t.status('v')).toBe(to)
  })

  test('delete of a volume in use is refused with a reason', () => {
    const { t, attaching } = available(false)
    t.ok(attaching('a'))
    t.done('a')
    const { code, message } = t.refused(t.asking('v', 'delete'))
    expect(code).toBe('operation_not_allowed')
    expect(message).toContain('v: it is InUse')
  })
})

describe('OpenvCloud, table 4.3', () => {
  const properties = { enabled: true, system: false, verified: true, memory: 1, size: 1 }
  type Row = [rule: string, type: string, status: string, is: object, answer: string, landed: string, follow: string]

  test.each<Row>([
    ['A1', 'account', 'DISABLING', { enabled: false }, '', 'CONFIRMED', 'disable'],
    ['A2', 'account', 'ENABLING', {}, '', 'DISABLED', 'enable'],
    ['A3', 'account', 'DELETING', { enabled: true }, '', 'CONFIRMED', 'delete'],
    ['A3b', 'account', 'DELETING', { enabled: false }, '', 'DISABLED', 'delete'],
    ['A4', 'account', 'RESTORING', {}, '', 'DELETED', 'restore'],
    ['A5', 'account', 'DESTROYING', {}, '', 'DESTROYED', ''],
    ['A6', 'account', 'UPDATING', { enabled: true }, '', 'CONFIRMED', ''],
    ['C1', 'cloudspace', 'DEPLOYING', {}, '', 'DESTROYED', ''],
    ['C2', 'cloudspace', 'DESTROYING', {}, '', 'DESTROYED', ''],
    ['C3', 'cloudspace', 'DISABLING', {}, '', 'DEPLOYED', 'disable'],
    ['C4', 'cloudspace', 'ENABLING', {}, '', 'DISABLED', 'enable'],
    ['C5', 'cloudspace', 'DELETING', { enabled: false }, '', 'DISABLED', 'delete'],
    ['C6', 'cloudspace', 'DELETING', { enabled: true }, '', 'PAUSED', 'delete'],
    ['C7', 'cloudspace', 'UPDATING', { enabled: true }, '', 'DEPLOYED', ''],
    ['C8', 'cloudspace', 'UPDATING', { enabled: false }, '', 'DISABLED', ''],
    ['C9', 'cloudspace', 'RESTORING', {}, '', 'DELETED', 'restore'],
    ['C10', 'cloudspace', 'PAUSING', {}, 'up', 'DEPLOYED', ''],
    ['C10b', 'cloudspace', 'RESUMING', {}, 'down', 'PAUSED', ''],
    ['M1', 'machine', 'DEPLOYING', {}, '', 'DESTROYED', ''],
    ['M2', 'machine', 'DESTROYING', {}, '', 'DESTROYED', ''],
    ['M3', 'machine', 'REBOOTING', {}, 'running', 'RUNNING', ''],
    ['M3b', 'machine', 'CLONING', {}, 'unknown', 'HALTED', ''],
    ['M4', 'machine', 'DELETING', {}, '', 'HALTED', 'delete'],
    ['M5', 'machine', 'RESTORING', {}, '', 'DELETED', 'restore'],
    ['D1', 'disk', 'DELETING_ATTACHED_DISK', {}, '', 'TOBEDESTROYED', ''],
    ['D2', 'disk', 'DELETING_DETACHED_DISK', {}, '', 'DELETED', ''],
    ['D3', 'disk', 'RESTORING_DETACHED_DISK', {}, '', 'CREATED', ''],
    ['D4b', 'disk', 'ATTACHING', {}, '', 'CREATED', ''],
    ['I1', 'image', 'CREATING', {}, '', 'DESTROYED', ''],
    ['I2', 'image', 'RESTORING', {}, '', 'DELETED', 'restore'],
    ['I3', 'image', 'DELETING', { enabled: true, system: false }, '', 'CREATED', 'delete'],
    ['I4', 'image', 'DESTROYING', {}, '', 'DESTROYED', ''],
    ['N1', 'node', 'DEACTIVATING', {}, '', 'ENABLED', 'maintain'],
    ['N2', 'node', 'ENABLING', {}, '', 'MAINTENANCE', 'enable'],
    ['N3', 'node', 'DECOMMISSIONING', {}, '', 'MAINTENANCE', 'decommission'],
  ])(
    '%s: an unowned %s in %s with %j (%s) is put to %s and attempts %j',
    (rule, type, status, is, answer, landed, follow) => {
      const t = ovcTable()
      const account = type === 'account' ? null : t.place('ovc.account', 'p', 'CONFIRMED', { properties })
      const cloudspace =
        type !== 'machine'
          ? null
          : t.place('ovc.cloudspace', 'q', 'DEPLOYED', { parent: { no: account!.no }, properties })
      const parent = cloudspace ?? (type === 'node' ? null : account)
      const x = t.place(`ovc.${type}`, 'x', status, {
        properties: { ...properties, ...is },
        ...(parent === null ? {} : { parent: { no: parent.no } }),
      })
      const isMachine = type === 'machine'
      const disk = status === 'RESTORING' ? 'RESTORING_ATTACHED_DISK' : 'DELETING_ATTACHED_DISK'
      if (isMachine || type === 'account')
        t.place('ovc.disk', 'k', disk, {
          parent: { no: isMachine ? account!.no : x.no },
          ...(isMachine ? { links: { machine: 'x' } } : {}),
          properties,
        })
      t.heal(x, 'unowned')
      if (answer !== '') t.answered(x, answer)
      const healed = t.eventsOf(x).find((event) => event.kind === 'healed')!
      expect(healed.to).toBe(landed)
      expect(t.eventsOf(x).find((event) => event.kind === 'accepted')?.detail?.['operation'] ?? '').toBe(follow)
      if (['A5', 'M1', 'M2'].includes(rule)) expect(t.status('k')).toBe('TOBEDESTROYED')
      if (rule === 'M4' || rule === 'M5') {
        const moves = t.eventsOf('k').filter((event) => event.kind === 'moved')
        expect(moves[0]!.to).toBe(rule === 'M4' ? 'ASSIGNED' : 'TOBEDELETED')
      }
      if (type === 'node') expect(t.status('ovc.stack/x')).toBe(t.status(x))
    },
  )

  test('D1, D4: a disk is healed with its machine, and follows its link', () => {
    const at = (machine: string, disk: string) => {
      const t = ovcTable()
      t.place('ovc.machine', 'm', machine, { properties })
      t.place('ovc.disk', 'd', disk, { links: { machine: 'm' }, properties })
      return t
    }
    const stuck = at('DELETING', 'DELETING_ATTACHED_DISK')
    expect(stuck.refused(stuck.healing('d', 'unowned')).code).toBe('healed_with_owner')
    for (const [machine, to] of [
      ['RUNNING', 'ASSIGNED'],
      ['DELETED', 'TOBEDELETED'],
      ['DESTROYED', 'TOBEDESTROYED'],
    ] as const) {
      const t = at(machine, 'DESTROYING_ATTACHED_DISK')
      expect(t.heal('d', 'unowned').status).toBe(to)
    }
    const resizing = at('RUNNING', 'RESIZING')
    expect(resizing.heal('d', 'unowned').status).toBe('ASSIGNED')
  })

  test('a follow-up keeps the original input, and the pair moves together', () => {
    const t = ovcTable()
    t.create('ovc.node', 'n', { properties: {} })
    t.request('ovc.node/n', 'maintain', { machines: 'stop' })
    expect(t.status('ovc.stack/n')).toBe('DEACTIVATING')
    t.heal('ovc.node/n')
    expect(t.statuses('ovc.node/n', 'ovc.stack/n')).toEqual(['DEACTIVATING', 'DEACTIVATING'])
    expect(t.get('ovc.node/n').run).toMatchObject({ input: { machines: 'stop' }, previous: 'ENABLED', by: 'healing' })
    expect(t.get('ovc.node/n').description).toBe(
      'Found in DEACTIVATING: its worker was lost. Healed: put to ENABLED, maintain is attempted again.',
    )
  })

  test('OVC refuses a request while a run is under way', () => {
    const t = ovcTable()
    t.place('ovc.machine', 'm', 'RUNNING', { properties })
    t.request('m', 'stop')
    const { code, message } = t.refused(t.asking('m', 'delete'))
    expect(code).toBe('operation_in_progress')
    expect(message).toContain('of stop is under way')
  })
})
