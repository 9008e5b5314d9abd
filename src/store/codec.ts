// States as rows; state-row.ts reads them back. What a step changes is kept apart from what it does not, so that a step writes little; what has
// its usual value is not written at all.
import type { EndedRun, Lane, Resource, Run } from '../decision/state.ts'
import { hasOrphan, wakeOf } from './facts.ts'
import { ledgerText, type LedgerList } from './ledger-list.ts'
import { Quoted, Times, wordsOf } from './row-texts.ts'

/** Marks a text that a database could not give back as it was (a lone surrogate has no UTF-8); the JSON of it follows. */
const marker = '\u0001json:'

/** Free text of users as a database can keep it. */
export function toText(value: string): string {
  return value.isWellFormed() && !value.startsWith(marker) ? value : marker + JSON.stringify(value)
}

export function fromText(text: string): string {
  return text.startsWith(marker) ? (JSON.parse(text.slice(marker.length)) as string) : text
}

export const toNullableText = (value: string | null): string | null => (value === null ? null : toText(value))

/** Words of a closed set as small numbers. What is stored depends on these: never change one, only add. */
const runKindCodes: Readonly<Record<Run['kind'], number>> = { operation: 0, heal: 1, drift: 2 }
/** In the order in which they are served: PostgreSQL sorts by these what is claimed. */
export const laneCodes: Readonly<Record<Lane, number>> = { delete: 0, heal: 1, user: 2, background: 3 }
export const runKindWords = wordsOf(runKindCodes)
export const laneWords = wordsOf(laneCodes)

/** What is settled when a run is accepted. */
type FixedRun = Pick<
  Run,
  'begun' | 'kind' | 'operation' | 'input' | 'by' | 'lane' | 'forced' | 'previous' | 'askedBy' | 'acceptedAt' | 'trace'
>
/** The place of `operation` is known to a query. What is at the end and as usual is left out. */
export type FixedList = [
  begun: number,
  acceptedAt: number,
  operation: string,
  by: string,
  previous?: string,
  input?: Run['input'],
  lane?: number,
  kind?: number,
  forced?: 0 | 1,
  askedBy?: Run['askedBy'],
  trace?: string,
]
export const traceAt = 10
const operations = new Quoted()
const askers = new Quoted()
const previous = new Quoted()
const accepted = new Times()

let latest: Pick<Run, 'begun' | 'acceptedAt' | 'operation' | 'by' | 'previous'> | null = null
let latestText = ''

/** Runs that were accepted together are mostly alike in all that is usual. */
function usualOf({ begun, acceptedAt, operation, by, previous: status }: Run): string {
  const isAlike =
    latest !== null &&
    latest.acceptedAt === acceptedAt &&
    latest.begun === begun &&
    latest.operation === operation &&
    latest.by === by &&
    latest.previous === status
  if (isAlike) return latestText
  const what = `[${begun},${acceptedAt},${operations.of(operation)},${askers.of(by)}`
  latestText = status === '' ? `${what}]` : `${what},${previous.of(status)}]`
  latest = { begun, acceptedAt, operation, by, previous: status }
  return latestText
}

export function fixedOf(run: Run): string {
  const { input, lane, kind, forced, askedBy, trace } = run
  const isUser = lane === 'user' && kind === 'operation' && !forced && askedBy === null && trace === undefined
  if (isUser && input === null) return usualOf(run)
  const what = `[${run.begun},${accepted.of(run.acceptedAt)},${operations.of(run.operation)},${askers.of(run.by)}`
  const from = `${what},${previous.of(run.previous)},${JSON.stringify(input)}`
  if (isUser) return `${from}]`
  const unusually = `${from},${laneCodes[lane]},${runKindCodes[kind]},${forced ? 1 : 0},${JSON.stringify(askedBy)}`
  return trace === undefined ? `${unusually}]` : `${unusually},${JSON.stringify(trace)}]`
}

/** What a step seldom changes, with its usual values. */
export type Seldom = Omit<
  Run,
  keyof FixedRun | 'owner' | 'dueAt' | 'deadlineAt' | 'progressAt' | 'step' | 'attempt' | 'steps' | 'results'
>

export const usual: Seldom = {
  phase: 'step',
  items: null,
  undoing: [],
  landing: null,
  reasons: [],
  code: '',
  probe: '',
  found: '',
  probes: 0,
  rounds: 0,
  family: 0,
  progress: '',
  parked: null,
  uncertain: false,
  resumed: 0,
}
const seldomKeys = Object.keys(usual) as (keyof Seldom)[]

/** Spelled out, since it is asked at every step. */
const isUsual = (run: Run): boolean =>
  run.phase === 'step' &&
  run.items === null &&
  run.undoing.length === 0 &&
  run.landing === null &&
  run.reasons.length === 0 &&
  run.code === '' &&
  run.probe === '' &&
  run.found === '' &&
  run.probes === 0 &&
  run.rounds === 0 &&
  run.family === 0 &&
  run.progress === '' &&
  run.parked === null &&
  !run.uncertain &&
  run.resumed === 0 &&
  run.progressAt === 0

function unusual(run: Run): string {
  const found: Record<string, unknown> = {}
  for (const key of seldomKeys) if (run[key] !== usual[key]) found[key] = run[key]
  // The columns hold only what is searched by.
  if (run.parked !== null) found['dueAt'] = run.dueAt
  if (run.progressAt !== 0) {
    found['deadlineAt'] = run.deadlineAt
    found['progressAt'] = run.progressAt
  }
  return JSON.stringify(found)
}

export function restOf(run: Run): string {
  const text = `[${run.step},${JSON.stringify(run.results)}`
  const isPlain = isUsual(run)
  if (isPlain && run.attempt === 1 && isStraight(run)) return `${text}]`
  const way = `${text},${run.attempt},[${run.steps.join()}]`
  return isPlain ? `${way}]` : `${way},${unusual(run)}]`
}

/** Every step up to the present one was begun, none skipped. */
function isStraight({ step, steps }: Run): boolean {
  if (steps.length !== step + 1) return false
  for (let i = 0; i <= step; i++) if (steps[i] !== i) return false
  return true
}

/** The place of `step` is known to a query. */
export type RestList = [
  step: number,
  results: Run['results'],
  attempt?: number,
  steps?: number[],
  unusual?: Partial<Seldom> & { dueAt?: number; deadlineAt?: number; progressAt?: number },
]

/** Whether the same worker goes on with the same run, of which nothing changes that is settled when it is accepted. */
export function isSameRun(before: Resource, after: Resource): boolean {
  const was = before.run
  const is = after.run
  return (
    was !== null &&
    is !== null &&
    before.epoch === after.epoch &&
    was.owner === is.owner &&
    was.begun === is.begun &&
    was.kind === is.kind &&
    was.operation === is.operation &&
    was.input === is.input &&
    was.by === is.by &&
    was.lane === is.lane &&
    was.forced === is.forced &&
    was.previous === is.previous &&
    was.askedBy === is.askedBy &&
    was.acceptedAt === is.acceptedAt
  )
}

/** Whether two states of a live resource differ only in what a step may change. */
export const isStepOnly = (before: Resource, after: Resource): boolean =>
  isSameRun(before, after) && isBesideSame(before, after)

/** Whether all that a state has beside its run and its status stays the same. */
export const isBesideSame = (before: Resource, after: Resource): boolean =>
  before.damaged === undefined &&
  before.description === after.description &&
  before.ledger === after.ledger &&
  before.timers === after.timers &&
  before.queue === after.queue &&
  before.heals === after.heals &&
  before.holder === after.holder

/** Whether what a resource is, apart from where it stands, stays the same. */
export const isColdSame = (before: Resource, after: Resource): boolean =>
  before.damaged === undefined &&
  before.properties === after.properties &&
  before.links === after.links &&
  before.name === after.name &&
  before.tenant === after.tenant &&
  before.parent === after.parent

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

export const linksOf = ({ links }: Resource): string | null => (isEmpty(links) ? null : JSON.stringify(links))

export interface Extra {
  description?: string
  timers?: Resource['timers']
  queue?: Resource['queue']
  ledger?: readonly LedgerList[]
  heals?: number
  holder?: Resource['holder']
  /** For searching among live rows; a settled row has columns for them. */
  wake?: number
  orphans?: 1
}

/** What there seldom is of a resource; null when there is nothing. */
export function extraOf(resource: Resource): string | null {
  const { description, timers, queue, ledger, heals, holder } = resource
  const hasTimers = !isEmpty(timers)
  if (description === '' && !hasTimers && queue.length === 0 && ledger.length === 0 && heals === 0 && holder === null) {
    return null
  }
  // Built by hand: every run that makes something writes it several times.
  let text = ledger.length === 0 ? '{"heals":' + heals : `{"heals":${heals},"ledger":${ledgerText(resource)}`
  if (hasOrphan(ledger)) text += ',"orphans":1'
  if (description !== '') text += `,"description":${JSON.stringify(description)}`
  if (hasTimers) text += `,"timers":${JSON.stringify(timers)},"wake":${wakeOf(timers)}`
  if (queue.length > 0) text += `,"queue":${JSON.stringify(queue)}`
  if (holder !== null) text += `,"holder":${JSON.stringify(holder)}`
  return `${text}}`
}

const outcomeCodes: Readonly<Record<EndedRun['outcome'], number>> = {
  succeeded: 0,
  failed: 1,
  cancelled: 2,
  preempted: 3,
  healed: 4,
  forced: 5,
}
const outcomeWords = wordsOf(outcomeCodes)

type EndList = [
  begun: number,
  operation: string,
  kind: number,
  outcome: number,
  status: string,
  acceptedAgo: number | string,
  by: string,
]
const endedOperations = new Quoted()
const endedStatuses = new Quoted()
const endedAskers = new Quoted()

/** An ended run without its resource and the time of its end; a list without brackets. */
export function endOf({ begun, operation, kind, outcome, status, acceptedAt, endedAt, by }: EndedRun): string {
  const what = `${begun},${endedOperations.of(operation)},${runKindCodes[kind]},${outcomeCodes[outcome]},${endedStatuses.of(status)}`
  const ago = endedAt - acceptedAt
  // A fraction of a millisecond may not survive the difference: then the time itself is kept, as a text.
  return `${what},${endedAt - ago === acceptedAt ? ago : `"${acceptedAt}"`},${endedAskers.of(by)}`
}

export function endedRunOf(no: number, endedAt: number, list: unknown[]): EndedRun {
  const [begun, operation, kind, outcome, status, acceptedAgo, by] = list as EndList
  const acceptedAt = typeof acceptedAgo === 'string' ? Number(acceptedAgo) : endedAt - acceptedAgo
  return {
    no,
    begun,
    operation,
    kind: runKindWords[kind]!,
    outcome: outcomeWords[outcome]!,
    status,
    acceptedAt,
    endedAt,
    by,
  }
}
