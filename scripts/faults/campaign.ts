// One campaign: everything is started, load and faults run side by side, the faults stop, everything settles, the auditor judges, and
// everything that was started is ended.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { seededRandom } from '../../src/base/random.ts'
import { defaultSettings } from '../../src/engine/options.ts'
import { compilePlans } from '../../src/lifecycle/compile-plan.ts'
import { openPostgresStore } from '../../src/postgres.ts'
import { boundOfRunning } from '../../src/testing/settle-bound.ts'
import { ask, carryOut, Cluster } from './cluster.ts'
import { Cloud } from './cloud.ts'
import { acknowledgedIn, readDatabase, type Evidence } from './evidence.ts'
import { isOnTheWay, isUnswept, judge, type Verdict } from './judge.ts'
import type { ClientCounts } from './messages.ts'
import { Proxy } from './proxy.ts'
import { scheduleOf, type Fault, type FaultKind, type Planned } from './schedule.ts'
import { engineSettings, lifecycles, schema } from './systems.ts'
import { pause, until } from '../waiting.ts'
import { watch } from './watch.ts'
import { LoadClient, WorkerPool } from './worker-pool.ts'

export interface CampaignOptions {
  readonly seed: number
  readonly seconds: number
  readonly workers: number
  readonly users: number
  /** Only these faults; left out: all. */
  readonly only?: readonly FaultKind[] | undefined
  /** These instead of those of the seed; each is carried out, however long it takes. */
  readonly faults?: readonly Planned[] | undefined
  /** No longer than this is waited for what is to settle; left out: as long as it may take by its declared deadlines. */
  readonly atMostMs?: number | undefined
  /** A control: the standby is asynchronous, and what was acknowledged may be lost. */
  readonly isCareless?: boolean | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  readonly isTold?: boolean | undefined
}

export interface Progress {
  readonly phase: 'starting' | 'faults' | 'settling' | 'judging'
  readonly seconds: number
  readonly counts: ClientCounts
  readonly done: Readonly<Record<string, number>>
  readonly ready: number
}

export interface Outcome {
  readonly counts: ClientCounts
  /** Faults that were carried out, by kind. */
  readonly done: Readonly<Partial<Record<FaultKind, number>>>
  readonly verdict: Verdict
  readonly evidence: Evidence
  /** Failovers whose primary was killed; that of the others was frozen, and woke up. */
  readonly killedInFailOvers: number
  readonly settleMs: number
  /** How long it may have taken: computed from what was on the way when the faults stopped. */
  readonly boundMs: number
  /** Late results that were refused and kept; calls that the outside world refused for their epoch. */
  readonly fenced: { readonly late: number; readonly calls: number }
  readonly parked: number
}

const patienceMs = 2_000
const plans = compilePlans(lifecycles)

export class Campaign {
  readonly #options: CampaignOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-faults-'))
  readonly #done: Partial<Record<FaultKind, number>> = {}
  #cluster: Cluster | null = null
  #proxy: Proxy | null = null
  #cloud: Cloud | null = null
  #workers: WorkerPool | null = null
  #client: LoadClient | null = null
  #phase: Progress['phase'] = 'starting'
  /** Faults of the servers come one after another. */
  #atServers: Promise<unknown> = Promise.resolve()
  readonly #under = new Set<Promise<unknown>>()
  #begun = performance.now()
  #isOver = false
  #killedInFailOvers = 0
  #failure: unknown = null

  constructor(options: CampaignOptions) {
    this.#options = options
  }

  async run(): Promise<Outcome> {
    const timer = setInterval(() => this.#tell(), 500)
    try {
      await this.#start()
      this.#phase = 'faults'
      this.#begun = performance.now()
      const { seed, seconds, only, faults } = this.#options
      await this.#strike(faults?.toSorted((a, b) => a.atMs - b.atMs) ?? scheduleOf(seed, seconds, only))
      this.#phase = 'settling'
      const settleMs = await this.#settle()
      this.#phase = 'judging'
      this.#tell()
      return await this.#judge(settleMs)
    } finally {
      clearInterval(timer)
      await this.end()
    }
  }

  /** Ends whatever is there, in any phase; may be called again. */
  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all([this.#client?.finish(0), this.#workers?.end(0)])
    await this.#proxy?.stop().catch(() => {})
    await this.#cloud?.stop().catch(() => {})
    await this.#cluster?.remove().catch(() => {})
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const { seed, workers, users, isTold, isCareless = false } = this.#options
    const durability = isCareless ? 'disk' : 'standby'
    const cloudSocket = join(this.#folder, 'cloud.sock')
    this.#cloud = await Cloud.start(seed, cloudSocket)
    this.#cluster = await Cluster.start(!isCareless)
    const store = await openPostgresStore({ url: this.#cluster.url, schema, durability })
    await store.close()
    await carryOut(this.#cluster.url, watch)
    this.#proxy = await Proxy.start(this.#cluster.port)
    const url = this.#proxy.url
    const sockets = Array.from({ length: workers }, (_, index) => join(this.#folder, `worker-${index}.sock`))
    this.#workers = new WorkerPool(
      sockets.map((socket, index) => ({
        name: `w${index}`,
        url,
        socket,
        cloud: cloudSocket,
        patienceMs,
        durability,
        isTold,
      })),
    )
    await until('all workers are ready', 120_000, () => this.#workers!.ready === workers)
    this.#client = new LoadClient({ sockets, log: this.#log, seed, users })
    await this.#client.ready
  }

  get #log(): string {
    return join(this.#folder, 'acknowledged.log')
  }

  async #strike(planned: readonly Planned[]): Promise<void> {
    for (const fault of planned) {
      await pause(Math.max(0, this.#begun + fault.atMs - performance.now()))
      this.#mustGoOn()
      const carried = this.#carryOut(fault)
        .then((isDone) => {
          if (isDone) this.#done[fault.does] = (this.#done[fault.does] ?? 0) + 1
        })
        .catch((error: unknown) => (this.#failure ??= new Error(`${fault.does} failed`, { cause: error })))
      this.#under.add(carried)
      void carried.finally(() => this.#under.delete(carried))
    }
    await pause(Math.max(0, this.#begun + this.#options.seconds * 1_000 - performance.now()))
    // Of those by seed, the ones that wait for their turn are left out.
    this.#isOver = this.#options.faults === undefined
    while (this.#under.size > 0) await Promise.all(this.#under)
    this.#mustGoOn()
  }

  #mustGoOn(): void {
    if (this.#failure !== null) throw this.#failure
  }

  async #carryOut(fault: Fault): Promise<boolean> {
    const workers = this.#workers!
    const proxy = this.#proxy!
    const by = (seed: number, part: number) => {
      const random = seededRandom(seed)
      return () => random.below(100) < part
    }
    if (this.#options.faults !== undefined && 'pick' in fault)
      await until('a worker is at work', 60_000, () => workers.ready > 0)
    switch (fault.does) {
      case 'killWorker':
        return workers.kill(fault.pick)
      case 'freezeWorker':
        return workers.freeze(fault.pick, fault.ms)
      case 'cutCommit': {
        const { cuts } = proxy
        proxy.cutNext(fault.cut)
        if (this.#options.faults !== undefined) await until('a commit is cut', 60_000, () => proxy.cuts > cuts)
        // Counted when it has happened.
        return false
      }
      case 'cutLinks':
        proxy.cutLinks(by(fault.seed, fault.part))
        return true
      case 'deadLinks':
        proxy.goDead(by(fault.seed, fault.part))
        return true
      case 'deadAfter':
        proxy.cutLinks(by(fault.seed, fault.part))
        proxy.goDeadAfter(fault.packets)
        return true
      case 'stall':
        await proxy.stall(fault.ms)
        return true
      case 'delay':
        await proxy.delay(fault.each, fault.ms)
        return true
      case 'jumpClock':
        return workers.jumpClock(fault.pick, fault.offMs)
      case 'exhaustPool':
        return this.#atServer(() => this.#exhaust(fault.ms))
      case 'killPrimary':
        return this.#atServer(() => this.#cluster!.killPrimary())
      case 'killStandby':
        return this.#atServer(() => this.#cluster!.killStandby())
      case 'freezePrimary':
        return this.#atServer(() => this.#cluster!.freezePrimary(fault.ms))
      case 'failOver':
        return this.#atServer(async () => {
          await this.#cluster!.failOver(fault.loss, () => proxy.lead(this.#cluster!.port), fault.aliveMs)
          if (fault.loss === 'killed') this.#killedInFailOvers++
        })
    }
  }

  #atServer(work: () => Promise<void>): Promise<boolean> {
    const turn = this.#atServers.then(async () => {
      if (this.#isOver) return false
      await work()
      return true
    })
    this.#atServers = turn.catch(() => {})
    return turn
  }

  /** Takes every connection that the server has left, and makes the workers need new ones. */
  async #exhaust(ms: number): Promise<void> {
    const held: pg.Client[] = []
    try {
      for (;;) {
        const client = new pg.Client(this.#cluster!.url)
        client.on('error', () => {})
        await client.connect()
        held.push(client)
      }
    } catch {
      // There are no more.
    }
    const random = seededRandom(ms)
    this.#proxy!.cutLinks(() => random.below(100) < 25)
    await pause(ms)
    await Promise.all(held.map((client) => client.end().catch(() => {})))
  }

  /** No more faults; answers how long it took until nothing was on the way, and how long it may have taken. */
  async #settle(): Promise<Pick<Outcome, 'settleMs' | 'boundMs'>> {
    this.#proxy!.heal()
    this.#workers!.setClocksRight()
    const begun = performance.now()
    await this.#client!.finish(30_000)
    const { rows } = await readDatabase(this.#cluster!.url)
    const declaredMs = boundOfRunning(plans, { ...defaultSettings, ...engineSettings }, rows.filter(isOnTheWay))
    const boundMs = Math.min(performance.now() - begun + declaredMs, this.#options.atMostMs ?? Infinity)
    const left = () => boundMs - (performance.now() - begun)
    let settledSince = 0
    while (left() > 0) {
      const isSettled = await this.#isSettled().catch(() => false)
      if (!isSettled) settledSince = 0
      else if (settledSince === 0) settledSince = performance.now()
      // Settled means: and stays so.
      else if (performance.now() - settledSince > 1_500) return { settleMs: settledSince - begun, boundMs }
      await pause(100)
    }
    return { settleMs: boundMs, boundMs }
  }

  async #isSettled(): Promise<boolean> {
    const [busy] = await ask(
      this.#cluster!.url,
      `select count(*)::int from ${schema}.state s join ${schema}.shape h on h.id = s.shape
        where (s.owner is not null or h.kind = 'transitional') and not (s.owner is not null and s.due is null and s.owner > -1)`,
    )
    if (busy !== 0) return false
    const known = new Set<string>()
    const { rows } = await readDatabase(this.#cluster!.url)
    if (rows.some(isUnswept)) return false
    for (const { ledger } of rows) for (const { name } of ledger) known.add(name)
    return (await this.#cloud!.world.leaks(known)).every(({ kind }) => kind === 'hypervisor')
  }

  async #judge(settled: Pick<Outcome, 'settleMs' | 'boundMs'>): Promise<Outcome> {
    await this.#workers!.end()
    const database = await readDatabase(this.#cluster!.url)
    const evidence: Evidence = {
      ...database,
      acknowledged: acknowledgedIn(this.#log),
      effects: this.#cloud!.effects,
      truth: await this.#cloud!.truth(),
    }
    const [late] = (await ask(this.#cluster!.url, `select count(*)::int from ${schema}.late`)) as [number]
    this.#done.cutCommit = this.#proxy!.cuts
    return {
      counts: this.#client!.counts,
      done: this.#done,
      verdict: judge(evidence, lifecycles),
      evidence,
      killedInFailOvers: this.#killedInFailOvers,
      ...settled,
      fenced: { late, calls: this.#cloud!.staleRefused },
      parked: evidence.rows.filter((row) => row.isParked && !isOnTheWay(row)).length,
    }
  }

  #tell(): void {
    this.#options.onProgress?.({
      phase: this.#phase,
      seconds: (performance.now() - this.#begun) / 1_000,
      counts: this.#client?.counts ?? { acknowledged: 0, refused: 0, asked: 0, repeated: 0, systems: {}, codes: {} },
      done: { ...this.#done, cutCommit: this.#proxy?.cuts ?? 0 },
      ready: this.#workers?.ready ?? 0,
    })
  }
}
