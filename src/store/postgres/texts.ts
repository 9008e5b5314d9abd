// Texts as the server takes them: many rows in one parameter, joined by a character that no text of ours contains (measured: three times
// as fast as arrays of quoted texts). Few numbers go as an array literal; a commit's go in binary form (column.ts).
import { fromText as fromWellFormed, toText as toWellFormed } from '../codec.ts'

/** Joins the texts of a column, stands for null in it, and marks a text that is kept as its JSON. */
const separator = '\u0001'
const nothing = '\u0002'
const marker = '\u001b'
// oxlint-disable-next-line no-control-regex
const awkward = /[\u0000-\u0002\u001b]/

/** Free text of users as PostgreSQL can keep it, and as it can be joined. JSON has no such characters and needs none of this. */
export function toText(value: string): string {
  const text = toWellFormed(value)
  if (text === '') return marker
  return awkward.test(text) ? marker + JSON.stringify(text) : text
}

/** As `toText` got it, apart from what the states' own codec undoes. */
export function fromStored(text: string): string {
  if (!text.startsWith(marker)) return text
  return text === marker ? '' : (JSON.parse(text.slice(1)) as string)
}

export const fromText = (text: string): string => fromWellFormed(fromStored(text))
export const toNullableText = (value: string | null): string | null => (value === null ? null : toText(value))

/** The SQL of a text column given as one parameter. */
export const textsOf = (parameter: number): string => `string_to_array($${parameter}::text, chr(1), chr(2))`

export const numbersOf = (values: readonly (number | null)[]): string =>
  `{${values.map((value) => (value === null ? 'null' : value)).join()}}`

/** None of them may be ''. */
export function textsFrom(values: readonly (string | null)[]): string {
  // Not by map and join: a commit has thousands of them.
  let joined = values[0] ?? nothing
  for (let i = 1; i < values.length; i++) joined += separator + (values[i] ?? nothing)
  return values.length === 0 ? '' : joined
}
