// Entries of a ledger as short lists and back: a resource at rest carries them, and every step of its run writes them again.
import type { LedgerEntry, Resource } from '../../decision/state.ts'
import { wordsOf } from './words.ts'

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

export function ledgerList({ type, id }: Resource, entry: LedgerEntry): LedgerList {
  const { name, kind, state, ref, begun, step, since, sweeper } = entry
  const start = `${type}/${id}/${kind}/`
  const shown = name.startsWith(start) ? name.slice(start.length) : ([name] as [string])
  const list: LedgerList = [shown, kind, stateCodes[state], begun, step, since]
  if (ref !== null || sweeper !== 0) list.push(ref)
  if (sweeper !== 0) list.push(sweeper)
  return list
}

export function ledgerEntry(type: string, id: string, list: LedgerList): LedgerEntry {
  const [name, kind, state, begun, step, since, ref = null, sweeper = 0] = list
  const whole = typeof name === 'string' ? `${type}/${id}/${kind}/${name}` : name[0]
  return { name: whole, kind, state: stateWords[state]!, ref, begun, step, since, sweeper }
}
