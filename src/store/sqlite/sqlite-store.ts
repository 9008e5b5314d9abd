// The store in a SQLite file, for one or several processes of one machine. This file puts the parts together and keeps
// their order at opening and closing; what each does is in its own.
import { statSync } from 'node:fs'
import type { Millis } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import { canonical, type Json } from '../../base/json.ts'
import { blockOf } from '../../base/number-blocks.ts'
import { systemRandom } from '../../base/random.ts'
import type { Ask } from '../../decision/situation.ts'
import type { Incarnation, Incident, No } from '../../decision/state.ts'
import { Listeners } from '../listeners.ts'
import type {
  Batch,
  Beside,
  CommitAnswer,
  Heartbeat,
  IncidentsQuery,
  KindOf,
  ListQuery,
  MaybePromise,
  OfTenant,
  RecordsQuery,
  Removed,
  Retention,
  RunsQuery,
  Store,
  TenantEventsQuery,
  WorkerRow,
  WorkQuery,
} from '../store.ts'
import { toText } from '../codec.ts'
import { mustNotBeHalfRestored } from './back-up.ts'
import { CommitThread } from './commit-thread.ts'
import { Connection, translated } from './connection.ts'
import { startHeartbeatThread } from './heartbeat.ts'
import { listNumbers } from './lister.ts'
import { mustHaveWholeLog } from './log-damage.ts'
import { moveAll } from './lingering.ts'
import { EventLog, RunLog } from './logs.ts'
import { migrate, mustNotBeNewer, storeSchema, versionOf } from './migrations.ts'
import { OwnFiles } from './own-files.ts'
import { Places } from './places.ts'
import { Planner } from './planner.ts'
import { Reader } from './reader.ts'
import { RecordReader, RecordWriter } from './records.ts'
import { rejudge } from './rejudge.ts'
import { removeHistory } from './retention.ts'
import { Shapes } from './shapes.ts'
import { SheetWriter } from './sheet-writer.ts'
import { latestEvents, Turns } from './turns.ts'
import { Verifier } from './verifier.ts'
import { Workers } from './workers.ts'
import { Writer } from './writer.ts'

export interface SqliteStoreOptions {
  /** Beside it lie its log (`-wal`, `-shm`), the leases (`.workers`) and a lock per worker (`.worker-<number>`). */
  readonly file: string
  /** Only look: nothing can be committed or registered. The file must exist. */
  readonly readonly?: boolean | undefined
  /** How long a commit waits for the commits of other processes. */
  readonly patienceMs?: number | undefined
  /** A thread that carries out commits while this one goes on: while much is written (the default), always or never. */
  readonly thread?: 'auto' | 'always' | 'never' | undefined
  readonly log?: ((line: string) => void) | undefined
}

export function openSqliteStore(options: SqliteStoreOptions): Store {
  return new SqliteStore(options)
}

class SqliteStore implements Store {
  private readonly file: string
  private readonly readonly: boolean
  private readonly connection: Connection
  private readonly files: OwnFiles
  private readonly shapes: Shapes
  private readonly places: Places
  private readonly sheets: SheetWriter
  private readonly reader: Reader
  private readonly recordsOf: RecordReader
  private readonly writer: Writer
  private readonly workersOf: Workers
  private readonly listeners = new Listeners()
  private readonly heartbeats = new Set<Heartbeat>()

  constructor({ file, readonly = false, patienceMs = 5000, thread = 'auto', log }: SqliteStoreOptions) {
    this.file = file
    this.readonly = readonly
    mustNotBeHalfRestored(file)
    mustHaveWholeLog(file)
    const connection = new Connection({ file, readonly, synchronous: 'full', patienceMs })
    this.connection = connection
    try {
      if (readonly) mustNotBeNewer(versionOf(connection.db), storeSchema)
      else connection.writing(() => migrate(connection.db, storeSchema))
      mustLookSound(connection)
      this.files = new OwnFiles(file)
      this.workersOf = new Workers({ file, patienceMs })
      const shapes = new Shapes(connection)
      const verifier = new Verifier(connection, shapes)
      const parts = {
        connection,
        shapes,
        verifier,
        events: new EventLog(connection, shapes),
        runs: new RunLog(connection),
      }
      const places = new Places(connection, shapes)
      const me = systemRandom.below(2 ** 48)
      this.shapes = shapes
      this.places = places
      this.sheets = new SheetWriter(connection)
      this.reader = new Reader(parts)
      this.recordsOf = new RecordReader(connection)
      const planner = new Planner({ ...parts, places })
      const startThread = () => new CommitThread({ file, patienceMs, me })
      const turns = new Turns(connection, me)
      this.writer = new Writer({ shapes, verifier, planner, sheets: this.sheets, turns, me, thread, startThread })
    } catch (error) {
      connection.close()
      throw translated(error, file)
    }
    log?.(`opened ${file}, event ${this.writer.head}`)
  }

  useKinds(kindOf: KindOf): void {
    this.guarded(() => {
      if (this.readonly || !this.shapes.differFrom(kindOf)) return
      const { connection, shapes, places, sheets, reader } = this
      this.writer.change(() => rejudge({ connection, shapes, places, sheets, reader, kindOf }))
    })
  }

  register({ name, leaseMs, now }: { name: string; leaseMs: number; now: Millis }): Incarnation {
    return this.guarded(() => {
      const newest = this.connection.prepare('select coalesce(max(no), 0) from resource').get() as unknown as [number]
      // Whatever the counter says, nobody numbers resources as one before did.
      const highest = Math.max(this.workersOf.highest(), blockOf(newest[0]))
      const next = this.connection.prepare(
        'update feed set incarnations = max(incarnations, ?) + 1 returning incarnations',
      )
      const row = this.connection.writing(() => {
        moveAll(this.connection)
        return next.get(highest)
      }) as unknown as [number] | undefined
      if (row === undefined) throw damagedStore(this.file, 'its counter of workers is gone')
      const [no] = row
      this.workersOf.register({ no, name, leaseMs, now })
      return no
    })
  }

  beat(worker: { no: Incarnation; leaseMs: number; now: Millis }): boolean {
    return this.guarded(() => this.workersOf.beat(worker))
  }

  keepBeating({ no, leaseMs }: { no: Incarnation; leaseMs: number }): Heartbeat {
    const heartbeat = startHeartbeatThread({ file: this.file, no, leaseMs })
    this.heartbeats.add(heartbeat)
    return heartbeat
  }

  end(worker: { no: Incarnation; as: 'ended' | 'dead' | 'expired'; now: Millis }): boolean {
    return this.guarded(() => this.workersOf.end(worker))
  }

  workers(now: Millis): readonly WorkerRow[] {
    return this.guarded(() => {
      // Owners first: whoever owns something has registered before.
      const owners = this.reader.ownersOfLive()
      const rows = new Map(this.workersOf.all(now).map((row) => [row.no, row]))
      for (const no of owners) {
        if (!rows.has(no)) rows.set(no, { no, name: '', startedAt: 0, beatAt: 0, leaseUntil: 0, state: 'dead' })
      }
      return [...rows.values()].sort((a, b) => a.no - b.no)
    })
  }

  forgetWorkers(nos: readonly Incarnation[]): void {
    this.guarded(() => {
      const owners = new Set(this.reader.ownersOfLive())
      this.workersOf.forget(nos.filter((no) => !owners.has(no)))
    })
  }

  load(asks: readonly Ask[]) {
    return this.guarded(() => this.reader.load(asks))
  }

  get commitsAtOnce(): number {
    return this.writer.commitsAtOnce
  }

  commit(batch: Batch): MaybePromise<CommitAnswer> {
    this.files.mustBeThere()
    const committing = this.writer.commit(batch)
    const tell = (answer: CommitAnswer) => {
      if (answer.committed) this.listeners.wake()
      return answer
    }
    return committing instanceof Promise ? committing.then(tell) : tell(committing)
  }

  othersWrote(): boolean {
    return this.guarded(() => this.writer.othersWrote())
  }

  work(query: WorkQuery, now: Millis, limit: number, after: No = 0) {
    return this.guarded(() => this.reader.workFor(query, now, limit, after))
  }

  list(query: ListQuery) {
    return this.guarded(() =>
      this.connection.reading(() => this.reader.all(listNumbers(this.connection, this.shapes, query))),
    )
  }

  counts(of: OfTenant = {}) {
    return this.guarded(() =>
      of.tenant === undefined ? this.writer.counts(() => this.reader.counts({})) : this.reader.counts(of),
    )
  }

  history(no: No, before: number | null, limit: number) {
    return this.guarded(() => this.reader.history(no, before, limit))
  }

  events(after: number, limit: number) {
    return this.guarded(() => this.reader.eventsAfter(after, limit))
  }

  tenantEvents(query: TenantEventsQuery) {
    return this.guarded(() => this.reader.tenantEvents(query))
  }

  endedRuns(query: RunsQuery) {
    return this.guarded(() => this.reader.endedRuns(query))
  }

  lateResults(no: No) {
    return this.guarded(() => this.reader.lateResults(no))
  }

  incidents(query: IncidentsQuery) {
    return this.guarded(() => this.reader.incidents(query))
  }

  closeIncident(no: No, kind: Incident['kind'], { records = [], journal = [] }: Beside = {}): boolean {
    const closed = this.change(() => {
      if (this.recordsOf.conflictsOf(records).length > 0) return false
      new RecordWriter(this.connection).writeAll(records, journal)
      this.connection.prepare('delete from incident where no = ? and kind = ?').run(no, kind)
      return true
    })
    if (closed) this.listeners.wake()
    return closed
  }

  setting(name: string): Json {
    return this.guarded(() => this.reader.setting(name))
  }

  changeSetting(name: string, from: Json, to: Json): boolean {
    const changed = this.change(() => {
      if (canonical(this.reader.setting(name)) !== canonical(from)) return false
      const upsert =
        'insert into setting (name, value) values (?, ?) on conflict (name) do update set value = excluded.value'
      this.connection.prepare(upsert).run(toText(name), JSON.stringify(to))
      return true
    })
    if (changed) this.listeners.wake()
    return changed
  }

  record(kind: string, key: string) {
    return this.guarded(() => this.recordsOf.record(kind, key))
  }

  records(query: RecordsQuery) {
    return this.guarded(() => this.recordsOf.records(query))
  }

  removeHistory(wanted: Retention): Promise<Removed> {
    return removeHistory({ connection: this.connection, change: (work) => this.change(work) }, wanted)
  }

  journal(after: number, limit: number) {
    return this.guarded(() => this.recordsOf.journal(after, limit))
  }

  journalLength() {
    return this.guarded(() => this.recordsOf.journalLength())
  }

  liveShapes() {
    return this.guarded(() => this.reader.liveShapes())
  }

  /** Tells of commits through this handle. SQLite cannot tell of others': ask `othersWrote` from time to time. */
  onChange(wake: () => void): () => void {
    return this.listeners.add(wake)
  }

  async close(): Promise<void> {
    this.listeners.clear()
    for (const heartbeat of this.heartbeats) await heartbeat.stop()
    await this.writer.stop()
    this.workersOf.close()
    this.connection.close()
  }

  private change<T>(work: () => T): T {
    this.files.mustBeThere()
    return this.writer.change(work)
  }

  private guarded<T>(work: () => T): T {
    this.files.mustBeThere()
    try {
      return work()
    } catch (error) {
      throw translated(error, this.file)
    }
  }
}

/** A file cut short, or a feed that does not fit its events, is damage that is cheap to see; the rest is found when it is read. */
function mustLookSound(connection: Connection): void {
  const { file } = connection
  const number = (sql: string) => Number((connection.prepare(sql).get() as unknown as [number])[0])
  // Of one moment: others may be writing.
  const { bytes, kept, head, last, ends, lastEnd } = connection.reading(() => ({
    head: number(`select events ${latestEvents}`),
    last: number('select coalesce(max(first), 0) from event'),
    ends: number(`select runs ${latestEvents}`),
    lastEnd: number('select coalesce(max(first), 0) from run'),
    bytes: number('select page_count * page_size from pragma_page_count, pragma_page_size'),
    kept: statSync(file).size + (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0),
  }))
  if (bytes <= kept && last <= head && lastEnd <= ends) return
  const damage =
    bytes > kept
      ? `it should have ${bytes} bytes and has ${kept}`
      : last > head
        ? `it has event ${last}, its feed ends at ${head}`
        : `it has the end of run ${lastEnd}, its feed ends at ${ends}`
  throw damagedStore(file, damage)
}

const damagedStore = (file: string, damage: string): HomeostatError =>
  new HomeostatError('store_corrupt', `${file} is damaged: ${damage}. Stop all processes and restore a back-up.`)
