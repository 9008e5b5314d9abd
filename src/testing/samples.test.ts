// Samples: values that fit any schema.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Choices } from './choices.ts'
import { sampleFor } from './samples.ts'

test('what is invented fits the schema, whatever is chosen', () => {
  const schema = z.object({
    name: z.string(),
    size: z.number().int().positive(),
    kind: z.enum(['a', 'b']),
    counts: z.record(z.string(), z.number().int().nonnegative()),
    list: z.array(z.object({ on: z.boolean() })),
    maybe: z.number().optional(),
  })
  for (let seed = 0; seed < 200; seed++) {
    const value = sampleFor(schema, new Choices(seed).stream('sample'))
    expect(schema.safeParse(value).success).toBe(true)
  }
})
