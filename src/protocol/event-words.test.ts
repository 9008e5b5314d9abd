// The history of the catalogues as `homeostat history` and the console tell it: events of real decisions, in words that an operator can read.
import { expect, test } from 'vitest'
import { blazar } from '../../catalogues/blazar/index.ts'
import { ovc } from '../../catalogues/ovc/index.ts'
import { sahara } from '../../catalogues/sahara/index.ts'
import { eventKinds } from '../decision/state.ts'
import { TableTop, type Name } from '../testing/table-top.ts'
import { eventWords, pathWords } from './event-words.ts'

const told = (t: TableTop, id: Name): string[] => t.eventsOf(id).map((event) => `${event.kind}: ${eventWords(event)}`)

test('a machine that was healed says what was found, what the hypervisor says, and what is asked for again', () => {
  const t = new TableTop(Object.values(ovc))
  const { no } = t.place('ovc.account', 'a', 'CONFIRMED', { properties: {} })
  const space = t.place('ovc.cloudspace', 'c', 'DEPLOYED', { parent: { no }, properties: {} })
  t.place('ovc.machine', 'm', 'RUNNING', { parent: { no: space.no }, properties: { memory: 64 } })
  t.place('ovc.disk', 'd', 'ASSIGNED', { parent: { no }, properties: { size: 1 }, links: { machine: 'm' } })
  t.request('m', 'stop')
  t.heal('m')
  t.answered('m', 'running')
  t.request('m', 'delete', { reason: 'unpaid' })
  t.heal('m')
  t.done('m')
  expect(told(t, 'm').slice(1)).toEqual([
    'accepted: stop is accepted with {"force":false}, first step stopMachine',
    'resumed: taken over where it stood (its worker is gone); power is asked how it really is',
    'healed: healed: its worker is gone, the driver says running',
    'accepted: delete is accepted with {"reason":"unpaid"}, first step haltMachine',
    'healed: healed: its worker is gone, delete is asked for again',
    'accepted: delete is accepted with {"reason":"unpaid"}, first step haltMachine',
    'landed: delete has ended',
  ])
  expect(told(t, 'd').slice(1)).toEqual(Array.from({ length: 4 }, () => 'moved: moved with ovc.machine m'))
})

test('a cluster that is deleted by force says that it was, why, and what it left behind', () => {
  const t = new TableTop(Object.values(sahara))
  t.create('sahara.cluster', 'c', { properties: { counts: { w: 1 } } })
  for (const _ of ['validate', 'updateInfra', 'spawn']) t.done('c')
  const created = told(t, 'c').length
  t.request('c', 'delete')
  t.request('c', 'delete', undefined, { force: true, reason: 'nova is down' })
  for (let n = 0; n < 9 && t.call('c').function !== 'deleteTrust'; n++) t.failed('c', 'no answer', { code: 'down' })
  t.done('c')
  const words = told(t, 'c').slice(created)
  expect(words.slice(0, 4)).toEqual([
    'preempted: interrupted by delete',
    'accepted: delete is accepted, first step refreshJobs',
    'preempted: interrupted by delete',
    'accepted: delete is accepted, forced: nova is down, first step refreshJobs',
  ])
  expect(words.at(-1)).toMatch(/^landed: delete has ended: Forced: nova is down, no answer/)
})

test('timers, single items and what is said at the end are told in words', () => {
  const t = new TableTop(Object.values(blazar))
  t.create('blazar.lease', 'L', {
    properties: { startDate: 2_000_000, endDate: 12_000_000 },
    input: { reservations: [{ resourceType: 'host' }, { resourceType: 'host' }], minutesBeforeEndLease: 0 },
  })
  const [first, second] = t.children(t.get('L').no).filter(({ type }) => type === 'blazar.reservation')
  t.done('L', undefined, first)
  t.done('L', undefined, second)
  t.now = 2_000_000
  t.fireTimers()
  t.failed('L', 'host is down', { item: first! })
  t.done('L', undefined, second)
  t.now = 12_000_000
  t.fireTimers()
  for (let n = 0; n < 5 && t.get('L').run !== null; n++) {
    const { item } = t.call('L')
    t.done('L', undefined, item === 0 ? undefined : item)
  }
  const words = told(t, 'L')
  expect(words).toContain(`itemDone: reserveResources is done for ${first!.id}, left: 1`)
  expect(words).toContain(`itemFailed: startReservations failed for ${first!.id}: host is down, left: 1`)
  expect(words.at(-1)).toBe('landed: end has ended: It never started; its reservations are released.')
  const events = t.events.map((event) => `${event.kind}: ${eventWords(event)}`)
  expect(events).toContain('timerFired: timer start is due')
  // No names of fields, no numbers of milliseconds.
  expect(events.join('\n')).not.toMatch(/ownerLost|\bdue \d|\bitem ~|, code /)
})

test('a kind that has no words yet is told as it is', () => {
  expect(eventWords({ kind: 'somethingNew', detail: { what: 'a thing', n: 3 } })).toBe(
    'something new: what a thing, n 3',
  )
  expect(eventWords({ kind: 'constructor', detail: null })).toBe('constructor')
})

test('what failed is named: a step, the probe of a cut step, the probe of healing, or the run', () => {
  const reason = 'no answer'
  expect(eventWords({ kind: 'attemptFailed', detail: { step: 'make', attempt: 1, reason } })).toBe(
    'make failed at attempt 1: no answer',
  )
  expect(eventWords({ kind: 'attemptFailed', detail: { step: 'make', probe: 'isMade', attempt: 1, reason } })).toBe(
    'isMade failed at attempt 1: no answer',
  )
  expect(eventWords({ kind: 'attemptFailed', detail: { probe: 'power', reason } })).toBe('power failed: no answer')
  expect(eventWords({ kind: 'stepAgain', detail: { probe: 'power', afterMs: 5 } })).toBe(
    'power is not finished; it is looked at again',
  )
  expect(eventWords({ kind: 'failed', detail: { code: 'cancelled', reason: 'cancelled by ann' } })).toBe(
    'it failed for good: cancelled by ann',
  )
})

test('how a run ended: which operation, at which step, why, and what was undone last', () => {
  const landed = (detail: object) => eventWords({ kind: 'landed', detail })
  const failed = true
  expect(landed({ operation: 'create' })).toBe('create has ended')
  expect(landed({ operation: 'create', step: 'make', reason: 'no room', failed })).toBe(
    'create failed at make: no room',
  )
  expect(landed({ operation: 'create', undone: 'make', description: 'No room.', failed })).toBe(
    'make is undone; create failed: No room.',
  )
  expect(landed({ operation: 'create', undo: 'unmake', reason: 'no answer', undoFailed: true, failed })).toBe(
    'undoing create failed at unmake: no answer',
  )
  expect(landed({ operation: 'create', step: 'make', reason: 'it is there', skip: true })).toBe(
    'make is skipped: it is there; create has ended',
  )
})

test('every kind of event has words of its own', () => {
  const spoken = (kind: string) => eventWords({ kind, detail: { plant: 1 } })
  expect(eventKinds.filter((kind) => spoken(kind).includes('plant'))).toEqual([])
  expect(eventKinds.filter((kind) => eventWords({ kind, detail: null }) === '' && kind !== 'progressed')).toEqual([])
})

test('a path names both ends, and one alone where it stayed or began there', () => {
  expect(pathWords({ from: 'Creating', to: 'Ready' })).toBe('Creating → Ready')
  expect(pathWords({ from: '', to: 'Creating' })).toBe('Creating')
  expect(pathWords({ from: 'Ready', to: 'Ready' })).toBe('Ready')
})
