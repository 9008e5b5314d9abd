// States as rows and back. What a step changes is kept apart from what it does not, so that a step writes little; what has
// its usual value is not written at all.
import { generatedId, type Lane, type Resource, type Run } from '../../decision/state.ts'
import type { Shapes } from './shapes.ts'

/** Marks a text that SQLite could not give back as it was (a lone surrogate has no UTF-8); the JSON of it follows. */
const marker = '\u0001json:'

/** Free text of users as SQLite can keep it. */
export function toText(value: string): string {
  return value.isWellFormed() && !value.startsWith(marker) ? value : marker + JSON.stringify(value)
}

export function fromText(text: string): string {
  return text.startsWith(marker) ? (JSON.parse(text.slice(marker.length)) as string) : text
}

export const toNullableText = (value: string | null): string | null => (value === null ? null : toText(value))

/** The part of a run that is in no column and that it may change, with its usual values. */
type Rest = Omit<Run, keyof FixedRun | 'owner' | 'dueAt' | 'deadlineAt' | 'progressAt' | 'attempt' | 'step'>

const usual: Rest = {
  phase: 'step',
  steps: [],
  results: {},
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
/** Written by hand below, since nearly every step has them. */
type Frequent = 'steps' | 'results'
const seldom = (Object.keys(usual) as (keyof Rest)[]).filter(
  (key): key is Exclude<keyof Rest, Frequent> => key !== 'steps' && key !== 'results',
)

export function restOf(run: Run): string {
  let text = `{"step":${run.step},"attempt":${run.attempt}`
  if (run.steps.length > 0) text += `,"steps":[${run.steps.join()}]`
  if (run.results !== usual.results) text += `,"results":${JSON.stringify(run.results)}`
  for (const key of seldom) {
    const value = run[key]
    if (value === usual[key] || (Array.isArray(value) && value.length === 0 && usual[key] !== null)) continue
    text += `,"${key}":${JSON.stringify(value)}`
  }
  if (run.parked !== null) text += `,"dueAt":${run.dueAt}`
  return text + '}'
}

/** What is settled when a run is accepted. */
type FixedRun = Pick<
  Run,
  'begun' | 'kind' | 'operation' | 'input' | 'by' | 'lane' | 'forced' | 'previous' | 'askedBy' | 'acceptedAt'
>

export function fixedOf(run: Run): string {
  const { begun, kind, operation, input, by, lane, forced, previous, askedBy, acceptedAt } = run
  return JSON.stringify({
    begun,
    kind,
    operation,
    input,
    by,
    lane,
    forced,
    previous,
    askedBy,
    acceptedAt,
  } satisfies FixedRun)
}

/** Whether two states of a live resource differ only in what a step may change. */
export function isStepOnly(before: Resource, after: Resource): boolean {
  const was = before.run
  const is = after.run
  return (
    was !== null &&
    is !== null &&
    before.epoch === after.epoch &&
    before.description === after.description &&
    before.ledger === after.ledger &&
    before.timers === after.timers &&
    before.queue === after.queue &&
    before.heals === after.heals &&
    before.holder === after.holder &&
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

/** Whether what is in `resource` alone, also while a resource is live, stays the same. */
export const isColdSame = (before: Resource, after: Resource): boolean =>
  before.properties === after.properties &&
  before.links === after.links &&
  before.name === after.name &&
  before.tenant === after.tenant &&
  before.parent === after.parent

function isEmpty(record: object): boolean {
  for (const _ in record) return false
  return true
}

/** Everything of a resource that is in no column; null when there is nothing, which is usual. */
export function moreOf(resource: Resource): string | null {
  const { links, timers, queue, ledger, heals } = resource
  const hasLinks = !isEmpty(links)
  const hasTimers = !isEmpty(timers)
  if (!hasLinks && !hasTimers && queue.length === 0 && ledger.length === 0 && heals === 0) return null
  const more: Partial<More> = {}
  if (hasLinks) more.links = links
  if (hasTimers) more.timers = timers
  if (queue.length > 0) more.queue = queue
  if (ledger.length > 0) more.ledger = ledger
  if (heals !== 0) more.heals = heals
  return JSON.stringify(more)
}

/** The same for a live row; links stay with the resource. */
export function extraOf(resource: Resource): string | null {
  const { timers, queue, ledger, heals, holder } = resource
  const hasTimers = !isEmpty(timers)
  if (!hasTimers && queue.length === 0 && ledger.length === 0 && heals === 0 && holder === null) return null
  const extra: Partial<More> = {}
  if (hasTimers) extra.timers = timers
  if (queue.length > 0) extra.queue = queue
  if (ledger.length > 0) extra.ledger = ledger
  if (heals !== 0) extra.heals = heals
  if (holder !== null) extra.holder = holder
  return JSON.stringify(extra)
}

type More = { -readonly [Key in 'links' | 'timers' | 'queue' | 'ledger' | 'heals' | 'holder']: Resource[Key] }
const none: Partial<More> = {}
const noLinks: Resource['links'] = {}
const noTimers: Resource['timers'] = {}
const noEntries: readonly never[] = []

/** The columns of a state, as every reader selects them: `from resource r left join live l using (no)`. */
export const stateColumns = `r.no, r.id, r.settled, r.parent, r.tenant, r.name, r.description, r.revision, r.epoch, r.since, r.created,
  r.last, r.properties, r.more, l.shape, l.description, l.revision, l.epoch, l.since, l.last, l.owner, l.due, l.deadline, l.progress,
  l.run, l.rest, l.extra`

type StateRow = readonly [
  no: number,
  id: string | null,
  settled: number | null,
  parent: number | null,
  tenant: string,
  name: string | null,
  description: string,
  revision: number,
  epoch: number,
  since: number,
  created: number,
  last: number,
  properties: string,
  more: string | null,
  liveShape: number | null,
  liveDescription: string | null,
  liveRevision: number | null,
  liveEpoch: number | null,
  liveSince: number | null,
  liveLast: number | null,
  owner: number | null,
  due: number | null,
  deadline: number | null,
  progress: number | null,
  run: string | null,
  rest: string | null,
  extra: string | null,
]

export function stateOf(row: unknown, shapes: Shapes): Resource {
  const [
    no,
    id,
    settled,
    parent,
    tenant,
    name,
    description,
    revision,
    epoch,
    since,
    created,
    last,
    properties,
    moreText,
  ] = row as StateRow
  const live = (row as StateRow)[14]
  const more = moreText === null ? none : (JSON.parse(moreText) as Partial<More>)
  const shape = shapes.get(live ?? settled!)
  const cold = {
    no,
    id: id === null ? generatedId(no) : fromText(id),
    type: shape.type,
    tenant: fromText(tenant),
    name: name === null ? null : fromText(name),
    parent,
    links: more.links ?? noLinks,
    status: shape.status,
  }
  if (live === null) {
    return {
      ...cold,
      description: fromText(description),
      properties: JSON.parse(properties) as Resource['properties'],
      revision,
      epoch,
      since,
      createdAt: created,
      run: null,
      holder: null,
      queue: more.queue ?? noEntries,
      ledger: more.ledger ?? noEntries,
      timers: more.timers ?? noTimers,
      heals: more.heals ?? 0,
      last,
    }
  }
  const [, liveDescription, liveRevision, liveEpoch, liveSince, liveLast] = (row as StateRow).slice(14) as LiveColumns
  const extraText = (row as StateRow)[26]
  const extra = extraText === null ? none : (JSON.parse(extraText) as Partial<More>)
  return {
    ...cold,
    description: fromText(liveDescription),
    properties: JSON.parse(properties) as Resource['properties'],
    revision: liveRevision,
    epoch: liveEpoch,
    since: liveSince,
    createdAt: created,
    run: runOf(row as StateRow),
    holder: extra.holder ?? null,
    queue: extra.queue ?? noEntries,
    ledger: extra.ledger ?? noEntries,
    timers: extra.timers ?? noTimers,
    heals: extra.heals ?? 0,
    last: liveLast,
  }
}

type LiveColumns = [shape: number, description: string, revision: number, epoch: number, since: number, last: number]

function runOf(row: StateRow): Run | null {
  const fixedText = row[24]
  if (fixedText === null) return null
  const fixed = JSON.parse(fixedText) as FixedRun
  const rest = JSON.parse(row[25]!) as Partial<Rest> & { step: number; attempt: number; dueAt?: number }
  return {
    ...usual,
    ...fixed,
    lane: fixed.lane as Lane,
    ...rest,
    dueAt: rest.dueAt ?? row[21] ?? 0,
    deadlineAt: row[22]!,
    progressAt: row[23]!,
    owner: row[20]!,
  }
}
