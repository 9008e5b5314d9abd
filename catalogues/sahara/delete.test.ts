// Deleting, forced and by age: the central handler of spec 2.4, tables 2.5 and 2.6, row by row.
import { describe, expect, test } from 'vitest'
import { answerToDelete, answerToRefusal } from './answers.ts'
import { active, doUntil, members, properties, table } from './on-table.ts'
import { cluster } from './resource-types.ts'

const living = [
  ...Object.keys(cluster.statuses.stable ?? {}),
  ...Object.keys(cluster.statuses.transitional ?? {}),
  ...Object.keys(cluster.statuses.failed ?? {}),
]
const force = { force: true, reason: 'heat is lost' }
const minutes = 60_000

describe('2.5 delete', () => {
  test('2.5 steps, test_ops order of delete: job statuses, on_terminate, shutdown, jobs, trust, then the row is removed', () => {
    const t = active()
    t.request('c', 'delete')
    expect(members(t)).toEqual(['w0 Deleting', 'w1 Deleting'])
    const owed: string[] = []
    while (t.get('c').run !== null) {
      expect(t.status('c')).toBe('Deleting')
      owed.push(...t.owedBy('c'))
      t.done('c')
    }
    expect(owed).toEqual(['refreshJobs', 'onTerminate', 'terminateInstances', 'detachJobs', 'deleteTrust'])
    expect(t.status('c')).toBe('gone')
    expect(members(t)).toEqual([])
    expect(t.get('c').ledger).toEqual([])
  })

  test.each(living)('2.5, 2.6: delete is allowed from %s and ends in gone', (status) => {
    const t = table()
    t.place('sahara.cluster', 'c', status, { properties })
    t.request('c', 'delete')
    expect(t.status('c')).toBe('Deleting')
    doUntil(t, 'c')
    expect(t.status('c')).toBe('gone')
  })

  test.each(['updateInfra', 'spawn', 'awaitBoot', 'prepare', 'configure', 'startServices'])(
    '2.4 item 2: delete pre-empts a creation that is at %s; what that one does afterwards changes nothing',
    (call) => {
      const t = table()
      t.create('sahara.cluster', 'c', { properties })
      doUntil(t, 'c', call)
      const late = t.ending('c', { kind: 'failed', code: 'x', reason: 'cancelled', terminal: true })
      t.request('c', 'delete')
      expect(t.refused(late).code).toBe('fenced')
      expect([t.status('c'), t.get('c').description]).toEqual(['Deleting', ''])
      doUntil(t, 'c')
      expect([t.status('c'), t.get('c').ledger]).toEqual(['gone', []])
    },
  )

  test.each(['decommission', 'deleteInstances', 'addInstances', 'configureNew'])(
    '2.6: delete pre-empts a scale that is at %s, also its rollback',
    (call) => {
      const t = active({ counts: { w: 2, m: 1 } })
      t.request('c', 'scale', { counts: { w: 1, m: 2 } })
      doUntil(t, 'c', call)
      if (call === 'addInstances') t.failed('c', 'error1')
      t.request('c', 'delete')
      doUntil(t, 'c')
      expect([t.status('c'), members(t), t.get('c').ledger]).toEqual(['gone', [], []])
    },
  )

  test.each(['scale', 'update', 'expire'])(
    '2.1 sticky, utils/test_cluster: Deleting cannot be overwritten by %s, though the description can',
    (operation) => {
      const t = active()
      t.request('c', 'delete')
      t.failed('c', 'heat down')
      const { message } = t.refused(t.asking('c', operation, operation === 'scale' ? { counts: {} } : undefined))
      expect(message).toMatch(/it is Deleting|it is not being deleted already/)
      expect(t.status('c')).toBe('Deleting')
      expect(t.get('c').description).toBe('Deleting cluster failed for the following reason(s): heat down')
    },
  )

  test('2.5 failure, decision 0.5: stays Deleting with the reason, is tried again ever more rarely, and works in the end', () => {
    const t = active()
    t.request('c', 'delete')
    const waits: number[] = []
    for (let n = 0; n < 8; n++) {
      t.failed('c', `heat down ${n}`)
      expect(t.status('c')).toBe('Deleting')
      expect(t.get('c').description).toBe(`Deleting cluster failed for the following reason(s): heat down ${n}`)
      waits.push((t.call('c').dueAt - t.now) / minutes)
      t.advance(t.call('c').dueAt - t.now)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    doUntil(t, 'c')
    expect(t.status('c')).toBe('gone')
  })

  test('2.5 allowed from Deleting: a second delete joins the first one, and starts the work again when that one hangs', () => {
    const t = active()
    const first = t.request('c', 'delete')
    expect(t.request('c', 'delete').begun).toBe(first.begun)
    doUntil(t, 'c', 'terminateInstances')
    t.advance(11 * minutes)
    expect(t.request('c', 'delete').begun).not.toBe(first.begun)
    expect(t.owedBy('c')).toEqual(['refreshJobs'])
  })

  test.each([{}, force])('2.5 denied: a protected cluster is not deleted (%j), and says why', (how) => {
    const t = active({ isProtected: true })
    const { code, message } = t.refused(t.asking('c', 'delete', undefined, how))
    expect(code).toBe('requirement_not_met')
    expect(message).toContain('isProtected is false')
    t.request('c', 'update', { isProtected: false })
    t.request('c', 'delete', undefined, how)
  })

  test('2.5 denied: a cluster of another tenant is not even found', () => {
    const t = active()
    expect(t.refused(t.asking('c', 'delete', undefined, { tenant: 'other' })).code).toBe('resource_not_found')
  })

  test('2.6: what is gone stays gone', () => {
    const t = active()
    t.request('c', 'delete')
    doUntil(t, 'c')
    expect(t.refused(t.asking('c', 'delete')).message).toContain('it is gone, for good')
  })

  test('utils/test_cluster: a description for a cluster that is missing or gone is told to nobody, and nothing is written', () => {
    const t = active()
    t.request('c', 'delete')
    const { no, epoch } = t.get('c')
    doUntil(t, 'c')
    const before = t.get('c')
    expect(t.send({ kind: 'progressReported', no, epoch, text: 'still at work', by: 'worker' }).accepted).toBe(false)
    expect(t.send({ kind: 'progressReported', no: 999, epoch: 1, text: 'who?', by: 'worker' }).accepted).toBe(false)
    expect(t.get('c')).toBe(before)
    expect(t.find('nobody')).toBeNull()
  })
})

describe('2.5, 2.6 answers of the HTTP API', () => {
  const refusal = (t: ReturnType<typeof active>, operation: string, input?: unknown, more = {}) =>
    answerToRefusal(operation, t.refused(t.asking('c', operation, input, more)))

  test('delete: 204 without a body; forced: 200 with the name of the stack, or null where there is none', () => {
    const t = active()
    expect(answerToDelete(t.request('c', 'delete').resource, false)).toEqual({ status: 204, body: null })
    const forced = t.request('c', 'delete', undefined, force).resource
    expect(answerToDelete(forced, true)).toEqual({ status: 200, body: { stack_name: 'sahara.cluster/c/machine/1' } })
    const young = table()
    young.create('sahara.cluster', 'c', { properties })
    const nothing = young.request('c', 'delete', undefined, force).resource
    expect(answerToDelete(nothing, true)).toEqual({ status: 200, body: { stack_name: null } })
  })

  test('a cluster that grew has two stacks: the last one is named', () => {
    const t = active()
    t.request('c', 'scale', { counts: { w: 3 } })
    doUntil(t, 'c')
    const { resource } = t.request('c', 'delete', undefined, force)
    expect(answerToDelete(resource, true).body).toEqual({ stack_name: resource.ledger.at(-1)!.name })
    expect(resource.ledger).toHaveLength(2)
  })

  test('denied is 403, not found 404, a scale of what is not Active 400 INVALID_REFERENCE; never 5xx, always with the reason', () => {
    const guarded = active({ isProtected: true })
    expect(refusal(guarded, 'delete')).toMatchObject({ status: 403, body: { error_code: 'DELETION_FAILED' } })
    expect(refusal(guarded, 'delete', undefined, { tenant: 'other' })).toMatchObject({ status: 404 })
    expect(refusal(guarded, 'scale', { counts: {}, instances: ['w-099'] })).toMatchObject({ status: 404 })
    expect(refusal(guarded, 'scale', { counts: { w: -1 } })).toMatchObject({ status: 400 })
    const busy = active()
    busy.request('c', 'scale', { counts: { w: 3 } })
    const answer = refusal(busy, 'scale', { counts: { w: 4 } })
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'INVALID_REFERENCE' } })
    expect(answer.body!['error_message']).toContain('of scale is under way')
    expect(refusal(busy, 'update', { isProtected: true })).toMatchObject({ status: 409 })
  })
})

describe('2.5 force delete, decision 0.5', () => {
  test.each(living)('0.5: entered from %s as Force Deleting, and ends in gone', (status) => {
    const t = table()
    t.place('sahara.cluster', 'c', status, { properties })
    t.request('c', 'delete', undefined, force)
    expect(t.status('c')).toBe('Force Deleting')
    doUntil(t, 'c')
    expect(t.status('c')).toBe('gone')
  })

  test('0.5: over a delete that hangs, at once; each step is tried once; what was abandoned is in the orphan ledger', () => {
    const t = active()
    t.request('c', 'delete')
    t.failed('c', 'heat down')
    t.request('c', 'delete', undefined, force)
    expect([t.status('c'), t.call('c').dueAt]).toEqual(['Force Deleting', 0])
    t.done('c')
    t.failed('c', 'no plugin')
    t.advance(30_000)
    t.ok(t.deadline('c'))
    expect(t.status('c')).toBe('Force Deleting')
    t.failed('c', 'no jobs')
    t.done('c')
    expect(t.get('c')).toMatchObject({ status: 'gone', ledger: [{ kind: 'machine', state: 'orphaned' }] })
    expect(t.get('c').description).toContain('Forced: heat is lost, no plugin')
    expect(members(t)).toEqual([])
  })

  test('0.5: what was confirmed is no orphan', () => {
    const t = active()
    t.request('c', 'delete', undefined, force)
    doUntil(t, 'c')
    expect(t.get('c').ledger).toEqual([])
  })

  test('0.5: it needs a reason', () => {
    const t = active()
    expect(t.refused(t.asking('c', 'delete', undefined, { force: true })).code).toBe('reason_required')
  })

  test('0.5: its worker lost, it goes on by force', () => {
    const t = active()
    t.request('c', 'delete', undefined, force)
    t.heal('c')
    expect([t.status('c'), t.get('c').run!.forced]).toEqual(['Force Deleting', true])
  })
})

describe('2.6 by age, test_periodic', () => {
  test('2.6 transient: Active, no unfinished jobs, older than 30 s: deleted', () => {
    const t = active({ isTransient: true })
    t.advance(29_999)
    t.fireTimers()
    expect(t.status('c')).toBe('Active')
    t.advance(1)
    t.fireTimers()
    expect(t.status('c')).toBe('Deleting')
  })

  test('2.6 transient: not while jobs are unfinished; once they are finished, yes', () => {
    const t = active({ isTransient: true, unfinishedJobs: 1 })
    t.advance(60 * minutes)
    t.fireTimers()
    expect(t.status('c')).toBe('Active')
    t.request('c', 'update', { unfinishedJobs: 0 })
    t.fireTimers()
    expect(t.status('c')).toBe('Deleting')
  })

  test('2.6 transient: a protected one is asked again every 90 s', () => {
    const t = active({ isTransient: true, isProtected: true })
    t.advance(30_000)
    t.fireTimers()
    expect(t.status('c')).toBe('Active')
    expect(t.get('c').timers).toEqual({ transient: t.now + 90_000 })
  })

  test('2.6: a cluster that is not transient stays Active for ever, also where incomplete ones are cleaned up', () => {
    const t = active({ cleanUpIncomplete: true })
    t.advance(365 * 24 * 60 * minutes)
    t.fireTimers()
    expect(t.status('c')).toBe('Active')
  })

  test.each(['spawn', 'awaitBoot', 'configure'])(
    'test_periodic: an incomplete cluster at %s is kept at 59:50 and deleted at 1:00:10',
    (call) => {
      const t = table()
      t.create('sahara.cluster', 'c', { properties: { ...properties, cleanUpIncomplete: true } })
      doUntil(t, 'c', call)
      t.advance(59 * minutes + 50_000)
      t.fireTimers()
      expect(t.status('c')).not.toBe('Deleting')
      t.advance(20_000)
      t.fireTimers()
      expect(t.status('c')).toBe('Deleting')
    },
  )

  test('2.6: by default incomplete clusters are not cleaned up', () => {
    const t = table()
    t.create('sahara.cluster', 'c', { properties })
    expect(t.get('c').timers).toEqual({})
  })

  test('2.6: an Error cluster is never cleaned up', () => {
    const t = table()
    t.create('sahara.cluster', 'c', { properties: { ...properties, cleanUpIncomplete: true, isTransient: true } })
    t.failed('c', 'x')
    expect([t.status('c'), t.get('c').timers]).toEqual(['Error', {}])
  })

  test('2.6 without trust: AwaitingTermination until there is one, then Deleting', () => {
    const t = active({ isTransient: true, hasTrust: false })
    t.advance(30_000)
    t.fireTimers()
    expect(t.status('c')).toBe('AwaitingTermination')
    expect(t.owedBy('c')).toEqual(['awaitTrust'])
    t.again('c', 90_000)
    expect(t.status('c')).toBe('AwaitingTermination')
    t.done('c')
    expect(t.status('c')).toBe('Deleting')
    doUntil(t, 'c')
    expect(t.status('c')).toBe('gone')
  })

  test('2.6 without trust: its owner can delete it at once', () => {
    const t = active({ isTransient: true, hasTrust: false })
    t.advance(30_000)
    t.fireTimers()
    t.request('c', 'delete')
    expect(t.status('c')).toBe('Deleting')
  })
})
