// Carries out sheets on a connection. Each statement that changes a state names the revision and epoch it expects; one that finds
// something else makes the whole sheet be undone by whoever began the transaction.
import type { StatementSync } from 'node:sqlite'
import type { Connection } from './connection.ts'
import { atRest, Mover, settledColumns, takeOver } from './lingering.ts'
import { EventWriter, RunWriter } from './log-writer.ts'
import { RecordWriter } from './records.ts'
import { Rows } from './rows.ts'
import { columns, type Sheet } from './sheet.ts'
import { Steps } from './steps.ts'
import type { Feed } from './turns.ts'
import type { Values } from './values.ts'

const liveColumns = 'no, shape, revision, epoch, since, last, ended, owner, due, overdue, run, rest, extra'
const fence = 'no = ? and revision = ? and epoch = ?'

export class SheetWriter {
  private readonly steps: Steps
  private readonly records: RecordWriter
  private readonly begin: StatementSync
  private readonly changeLive: StatementSync
  private readonly changeSettled: StatementSync
  private readonly deleteLive: StatementSync
  private readonly release: StatementSync
  private readonly rest: StatementSync
  private readonly mover: Mover
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
    this.changeSettled =
      prepare(`update or fail settled set shape = ?1, revision = ?2, epoch = ?3, since = ?4, last = ?5, ended = coalesce(?6, ended),
      wake = ?7, orphans = ?8, more = ?9 where no = ?10 and revision = ?11 and epoch = ?12
      and not exists (select 1 from live where live.no = ?10)`)
    this.deleteLive = prepare(`delete from live where ${fence}`)
    this.release = prepare(`insert or fail into settled (${settledColumns})
      select no, ?, ?, ?, ?, ?, ended, ?, ?, ? from live where ${fence} ${takeOver}`)
    this.rest =
      prepare(`update or fail live set shape = ?, revision = ?, epoch = ?, since = ?, last = ?, ended = ?, extra = ?,
      owner = ${atRest}, due = null, overdue = null, run = null, rest = null where ${fence}`)
    this.mover = new Mover(connection)
    this.changeCold = prepare(
      'update or fail resource set parent = ?, terminal = ?, tenant = ?, name = ?, properties = ?, links = ? where no = ?',
    )
    this.deleteLink = prepare('delete from link where target = ? and name = ? and source = ?')
    this.landSame =
      prepare(`update or fail settled set revision = ?3, epoch = ?4, since = ?5, last = ?6, ended = ?7, wake = ?8, orphans = ?9,
      more = ?10 where no = ?1 and shape = ?2`)
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
      columns.newResources.length,
    )
    this.names = new Rows(connection, 'name (id, type, no)', columns.newNames.length)
    this.links = new Rows(connection, 'link (target, name, source)', columns.newLinks.length)
    this.live = new Rows(connection, `live (${liveColumns})`, columns.newLive.length)
    this.settled = new Rows(connection, `settled (${settledColumns})`, columns.newSettled.length, takeOver)
    this.keys = new Rows(connection, 'key (key, hash, no, begun, at)', columns.keys.length)
  }

  /** Inside a transaction. The last event says where the feed stands after it (null: there is none). False: something was not as expected, and the transaction must be undone. */
  write(sheet: Sheet, feed: Feed | null): boolean {
    return this.changes(sheet) && this.additions(sheet, feed)
  }

  private changes(sheet: Sheet): boolean {
    return (
      this.steps.write(sheet.steps) &&
      eachOnce(this.begin, sheet.begins) &&
      eachOnce(this.changeLive, sheet.liveChanges) &&
      eachOnce(this.changeSettled, sheet.settledChanges) &&
      this.releaseAll(sheet.releases) &&
      eachOnce(this.rest, sheet.rests) &&
      eachOnce(this.deleteLive, sheet.liveDeletes) &&
      this.records.write(sheet.records)
    )
  }

  private additions(sheet: Sheet, feed: Feed | null): boolean {
    each(this.changeCold, sheet.coldChanges)
    each(this.deleteLink, sheet.linkDeletes)
    this.resources.insert(sheet.newResources)
    this.names.insert(sheet.newNames)
    this.links.insert(sheet.newLinks)
    this.live.insert(sheet.newLive)
    this.settled.insert(sheet.newSettled)
    this.settleSame(sheet.sameSettled)
    each(this.endLive, sheet.liveEnds)
    for (const nos of sheet.moves.texts) this.mover.move(nos)
    if (feed !== null) this.events.write(sheet.events, feed.events, feed.runs, feed.commits, feed.writer)
    this.runs.write(sheet.runs)
    this.keys.insert(sheet.keys)
    each(this.insertLate, sheet.late)
    each(this.insertIncident, sheet.incidents)
    this.records.journal(sheet.journal.texts)
    return true
  }

  /** At rest again without a run of its own having ended. */
  private releaseAll(values: Values): boolean {
    if (values.length === 0) return true
    for (const rows = values.reader(); rows.left > 0;) {
      const row = rows.take(1)
      this.release.run(...row)
      if (this.deleteLive.run(...row.slice(8, 11)).changes !== 1) return false
    }
    return true
  }

  private settleSame(values: Values): void {
    if (values.length === 0) return
    for (const rows = values.reader(); rows.left > 0;) {
      const row = rows.take(1)
      if (this.landSame.run(...row).changes !== 1) this.settled.insertOne(row)
    }
  }
}

function each(statement: StatementSync, values: Values): void {
  if (values.length === 0) return
  for (const rows = values.reader(); rows.left > 0;) statement.run(...rows.take(1))
}

/** False when one did not change exactly one row. */
function eachOnce(statement: StatementSync, values: Values): boolean {
  if (values.length === 0) return true
  for (const rows = values.reader(); rows.left > 0;) if (statement.run(...rows.take(1)).changes !== 1) return false
  return true
}
