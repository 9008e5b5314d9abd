// What a driver elsewhere may answer. Whatever does not fit is no answer: nobody knows then what the driver did.
import { z } from 'zod'
import { parseStrictJson } from '../server/strict-json.ts'

const wait = z.number().int().min(0).max(86_400_000)

const failed = z.strictObject({
  kind: z.literal('failed'),
  code: z.string().min(1).max(100).default('failed'),
  reason: z.string().default(''),
  terminal: z.boolean().default(false),
})
const unknown = z.strictObject({ kind: z.literal('unknown'), reason: z.string().default('') })
const done = z.strictObject({ kind: z.literal('done'), result: z.unknown().optional() })
const again = z.strictObject({ kind: z.literal('again'), afterMs: wait })
const stale = z.strictObject({ kind: z.literal('stale'), epoch: z.number().int().min(0) })

/** To a step or an undo. `accepted`: it is at work, and will complete the step later. */
export const workAnswer = z.discriminatedUnion('kind', [
  done,
  again,
  failed,
  unknown,
  stale,
  z.strictObject({
    kind: z.literal('accepted'),
    lookAgainMs: wait.min(100).optional(),
    progress: z.string().optional(),
  }),
])
export const probeAnswer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('answered'),
    answer: z.string().min(1).max(200),
    observed: z.record(z.string(), z.unknown()).optional(),
  }),
  again,
  failed,
  unknown,
  stale,
])
export const inventoryAnswer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('inventory'),
    things: z.array(
      z.strictObject({ kind: z.string().max(200), name: z.string().min(1).max(1_000), ref: z.unknown().optional() }),
    ),
    next: z.string().min(1).max(1_000).nullable().default(null),
  }),
  failed,
])
/** To a cancel: it has stopped, or cannot. To a destroy: the thing is gone, or not. */
export const endAnswer = z.discriminatedUnion('kind', [done, failed])

export type WorkAnswer = z.output<typeof workAnswer>

/** The answer, or why it is none. */
export function readAnswer<Shape extends z.ZodType>(
  shape: Shape,
  text: string,
): { readonly answer: z.output<Shape> } | { readonly fault: string } {
  let given: unknown
  try {
    given = parseStrictJson(text)
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'it is no JSON' }
  }
  const checked = shape.safeParse(given)
  if (checked.success) return { answer: checked.data }
  const { path, message } = checked.error.issues[0]!
  return { fault: `${path.length === 0 ? 'the answer' : path.join('.')}: ${message}` }
}
