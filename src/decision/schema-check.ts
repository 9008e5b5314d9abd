// Lets a schema judge a value, at once: the core is synchronous, so schemas must be too.
import { messageOf } from '../base/errors.ts'
import type { Schema } from '../lifecycle/schema.ts'

export type Checked =
  | { readonly value: unknown; readonly faults: null }
  | { readonly value: null; readonly faults: readonly string[] }

export function checkAgainst(schema: Schema, value: unknown): Checked {
  let answer: ReturnType<Schema['~standard']['validate']>
  try {
    answer = schema['~standard'].validate(value)
  } catch (thrown) {
    return { value: null, faults: [`the schema threw: ${messageOf(thrown)}`] }
  }
  if (answer instanceof Promise)
    return { value: null, faults: ['the schema validates asynchronously, which a lifecycle cannot wait for'] }
  if (answer.issues === undefined) return { value: answer.value, faults: null }
  return {
    value: null,
    faults: answer.issues.map(({ message, path }) =>
      path && path.length > 0 ? `${path.map(segment).join('.')}: ${message}` : message,
    ),
  }
}

const segment = (part: unknown): string =>
  String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part)
