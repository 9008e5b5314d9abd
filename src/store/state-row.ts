// A row as a state. One that somebody or something has damaged must not stop those who read others beside it: it is given with what can
// be read of it, and says what cannot.
import { assert } from '../base/assert.ts'
import { messageOf } from '../base/errors.ts'
import { generatedId, type Damage, type LedgerEntry, type Resource, type Run } from '../decision/state.ts'
import {
  fromText,
  laneWords,
  runKindWords,
  traceAt,
  usual,
  type Extra,
  type FixedList,
  type RestList,
} from './codec.ts'
import { ledgerEntry } from './ledger-list.ts'
import { noShape } from './shape.ts'
import type { Declared } from './store.ts'

/** The columns of a state, as every reader selects them from r (resource), s (settled) and l (live). */
export const stateColumns = `r.no, r.id, r.parent, r.tenant, r.name, r.created, r.properties, r.links,
  coalesce(l.shape, s.shape), coalesce(l.revision, s.revision), coalesce(l.epoch, s.epoch), coalesce(l.since, s.since), coalesce(l.last, s.last),
  case when l.no is null then s.more else l.extra end, l.owner, l.due, l.overdue, l.run, l.rest`
export const stateTables = 'resource r left join live l using (no) left join settled s using (no)'

type StateRow = readonly [
  no: number,
  id: string | null,
  parent: number | null,
  tenant: string,
  name: string | null,
  created: number,
  properties: string,
  links: string | null,
  shape: number,
  revision: number,
  epoch: number,
  since: number,
  last: number,
  extra: string | null,
  owner: number | null,
  due: number | null,
  overdue: number | null,
  run: string | null,
  rest: string | null,
]

/** What the small number of a type and status stands for. */
interface ShapesById {
  get(id: number): Declared
}

export function stateOf(row: unknown, shapes: ShapesById): Resource {
  try {
    return read(row as StateRow, shapes, strictly)
  } catch {
    return salvaged(row as StateRow, shapes)
  }
}

/** The type of what is named by it is known, whatever its row says. */
export const typed = <Found extends Resource | null>(found: Found, type: string): Found =>
  found?.type === '' ? { ...found, type } : found

/** Reads one part of a row; `instead` stands for it where it cannot be read. */
type Take = <T>(part: string, stored: unknown, read: () => T, instead: T) => T

const strictly: Take = (_part, _stored, read) => read()

/** So much of a text that cannot be read is kept as evidence. */
const keptCharacters = 2_000

function salvaged(row: StateRow, shapes: ShapesById): Resource {
  const faults: string[] = []
  const texts: Record<string, string> = {}
  const found = read(row, shapes, (part, stored, take, instead) => {
    try {
      return take()
    } catch (error) {
      faults.push(`${part} (${messageOf(error)})`)
      texts[part] = String(stored).slice(0, keptCharacters)
      return instead
    }
  })
  const parts = Object.keys(texts)
  const damaged: Damage = { isRunOnly: parts.length === 1 && parts[0] === 'run', why: faults.join(', '), texts }
  return { ...found, description: `Its stored state is damaged: ${damaged.why}.`, damaged }
}

const nothing: { readonly extra: Extra; readonly ledger: readonly LedgerEntry[] } = { extra: {}, ledger: [] }
const noLinks: Resource['links'] = {}
const noTimers: Resource['timers'] = {}
const noEntries: readonly never[] = []

function read(row: StateRow, shapes: ShapesById, take: Take): Resource {
  const [no, id, parent, tenant, given, created, properties, links, shapeId, revision, epoch, since, last, extraText] =
    row
  const { type, status } = take('status', shapeId, () => shapeIn(shapes, shapeId), noShape)
  const text = (part: string, stored: string | null) =>
    stored === null ? null : take(part, stored, () => fromText(stored), stored)
  const name = text('id', id) ?? generatedId(no)
  const { extra, ledger } = take('extra', extraText, () => extraIn(extraText, type, name), nothing)
  const run = row[17]
  return {
    no,
    id: name,
    type,
    tenant: text('tenant', tenant) ?? '',
    name: text('name', given),
    parent,
    links: links === null ? noLinks : take('links', links, () => numbersIn(links, 'links'), noLinks),
    status,
    description: extra.description ?? '',
    properties: take('properties', properties, () => objectIn(properties) as Resource['properties'], {}),
    revision: take('revision', revision, () => whole(revision), Number.NaN),
    epoch: take('epoch', epoch, () => whole(epoch), Number.NaN),
    since: since ?? 0,
    createdAt: created,
    run: run === null ? null : take('run', `${run} ${row[18]}`, () => runOf(row), null),
    holder: extra.holder ?? null,
    queue: extra.queue ?? noEntries,
    ledger,
    timers: extra.timers ?? noTimers,
    heals: extra.heals ?? 0,
    last: last ?? 0,
  }
}

function shapeIn(shapes: ShapesById, id: number): Declared {
  const shape = shapes.get(id)
  assert(shape.status !== '', 'is none that was ever written down')
  return shape
}

function whole(value: unknown): number {
  assert(Number.isSafeInteger(value), 'is no number')
  return value as number
}

function objectIn(text: string): object {
  const value: unknown = JSON.parse(text)
  assert(isObject(value), 'is no object')
  return value
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function numbersIn(text: string, what: string): Readonly<Record<string, number>> {
  const found = objectIn(text) as Record<string, number>
  assertNumbers(found, what)
  return found
}

function assertNumbers(record: object, what: string): void {
  assert(isObject(record), `its ${what} are no object`)
  for (const value of Object.values(record)) assert(typeof value === 'number', `its ${what} are no numbers`)
}

function extraIn(text: string | null, type: string, id: string): typeof nothing {
  if (text === null) return nothing
  const extra = objectIn(text) as Extra
  const { description = '', timers, queue, ledger, heals = 0, holder } = extra
  assert(typeof description === 'string' && typeof heals === 'number', 'has no words or no count of healings')
  if (timers !== undefined) assertNumbers(timers, 'timers')
  assert(queue === undefined || Array.isArray(queue), 'its queue is no list')
  assert(holder === undefined || typeof holder?.begun === 'number', 'its holder is no run')
  assert(ledger === undefined || Array.isArray(ledger), 'its ledger is no list')
  return { extra, ledger: ledger?.map((list) => ledgerEntry(type, id, list)) ?? noEntries }
}

function runOf(row: StateRow): Run {
  const fixed = JSON.parse(row[17]!) as FixedList
  const [begun, acceptedAt, operation, by, from = '', input = null, lane = 2, kind = 0, forced = 0, askedBy = null] =
    fixed
  assert(typeof begun === 'number' && typeof acceptedAt === 'number', 'has no beginning')
  assert(typeof operation === 'string' && typeof by === 'string', 'has no operation')
  assert(laneWords[lane] !== undefined && runKindWords[kind] !== undefined, 'is of no kind')
  const [step, results, attempt = 1, steps, unusually] = JSON.parse(row[18]!) as RestList
  assert(Number.isSafeInteger(step) && isObject(results), 'is at no step')
  assert(typeof attempt === 'number' && (steps === undefined || Array.isArray(steps)), 'has no attempts')
  const owner = whole(row[14])
  assert(owner >= 0, 'is of no worker')
  const run: Run = {
    begun,
    kind: runKindWords[kind],
    operation,
    input,
    by,
    lane: laneWords[lane],
    forced: forced === 1,
    previous: from,
    askedBy,
    acceptedAt,
    step,
    attempt,
    steps: steps ?? Array.from({ length: step + 1 }, (_, i) => i),
    results,
    dueAt: row[15] ?? 0,
    deadlineAt: row[16] ?? 0,
    progressAt: 0,
    owner,
    ...usual,
    ...unusually,
  }
  return fixed.length <= traceAt ? run : { ...run, trace: fixed[traceAt]! }
}
