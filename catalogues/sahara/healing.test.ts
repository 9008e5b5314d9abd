// Healing: decision 0.4 for clusters, decision 0.6 for instances, row by row.
import { describe, expect, test } from 'vitest'
import { active, doUntil, members, properties, table } from './on-table.ts'
import { cluster } from './resource-types.ts'

const transitional = Object.keys(cluster.statuses.transitional ?? {})
const leaving = ['AwaitingTermination', 'Deleting', 'Force Deleting']

const creation = ['validate', 'updateInfra', 'spawn', 'awaitBoot', 'prepare', 'configure', 'startServices']
const scaling = ['validateScaling', 'planScaling', 'decommission', 'deleteInstances', 'addInstances', 'configureNew']

function at(call: string) {
  if (creation.includes(call)) {
    const t = table()
    t.create('sahara.cluster', 'c', { properties: { counts: { w: 2, m: 1 } } })
    doUntil(t, 'c', call)
    return t
  }
  const t = active({ counts: { w: 2, m: 1 } })
  t.request('c', 'scale', { counts: { w: 1, m: 2 } })
  doUntil(t, 'c', call)
  return t
}

describe('0.4 owner lost, run recorded', () => {
  test.each([...creation, ...scaling])('0.4: a run at %s is resumed there, and ends as if nothing had been', (call) => {
    const t = at(call)
    const status = t.status('c')
    t.heal('c')
    expect(t.status('c')).toBe(status)
    if (t.get('c').run!.phase === 'probe') {
      expect(t.owedBy('c')).toEqual(['stageDone'])
      t.answered('c', 'no')
    }
    expect(t.call('c').function).toBe(call)
    doUntil(t, 'c')
    expect(t.status('c')).toBe('Active')
    expect(members(t).every((one) => one.endsWith(' Active'))).toBe(true)
  })

  test.each([...creation, ...scaling].filter((call) => !['planScaling', 'deleteInstances'].includes(call)))(
    '0.4: the outcome of %s is unknown: the stage is probed, and what was done is adopted',
    (call) => {
      const t = at(call)
      t.unknown('c')
      expect(t.owedBy('c')).toEqual(['stageDone'])
      t.answered('c', 'yes')
      expect(t.get('c').run === null || t.call('c').function !== call).toBe(true)
      doUntil(t, 'c')
      expect(t.status('c')).toBe('Active')
    },
  )

  test.each([
    ['awaitBoot', 'Error'],
    ['decommission', 'Error'],
    ['addInstances', 'Active'],
    ['configureNew', 'Error'],
  ])('0.4: a budget spent at %s falls to the failure handler of the stage: %s', (call, lands) => {
    const t = at(call)
    for (let n = 0; n < 6 && t.status('c') !== lands && t.get('c').run?.phase !== 'undo'; n++) {
      t.heal('c')
      t.advance(600_000)
      // Somebody is at work on it each time it is lost.
      const { no, epoch, run } = t.get('c')
      if (run !== null) t.send({ kind: 'progressReported', no, epoch, text: 'begun', by: 'worker' })
    }
    doUntil(t, 'c')
    expect(t.status('c')).toBe(lands)
    expect(t.get('c').description).toContain('never ended')
  })

  test('0.4: a delete is resumed at its step', () => {
    const t = active()
    t.request('c', 'delete')
    doUntil(t, 'c', 'terminateInstances')
    t.heal('c')
    expect([t.status('c'), ...t.owedBy('c')]).toEqual(['Deleting', 'terminateInstances'])
  })
})

describe('0.4 unowned', () => {
  test.each(transitional.filter((status) => !leaving.includes(status)))(
    '0.4: a cluster found in %s without a run goes to Error, its machines are kept',
    (status) => {
      const t = table()
      const { no } = t.place('sahara.cluster', 'c', status, { properties })
      const instance = (id: string, is: string, index: number) =>
        t.place('sahara.instance', id, is, { parent: { no }, properties: { group: 'w', index } })
      instance('a', 'Active', 0)
      instance('s', 'Spawning', 1)
      instance('d', 'Decommissioning', 2)
      t.heal('c', 'unowned')
      expect(t.statuses('c', 'a', 's', 'd')).toEqual(['Error', 'Active', 'Active', 'Active'])
      expect(t.incidents.map(({ kind }) => kind)).toEqual(['unowned'])
    },
  )

  test.each(leaving)('0.4: a cluster found in %s without a run is deleted again', (status) => {
    const t = table()
    t.place('sahara.cluster', 'c', status, { properties })
    t.heal('c', 'unowned')
    expect(t.status('c')).toBe('Deleting')
    doUntil(t, 'c')
    expect(t.status('c')).toBe('gone')
  })
})

describe('0.4 unowned and protected', () => {
  test.each(leaving)(
    '0.4: a protected cluster found in %s is not deleted, and does not stay there: Error, machines kept',
    (status) => {
      const t = table()
      const { no } = t.place('sahara.cluster', 'c', status, { properties: { ...properties, isProtected: true } })
      t.place('sahara.instance', 'i', 'Deleting', { parent: { no }, properties: { group: 'w', index: 0 } })
      t.heal('c', 'unowned')
      expect(t.statuses('c', 'i')).toEqual(['Error', 'Active'])
      expect(t.get('c').description).toContain('It is protected')
    },
  )
})

describe('0.6 instances', () => {
  const found = (status: string, clusterStatus: string) => {
    const t = table()
    const { no } = t.place('sahara.cluster', 'c', clusterStatus, { properties })
    t.place('sahara.instance', 'i', status, { parent: { no }, properties: { group: 'w', index: 0 } })
    return t
  }

  test.each(transitional)('0.6: while the cluster is %s, its instances are healed with it', (status) => {
    const t = found('Spawning', status)
    expect(t.refused(t.healing('i', 'unowned')).code).toBe('healed_with_owner')
  })

  test.each([
    ['Spawning', 'there', 'Active'],
    ['Spawning', 'absent', 'gone'],
    ['Decommissioning', 'there', 'Active'],
    ['Decommissioning', 'absent', 'gone'],
    ['Deleting', 'there', 'Active'],
    ['Deleting', 'absent', 'gone'],
  ])('0.6: an instance left in %s by a cluster at rest, its machine %s, is %s', (status, answer, lands) => {
    const t = found(status, 'Active')
    t.heal('i', 'unowned')
    expect(t.owedBy('i')).toEqual(['machine'])
    t.answered('i', answer)
    expect(t.status('i')).toBe(lands)
  })

  test('0.6: when nobody can tell, it is asked again', () => {
    const t = found('Spawning', 'Error')
    t.heal('i', 'unowned')
    t.answered('i', 'unknown')
    expect([t.status('i'), ...t.owedBy('i')]).toEqual(['Spawning', 'machine'])
  })

  test('0.6: what a dead run held is probed, too', () => {
    const t = active()
    t.request('c', 'delete')
    const [one] = t.children(t.get('c').no)
    t.ok({ kind: 'setStatus', no: t.get('c').no, status: 'Active', reason: 'by hand', by: 'ann' })
    expect(t.get(one!)).toMatchObject({ status: 'Deleting', run: null })
    t.heal(one!, 'unowned')
    t.answered(one!, 'there')
    expect(t.get(one!)).toMatchObject({ status: 'Active', holder: null })
  })
})
