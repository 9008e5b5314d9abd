// Entries of a ledger as short lists and back: a resource at rest carries them, and every step of its run writes them again.
import type { LedgerEntry, Resource } from '../../decision/state.ts'
import { Quoted, Times, wordsOf } from './words.ts'

const stateCodes: Readonly<Record<LedgerEntry['state'], number>> = {
  meant: 0,
  there: 1,
  unknown: 2,
  orphaned: 3,
  sweeping: 4,
}
const stateWords = wordsOf(stateCodes)

/** A name is usually `type/id/kind/` and then this text; any other is kept whole, in a list. */
export type LedgerList = [
  name: string | [whole: string],
  kind: string,
  state: number,
  begun: number,
  step: string,
  since: number,
  ref?: LedgerEntry['ref'],
  sweeper?: number,
]

/** All entries of a resource: a list of such lists, as text. */
export function ledgerText(resource: Resource): string {
  const { ledger } = resource
  let text = `[${entryText(resource, ledger[0]!)}`
  for (let i = 1; i < ledger.length; i++) text += `,${entryText(resource, ledger[i]!)}`
  return `${text}]`
}

function entryText({ type, id }: Resource, entry: LedgerEntry): string {
  const { name, kind, state, ref, begun, step, since, sweeper } = entry
  const rest = restOfName(name, type, id, kind)
  const shown = rest === null ? `[${JSON.stringify(name)}]` : rests.of(rest)
  const text = `[${shown},${kinds.of(kind)},${stateCodes[state]},${begun},${steps.of(step)},${times.of(since)}`
  if (sweeper !== 0) return `${text},${JSON.stringify(ref)},${sweeper}]`
  return ref === null ? `${text}]` : `${text},${JSON.stringify(ref)}]`
}

const kinds = new Quoted()
const steps = new Quoted()
const rests = new Quoted()
const times = new Times()
const slash = 47

/** What follows `type/id/kind/`; null when the name does not begin so. */
function restOfName(name: string, type: string, id: string, kind: string): string | null {
  const afterType = type.length
  const afterId = afterType + 1 + id.length
  const afterKind = afterId + 1 + kind.length
  const isUsual =
    name.charCodeAt(afterKind) === slash &&
    name.charCodeAt(afterId) === slash &&
    name.charCodeAt(afterType) === slash &&
    name.startsWith(id, afterType + 1) &&
    name.startsWith(kind, afterId + 1) &&
    name.startsWith(type)
  return isUsual ? name.slice(afterKind + 1) : null
}

export function ledgerEntry(type: string, id: string, list: LedgerList): LedgerEntry {
  const [name, kind, state, begun, step, since, ref = null, sweeper = 0] = list
  const whole = typeof name === 'string' ? `${type}/${id}/${kind}/${name}` : name[0]
  return { name: whole, kind, state: stateWords[state]!, ref, begun, step, since, sweeper }
}
