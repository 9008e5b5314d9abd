// What healing would do, told before it is done: the same that is done then.
import { resourceType } from 'homeostat'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { workshop } from '../../test/decision/workshop.ts'
import { TableTop } from '../testing/table-top.ts'
import type { Found } from './command.ts'
import { previewHeal } from './preview.ts'

function shop(...tools: string[]) {
  const t = new TableTop(workshop)
  t.create('w.site', 's', { properties: { isOpen: false } })
  for (const id of tools) t.place('w.tool', id, 'Idle', { parent: { no: t.get('s').no } })
  return t
}

const told = (t: TableTop, id: string, found: Found = 'ownerLost') => previewHeal(t.plans, t, t.get(id), found)

test('it tells the rule, what would happen, and changes nothing', () => {
  const t = shop()
  t.request('s', 'close')
  const before = t.get('s')
  expect(told(t, 's')).toEqual({
    no: before.no,
    type: 'w.site',
    id: 's',
    status: 'Closing',
    found: 'ownerLost',
    rule: t.plans.get('w.site')!.heal.get('Closing')!.words,
    would: 'go on with close at lock',
    acts: true,
  })
  expect(t.get('s')).toBe(before)
})

test('where it goes on: at a step, with its probe first, with undoing', () => {
  const t = shop('a')
  t.request('a', 'start')
  expect(told(t, 'a').would).toBe('ask the driver whether spin happened, then go on with start')
  t.request('s', 'close')
  t.failed('s', 'jammed')
  expect(told(t, 's').would).toBe('go on undoing close')
})

test('where it lands: by its row, by what the driver answers, and what is attempted again then', () => {
  const t = shop('a')
  t.place('w.site', 'stray', 'Closing')
  expect(told(t, 'stray', 'unowned').would).toBe('put it to Closed')
  t.place('w.tool', 'x', 'Stopping', { parent: { no: t.get('s').no } })
  expect(told(t, 'x', 'unowned').would).toBe('ask the driver (spinning) what is really there, and land by its answer')
  t.request('a', 'delete')
  expect(told(t, 'a').would).toBe('attempt delete again (now Scrapping)')
})

test('whom it moves with it, the first five by name', () => {
  const t = shop('a', 'b', 'c', 'd', 'e', 'f', 'g')
  t.request('s', 'clear')
  t.place('w.site', 'empty', 'Clearing')
  expect(told(t, 'empty', 'unowned').would).toBe('put it to Broken')
  expect(told(t, 's').would).toBe(
    'put it to Open, then attempt clear again (now Clearing); w.tool a, b, c, d, e and 2 more to Packed',
  )
  t.ok({ kind: 'setStatus', no: t.get('s').no, status: 'Clearing', reason: 'x', by: 'ann' })
  for (const id of ['f', 'g']) t.ok({ kind: 'setStatus', no: t.get(id).no, status: 'Bad', reason: 'x', by: 'ann' })
  expect(told(t, 's', 'unowned').would).toBe('put it to Broken; w.tool a, b, c, d, e to Idle')
})

const hive = resourceType('t.hive', {
  properties: z.object({}),
  statuses: { stable: { Calm: 'Calm.' }, transitional: { Smoking: 'Smoked.' } },
})
const bee = resourceType('t.bee', { properties: z.object({}), statuses: { stable: { In: 'In.', Out: 'Out.' } } })
const hives = hive.relations({ bees: { children: bee } }).lifecycle({
  begins: ['Calm'],
  heal: { Smoking: { status: 'Calm', move: { bees: 'Out' } } },
})
const bees = bee.relations({ hive: { parent: hive } }).lifecycle({
  begins: ['In'],
  moves: [{ from: ['In'], to: 'Out', by: 'hive' }],
  heal: {},
})

test('that it goes in chunks', () => {
  const t = new TableTop([hives, bees])
  const { no } = t.place('t.hive', 'h', 'Smoking')
  for (let n = 0; n < 501; n++) t.place('t.bee', `b${n}`, 'In', { parent: { no } })
  expect(told(t, 'h', 'unowned').would).toBe(
    'move its related resources in chunks, then land; t.bee b0, b1, b2, b3, b4 and 495 more to Out',
  )
})

test('why nothing would be done', () => {
  const t = shop('a')
  expect(told(t, 's')).toMatchObject({
    acts: false,
    would: 'w.site s is Open, which is no transitional status: nothing to heal.',
    rule: '',
  })
  t.request('s', 'clear')
  expect(told(t, 'a', 'unowned')).toMatchObject({ acts: false, would: expect.stringContaining('is healed with its') })
})
