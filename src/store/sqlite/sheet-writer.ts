// Carries out sheets on a connection. Each statement that changes a state names the revision and epoch it expects; one that finds
// something else makes the whole sheet be undone by whoever began the transaction.
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import { EventWriter, RunWriter } from './log-writer.ts'
import { RecordWriter } from './records.ts'
import { Rows } from './rows.ts'
import { widths, type Sheet } from './sheet.ts'
import { Steps } from './steps.ts'

const liveColumns = 'no, shape, revision, epoch, since, last, ended, owner, due, overdue, run, rest, extra'
const settledColumns = 'no, shape, revision, epoch, since, last, ended, wake, orphans, more'
const takeOver = `on conflict (no) do update set shape = excluded.shape, revision = excluded.revision, epoch = excluded.epoch,
  since = excluded.since, last = excluded.last, ended = excluded.ended, wake = excluded.wake, orphans = excluded.orphans, more = excluded.more`
const fence = 'no = ? and revision = ? and epoch = ?'

export class SheetWriter {
  private readonly steps: Steps
  private readonly records: RecordWriter
  private readonly begin: StatementSync
  private readonly changeLive: StatementSync
  private readonly changeSettled: StatementSync
  private readonly deleteLive: StatementSync
  private readonly release: StatementSync
  private readonly changeCold: StatementSync
  private readonly deleteLink: StatementSync
  private readonly landSame: StatementSync
  private readonly endLive: StatementSync
  private readonly events: EventWriter
  private readonly runs: RunWriter
  private readonly insertLate: StatementSync
  private readonly insertIncident: StatementSync
  private readonly resources: Rows
  private readonly names: Rows
  private readonly links: Rows
  private readonly live: Rows
  private readonly settled: Rows
  private readonly keys: Rows

  constructor(connection: Connection) {
    const prepare = (sql: string) => connection.prepare(sql)
    this.steps = new Steps(connection)
    this.records = new RecordWriter(connection)
    this.begin = prepare(
      `insert or ignore into live (${liveColumns}) select no, ?, ?, ?, ?, ?, ended, ?, ?, ?, ?, ?, ? from settled where ${fence}`,
    )
    this.changeLive =
      prepare(`update or fail live set shape = ?, revision = ?, epoch = ?, since = ?, last = ?, owner = ?, due = ?, overdue = ?,
      run = ?, rest = ?, extra = ? where ${fence}`)
    const rest =
      'revision = ?, epoch = ?, since = ?, last = ?, ended = coalesce(?, ended), wake = ?, orphans = ?, more = ?'
    this.changeSettled =
      prepare(`update or fail settled set ${rest}, shape = ?9 where no = ?10 and revision = ?11 and epoch = ?12
      and not exists (select 1 from live where live.no = ?10)`)
    this.deleteLive = prepare(`delete from live where ${fence}`)
    this.release = prepare(`insert or fail into settled (${settledColumns})
      select no, ?, ?, ?, ?, ?, ended, ?, ?, ? from live where ${fence} ${takeOver}`)
    this.changeCold = prepare(
      'update or fail resource set parent = ?, terminal = ?, tenant = ?, name = ?, properties = ?, links = ? where no = ?',
    )
    this.deleteLink = prepare('delete from link where target = ? and name = ? and source = ?')
    this.landSame = prepare(`update or fail settled set ${rest} where no = ? and shape = ?`)
    this.endLive = prepare('update or fail live set ended = ? where no = ?')
    this.events = new EventWriter(connection)
    this.runs = new RunWriter(connection)
    this.insertLate = prepare('insert into late (no, body) values (?, ?)')
    this.insertIncident = prepare(
      'insert into incident (no, kind, body) values (?, ?, ?) on conflict (no, kind) do nothing',
    )
    this.resources = new Rows(
      connection,
      'resource (no, id, parent, terminal, tenant, name, created, properties, links)',
      widths.newResources,
    )
    this.names = new Rows(connection, 'name (id, type, no)', widths.newNames)
    this.links = new Rows(connection, 'link (target, name, source)', widths.newLinks)
    this.live = new Rows(connection, `live (${liveColumns})`, widths.newLive)
    this.settled = new Rows(connection, `settled (${settledColumns})`, widths.newSettled, takeOver)
    this.keys = new Rows(connection, 'key (key, hash, no, begun, at)', widths.keys)
  }

  /** Inside a transaction. False: something was not as expected, and the transaction must be undone. */
  write(sheet: Sheet): boolean {
    return this.changes(sheet) && this.additions(sheet)
  }

  private changes(sheet: Sheet): boolean {
    return (
      this.steps.write(sheet.steps) &&
      eachOnce(this.begin, sheet.begins, widths.begins) &&
      eachOnce(this.changeLive, sheet.liveChanges, widths.liveChanges) &&
      eachOnce(this.changeSettled, sheet.settledChanges, widths.settledChanges) &&
      this.releaseAll(sheet.releases) &&
      eachOnce(this.deleteLive, sheet.liveDeletes, widths.liveDeletes) &&
      this.records.write(sheet.records)
    )
  }

  private additions(sheet: Sheet): boolean {
    each(this.changeCold, sheet.coldChanges, widths.coldChanges)
    each(this.deleteLink, sheet.linkDeletes, widths.linkDeletes)
    this.resources.insert(sheet.newResources)
    this.names.insert(sheet.newNames)
    this.links.insert(sheet.newLinks)
    this.live.insert(sheet.newLive)
    this.settled.insert(sheet.newSettled)
    this.settleSame(sheet.sameSettled)
    each(this.endLive, sheet.liveEnds, widths.liveEnds)
    this.events.write(sheet.events)
    this.runs.write(sheet.runs)
    this.keys.insert(sheet.keys)
    each(this.insertLate, sheet.late, widths.late)
    each(this.insertIncident, sheet.incidents, widths.incidents)
    this.records.journal(sheet.journal)
    return true
  }

  /** At rest again without a run of its own having ended. */
  private releaseAll(values: readonly SQLInputValue[]): boolean {
    for (let at = 0; at < values.length; at += widths.releases) {
      const row = values.slice(at, at + widths.releases)
      this.release.run(...row)
      if (this.deleteLive.run(...row.slice(8, 11)).changes !== 1) return false
    }
    return true
  }

  private settleSame(values: readonly SQLInputValue[]): void {
    for (let at = 0; at < values.length; at += widths.sameSettled) {
      const row = values.slice(at, at + widths.sameSettled)
      if (this.landSame.run(...row).changes === 1) continue
      const [revision, epoch, since, last, ended, wake, orphans, more, no, shape] = row
      this.settled.insert([no, shape, revision, epoch, since, last, ended, wake, orphans, more] as SQLInputValue[])
    }
  }
}

function each(statement: StatementSync, values: readonly SQLInputValue[], width: number): void {
  for (let at = 0; at < values.length; at += width) statement.run(...values.slice(at, at + width))
}

/** False when one did not change exactly one row. */
function eachOnce(statement: StatementSync, values: readonly SQLInputValue[], width: number): boolean {
  for (let at = 0; at < values.length; at += width)
    if (statement.run(...values.slice(at, at + width)).changes !== 1) return false
  return true
}
