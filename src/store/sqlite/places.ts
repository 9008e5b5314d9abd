// Where a state is kept: at rest in `settled`, under way in `live`. Moves it between the two; each change names the revision
// and epoch that it expects to find.
import type { StatementSync } from 'node:sqlite'
import type { Resource, Run } from '../../decision/state.ts'
import { hasGeneratedId, hasOrphan, isLive, overdueAt, wakeOf } from '../facts.ts'
import { extraOf, fixedOf, isColdSame, isStepOnly, linksOf, restOf, toNullableText, toText } from './codec.ts'
import type { Connection } from './connection.ts'
import { Rows } from './rows.ts'
import type { Shape, Shapes } from './shapes.ts'
import { Steps } from './steps.ts'

/** Thrown out of a transaction whose writes did not find what they expected. */
export const mismatch = Symbol('mismatch')

const liveColumns = 'no, shape, revision, epoch, since, last, ended, owner, due, overdue, run, rest, extra'

const orphansOf = ({ ledger }: Resource): 1 | null => (ledger.length > 0 && hasOrphan(ledger) ? 1 : null)
const dueOf = (run: Run | null): number | null => (run === null || run.parked !== null ? null : run.dueAt)
const overdueOf = (run: Run | null): number | null => (run === null ? null : overdueAt(run) || null)

export class Places {
  private readonly shapes: Shapes
  private readonly newResources: Rows
  private readonly newNames: Rows
  private readonly newLive: Rows
  private readonly newSettled: Rows
  private readonly newLinks: Rows
  private readonly beginLive: StatementSync
  private readonly steps: Steps
  private readonly changeLive: StatementSync
  private readonly deleteLive: StatementSync
  private readonly changeCold: StatementSync
  private readonly landSame: StatementSync
  private readonly changeSettled: StatementSync
  private readonly deleteLink: StatementSync
  private readonly whereIs: StatementSync
  private readonly endLive: StatementSync
  private readonly endedOfLive: StatementSync

  constructor(connection: Connection, shapes: Shapes) {
    this.shapes = shapes
    const prepare = (sql: string) => connection.prepare(sql)
    const fence = 'no = ? and revision = ? and epoch = ?'
    this.newResources = new Rows(
      connection,
      'resource (no, id, parent, terminal, tenant, name, created, properties, links)',
      9,
    )
    this.newNames = new Rows(connection, 'name (id, type, no)', 3)
    this.newLive = new Rows(connection, `live (${liveColumns})`, 13)
    this.newSettled = new Rows(
      connection,
      'settled (no, shape, revision, epoch, since, last, ended, wake, orphans, more)',
      10,
      `on conflict (no) do update set shape = excluded.shape, revision = excluded.revision, epoch = excluded.epoch, since = excluded.since,
      last = excluded.last, ended = excluded.ended, wake = excluded.wake, orphans = excluded.orphans, more = excluded.more`,
    )
    this.newLinks = new Rows(connection, 'link (target, name, source)', 3)
    this.beginLive = prepare(
      `insert or ignore into live (${liveColumns}) select no, ?, ?, ?, ?, ?, ended, ?, ?, ?, ?, ?, ? from settled where ${fence}`,
    )
    this.steps = new Steps(connection)
    this.changeLive =
      prepare(`update or fail live set shape = ?, revision = ?, epoch = ?, since = ?, last = ?, owner = ?, due = ?, overdue = ?,
      run = ?, rest = ?, extra = ? where ${fence}`)
    this.deleteLive = prepare(`delete from live where ${fence}`)
    this.changeCold = prepare(
      'update or fail resource set parent = ?, terminal = ?, tenant = ?, name = ?, properties = ?, links = ? where no = ?',
    )
    const rest =
      'revision = ?, epoch = ?, since = ?, last = ?, ended = coalesce(?, ended), wake = ?, orphans = ?, more = ?'
    this.landSame = prepare(`update or fail settled set ${rest} where no = ? and shape = ?`)
    this.changeSettled =
      prepare(`update or fail settled set ${rest}, shape = ?9 where no = ?10 and revision = ?11 and epoch = ?12
      and not exists (select 1 from live where live.no = ?10)`)
    this.deleteLink = prepare('delete from link where target = ? and name = ? and source = ?')
    this.whereIs = prepare(
      'select l.no is not null, r.terminal from resource r left join live l using (no) where r.no = ?',
    )
    this.endLive = prepare('update or fail live set ended = ? where no = ?')
    this.endedOfLive = prepare('select ended from live where no = ?')
  }

  create(after: Resource, last: number, ended: number): void {
    const shape = this.shapes.of(after.type, after.status)
    const isTerminal = shape.kind === 'terminal'
    const id = hasGeneratedId(after) ? null : toText(after.id)
    this.newResources.values.push(
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
    this.newResources.added()
    if (id !== null) {
      this.newNames.values.push(id, after.type, after.no)
      this.newNames.added()
    }
    if (!isTerminal) this.relink(after, null)
    if (isLive(after, shape.kind)) {
      const { run } = after
      this.newLive.values.push(
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
      this.newLive.added()
    } else {
      this.newSettled.values.push(
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
      this.newSettled.added()
    }
  }

  /** Writes what was gathered. */
  flush(): void {
    if (!this.steps.flush()) throw mismatch
    this.newResources.flush()
    this.newNames.flush()
    this.newLive.flush()
    this.newSettled.flush()
    this.newLinks.flush()
  }

  /** After a failed transaction. */
  drop(): void {
    this.steps.drop()
    this.newResources.drop()
    this.newNames.drop()
    this.newLive.drop()
    this.newSettled.drop()
    this.newLinks.drop()
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
    if (ended !== null) this.endLive.run(ended, after.no)
  }

  private toLive(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { run } = after
    const { changes } = this.beginLive.run(
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
    if (changes !== 1) throw mismatch
  }

  private step(before: Resource, after: Resource, shape: Shape, last: number): void {
    const run = after.run!
    this.steps.add({
      no: after.no,
      shape: shape.id,
      revision: after.revision,
      epoch: after.epoch,
      since: after.since,
      last,
      expected: before.revision,
      due: dueOf(run),
      overdue: overdueOf(run),
      rest: restOf(run),
    })
  }

  private inLive(before: Resource, after: Resource, shape: Shape, last: number): void {
    const { run } = after
    const { changes } = this.changeLive.run(
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
    if (changes !== 1) throw mismatch
  }

  private toRest(before: Resource, after: Resource, shape: Shape, last: number, given: number | null): void {
    // Released without a run of its own ending: the latest end is what the live row says.
    const ended = given ?? (this.endedOfLive.get(after.no) as unknown as [number] | undefined)?.[0] ?? 0
    const { changes } = this.deleteLive.run(before.no, before.revision, before.epoch)
    if (changes !== 1) throw mismatch
    const { no, revision, epoch, since } = after
    const wake = wakeOf(after.timers)
    const orphans = orphansOf(after)
    const more = extraOf(after)
    // Back where it came from: the index need not be touched.
    if (before.run !== null && before.run.previous === after.status) {
      if (this.landSame.run(revision, epoch, since, last, ended, wake, orphans, more, no, shape.id).changes === 1)
        return
    }
    this.newSettled.values.push(no, shape.id, revision, epoch, since, last, ended, wake, orphans, more)
    this.newSettled.added()
  }

  private atRest(before: Resource, after: Resource, shape: Shape, last: number, ended: number | null): void {
    const { changes } = this.changeSettled.run(
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
    if (changes !== 1) throw mismatch
  }

  private writeCold(after: Resource, isTerminal: boolean): void {
    this.changeCold.run(
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
    for (const name in was) if (is[name] !== was[name]) this.deleteLink.run(was[name]!, name, before!.no)
    for (const name in is) {
      if (is[name] === was[name]) continue
      this.newLinks.values.push(is[name]!, name, after!.no)
      this.newLinks.added()
    }
  }
}
