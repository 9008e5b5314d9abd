// The commit: one transaction for a whole batch. Each statement that changes a state names the revision and epoch it expects;
// one that finds something else undoes the batch, which is then verified in full in order to say what has changed.
import type { StatementSync } from 'node:sqlite'
import { assert, Defect } from '../../base/assert.ts'
import { HomeostatError } from '../../base/errors.ts'
import type { No, Resource } from '../../decision/state.ts'
import type { Batch, CommitAnswer, Write } from '../store.ts'
import { toText } from './codec.ts'
import { isConstraint, translated, type Connection } from './connection.ts'
import type { EventLog, RunLog } from './logs.ts'
import { mismatch, type Places } from './places.ts'
import { Rows } from './rows.ts'
import type { Shapes } from './shapes.ts'
import type { Verifier } from './verifier.ts'

/** How many latest ended runs are remembered by resource. */
const remembered = 20_000

export interface WriterParts {
  readonly connection: Connection
  readonly shapes: Shapes
  readonly events: EventLog
  readonly runs: RunLog
  readonly places: Places
  readonly verifier: Verifier
}

export class Writer {
  private readonly parts: WriterParts
  private readonly readFeed: StatementSync
  private readonly writeFeed: StatementSync
  private readonly readEnded: StatementSync
  private readonly newKeys: Rows
  private readonly insertLate: StatementSync
  private readonly insertIncident: StatementSync
  /** What the feed's row said when the file had version `version`, and what we wrote since. */
  private version = -1
  private heads = { events: 0, runs: 0, commits: 0 }
  private foreign = false
  private readonly lastEnded = new Map<No, number>()
  private broken: unknown = null

  constructor(parts: WriterParts) {
    this.parts = parts
    const { connection } = parts
    this.readFeed = connection.prepare('select events, runs, commits from feed where one = 1')
    this.writeFeed = connection.prepare('update feed set events = ?, runs = ?, commits = ? where one = 1')
    this.readEnded = connection.prepare(
      'select ended from live where no = ?1 union all select ended from settled where no = ?1 limit 1',
    )
    this.newKeys = new Rows(connection, 'key (key, hash, no, begun, at)', 5)
    this.insertLate = connection.prepare('insert into late (no, body) values (?, ?)')
    this.insertIncident = connection.prepare(
      'insert into incident (no, kind, body) values (?, ?, ?) on conflict (no, kind) do nothing',
    )
    this.refresh()
    this.foreign = false
  }

  get head(): number {
    return this.heads.events
  }

  get runHead(): number {
    return this.heads.runs
  }

  othersWrote(): boolean {
    this.refresh()
    const wrote = this.foreign
    this.foreign = false
    return wrote
  }

  /** Looks whether another connection has committed, and if so where the feed stands now. */
  refresh(): void {
    const version = this.parts.connection.version()
    if (version === this.version) return
    const [events, runs, commits] = this.readFeed.get() as unknown as [number, number, number]
    // Heartbeats and registrations change the version too, but not the count of commits.
    if (commits !== this.heads.commits) {
      this.foreign = true
      this.heads = { events, runs, commits }
      this.lastEnded.clear()
    }
    this.version = version
  }

  commit(batch: Batch): CommitAnswer {
    const answer = this.attempt(batch, false) ?? this.attempt(batch, true)
    if (answer === null) throw new Defect('a batch that was verified did not apply')
    return answer
  }

  /** A writing transaction that other handles notice as a commit. */
  change<T>(work: () => T): T {
    this.begin()
    try {
      const result = work()
      const heads = { ...this.heads, commits: this.heads.commits + 1 }
      this.writeFeed.run(heads.events, heads.runs, heads.commits)
      this.end()
      this.heads = heads
      return result
    } catch (error) {
      this.undo()
      throw translated(error, this.parts.connection.file)
    }
  }

  /** `careful` trusts nothing: it verifies everything first and looks where each state really is. Null: try carefully. */
  private attempt(batch: Batch, careful: boolean): CommitAnswer | null {
    const { connection, verifier } = this.parts
    this.begin()
    try {
      if (careful) {
        const conflict = verifier.conflictsOf(batch)
        if (conflict !== null) {
          this.undo()
          return { committed: false, ...conflict }
        }
      } else if (!verifier.guardsHold(batch.guards)) {
        this.undo()
        return null
      }
      const first = this.heads.events + 1
      const lasts = this.apply(batch, careful)
      const heads = {
        events: this.heads.events + batch.events.length,
        runs: this.heads.runs + batch.ended.length,
        commits: this.heads.commits + 1,
      }
      this.writeFeed.run(heads.events, heads.runs, heads.commits)
      this.end()
      this.heads = heads
      for (let i = 0; i < lasts.length; i++) batch.writes[i]!.after.last = lasts[i]!
      return { committed: true, first }
    } catch (error) {
      this.undo()
      if (!careful && (error === mismatch || isConstraint(error))) return null
      throw translated(error, connection.file)
    }
  }

  private begin(): void {
    if (this.broken !== null) throw translated(this.broken, this.parts.connection.file)
    try {
      this.parts.connection.begin()
      this.refresh()
    } catch (error) {
      this.parts.connection.rollback()
      throw translated(error, this.parts.connection.file)
    }
  }

  private end(): void {
    const { connection, shapes } = this.parts
    try {
      connection.commit()
    } catch (error) {
      connection.rollback()
      this.bury(error)
      throw error
    }
    shapes.keepAdded()
  }

  private undo(): void {
    const { connection, shapes, events, runs, places } = this.parts
    connection.rollback()
    shapes.forgetAdded()
    places.drop()
    this.newKeys.drop()
    events.drop()
    runs.drop()
    this.lastEnded.clear()
  }

  /**
   * A commit that failed while it was being made safe may have left its frames in the log, and a recovery could bring them
   * back to life. A further commit overwrites them. Where that fails too, nothing may be said about the batch: this
   * connection is of no more use, and the process should end.
   */
  private bury(cause: unknown): void {
    const { connection } = this.parts
    try {
      connection.writing(() => this.writeFeed.run(this.heads.events, this.heads.runs, this.heads.commits))
    } catch {
      this.broken = new HomeostatError(
        'store_unavailable',
        `${connection.file} could not be written safely; the last batch may or may not be kept. Restart the process.`,
        { cause },
      )
    }
  }

  private apply(batch: Batch, careful: boolean): number[] {
    const { places, events, runs } = this.parts
    const lasts = this.writeEvents(batch)
    const ended = batch.ended.length === 0 ? null : this.writeEnds(batch)
    const { writes } = batch
    for (let i = 0; i < writes.length; i++) {
      const { before, after } = writes[i]!
      if (before === null) {
        places.create(after, lasts[i]!, ended?.get(after.no) ?? 0)
        if (this.lastEnded.size < remembered) this.lastEnded.set(after.no, 0)
      } else {
        assert(
          before.no === after.no && before.type === after.type && before.id === after.id,
          `resource ${after.no} changed its name`,
        )
        places.change(before, after, lasts[i]!, ended?.get(after.no) ?? null, careful)
      }
    }
    // What has ended is seldom asked again: the map stays as small as what is under way.
    if (ended !== null) for (const no of ended.keys()) this.lastEnded.delete(no)
    places.flush()
    events.flush()
    runs.flush()
    for (const { key, hash, no, begun, at } of batch.keys) {
      this.newKeys.values.push(toText(key), toText(hash), no, begun, at)
      this.newKeys.added()
    }
    this.newKeys.flush()
    for (const result of batch.late) this.insertLate.run(result.no, JSON.stringify(result))
    for (const incident of batch.incidents)
      this.insertIncident.run(incident.no, incident.kind, JSON.stringify(incident))
    return lasts
  }

  /** Answers the number of the latest event of each written resource, in the order of the writes. */
  private writeEvents(batch: Batch): number[] {
    const { writes } = batch
    const lasts = writes.map(({ before }) => before?.last ?? 0)
    const find = placeFinder(writes)
    let n = this.heads.events
    for (const event of batch.events) {
      const at = find(event.no)
      n++
      this.parts.events.write(event, n, lasts[at]!, writes[at]!.after.type)
      lasts[at] = n
    }
    return lasts
  }

  /** Answers the number of the latest ended run by resource. */
  private writeEnds(batch: Batch): Map<No, number> {
    const ends = new Map<No, number>()
    let n = this.heads.runs
    for (const run of batch.ended) {
      const prev = ends.get(run.no) ?? this.lastEnded.get(run.no) ?? this.storedEnd(run.no)
      this.parts.runs.write(run, ++n, prev)
      ends.set(run.no, n)
    }
    return ends
  }

  private storedEnd(no: No): number {
    return (this.readEnded.get(no) as unknown as [number] | undefined)?.[0] ?? 0
  }
}

/** Where a resource is among the writes. Events usually come in the same order, one for each: looking ahead by one is enough. */
function placeFinder(writes: readonly Write[]): (no: No) => number {
  let at = 0
  let places: Map<No, number> | null = null
  return (no) => {
    if (writes[at]?.after.no === no) return at
    if (writes[at + 1]?.after.no === no) return ++at
    places ??= new Map(writes.map(({ after }: { after: Resource }, place) => [after.no, place]))
    const place = places.get(no)
    assert(place !== undefined, `an event of resource ${no}, which the batch does not write`)
    at = place
    return place
  }
}
