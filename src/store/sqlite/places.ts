// Where a state is kept: at rest in `settled`, under way in `live`. Says, on a sheet, how it moves between the two; each change
// names the revision and epoch that it expects to find.
import type { StatementSync } from 'node:sqlite'
import type { Resource, Run } from '../../decision/state.ts'
import { hasGeneratedId, hasOrphan, isLive, overdueAt, wakeOf } from '../facts.ts'
import { extraOf, fixedOf, isColdSame, isStepOnly, linksOf, restOf, toNullableText, toText } from './codec.ts'
import type { Connection } from './connection.ts'
import type { Shape, Shapes } from './shapes.ts'
import { emptySheet } from './sheet.ts'

const orphansOf = ({ ledger }: Resource): 1 | null => (ledger.length > 0 && hasOrphan(ledger) ? 1 : null)
const dueOf = (run: Run | null): number | null => (run === null || run.parked !== null ? null : run.dueAt)
const overdueOf = (run: Run | null): number | null => (run === null ? null : overdueAt(run) || null)

export class Places {
  private readonly shapes: Shapes
  private readonly whereIs: StatementSync
  /** Where the changes are put. */
  sheet = emptySheet()

  constructor(connection: Connection, shapes: Shapes) {
    this.shapes = shapes
    this.whereIs = connection.prepare(
      'select l.no is not null, r.terminal from resource r left join live l using (no) where r.no = ?',
    )
  }

  create(after: Resource, last: number, ended: number): void {
    const shape = this.shapes.of(after.type, after.status)
    const isTerminal = shape.kind === 'terminal'
    const id = hasGeneratedId(after) ? null : toText(after.id)
    this.sheet.newResources.push(
      after.no,
      id,
      after.parent,
      isTerminal ? 1 : 0,
      toText(after.tenant),
      toNullableText(after.name),
      after.createdAt,
      JSON.stringify(after.properties),
      linksOf(after),
    )
    if (id !== null) this.sheet.newNames.push(id, after.type, after.no)
    if (!isTerminal) this.relink(after, null)
    if (isLive(after, shape.kind)) {
      const { run } = after
      this.sheet.newLive.push(
        after.no,
        shape.id,
        after.revision,
        after.epoch,
        after.since,
        last,
        ended,
        run === null ? null : run.owner,
        dueOf(run),
        overdueOf(run),
        run === null ? null : fixedOf(run),
        run === null ? null : restOf(run),
        extraOf(after),
      )
    } else {
      this.sheet.newSettled.push(
        after.no,
        shape.id,
        after.revision,
        after.epoch,
        after.since,
        last,
        ended,
        wakeOf(after.timers),
        orphansOf(after),
        extraOf(after),
      )
    }
  }

  /** `ended` is the number of the run that ended with this change, or null. */
  change(before: Resource, after: Resource, last: number, ended: number | null, careful: boolean): void {
    const shape = this.shapes.of(after.type, after.status)
    const was = before.status === after.status ? shape : this.shapes.of(before.type, before.status)
    let wasLive = isLive(before, was.kind)
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
      else this.atRest(before, after, shape, last, ended)
      return
    }
    if (!wasLive) this.toLive(before, after, shape, last)
    else if (isStepOnly(before, after)) this.step(before, after, shape, last)
    else this.inLive(before, after, shape, last)
    if (ended !== null) this.sheet.liveEnds.push(ended, after.no)
  }

  private toLive(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { run } = after
    this.sheet.begins.push(
      shape.id,
      after.revision,
      after.epoch,
      after.since,
      last,
      run === null ? null : run.owner,
      dueOf(run),
      overdueOf(run),
      run === null ? null : fixedOf(run),
      run === null ? null : restOf(run),
      extraOf(after),
      after.no,
      before.revision,
      before.epoch,
    )
  }

  private step(before: Resource, after: Resource, shape: Shape, last: number): void {
    const run = after.run!
    this.sheet.steps.push(
      after.no,
      shape.id,
      after.revision,
      after.epoch,
      after.since,
      last,
      before.revision,
      dueOf(run),
      overdueOf(run),
      restOf(run),
    )
  }

  private inLive(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { run } = after
    this.sheet.liveChanges.push(
      shape.id,
      after.revision,
      after.epoch,
      after.since,
      last,
      run === null ? null : run.owner,
      dueOf(run),
      overdueOf(run),
      run === null ? null : fixedOf(run),
      run === null ? null : restOf(run),
      extraOf(after),
      after.no,
      before.revision,
      before.epoch,
    )
  }

  private toRest(before: Resource, after: Resource, shape: Shape, last: number, ended: number | null): void {
    const { no, revision, epoch, since } = after
    const wake = wakeOf(after.timers)
    const orphans = orphansOf(after)
    const more = extraOf(after)
    const { sheet } = this
    if (ended === null) {
      const expected = [no, before.revision, before.epoch] as const
      sheet.releases.push(shape.id, revision, epoch, since, last, wake, orphans, more, ...expected)
      return
    }
    sheet.liveDeletes.push(no, before.revision, before.epoch)
    if (before.run !== null && before.run.previous === after.status)
      sheet.sameSettled.push(revision, epoch, since, last, ended, wake, orphans, more, no, shape.id)
    else sheet.newSettled.push(no, shape.id, revision, epoch, since, last, ended, wake, orphans, more)
  }

  private atRest(before: Resource, after: Resource, shape: Shape, last: number, ended: number | null): void {
    this.sheet.settledChanges.push(
      after.revision,
      after.epoch,
      after.since,
      last,
      ended,
      wakeOf(after.timers),
      orphansOf(after),
      extraOf(after),
      shape.id,
      after.no,
      before.revision,
      before.epoch,
    )
  }

  private writeCold(after: Resource, isTerminal: boolean): void {
    this.sheet.coldChanges.push(
      after.parent,
      isTerminal ? 1 : 0,
      toText(after.tenant),
      toNullableText(after.name),
      JSON.stringify(after.properties),
      linksOf(after),
      after.no,
    )
  }

  /** The reverse look-up holds the links of what is not terminal. */
  private relink(after: Resource | null, before: Resource | null): void {
    const is = after?.links ?? {}
    const was = before?.links ?? {}
    for (const name in was) if (is[name] !== was[name]) this.sheet.linkDeletes.push(was[name]!, name, before!.no)
    for (const name in is) if (is[name] !== was[name]) this.sheet.newLinks.push(is[name]!, name, after!.no)
  }
}
