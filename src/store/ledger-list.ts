// Entries of a ledger as short lists and back: a resource at rest carries them, and every step of its run writes them again.
import { assert } from '../base/assert.ts'
import type { LedgerEntry, Resource } from '../decision/state.ts'
import { Quoted, Times, wordsOf } from './row-texts.ts'

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
  const { name, kind, ref, sweeper } = entry
  const rest = restOfName(name, type, id, kind)
  const text = rest === null ? beginning(`[${JSON.stringify(name)}]`, entry) : usualBeginning(rest, entry)
  if (sweeper !== 0) return `${text},${JSON.stringify(ref)},${sweeper}]`
  return ref === null ? `${text}]` : `${text},${JSON.stringify(ref)}]`
}

const kinds = new Quoted()
const steps = new Quoted()
const times = new Times()
const slash = 47

const beginning = (shown: string, { kind, state, begun, step, since }: LedgerEntry): string =>
  `[${shown},${kinds.of(kind)},${stateCodes[state]},${begun},${steps.of(step)},${times.of(since)}`

let latest: Pick<LedgerEntry, 'kind' | 'state' | 'begun' | 'step' | 'since'> | null = null
let latestRest = ''
let latestText = ''

/** Entries made by one step in one commit begin alike. */
function usualBeginning(rest: string, entry: LedgerEntry): string {
  const isAlike =
    latest !== null &&
    latest.since === entry.since &&
    latest.state === entry.state &&
    latest.begun === entry.begun &&
    latest.step === entry.step &&
    latest.kind === entry.kind &&
    latestRest === rest
  if (isAlike) return latestText
  latestText = beginning(JSON.stringify(rest), entry)
  latestRest = rest
  const { kind, state, begun, step, since } = entry
  latest = { kind, state, begun, step, since }
  return latestText
}

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
  assert(stateWords[state] !== undefined && typeof kind === 'string', 'its ledger has an entry of no kind')
  const whole = typeof name === 'string' ? `${type}/${id}/${kind}/${name}` : name[0]
  return { name: whole, kind, state: stateWords[state], ref, begun, step, since, sweeper }
}
