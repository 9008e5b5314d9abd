// Carries out the runs that this incarnation owns. Level-triggered: after every change of a run, what it owes is compared with
// the calls that are under way; what is missing is started, what is no longer owed is aborted. Nothing here must be remembered.
//
// The worker: working -> stopping (starts nothing, gives back what has no call, waits for the rest) -> stopped.
// A call:     queued -> running -> reporting -> gone (its outcome is committed)
//             queued -> gone (withdrawn before it was made);  running -> detached (aborted: no longer owed) -> gone (it has ended)
import type { Clock } from '../base/clock.ts'
import { NumberMap } from '../base/number-map.ts'
import type { Random } from '../base/random.ts'
import type { Command, Outcome } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import { owedCalls, type OwedCall } from '../decision/owed.ts'
import type { Incarnation, No, Resource, Run } from '../decision/state.ts'
import type { Write } from '../store/store.ts'
import { Alarm } from './alarm.ts'
import { askRelated } from './ask-related.ts'
import { DeadlineWatch } from './deadline-watch.ts'
import type { Door, Known } from './door.ts'
import type { ForeignWrites } from './foreign-writes.ts'
import { Lanes } from './lanes.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Log } from './log.ts'
import { givenUp, OwnedRun, RunCall, type CallListener } from './owned-run.ts'
import { runStep, type StepContext } from './run-step.ts'
import { Room } from './room.ts'
import { reportOutcome, type ReportContext } from './report-outcome.ts'
import { RunWatch, trustMs } from './run-watch.ts'

export interface WorkerOptions extends StepContext {
  readonly door: Door
  readonly random: Random
  readonly log: Log
  readonly foreign: ForeignWrites
  readonly lease: LeaseKeeper
  /** Most driver calls at a time. */
  readonly concurrency: number
  /** Most runs owned at a time. */
  readonly runs: number
  /** Told when a run waits for any worker. */
  readonly onWaiting: () => void
}

/** While the lease lets nothing be started, it is looked at again after this long. */
const leaseLookMs = 100
/** Calls that are started from one look at clock and lease. */
const callsPerLook = 50

export class Worker {
  readonly #options: WorkerOptions
  readonly #me: Incarnation
  readonly #by: string
  readonly #clock: Clock
  readonly #owned = new NumberMap<OwnedRun>()
  readonly room: Room
  /** Calls under way and waiting. */
  readonly lanes: Lanes<RunCall>
  readonly #alarm: Alarm
  readonly #deadlines: DeadlineWatch
  readonly #watch: RunWatch
  readonly #listener: CallListener = {
    progressed: (call, text) => this.#progress(call, text),
    mayBegin: (call) => this.#mayBegin(call),
    ended: (call, outcome) => this.#ended(call, outcome),
  }
  readonly #reporting: ReportContext
  #state: 'working' | 'stopping' | 'stopped' = 'working'
  #cancelLeaseLook: (() => void) | null = null
  #isPumping = false
  #now = 0
  #monotonic = 0
  #mayStart = false
  #whenEmpty: (() => void) | null = null
  readonly figures = { calls: 0, aborted: 0 }

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#me = options.lease.no
    this.#by = `worker ${this.#me}`
    this.#clock = options.clock
    this.room = new Room(options.runs, this.#owned)
    this.lanes = new Lanes(options.concurrency)
    this.#alarm = new Alarm(options.clock, (nos) => void this.#due(nos))
    this.#watch = new RunWatch(options, this.#owned, (resource, known) => this.seen(resource, known))
    const isOwned = ({ owned }: RunCall) => this.#owned.get(owned.no) === owned
    const taken = (call: RunCall) => this.#taken(call)
    const isAlone = () => this.lanes.running === 0 && this.lanes.queued === 0
    this.#reporting = { ...options, by: this.#by, watch: this.#watch, isOwned, isAlone, taken }
    const refused = (owned: OwnedRun) => void this.#watch.refresh(owned)
    this.#deadlines = new DeadlineWatch({ ...options, by: this.#by, refused }, this.#owned)
  }

  /** The incarnation that new runs may name as their owner now; 0 when this worker is full or stopping. */
  claimant(command: Command): Incarnation {
    const { lease, plans } = this.#options
    return lease.isLive && this.room.admits(command, plans) ? this.#me : 0
  }

  get owned(): number {
    return this.#owned.size
  }

  /** What was committed here. */
  committed(writes: readonly Write[], known: Known): void {
    this.#look()
    for (const { before, after } of writes) {
      const { run } = after
      const owned = this.#owned.get(after.no)
      // Read again while the answer of this commit was on its way: what is known here is newer.
      if (owned !== undefined && owned.resource.revision > after.revision) continue
      if (this.#isMine(run)) this.#keep(after, before, known)
      else if (owned !== undefined) this.#release(owned, 'the run moved on')
      if (run !== null && run.owner === 0 && run.parked === null) this.#options.onWaiting()
    }
    this.#pump()
  }

  /** A parked run has nothing to be done: it takes no room until somebody sends it on. */
  #isMine(run: Run | null): boolean {
    return run !== null && run.owner === this.#me && run.parked === null
  }

  /** What was read from the store; older than what is known here, it is ignored. */
  seen(resource: Resource, known: Known): void {
    const owned = this.#owned.get(resource.no)
    if (owned === undefined || resource.revision <= owned.resource.revision) return
    this.#options.door.forget(resource.no)
    this.#look()
    if (this.#isMine(resource.run)) this.#keep(resource, owned.resource, known)
    else this.#release(owned, 'the run moved on elsewhere')
    this.#pump()
  }

  /** The lease is gone: every call is aborted, nothing more is started or written. */
  lose(): void {
    this.#state = 'stopped'
    this.room.close()
    for (const owned of this.#owned.values()) this.#release(owned, givenUp.leaseLost)
    this.#quiet()
  }

  /** Starts nothing more, waits for the calls under way, gives back every run. */
  async stop(patienceMs: number): Promise<void> {
    if (this.#state !== 'working') return
    this.#state = 'stopping'
    this.room.close()
    this.#look()
    for (const owned of this.#owned.values()) this.#compare(owned)
    if (this.#owned.size > 0) {
      const empty = new Promise<void>((resolve) => (this.#whenEmpty = resolve))
      const cancel = this.#clock.after(patienceMs, () => {
        for (const owned of this.#owned.values()) this.giveBack(owned)
      })
      await empty
      cancel()
    }
    this.#state = 'stopped'
    this.#quiet()
  }

  /** Clocks and lease, looked at once for many runs. */
  #look(): void {
    this.#now = this.#clock.now()
    this.#monotonic = this.#clock.monotonic()
    this.#mayStart = this.#options.lease.mayStart()
  }

  #quiet(): void {
    this.#alarm.clear()
    this.#deadlines.stop()
    this.#watch.stop()
    this.#cancelLeaseLook?.()
    this.#cancelLeaseLook = null
  }

  /** It counts as known from the moment its commit or load was sent: this process may have stood still since. */
  #keep(after: Resource, before: Resource | null, known: Known): void {
    if (this.#state === 'stopped') return
    let owned = this.#owned.get(after.no)
    if (owned === undefined) {
      owned = new OwnedRun(after, this.#options.plans.get(after.type)!)
      this.#owned.set(after.no, owned)
      this.room.counts(owned, 1)
      this.#deadlines.start()
    } else {
      // Pre-empted by a new run that is owned here too: the wait for the interrupted call is over when it has ended here.
      const preempted = before?.run?.owner === this.#me && before.run.begun !== after.run!.begun
      if (preempted) owned.graceOf = after.run!.begun
      owned.resource = after
    }
    owned.trustedAt = known.at
    owned.asOf = known.asOf
    this.#compare(owned)
  }

  #release(owned: OwnedRun, why: string): void {
    if (this.#owned.delete(owned.no)) this.room.counts(owned, -1)
    this.room.asks(owned, false)
    for (const call of owned.calls) this.#withdraw(call, why)
    owned.calls = []
    if (this.#owned.size === 0) this.#whenEmpty?.()
  }

  /** One run that cannot be understood here must not stop the others. */
  #compare(owned: OwnedRun): void {
    try {
      this.#compareOwed(owned)
    } catch (error) {
      this.#options.log('error', 'cannot tell what a run owes', { error, no: owned.no })
    }
  }

  /** The heart: what is owed against what is under way. */
  #compareOwed(owned: OwnedRun): void {
    const owed = owedCalls(owned.plan, owned.resource)
    this.room.asks(owned, owed[0]?.does === 'ask')
    if (owned.calls.length > 0) this.#withdrawUnowed(owned, owed)
    if (this.#state === 'stopping') {
      if (!owned.calls.some((call) => call.isUnderWay)) this.giveBack(owned)
      return
    }
    if (owned.isGivenBack) return
    const isGraceOver = owned.isGraceOver
    for (const one of owed) {
      if (owned.calls.length > 0 && owned.find(one) !== undefined) continue
      if (one.dueAt > this.#now && !isGraceOver) this.#wakeAt(owned, one.dueAt)
      else this.#begin(owned, one)
    }
    if (isGraceOver) owned.graceOf = 0
  }

  #withdrawUnowed(owned: OwnedRun, owed: readonly OwedCall[]): void {
    let kept = 0
    for (const call of owned.calls) {
      if (call.isAmong(owed)) owned.calls[kept++] = call
      else this.#withdraw(call, 'the run no longer owes this call')
    }
    owned.calls.length = kept
  }

  #wakeAt(owned: OwnedRun, at: number): void {
    if (owned.alarmAt !== 0 && owned.alarmAt <= at) return
    owned.alarmAt = at
    this.#alarm.set(at, owned.no)
  }

  async #due(nos: readonly No[]): Promise<void> {
    const due: OwnedRun[] = []
    for (const no of nos) {
      const owned = this.#owned.get(no)
      if (owned === undefined) continue
      owned.alarmAt = 0
      due.push(owned)
    }
    await this.#watch.verify(due)
    this.#look()
    for (const owned of due) if (this.#owned.get(owned.no) === owned) this.#compare(owned)
    this.#pump()
  }

  #begin(owned: OwnedRun, owed: OwedCall): void {
    const call = new RunCall(owned, owed, this.#listener)
    owned.add(call)
    if (owed.does !== 'driver') {
      call.state = 'running'
      const end = () => this.#ended(call, { kind: 'done', result: null })
      return owed.does === 'ask' ? askRelated(this.#options, call, end) : end()
    }
    // A driver that blocks the loop makes what was looked up grow old.
    if (this.figures.calls % callsPerLook === 0) this.#look()
    // From old knowledge nothing is begun at once: a delete elsewhere may have ended the run. The line verifies it first.
    const isFresh = owned.trustedAt > this.#monotonic - trustMs
    if (isFresh && this.#mayStart && this.lanes.enter(call.lane)) this.#start(call)
    else this.lanes.add(call)
  }

  #pump(): void {
    if (this.lanes.queued === 0 || this.#state !== 'working') return
    if (!this.#options.lease.mayStart()) return this.#pumpLater()
    // A driver that answers at once ends its call inside this loop: no pumping inside of pumping.
    if (this.#isPumping) return
    this.#isPumping = true
    const waited: RunCall[] = []
    const old = this.#clock.monotonic() - trustMs
    for (let call = this.lanes.next(); call !== null; call = this.lanes.next()) {
      if (call.owned.trustedAt > old) this.#start(call)
      else waited.push(call)
    }
    this.#isPumping = false
    if (waited.length > 0) void this.#startVerified(waited)
  }

  #pumpLater(): void {
    this.#cancelLeaseLook ??= this.#clock.after(leaseLookMs, () => {
      this.#cancelLeaseLook = null
      this.#pump()
    })
  }

  /** These have waited in the line: others may have changed their runs meanwhile. What cannot be verified waits on. */
  async #startVerified(calls: readonly RunCall[]): Promise<void> {
    const isVerified = await this.#watch.verify([...new Set(calls.map((call) => call.owned))])
    const mayStart = isVerified && this.#options.lease.mayStart()
    for (const call of calls) {
      if (call.state === 'queued' && this.#state === 'working' && mayStart) this.#start(call)
      else {
        this.lanes.leave(call.lane)
        if (call.state === 'queued') this.lanes.add(call)
      }
    }
    if (this.lanes.queued === 0) return
    if (mayStart) this.#pump()
    else if (this.#state === 'working') this.#pumpLater()
  }

  #start(call: RunCall): void {
    call.state = 'running'
    this.figures.calls++
    this.#watch.start()
    call.resource = call.owned.resource
    runStep(this.#options, call)
  }

  /** Its facts took long to load: it goes back into the line, which verifies its run before it is started again. */
  #mayBegin(call: RunCall): boolean {
    if (call.state !== 'running') return false
    const isFresh = call.owned.trustedAt > this.#clock.monotonic() - trustMs
    if (isFresh && this.#options.lease.mayStart()) return true
    call.state = 'queued'
    this.lanes.leave(call.lane)
    this.lanes.add(call)
    if (this.#state === 'stopping') this.#compare(call.owned)
    else this.#pump()
    return false
  }

  #progress(call: RunCall, text: string): void {
    if (call.state !== 'running' || this.#state === 'stopped') return
    this.#options.door.submit({ kind: 'progressReported', no: call.no, epoch: call.epoch, text, by: this.#by }, null)
  }

  #ended(call: RunCall, outcome: Outcome): void {
    if (call.state === 'gone') return
    if (call.owed.does === 'driver' && call.state === 'running') this.lanes.leave(call.lane)
    if (call.state === 'detached') {
      const { owned } = call
      owned.detached--
      this.#look()
      // The driver obeyed the signal: nothing to tell. Anything else is evidence of what really happened.
      if (outcome.kind !== 'failed' && outcome.kind !== 'unknown') reportOutcome(this.#reporting, call, outcome)
      if (owned.detached === 0 && this.#owned.get(call.no) === owned) this.#compare(owned)
    } else {
      call.state = 'reporting'
      reportOutcome(this.#reporting, call, outcome)
    }
    this.#pump()
  }

  /** The outcome is committed, and the run owes the very same call again: it was not finished, and looks again later. */
  #taken(call: RunCall): void {
    call.state = 'gone'
    const { owned } = call
    owned.calls = owned.calls.filter((one) => one !== call)
    if (this.#owned.get(owned.no) !== owned) return
    this.#compare(owned)
    this.#pump()
  }

  /** No longer owed. A call that is being made is told by its signal and gives its room back at once: it may never end. */
  #withdraw(call: RunCall, why: string): void {
    call.cancelReport?.()
    if (call.state === 'running' && call.owed.does === 'driver') {
      call.state = 'detached'
      call.owned.detached++
      this.figures.aborted++
      this.lanes.leave(call.lane)
      call.abort(why)
    } else if (call.state !== 'detached') {
      call.state = 'gone'
      call.abort(why)
    }
  }

  giveBack(owned: OwnedRun): void {
    if (owned.isGivenBack) return
    owned.isGivenBack = true
    for (const call of owned.calls) if (call.isUnderWay) call.abort(givenUp.workerStops)
    const done = (decision: Decision) => {
      // Given back, it is gone with the commit.
      if (decision.accepted || this.#owned.get(owned.no) !== owned) return
      // Refused (moved on, or the store is away): who stops has nothing more to do here, others keep it.
      if (this.#state !== 'working') return this.#release(owned, givenUp.workerStops)
      owned.isGivenBack = false
      this.#compare(owned)
    }
    this.#options.door.submit({ kind: 'handOver', no: owned.no, epoch: owned.resource.epoch, by: this.#by }, done)
  }
}
