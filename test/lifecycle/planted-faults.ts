// Faults for the check of lifecycles, planted one at a time into a pair of good declarations. Used by the tests beside the check.
import { resourceType } from 'homeostat'
import { z } from 'zod'
import { checkLifecycles } from '../../src/lifecycle/check-lifecycle.ts'

// Faults are planted where the compiler would not let them stand.
export type Data = any

export const thing = resourceType('t.thing', {
  properties: z.object({ ok: z.boolean(), time: z.number(), mood: z.enum(['good', 'bad']) }),
  statuses: {
    stable: { Ready: 'Works.' },
    transitional: { Making: 'Being made.', Ending: 'Being removed.' },
    failed: { Bad: 'Broken.' },
    terminal: { Gone: 'Removed.' },
  },
})
export const kid = resourceType('t.kid', {
  properties: z.object({ size: z.number() }),
  statuses: {
    stable: { on: 'Runs.', off: 'Rests.' },
    transitional: { moving: 'Changes.' },
    terminal: { lost: 'No more.' },
  },
})

/** Two good declarations as plain data, made anew for every test. */
const parts = (): Record<'thing' | 'kid', { type: Data; relations: Data; body: Data }> => ({
  thing: {
    type: thing,
    relations: { kids: { children: kid } },
    body: {
      probes: { seen: ['yes', 'no'] },
      operations: {
        create: {
          from: [],
          steps: {
            make: { during: { status: 'Making', add: { kids: { status: 'on', each: () => [] } } }, undo: 'unmake' },
          },
          to: 'Ready',
          onFailure: { undo: true, status: 'Bad' },
        },
        delete: {
          from: ['Ready', 'Bad'],
          steps: { end: { during: 'Ending', probe: 'seen' } },
          to: { status: 'Gone', move: { kids: 'lost' } },
          onFailure: 'Bad',
        },
      },
      heal: { Making: { resume: true, unowned: { status: 'Bad' } }, Ending: { status: 'Bad', attempt: 'delete' } },
    },
  },
  kid: {
    type: kid,
    relations: { thing: { parent: thing } },
    body: {
      begins: ['on'],
      moves: [{ from: ['*'], to: 'lost', by: 'thing' }],
      operations: {
        stop: { from: ['on'], steps: { halt: { during: 'moving' } }, to: 'off', onFailure: 'on' },
        start: { from: ['off'], steps: {}, to: 'on', onFailure: 'off' },
      },
      heal: { moving: { status: 'off' } },
    },
  },
})

type Parts = ReturnType<typeof parts>
export type Plant = (thing: Data, kid: Data) => void
/** What is wrong, in words; what check says; how it is planted. */
export type Table = Record<string, [string, Plant]>

// What most faults are planted with: changes of the operations, of the step `end`, or that step made anew.
export const create =
  (changes: object): Plant =>
  ({ body }) =>
    Object.assign(body.operations.create, changes)
export const del =
  (changes: object): Plant =>
  ({ body }) =>
    Object.assign(body.operations.delete, changes)
export const end =
  (changes: object): Plant =>
  ({ body }) =>
    Object.assign(body.operations.delete.steps.end, changes)
export const onlyEnd =
  (step: object): Plant =>
  ({ body }) =>
    (body.operations.delete.steps.end = step)

/** The faults after planting, one line each. */
export function faultsAfter(plant: (thing: Parts['thing'], kid: Parts['kid']) => void): string[] {
  const made = parts()
  plant(made.thing, made.kid)
  const set = Object.values(made).map(({ type, relations, body }) => type.relations(relations).lifecycle(body))
  return checkLifecycles(set).map(
    ({ severity, path, fault, suggestion }) => `${severity} ${path}: ${fault}. ${suggestion}`,
  )
}
