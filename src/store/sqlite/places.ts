// Where a state is kept: at rest in `settled`, under way in `live`. Says, on a sheet, how it moves between the two; each change
// names the revision and epoch that it expects to find.
import type { StatementSync } from 'node:sqlite'
import type { No, Resource } from '../../decision/state.ts'
import { dueOf, hasGeneratedId, isLive, orphansOf, overdueOf, wakeOf } from '../facts.ts'
import { extraOf, fixedOf, isColdSame, isStepOnly, linksOf, restOf, toNullableText, toText } from '../codec.ts'
import type { Shape } from '../shape.ts'
import type { Connection } from './connection.ts'
import { Lingering } from './lingering.ts'
import type { Shapes } from './shapes.ts'
import { emptySheet } from './sheet.ts'
import type { Values } from './values.ts'

export class Places {
  private readonly shapes: Shapes
  private readonly whereIs: StatementSync
  /** Where the changes are put. */
  sheet = emptySheet()
  /** Whether what comes to rest may stay among the live. */
  mayLinger = false
  readonly lingering = new Lingering()

  constructor(connection: Connection, shapes: Shapes) {
    this.shapes = shapes
    this.whereIs = connection.prepare(
      'select l.no is not null, r.terminal from resource r left join live l using (no) where r.no = ?',
    )
  }

  create(after: Resource, last: number, ended: number): void {
    const { newResources, newNames, newLive } = this.sheet
    const shape = this.shapes.of(after.type, after.status)
    const isTerminal = shape.kind === 'terminal'
    const id = hasGeneratedId(after) ? null : toText(after.id)
    newResources.row()
    newResources.number(after.no)
    newResources.textOrNull(id)
    newResources.numberOrNull(after.parent)
    newResources.number(isTerminal ? 1 : 0)
    newResources.text(toText(after.tenant))
    newResources.textOrNull(toNullableText(after.name))
    newResources.number(after.createdAt)
    newResources.text(JSON.stringify(after.properties))
    newResources.textOrNull(linksOf(after))
    if (id !== null) {
      newNames.row()
      newNames.text(id)
      newNames.text(after.type)
      newNames.number(after.no)
    }
    if (!isTerminal) this.relink(after, null)
    if (isLive(after, shape.kind)) {
      newLive.row()
      newLive.number(after.no)
      stands(newLive, after, shape, last)
      newLive.number(ended)
      underWay(newLive, after)
    } else this.newSettled(after, shape, last, ended)
  }

  /** `ended` is the number of the run that ended with this change, or null. */
  change(before: Resource, after: Resource, last: number, ended: number | null, careful: boolean): void {
    const shape = this.shapes.of(after.type, after.status)
    const was = before.status === after.status ? shape : this.shapes.of(before.type, before.status)
    let wasLive = this.lingering.take(before.no) || isLive(before, was.kind)
    let wasTerminal = was.kind === 'terminal'
    if (careful) {
      // Another process, with another declaration, may have judged it differently.
      const [live, terminal] = this.whereIs.get(before.no) as unknown as [number, number]
      wasLive = live === 1
      wasTerminal = terminal === 1
    }
    const isTerminal = shape.kind === 'terminal'
    if (wasTerminal !== isTerminal || !isColdSame(before, after)) {
      if (before.links !== after.links || wasTerminal !== isTerminal) {
        this.relink(isTerminal ? null : after, wasTerminal ? null : before)
      }
      this.writeCold(after, isTerminal)
    }
    if (!isLive(after, shape.kind)) {
      if (wasLive) this.toRest(before, after, shape, last, ended)
      else this.stays(before, after, shape, last, ended)
      return
    }
    if (!wasLive) moved(this.sheet.begins, before, after, shape, last)
    else if (isStepOnly(before, after)) this.step(before, after, shape, last)
    else moved(this.sheet.liveChanges, before, after, shape, last)
    if (ended === null) return
    const { liveEnds } = this.sheet
    liveEnds.row()
    liveEnds.number(ended)
    liveEnds.number(after.no)
  }

  /** After all changes of a batch: many that linger are moved on by it. Answers which. */
  moveOn(): readonly No[] | null {
    const nos = this.lingering.toMove()
    if (nos === null) return null
    const { moves } = this.sheet
    moves.row()
    moves.text(JSON.stringify(nos))
    return nos
  }

  private step(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { steps } = this.sheet
    const run = after.run!
    steps.row()
    steps.number(after.no)
    stands(steps, after, shape, last)
    steps.number(before.revision)
    steps.numberOrNull(dueOf(run))
    steps.numberOrNull(overdueOf(run))
    steps.text(restOf(run))
  }

  private toRest(before: Resource, after: Resource, shape: Shape, last: number, ended: number | null): void {
    const { releases, rests, liveDeletes, sameSettled } = this.sheet
    if (ended === null) {
      releases.row()
      stands(releases, after, shape, last)
      atRest(releases, after)
      expected(releases, before)
      return
    }
    if (this.mayLinger && shape.kind === 'stable' && wakeOf(after.timers) === null && orphansOf(after) === null) {
      rests.row()
      stands(rests, after, shape, last)
      rests.number(ended)
      rests.textOrNull(extraOf(after))
      expected(rests, before)
      this.lingering.add(after.no)
      return
    }
    liveDeletes.row()
    expected(liveDeletes, before)
    if (before.run === null || before.run.previous !== after.status) return this.newSettled(after, shape, last, ended)
    sameSettled.row()
    sameSettled.number(after.no)
    stands(sameSettled, after, shape, last)
    sameSettled.number(ended)
    atRest(sameSettled, after)
  }

  private newSettled(after: Resource, shape: Shape, last: number, ended: number): void {
    const { newSettled } = this.sheet
    newSettled.row()
    newSettled.number(after.no)
    stands(newSettled, after, shape, last)
    newSettled.number(ended)
    atRest(newSettled, after)
  }

  private stays(before: Resource, after: Resource, shape: Shape, last: number, ended: number | null): void {
    const { settledChanges } = this.sheet
    settledChanges.row()
    stands(settledChanges, after, shape, last)
    settledChanges.numberOrNull(ended)
    atRest(settledChanges, after)
    expected(settledChanges, before)
  }

  private writeCold(after: Resource, isTerminal: boolean): void {
    const { coldChanges } = this.sheet
    coldChanges.row()
    coldChanges.numberOrNull(after.parent)
    coldChanges.number(isTerminal ? 1 : 0)
    coldChanges.text(toText(after.tenant))
    coldChanges.textOrNull(toNullableText(after.name))
    coldChanges.text(JSON.stringify(after.properties))
    coldChanges.textOrNull(linksOf(after))
    coldChanges.number(after.no)
  }

  /** The reverse look-up holds the links of what is not terminal. */
  private relink(after: Resource | null, before: Resource | null): void {
    const is = after?.links ?? {}
    const was = before?.links ?? {}
    const { linkDeletes, newLinks } = this.sheet
    for (const name in was) if (is[name] !== was[name]) link(linkDeletes, was[name]!, name, before!.no)
    for (const name in is) if (is[name] !== was[name]) link(newLinks, is[name]!, name, after!.no)
  }
}

function link(list: Values, target: No, name: string, source: No): void {
  list.row()
  list.number(target)
  list.text(name)
  list.number(source)
}

/** A live state, changed or begun, that is more than a step. */
function moved(list: Values, before: Resource, after: Resource, shape: Shape, last: number): void {
  list.row()
  stands(list, after, shape, last)
  underWay(list, after)
  expected(list, before)
}

/** Values that many rows have in common. */
function stands(list: Values, after: Resource, shape: Shape, last: number): void {
  list.number(shape.id)
  list.number(after.revision)
  list.number(after.epoch)
  list.number(after.since)
  list.number(last)
}

function underWay(list: Values, after: Resource): void {
  const { run } = after
  list.numberOrNull(run === null ? null : run.owner)
  list.numberOrNull(dueOf(run))
  list.numberOrNull(overdueOf(run))
  list.textOrNull(run === null ? null : fixedOf(run))
  list.textOrNull(run === null ? null : restOf(run))
  list.textOrNull(extraOf(after))
}

function atRest(list: Values, after: Resource): void {
  list.numberOrNull(wakeOf(after.timers))
  list.numberOrNull(orphansOf(after))
  list.textOrNull(extraOf(after))
}

/** What is to be found in the store. */
function expected(list: Values, before: Resource): void {
  list.number(before.no)
  list.number(before.revision)
  list.number(before.epoch)
}
