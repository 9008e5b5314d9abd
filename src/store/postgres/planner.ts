// Understands a batch: what it comes to, as a sheet of columns. Each change names the revision and epoch that it expects to find.
import { assert, Defect } from '../../base/assert.ts'
import { canonical } from '../../base/json.ts'
import type { No, Resource, Run } from '../../decision/state.ts'
import type { StatusKind } from '../../lifecycle/resource-type.ts'
import { dueOf, hasGeneratedId, isLive, orphansOf, overdueOf, wakeOf } from '../facts.ts'
import { endOf, extraOf, fixedOf, isBesideSame, isColdSame, isSameRun, laneCodes, linksOf, restOf } from '../codec.ts'
import { placeFinder } from '../event-places.ts'
import type { Shape } from '../shape.ts'
import type { Batch, Write } from '../store.ts'
import { EventWriter } from './event-log.ts'
import { planGuards } from './guards.ts'
import type { Shapes } from './shapes.ts'
import type { Cell } from './column.ts'
import { Sheet } from './sheet.ts'
import { toNullableText, toText } from './texts.ts'

/** Something is under way with it that is no run of its own. */
const withoutRun = -1

/** Where the row of a state is, of which a batch knows only what it says. */
export interface Whereabouts {
  /** Whether it is among the live. */
  readonly isLive: (before: Resource, kind: StatusKind) => boolean
  /** Whether a live one may be taken for one that was never at rest. It is likely for a first run, and the end of it then costs less. */
  readonly isNew: (before: Resource) => boolean
}

export const likely: Whereabouts = { isLive, isNew: ({ run }) => run?.begun === 1 }
/** What came out otherwise is not taken for granted again. */
export const careful: Whereabouts = { isLive, isNew: () => false }

export interface Plan {
  /** Has what is written about resources, and the checks. What the batch writes besides is put in when it is asked for, once. */
  readonly sheet: Sheet
  readonly putRest: () => void
  readonly putEvents: () => void
  /** The place of the latest event of each written resource in the commit, in the order of the writes; 0: it has none there. */
  readonly lasts: readonly number[]
  /** A guard speaks about what the batch itself writes, and contradicts it: it can only conflict. */
  readonly isHopeless: boolean
}

/** The pairs of type and status that a batch names and that were never seen. */
export function unknownShapes(batch: Batch, shapes: Shapes): { type: string; status: string }[] {
  const unknown = new Map<string, { type: string; status: string }>()
  const look = (type: string, status: string) => {
    if (shapes.find(type, status) === undefined) unknown.set(`${type}\n${status}`, { type, status })
  }
  const types = new Map<No, string>()
  for (const { before, after } of batch.writes) {
    if (batch.events.length > 0) types.set(after.no, after.type)
    look(after.type, after.status)
    if (before !== null && before.status !== after.status) look(before.type, before.status)
  }
  for (const { no, from, to } of batch.events) {
    const type = types.get(no)
    assert(type !== undefined, `an event of resource ${no}, which the batch does not write`)
    look(type, from)
    if (from !== to) look(type, to)
  }
  return [...unknown.values()]
}

/** Throws `UnknownShape` where one is named that was never seen; what is put in later names no other. */
export function planOf(batch: Batch, shapes: Shapes, whereabouts: Whereabouts = likely): Plan {
  const sheet = new Sheet()
  const traces = tracesOf(batch, shapes)
  const { lasts } = traces
  const places = new Places(shapes, sheet, whereabouts)
  for (const i of orderOf(batch.writes)) places.write(batch.writes[i]!, lasts[i] === 0 ? null : lasts[i]!)
  places.count()
  return {
    sheet,
    lasts,
    isHopeless: !planGuards(batch, shapes, sheet),
    putRest: () => planRest(batch, sheet),
    putEvents: () => planEvents(batch, traces, shapes, sheet),
  }
}

/** The places of the writes in the order of their numbers. Mostly they come so. */
function orderOf(writes: readonly Write[]): Iterable<number> {
  let isSorted = true
  for (let i = 1; i < writes.length && isSorted; i++) isSorted = writes[i - 1]!.after.no < writes[i]!.after.no
  return isSorted ? writes.keys() : [...writes.keys()].sort((a, b) => writes[a]!.after.no - writes[b]!.after.no)
}

interface Traces {
  /** As in the plan. */
  readonly lasts: number[]
  /** Of each event: the place of its resource among the writes, and the event before of the same resource, as `EventWriter` takes it. */
  readonly places: number[]
  readonly prevs: number[]
}

function tracesOf({ writes, events }: Batch, shapes: Shapes): Traces {
  const traces: Traces = { lasts: Array<number>(writes.length).fill(0), places: [], prevs: [] }
  if (events.length === 0) return traces
  const { lasts, places, prevs } = traces
  const find = placeFinder(writes)
  for (let i = 0; i < events.length; i++) {
    const { no, from, to } = events[i]!
    const at = find(no)
    const { before, after } = writes[at]!
    shapes.of(after.type, from)
    if (to !== from) shapes.of(after.type, to)
    const place = i + 1
    prevs.push(lasts[at] === 0 ? (before?.last ?? 0) : lasts[at]! - place)
    places.push(at)
    lasts[at] = place
  }
  return traces
}

function planEvents({ writes, events }: Batch, { places, prevs }: Traces, shapes: Shapes, sheet: Sheet): void {
  if (events.length === 0) return
  const writer = new EventWriter(shapes, sheet.of('events'))
  for (let i = 0; i < events.length; i++) writer.write(events[i]!, i + 1, prevs[i]!, writes[places[i]!]!.after.type)
  writer.flush()
}

/** What is not about resources: ended runs, keys, records and the like. */
function planRest(batch: Batch, sheet: Sheet): void {
  let place = 0
  for (const run of batch.ended) sheet.of('runs').push(run.no, run.begun, ++place, `[${run.endedAt},${endOf(run)}]`)
  // Sorted, so that two commits that record the same keys do not wait for each other crosswise.
  const keys = batch.keys.length > 1 ? batch.keys.toSorted((a, b) => (a.key < b.key ? -1 : 1)) : batch.keys
  for (const { key, hash, no, begun, at } of keys) sheet.of('keys').push(toText(key), toText(hash), no, begun, at)
  for (const result of batch.late) sheet.of('late').push(result.no, JSON.stringify(result))
  for (const incident of batch.incidents)
    sheet.of('incidents').push(incident.no, incident.kind, JSON.stringify(incident))
  for (const { kind, key, from, to } of batch.records ?? []) {
    if (to !== null && from === 0) sheet.of('newRecords').push(toText(kind), toText(key), JSON.stringify(to))
    else if (to !== null) sheet.of('recordChanges').push(toText(kind), toText(key), from, JSON.stringify(to))
    else if (from > 0) sheet.of('recordDeletes').push(toText(kind), toText(key), from)
    else sheet.of('absentRecords').push(toText(kind), toText(key))
  }
  place = 0
  for (const value of batch.journal ?? []) sheet.of('journal').push(++place, JSON.stringify(value), canonical(value))
}

/** Puts writes where they belong. */
export class Places {
  private readonly shapes: Shapes
  private readonly sheet: Sheet
  private readonly whereabouts: Whereabouts
  /** By how many the states of a shape become more. */
  private readonly more = new Map<number, number>()

  constructor(shapes: Shapes, sheet: Sheet, whereabouts: Whereabouts) {
    this.shapes = shapes
    this.sheet = sheet
    this.whereabouts = whereabouts
  }

  /** `last`: the place of its latest event in the commit; null: it has none there. */
  write({ before, after }: Write, last: number | null): void {
    const shape = this.shapes.of(after.type, after.status)
    if (before === null) {
      this.move(null, shape)
      return this.create(after, shape, last)
    }
    // Not an `assert`: it would make the text for every write.
    if (before.no !== after.no || before.type !== after.type || before.id !== after.id)
      throw new Defect(`resource ${after.no} changed its name`)
    const was = before.status === after.status ? shape : this.shapes.of(before.type, before.status)
    if (was !== shape) this.move(was, shape)
    this.place(before, after, shape, last, was)
  }

  /** To be called when all is written. */
  count(): void {
    for (const [shape, more] of this.more) if (more !== 0) this.sheet.of('tally').push(shape, more)
  }

  private move(from: Shape | null, to: Shape): void {
    if (from !== null) this.more.set(from.id, (this.more.get(from.id) ?? 0) - 1)
    this.more.set(to.id, (this.more.get(to.id) ?? 0) + 1)
  }

  /** A state whose shape is judged anew; nothing else about it changes. */
  rejudge(state: Resource): void {
    const shape = this.shapes.of(state.type, state.status)
    // Whether it was terminal before is not asked: links are put in or taken out wherever they are not as they should be.
    this.place(state, state, shape, null, { ...shape, kind: shape.kind === 'terminal' ? 'stable' : 'terminal' })
  }

  private place(before: Resource, after: Resource, shape: Shape, last: number | null, was: Shape): void {
    const wasTerminal = was.kind === 'terminal'
    const isTerminal = shape.kind === 'terminal'
    if (wasTerminal !== isTerminal || !isColdSame(before, after)) {
      if (before.links !== after.links || wasTerminal !== isTerminal)
        this.relink(isTerminal ? null : after, wasTerminal ? null : before)
      this.changeCold(after, isTerminal)
    }
    const wasLive = this.whereabouts.isLive(before, was.kind)
    if (!wasLive || before === after || !isSameRun(before, after)) this.change(before, after, shape, last, wasLive)
    else if (isBesideSame(before, after)) this.step(before, after, shape, last)
    else this.ledgerStep(before, after, shape, last)
  }

  private create(after: Resource, shape: Shape, last: number | null): void {
    const isTerminal = shape.kind === 'terminal'
    this.sheet
      .of('newResources')
      .push(
        after.no,
        toText(after.type),
        hasGeneratedId(after) ? null : toText(after.id),
        after.parent,
        isTerminal ? 1 : 0,
        toText(after.tenant),
        toNullableText(after.name),
        after.createdAt,
        JSON.stringify(after.properties),
        linksOf(after),
      )
    if (!isTerminal) this.relink(after, null)
    const { no, revision, epoch } = after
    const resting = restingOf(after, shape, last ?? 0)
    if (isLive(after, shape.kind))
      this.sheet.of('newLive').push(no, revision, epoch, ...resting, ...runningOf(after.run))
    else this.sheet.of('newSettled').push(no, revision, epoch, ...resting)
  }

  private step(before: Resource, after: Resource, shape: Shape, last: number | null): void {
    const run = after.run!
    const { no, revision, epoch, since } = after
    const by = revision - before.revision
    this.sheet
      .of('steps')
      .push(no, before.revision, by, epoch, shape.id, since, last, dueOf(run), overdueOf(run), restOf(run))
  }

  private ledgerStep(before: Resource, after: Resource, shape: Shape, last: number | null): void {
    const run = after.run!
    const { no, revision, epoch, since } = after
    this.sheet
      .of('ledgerSteps')
      .push(
        no,
        before.revision,
        revision - before.revision,
        epoch,
        shape.id,
        since,
        last,
        dueOf(run),
        overdueOf(run),
        restOf(run),
        wakeOf(after.timers),
        orphansOf(after),
        extraOf(after),
      )
  }

  private change(before: Resource, after: Resource, shape: Shape, last: number | null, wasLive: boolean): void {
    const { revision: was, epoch: fence } = before
    const change = [after.no, was, after.revision - was, fence, after.epoch - fence, ...restingOf(after, shape, last)]
    if (isLive(after, shape.kind))
      this.sheet.of(wasLive ? 'changes' : 'begins').push(...change, ...runningOf(after.run))
    else if (!wasLive) this.sheet.of('rests').push(...change)
    else this.sheet.of(last !== null && this.whereabouts.isNew(before) ? 'firstEnds' : 'ends').push(...change)
  }

  private changeCold(after: Resource, isTerminal: boolean): void {
    this.sheet
      .of('coldChanges')
      .push(
        after.no,
        after.parent,
        isTerminal ? 1 : 0,
        toText(after.tenant),
        toNullableText(after.name),
        JSON.stringify(after.properties),
        linksOf(after),
      )
  }

  /** The reverse look-up holds the links of what is not terminal. */
  private relink(after: Resource | null, before: Resource | null): void {
    const is = after?.links ?? {}
    const was = before?.links ?? {}
    for (const name in was)
      if (is[name] !== was[name]) this.sheet.of('linkDeletes').push(was[name]!, toText(name), before!.no)
    for (const name in is)
      if (is[name] !== was[name]) this.sheet.of('newLinks').push(is[name]!, toText(name), after!.no)
  }
}

/** Columns of a state that it has at rest too, in the order of the sheet. */
const restingOf = (state: Resource, shape: Shape, last: number | null): Cell[] => [
  shape.id,
  state.since,
  last,
  wakeOf(state.timers),
  orphansOf(state),
  extraOf(state),
]

/** Those that it has only while it is live. */
const runningOf = (run: Run | null): Cell[] =>
  run === null
    ? [withoutRun, null, null, null, null, null]
    : [run.owner, laneCodes[run.lane], dueOf(run), overdueOf(run), fixedOf(run), restOf(run)]
