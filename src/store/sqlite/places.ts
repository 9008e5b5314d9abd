// Where a state is kept: at rest in `resource`, under way in `live` as well. Moves it between the two; each change names the
// revision and epoch that it expects to find.
import type { StatementSync } from 'node:sqlite'
import type { Resource, Run } from '../../decision/state.ts'
import { hasGeneratedId, hasOrphan, isLive, wakeOf } from '../facts.ts'
import { extraOf, fixedOf, isColdSame, isStepOnly, moreOf, restOf, toNullableText, toText } from './codec.ts'
import type { Connection } from './connection.ts'
import type { Shape, Shapes } from './shapes.ts'

/** Thrown out of a transaction whose writes did not find what they expected. */
export const mismatch = Symbol('mismatch')

const liveColumns = `no, base, shape, revision, epoch, since, last, owner, due, deadline, progress, wake, orphans, description, run, rest, extra`

const orphansOf = (resource: Resource): 1 | null =>
  resource.ledger.length > 0 && hasOrphan(resource.ledger) ? 1 : null
const dueOf = (run: Run | null): number | null => (run === null || run.parked !== null ? null : run.dueAt)

export class Places {
  private readonly shapes: Shapes
  private readonly insertResource: StatementSync
  private readonly insertName: StatementSync
  private readonly insertLive: StatementSync
  private readonly beginLive: StatementSync
  private readonly stepLive: StatementSync
  private readonly changeLive: StatementSync
  private readonly deleteLive: StatementSync
  private readonly changeCold: StatementSync
  private readonly landSame: StatementSync
  private readonly landMoved: StatementSync
  private readonly landChanged: StatementSync
  private readonly changeSettled: StatementSync
  private readonly insertLink: StatementSync
  private readonly deleteLink: StatementSync
  private readonly whereIs: StatementSync

  constructor(connection: Connection, shapes: Shapes) {
    this.shapes = shapes
    const prepare = (sql: string) => connection.prepare(sql)
    this.insertResource =
      prepare(`insert into resource (no, id, settled, terminal, parent, tenant, name, description, revision, epoch,
      since, created, last, ended, wake, orphans, properties, more) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.insertName = prepare('insert into name (id, type, no) values (?, ?, ?)')
    this.insertLive = prepare(
      `insert into live (${liveColumns}) values (?, null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.beginLive =
      prepare(`insert or ignore into live (${liveColumns}) select no, settled, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
      from resource where no = ? and revision = ? and epoch = ?`)
    this.stepLive =
      prepare(`update live set shape = ?, revision = ?, since = ?, last = ?, due = ?, deadline = ?, progress = ?, rest = ?
      where no = ? and revision = ? and epoch = ?`)
    this.changeLive =
      prepare(`update live set shape = ?, revision = ?, epoch = ?, since = ?, last = ?, owner = ?, due = ?, deadline = ?,
      progress = ?, wake = ?, orphans = ?, description = ?, run = ?, rest = ?, extra = ? where no = ? and revision = ? and epoch = ?`)
    this.deleteLive = prepare('delete from live where no = ? and revision = ? and epoch = ?')
    this.changeCold = prepare(
      `update resource set terminal = ?, parent = ?, tenant = ?, name = ?, properties = ?, more = ? where no = ?`,
    )
    const rest =
      'description = ?, revision = ?, epoch = ?, since = ?, last = ?, ended = coalesce(?, ended), wake = ?, orphans = ?, more = ?'
    this.landSame = prepare(`update resource set ${rest} where no = ? and settled = ?`)
    this.landMoved = prepare(`update resource set ${rest}, settled = ? where no = ?`)
    const all = `${rest}, settled = ?, terminal = ?, parent = ?, tenant = ?, name = ?, properties = ?`
    this.landChanged = prepare(`update resource set ${all} where no = ?`)
    this.changeSettled = prepare(`update resource set ${all} where no = ?16 and revision = ?17 and epoch = ?18
      and not exists (select 1 from live where live.no = ?16)`)
    this.insertLink = prepare('insert into link (target, name, source) values (?, ?, ?)')
    this.deleteLink = prepare('delete from link where target = ? and name = ? and source = ?')
    this.whereIs = prepare(
      'select l.no is not null, r.terminal from resource r left join live l using (no) where r.no = ?',
    )
  }

  create(after: Resource, last: number, ended: number): void {
    const shape = this.shapes.of(after.type, after.status)
    const live = isLive(after, shape.kind)
    const terminal = shape.kind === 'terminal'
    const id = hasGeneratedId(after) ? null : toText(after.id)
    const wake = wakeOf(after.timers)
    this.insertResource.run(
      after.no,
      id,
      live ? null : shape.id,
      terminal ? 1 : 0,
      after.parent,
      toText(after.tenant),
      toNullableText(after.name),
      toText(after.description),
      after.revision,
      after.epoch,
      after.since,
      after.createdAt,
      last,
      ended,
      wake,
      orphansOf(after),
      JSON.stringify(after.properties),
      moreOf(after),
    )
    if (id !== null) this.insertName.run(id, after.type, after.no)
    if (!terminal) this.relink(after, null)
    if (!live) return
    const { run } = after
    this.insertLive.run(
      after.no,
      shape.id,
      after.revision,
      after.epoch,
      after.since,
      last,
      run?.owner ?? null,
      dueOf(run),
      run?.deadlineAt ?? 0,
      run?.progressAt ?? 0,
      wake,
      orphansOf(after),
      toText(after.description),
      run === null ? null : fixedOf(run),
      run === null ? null : restOf(run),
      extraOf(after),
    )
  }

  /** True when the resource's own row was written with `ended`. */
  change(before: Resource, after: Resource, last: number, ended: number | null, careful: boolean): boolean {
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
    const isColdEqual = wasTerminal === isTerminal && isColdSame(before, after)
    if (!isColdEqual && (before.links !== after.links || wasTerminal !== isTerminal)) {
      this.relink(isTerminal ? null : after, wasTerminal ? null : before)
    }
    if (!isLive(after, shape.kind)) {
      if (wasLive) this.land(before, after, { shape, last, ended, isColdEqual })
      else this.rest(before, after, { shape, last, ended })
      return true
    }
    if (!isColdEqual) this.writeCold(after, isTerminal)
    if (!wasLive) this.beginRun(before, after, shape, last)
    else if (isStepOnly(before, after)) this.step(before, after, shape, last)
    else this.changeRun(before, after, shape, last)
    return false
  }

  private beginRun(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { run } = after
    const { changes } = this.beginLive.run(
      shape.id,
      after.revision,
      after.epoch,
      after.since,
      last,
      run?.owner ?? null,
      dueOf(run),
      run?.deadlineAt ?? 0,
      run?.progressAt ?? 0,
      wakeOf(after.timers),
      orphansOf(after),
      toText(after.description),
      run === null ? null : fixedOf(run),
      run === null ? null : restOf(run),
      extraOf(after),
      after.no,
      before.revision,
      before.epoch,
    )
    if (changes !== 1) throw mismatch
  }

  private step(before: Resource, after: Resource, shape: Shape, last: number): void {
    const run = after.run!
    const { changes } = this.stepLive.run(
      shape.id,
      after.revision,
      after.since,
      last,
      dueOf(run),
      run.deadlineAt,
      run.progressAt,
      restOf(run),
      after.no,
      before.revision,
      before.epoch,
    )
    if (changes !== 1) throw mismatch
  }

  private changeRun(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { run } = after
    const { changes } = this.changeLive.run(
      shape.id,
      after.revision,
      after.epoch,
      after.since,
      last,
      run?.owner ?? null,
      dueOf(run),
      run?.deadlineAt ?? 0,
      run?.progressAt ?? 0,
      wakeOf(after.timers),
      orphansOf(after),
      toText(after.description),
      run === null ? null : fixedOf(run),
      run === null ? null : restOf(run),
      extraOf(after),
      after.no,
      before.revision,
      before.epoch,
    )
    if (changes !== 1) throw mismatch
  }

  private land(before: Resource, after: Resource, how: Landing): void {
    const { shape, last, ended, isColdEqual } = how
    const { changes } = this.deleteLive.run(before.no, before.revision, before.epoch)
    if (changes !== 1) throw mismatch
    if (!isColdEqual) {
      this.landChanged.run(...this.restValues(after, last, ended), ...this.coldValues(after, shape), after.no)
      return
    }
    const values = this.restValues(after, last, ended)
    // Back where it came from: the index on `settled` need not be touched.
    if (before.run?.previous === after.status && this.landSame.run(...values, after.no, shape.id).changes === 1) return
    this.landMoved.run(...values, shape.id, after.no)
  }

  /** From rest to rest. */
  private rest(before: Resource, after: Resource, { shape, last, ended }: Omit<Landing, 'isColdEqual'>): void {
    const { changes } = this.changeSettled.run(
      ...this.restValues(after, last, ended),
      ...this.coldValues(after, shape),
      after.no,
      before.revision,
      before.epoch,
    )
    if (changes !== 1) throw mismatch
  }

  private writeCold(after: Resource, isTerminal: boolean): void {
    this.changeCold.run(
      isTerminal ? 1 : 0,
      after.parent,
      toText(after.tenant),
      toNullableText(after.name),
      JSON.stringify(after.properties),
      moreOf(after),
      after.no,
    )
  }

  private restValues(after: Resource, last: number, ended: number | null) {
    return [
      toText(after.description),
      after.revision,
      after.epoch,
      after.since,
      last,
      ended,
      wakeOf(after.timers),
      orphansOf(after),
      moreOf(after),
    ] as const
  }

  private coldValues(after: Resource, shape: Shape) {
    return [
      shape.id,
      shape.kind === 'terminal' ? 1 : 0,
      after.parent,
      toText(after.tenant),
      toNullableText(after.name),
      JSON.stringify(after.properties),
    ] as const
  }

  /** The reverse look-up holds the links of what is not terminal. */
  private relink(after: Resource | null, before: Resource | null): void {
    const is = after?.links ?? {}
    const was = before?.links ?? {}
    for (const name in was) if (is[name] !== was[name]) this.deleteLink.run(was[name]!, name, before!.no)
    for (const name in is) if (is[name] !== was[name]) this.insertLink.run(is[name]!, name, after!.no)
  }
}

interface Landing {
  readonly shape: Shape
  readonly last: number
  readonly ended: number | null
  readonly isColdEqual: boolean
}
