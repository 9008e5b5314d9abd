// The store in a PostgreSQL database, for any number of processes on any number of machines. This file puts the parts together and keeps
// their order at opening and closing; what each does is in its own.
import type { Millis } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import { canonical, type Json } from '../../base/json.ts'
import type { Ask } from '../../decision/situation.ts'
import type { Incarnation, Incident, No, Resource } from '../../decision/state.ts'
import { Listeners } from '../listeners.ts'
import type {
  Batch,
  Beside,
  CommitAnswer,
  Declared,
  Heartbeat,
  IncidentsQuery,
  KindOf,
  ListQuery,
  OfTenant,
  RecordsQuery,
  RunsQuery,
  Removed,
  Retention,
  Store,
  TenantEventsQuery,
  WorkQuery,
} from '../store.ts'
import { shownAddress, type AddressOptions } from './address.ts'
import { Committer } from './committer.ts'
import { Connections, settingStatements } from './connections.ts'
import { translating, translatingAtStart } from './failures.ts'
import { startHeartbeatThread } from './heartbeat.ts'
import { History } from './history.ts'
import { closeIncident } from './incident-closer.ts'
import { LiveCleaner } from './live-cleaner.ts'
import { listResources } from './lister.ts'
import { Loader } from './loader.ts'
import { migrate } from './migrations.ts'
import type { Row } from './pipeline.ts'
import { Reader } from './reader.ts'
import { rejudge } from './rejudge.ts'
import { ServerClock } from './server-clock.ts'
import { sessionOf, type Session } from './session.ts'
import { Shapes } from './shapes.ts'
import { mustLookSound } from './soundness.ts'
import { mustSuit, type Durability } from './suitability.ts'
import { toText } from './texts.ts'
import { Verifier } from './verifier.ts'
import { WaitingReader } from './waiting-reader.ts'
import type { Wire } from './wire.ts'
import { Workers } from './workers.ts'

export interface PostgresStoreOptions extends AddressOptions {
  /** Where the tables are. Made when it is not there. */
  readonly schema?: string | undefined
  /** Whom to act as (`set role`). */
  readonly role?: string | undefined
  /** What an acknowledged change must survive; less is refused when the store is opened. The default is `disk`. */
  readonly durability?: Durability | undefined
  /** Commits under way at once. Two keep a server busy that has few cores; take one where many workers share it. */
  readonly commits?: number | undefined
  /** How long a commit may take before its connection is given up and its outcome found out on another. */
  readonly patienceMs?: number | undefined
  /** Only look: nothing can be committed or registered. The schema must exist. */
  readonly readonly?: boolean | undefined
  /** Leases run by the server's clock (the default), or by the times that are given: for tests. */
  readonly clock?: 'server' | 'given' | undefined
  readonly log?: ((line: string, level: 'info' | 'warn') => void) | undefined
}

export interface PostgresStore extends Store {
  /** What an acknowledged change survives. */
  readonly durability: Durability
  /** Commits whose outcome was unknown at first, by what they turned out to be. */
  readonly resolved: { readonly committed: number; readonly undone: number }
  removeHistory(wanted: Retention): Promise<Removed>
}

export function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  return translatingAtStart(() => PostgresHandle.open(options))
}

const none: readonly Row[] = []

/** For the parts, which have nothing to say but what is not well. */
const warningOf =
  ({ log }: PostgresStoreOptions) =>
  (line: string): void =>
    log?.(line, 'warn')

/** What is known when a store has been opened. */
interface Opened {
  /** The number of this handle: no other has ever had it. */
  readonly handle: number
  readonly session: Session
  readonly shapes: Shapes
  readonly clock: ServerClock | undefined
  readonly durability: Durability
}

class PostgresHandle implements PostgresStore {
  readonly durability: Durability
  readonly commitsAtOnce: number
  readonly learnsLater = true
  readonly clock: ServerClock | undefined
  private readonly options: PostgresStoreOptions
  private readonly connections: Connections
  private readonly shapes: Shapes
  private readonly session: Session
  private readonly committer: Committer
  private readonly loader: Loader
  private readonly reader: Reader
  private readonly past: History
  private readonly cleaner: LiveCleaner
  private readonly workersOf: Workers
  private readonly listeners = new Listeners()
  private readonly heartbeats = new Set<Heartbeat>()
  private readonly waiting: WaitingReader
  private foreign = false
  private declared: readonly Declared[] = []

  private constructor(options: PostgresStoreOptions, connections: Connections, opened: Opened) {
    const log = warningOf(options)
    const { handle, session, shapes } = opened
    this.options = options
    this.connections = connections
    this.durability = opened.durability
    this.clock = opened.clock
    this.session = session
    this.commitsAtOnce = options.commits ?? 2
    const { commits, resolvers, loads, reads } = connections
    const verifier = new Verifier(reads)
    this.shapes = shapes
    this.committer = new Committer({
      wires: commits,
      resolvers,
      shapes: this.shapes,
      verifier,
      handle,
      log,
    })
    this.loader = new Loader(loads, this.shapes)
    this.waiting = new WaitingReader({ address: { url: options.url, tls: options.tls }, settings: connections.reading })
    this.reader = new Reader(reads, this.shapes)
    this.past = new History(() => connections.openForLong(), log)
    this.cleaner = new LiveCleaner(commits, log)
    this.workersOf = new Workers({ session, wires: commits, clock: this.clock })
  }

  static async open(options: PostgresStoreOptions): Promise<PostgresHandle> {
    const { schema = 'homeostat', durability = 'disk', readonly = false, log } = options
    const connections = new Connections(options)
    const { commits, loads, reads } = connections
    const clock = options.clock === 'given' ? undefined : new ServerClock()
    let store: PostgresHandle | null = null
    const session = sessionOf(options, connections, clock, () => store?.othersCommitted())
    // All at once: most of opening is waiting for the server to begin a connection.
    const starting = readonly ? Promise.resolve() : session.start()
    starting.catch(() => {})
    // The first who reads finds it open.
    if (!readonly) reads.warm().catch(() => {})
    try {
      const writers = readonly ? reads : commits
      await Promise.all([writers.warm(), loads.warm()])
      const shapes = new Shapes(writers)
      const [level, handle] = await writers.use((first) =>
        loads.use(async (second) => {
          const found = await mustSuit(first, second, durability, readonly)
          await migrate(first, schema, { isReadonly: readonly, tell: warningOf(options) })
          const [numbered] = await Promise.all([
            readonly ? none : first.query(settingStatements.newHandle),
            shapes.read(second),
            mustLookSound(second, schema),
          ])
          return [found, Number(numbered[0]?.[0] ?? 0)] as const
        }),
      )
      store = new PostgresHandle(options, connections, { handle, session, shapes, clock, durability: level })
      // Whether the server suits was asked first: what it is told about that helps more than how this failed.
      await starting
      // The second commit finds its connection open.
      if (!readonly) commits.warm(store.commitsAtOnce).catch(() => {})
      log?.(`opened ${shownAddress(options.url)}, schema ${schema}; commits survive: ${level}`, 'info')
      return store
    } catch (error) {
      await starting.catch(() => {})
      await session.close()
      await connections.close()
      throw error
    }
  }

  get resolved() {
    return this.committer.resolved
  }

  async useKinds(kindOf: KindOf, declared: readonly Declared[] = []): Promise<void> {
    const differs = await this.shapes.differFrom(kindOf)
    if (this.options.readonly === true) return
    if (differs) await this.writing((wire) => wire.patiently(() => rejudge(wire, this.shapes, kindOf)))
    // Else the first batches that name them would wait for it, and for one another.
    const unseen = this.shapes.unseenOf(declared)
    if (unseen.length > 0) await this.shapes.learn(unseen)
    this.declared = declared
  }

  async register(worker: { name: string; leaseMs: number; now: Millis }): Promise<Incarnation> {
    this.mustWrite()
    return translating(() => this.workersOf.register(worker))
  }

  beat(worker: { no: Incarnation; leaseMs: number; now: Millis }): Promise<boolean> {
    return this.workersOf.beat(worker)
  }

  keepBeating = ({ no, leaseMs }: { no: Incarnation; leaseMs: number }): Heartbeat => {
    const { url, tls } = this.options
    const settings = { ...this.connections.base, synchronous_commit: 'off' }
    const heartbeat = startHeartbeatThread({ address: { url, tls }, settings, no, leaseMs })
    this.heartbeats.add(heartbeat)
    return heartbeat
  }

  end(worker: { no: Incarnation; as: 'ended' | 'dead' | 'expired'; now: Millis }): Promise<boolean> {
    return this.workersOf.end(worker)
  }

  workers(now: Millis) {
    return this.workersOf.all(now)
  }

  forgetWorkers(nos: readonly Incarnation[]): Promise<void> {
    return this.workersOf.forget(nos)
  }

  load(asks: readonly Ask[]) {
    return this.loader.load(asks)
  }

  loadNow(asks: readonly Ask[]) {
    return this.waiting.load(asks)
  }

  async commit(batch: Batch): Promise<CommitAnswer> {
    this.mustWrite()
    const answer = await translating(() => this.committer.commit(batch))
    if (answer.committed) {
      this.changed()
      this.past.reached(answer.first)
      this.cleaner.ended(batch.ended.length)
    }
    return answer
  }

  othersWrote(): boolean {
    const wrote = this.foreign
    this.foreign = false
    return wrote
  }

  work(query: WorkQuery, now: Millis, limit: number, after: No = 0) {
    return this.reader.workFor(query, now, limit, after)
  }

  async offerWaiting(ask: { now: Millis; limit: number; owner: Incarnation; except?: readonly No[] }) {
    const foreign = this.shapes.notAmong(this.declared)
    const nos = (await this.workersOf.offer({ except: [], ...ask, foreign })).sort((a, b) => a - b)
    const found = await this.loader.load(nos.map((no) => ({ ask: 'resource', no })))
    return found.filter((one) => one !== null) as readonly Resource[]
  }

  list(query: ListQuery) {
    return listResources(this.connections.reads, this.shapes, query)
  }

  counts(of: OfTenant = {}) {
    return this.reader.counts(of)
  }

  history(no: No, before: number | null, limit: number) {
    return this.reader.history(no, before, limit)
  }

  events(after: number, limit: number) {
    return this.reader.eventsAfter(after, limit)
  }

  tenantEvents(query: TenantEventsQuery) {
    return this.reader.tenantEvents(query)
  }

  endedRuns(query: RunsQuery) {
    return this.reader.endedRuns(query)
  }

  lateResults(no: No) {
    return this.reader.lateResults(no)
  }

  incidents(query: IncidentsQuery) {
    return this.reader.incidents(query)
  }

  async closeIncident(no: No, kind: Incident['kind'], beside: Beside = {}): Promise<boolean> {
    const isClosed = await this.writing((wire) => closeIncident(wire, this.shapes, { no, kind, beside }))
    if (isClosed) this.changed()
    return isClosed
  }

  setting(name: string): Promise<Json> {
    return this.reader.setting(name)
  }

  async changeSetting(name: string, from: Json, to: Json): Promise<boolean> {
    const values = [toText(name), canonical(to)]
    const rows = await (from === null
      ? this.write('setFromNothing', ...values)
      : this.write('setFrom', ...values, canonical(from)))
    if (rows.length > 0) this.changed()
    return rows.length > 0
  }

  record(kind: string, key: string) {
    return this.reader.record(kind, key)
  }

  records(query: RecordsQuery) {
    return this.reader.records(query)
  }

  journal(after: number, limit: number) {
    return this.reader.journal(after, limit)
  }

  journalLength() {
    return this.reader.journalLength()
  }

  async removeHistory(wanted: Retention): Promise<Removed> {
    this.mustWrite()
    return translating(() => this.past.remove(wanted))
  }

  liveShapes() {
    return this.reader.liveShapes()
  }

  onChange(wake: () => void): () => void {
    return this.listeners.add(wake)
  }

  async close(): Promise<void> {
    this.listeners.clear()
    this.committer.close()
    this.past.close()
    this.waiting.close()
    for (const heartbeat of this.heartbeats) await heartbeat.stop()
    await this.session.close()
    await this.connections.close()
  }

  private mustWrite(): void {
    if (this.options.readonly !== true) return
    throw new HomeostatError('store_unavailable', 'The store was opened only to look. Open it for writing.')
  }

  private othersCommitted(): void {
    this.foreign = true
    this.listeners.wake()
  }

  private changed(): void {
    this.session.tell()
    this.listeners.wake()
  }

  private async write(name: keyof typeof settingStatements, ...values: readonly string[]) {
    const [rows] = await this.writing((wire) => wire.run([{ name, values }]))
    return rows!
  }

  private async writing<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    this.mustWrite()
    return translating(() => this.connections.commits.use(work))
  }
}
