// Names that a schema does not know are told, wherever they stand; schemas that take anything take anything.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { refuseUnknown } from './unknown-names.ts'

const schema = z.object({
  size: z.number(),
  label: z.string().optional(),
  disks: z.array(z.object({ sizeGb: z.number() })).default([]),
  counts: z
    .record(z.string(), z.object({ min: z.number() }))
    .nullable()
    .optional(),
  tags: z.looseObject({ owner: z.string().optional() }).optional(),
  piped: z
    .object({ a: z.string() })
    .transform(({ a }) => a)
    .optional(),
})

const told = (given: unknown, of: unknown = schema) => {
  try {
    refuseUnknown('input_invalid', 'It does not', of, given)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

test.each([
  [{ size: 1 }],
  [
    {
      size: 1,
      label: 'x',
      disks: [{ sizeGb: 1 }],
      counts: { worker: { min: 1 } },
      tags: { any: 1 },
      piped: { a: 'x' },
    },
  ],
  [{ size: 1, disks: 'none', counts: null }],
  [null],
  ['text'],
  [[]],
])('%j is known', (given) => expect(told(given)).toBeNull())

test.each([
  [{ size: 1, lable: 'x' }, "It does not fit: lable: there is no such name. Did you mean 'label'?"],
  [{ sise: 1 }, "It does not fit: sise: there is no such name. Did you mean 'size'?"],
  [
    { disks: [{ sizeGb: 1 }, { colour: 1 }] },
    'It does not fit: disks.1.colour: there is no such name. Known are: sizeGb.',
  ],
  [{ counts: { worker: { max: 1 } } }, 'counts.worker.max: there is no such name.'],
  [{ piped: { b: 1 } }, 'piped.b: there is no such name.'],
  [JSON.parse('{"__proto__": 1}'), '__proto__: there is no such name.'],
  [{ constructor: 1 }, 'constructor: there is no such name.'],
])('%j is refused', (given, words) => expect(told(given)).toContain(words))

test('what is no schema of zod judges for itself', () => {
  expect(told({ any: 1 }, { '~standard': {} })).toBeNull()
  expect(told({ any: 1 }, z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]))).toBeNull()
  expect(told({ any: 1 }, null)).toBeNull()
})
