// Rehearsals: what a chosen fault leads to is told moment by moment, always the same, and a bad declaration is caught with its
// counter-example.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { databases } from '../../examples/database.ts'
import { checkLifecycles } from '../lifecycle/check-lifecycle.ts'
import { resourceType, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import { Rehearsal } from './rehearsal.ts'

const shop = new Rehearsal([databases as AnyLifecycle])
const create = { type: 'shop.database', operation: 'create', from: null }

test('without a fault an operation goes through its declared statuses', async () => {
  const { moments, status, violation, id } = await shop.play(create, [])
  expect({ status, violation, id }).toEqual({ status: 'Ready', violation: null, id: 'database-1' })
  expect(moments[0]).toMatchObject({ kind: 'asked', status: '' })
  expect(moments.flatMap(({ event }) => (event === null ? [] : `${event.kind} ${event.to}`))).toEqual([
    'accepted Creating',
    'stepDone Creating',
    'landed Ready',
  ])
  expect(moments.filter(({ kind }) => kind === 'called').map(({ words }) => words)).toEqual([
    'calls makeDisk',
    'calls startServer',
  ])
})

test('a worker that dies inside a call is noticed, and another one goes on', async () => {
  const { moments, status } = await shop.play(create, [{ at: 'call', n: 2, fault: 'crash' }])
  const words = moments.map((moment) => moment.words)
  expect(words).toContain('dies while the call is under way; the call has its effect all the same')
  expect(moments.some(({ event }) => event?.kind === 'resumed')).toBe(true)
  expect(status).toBe('Ready')
})

test('the moments before the fault are those of the rehearsal without it, and name where a fault can be put', async () => {
  const quiet = await shop.play(create, [])
  const at = quiet.moments.findIndex(({ event }) => event?.kind === 'stepDone')
  const { strikes } = quiet.moments[at]!
  const struck = await shop.play(create, [{ at: 'commit', n: strikes!.n, fault: 'crashBefore' }])
  expect(struck.moments.slice(0, at)).toEqual(quiet.moments.slice(0, at))
  expect(struck.moments[at]!.words).toMatch(/^dies just before this is written/)
  expect(await shop.play(create, [{ at: 'commit', n: strikes!.n, fault: 'crashBefore' }])).toEqual(struck)
})

test('an operation of a resource that is there is asked where it starts, with input that is accepted', async () => {
  const { from, input, status, moments } = await shop.play({ ...create, operation: 'grow' }, [])
  expect({ from, status }).toEqual({ from: 'Ready', status: 'Ready' })
  expect(input).toEqual({ sizeGb: expect.any(Number) })
  expect(moments.find(({ kind }) => kind === 'answered')?.words).toBe('answers: accepted')
})

test('what is found stuck is healed as its row says; what is refused is told with the reason', async () => {
  const stuck = await shop.play({ ...create, operation: null, from: 'Creating' }, [])
  expect(stuck.moments.some(({ event }) => event?.kind === 'healed')).toBe(true)
  expect(stuck.status).toBe('Broken')
  const refused = await shop.play({ ...create, operation: 'grow', input: { sizeGb: 0 }, properties: { sizeGb: 3 } }, [])
  expect(refused.moments.find(({ kind }) => kind === 'answered')?.words).toMatch(/^answers: refused\. /)
})

test('every fault at every commit and call is tried; the ends are counted', async () => {
  const { schedules, violation, ends, isCut } = await shop.search(create, 60_000)
  expect({ violation, isCut }).toEqual({ violation: null, isCut: false })
  expect(schedules).toBeGreaterThan(40)
  expect(Object.values(ends).reduce((all, one) => all + one, 0)).toBe(schedules)
  expect(Object.keys(ends).toSorted()).toEqual(['Broken', 'Gone', 'Ready'])
})

test('a declaration that the check lets pass and that contradicts itself is caught, with its counter-example', async () => {
  // What a function gives does not fit the schema: data of the declaration does not show it.
  const doors: AnyLifecycle = resourceType('lab.door', {
    properties: z.object({ isLocked: z.boolean() }),
    statuses: {
      stable: { Open: 'One can go in.' },
      transitional: { Opening: 'Its lock turns.' },
      failed: { Jammed: 'It is stuck.' },
      terminal: { Gone: 'There is a wall now.' },
    },
  }).lifecycle({
    operations: {
      create: {
        from: [],
        steps: { turn: { during: 'Opening' } },
        to: { status: 'Open', set: { isLocked: () => 'no' as never } },
        onFailure: 'Jammed',
      },
      delete: { from: ['*'], ifBusy: 'preempt', steps: {}, to: 'Gone', onFailure: { again: '1m' } },
    },
    heal: { Opening: { resume: true, unowned: { status: 'Jammed' } } },
  })
  expect(checkLifecycles([doors]).filter(({ severity }) => severity === 'error')).toEqual([])
  const lab = new Rehearsal([doors])
  const found = await lab.search({ type: 'lab.door', operation: 'create', from: null }, 60_000)
  expect(found.violation).toMatchObject({ promise: 'defect', strike: null })
  const { moments, violation } = await lab.play({ type: 'lab.door', operation: 'create', from: null }, [])
  expect(violation?.text).toMatch(/contradict/)
  expect(moments.find(({ kind }) => kind === 'broken')?.words).toMatch(/^defect: /)
})
