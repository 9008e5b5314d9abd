// The commit: one transaction for a whole batch. A batch that does not find what it expects is undone, and then verified in full in
// order to say what has changed.
//
// While much is written, batches are only understood here and carried out by a thread; what does not go smoothly there is done
// again here, when the thread has nothing to do. Next to other processes that write, everything is done here.
import { Defect } from '../../base/assert.ts'
import type { Batch, CommitAnswer, MaybePromise, StatusCount } from '../store.ts'
import { errorOf, type CommitThread } from './commit-thread.ts'
import { isConstraint } from './connection.ts'
import type { Plan, Planner } from './planner.ts'
import type { Shapes } from './shapes.ts'
import type { SheetWriter } from './sheet-writer.ts'
import { Tally } from './tally.ts'
import { sameHeads, type Heads, type Turns } from './turns.ts'
import type { Verifier } from './verifier.ts'

export interface WriterParts {
  readonly turns: Turns
  readonly shapes: Shapes
  readonly planner: Planner
  readonly sheets: SheetWriter
  readonly verifier: Verifier
  /** The number that this handle writes under. */
  readonly me: number
  /** auto: when much is written. */
  readonly thread: 'auto' | 'always' | 'never'
  readonly startThread: () => CommitThread
}

/** A batch of fewer writes is carried out here as fast. */
const worthSending = 50
/** In a batch of so few writes each has its pages to itself. */
const fewWrites = 8
/** After so many writes in large batches the thread is worth its start. */
const worthStarting = 5_000
/** How many commits are made here after another process was seen to write. */
const commitsBesideOthers = 100

export class Writer {
  private readonly parts: WriterParts
  /** What the feed's row said when the file had version `version`, and what we wrote since. */
  private version = -1
  private heads: Heads = { events: 0, runs: 0, commits: 0 }
  private foreign = false
  private thread: CommitThread | null = null
  /** Where the feed will stand when the thread has carried out all it was sent. */
  private planned: Heads = this.heads
  private readonly tally = new Tally()
  private writesInLargeBatches = 0
  private besideOthers = 0

  constructor(parts: WriterParts) {
    this.parts = parts
    this.refresh()
    this.foreign = false
  }

  get head(): number {
    return this.heads.events
  }

  othersWrote(): boolean {
    this.refresh()
    const wrote = this.foreign
    this.foreign = false
    return wrote
  }

  /** Looks whether another connection has committed, and if so where the feed stands now. */
  private refresh(version = this.parts.turns.connection.version()): void {
    const { turns, me } = this.parts
    if (version === this.version) return
    const feed = turns.feed()
    // Heartbeats and registrations change the version too, but not the count of commits.
    if (feed.commits !== this.heads.commits) {
      this.heads = feed
      // What the thread has committed, and not told yet, is our own.
      if (feed.writer !== me) this.sawOthers()
    }
    this.version = version
  }

  private sawOthers(): void {
    this.foreign = true
    this.besideOthers = commitsBesideOthers
    this.tally.forget()
  }

  /** `count` counts what is in the file. */
  counts(count: () => readonly StatusCount[]): readonly StatusCount[] {
    this.refresh()
    if (this.tally.isKnown) return this.tally.list()
    const counted = count()
    // What the thread is at may be in the file already, and would be counted again when it is answered.
    if (this.thread === null || this.thread.isIdle) this.tally.begin(counted)
    return counted
  }

  /** Commits that may be asked for before the first is answered. */
  get commitsAtOnce(): number {
    return this.thread?.isReady ? 2 : 1
  }

  commit(batch: Batch): MaybePromise<CommitAnswer> {
    const thread = this.threadFor(batch)
    if (thread === null) return this.commitHere(batch)
    if (!thread.isReady) return thread.ready.then(() => this.commit(batch))
    if (this.besideOthers > 0) return thread.idle().then(() => this.commitHere(batch))
    return this.commitThere(thread, batch)
  }

  async stop(): Promise<void> {
    await this.thread?.stop()
    this.thread = null
  }

  /** The thread, when this batch must go there: because it is large, or because others are under way there. */
  private threadFor(batch: Batch): CommitThread | null {
    const { thread: mode, startThread } = this.parts
    if (this.thread?.isGone) this.thread = null
    if (mode === 'never') return null
    if (mode === 'always') return (this.thread ??= startThread())
    const isLarge = batch.writes.length >= worthSending
    if (this.thread === null) {
      if (isLarge) this.writesInLargeBatches += batch.writes.length
      if (this.writesInLargeBatches >= worthStarting) this.thread = startThread()
      return null
    }
    if (!this.thread.isReady || (this.thread.isIdle && (!isLarge || this.besideOthers > 0))) return null
    return this.thread
  }

  private commitHere(batch: Batch): CommitAnswer {
    if (this.besideOthers > 0) this.besideOthers--
    const answer = this.attempt(batch, false) ?? this.attempt(batch, true)
    if (answer === null) throw new Defect('a batch that was verified did not apply')
    return answer
  }

  private async commitThere(thread: CommitThread, batch: Batch): Promise<CommitAnswer> {
    const plan = this.planFor(thread, batch)
    const answer = plan === null ? null : await thread.send(plan.sheet, plan.from, plan.to)
    switch (answer?.outcome) {
      case 'done':
        if (plan!.to.commits > this.heads.commits) this.heads = plan!.to
        return this.committed(batch, plan!)
      case 'failed':
        // A thread that is gone may have carried it out: then the feed stands where it would.
        if (!thread.isGone) throw errorOf(answer)
        if (this.isCarriedOut(plan!)) return this.committed(batch, plan!)
        break
      case 'moved':
        if (answer.feed.writer !== this.parts.me) this.sawOthers()
        break
      case 'mismatch':
      case undefined:
        break
    }
    await thread.idle()
    return this.commitHere(batch)
  }

  /** The feed stands where the plan leads, and it was us who led it there. */
  private isCarriedOut({ to }: Plan): boolean {
    const feed = this.parts.turns.feed()
    return feed.writer === this.parts.me && sameHeads(feed, to)
  }

  /** Null: it cannot be understood outside of a transaction. */
  private planFor(thread: CommitThread, batch: Batch): Plan | null {
    const { planner, shapes } = this.parts
    if (thread.isIdle) {
      this.refresh()
      this.planned = this.heads
    }
    const plan = shapes.withoutLearning(() => planner.plan(batch, this.planned))
    if (plan !== null) this.planned = plan.to
    return plan
  }

  /** A writing transaction that other handles notice as a commit. */
  change<T>(work: () => T): T {
    const { turns, shapes } = this.parts
    this.begin()
    this.tally.forget()
    let result: T
    try {
      result = work()
    } catch (error) {
      this.undo()
      throw turns.told(error)
    }
    this.end({ ...this.heads, commits: this.heads.commits + 1 }, false)
    shapes.keepAdded()
    return result
  }

  /** `careful` trusts nothing: it verifies everything first and looks where each state really is. Null: try carefully. */
  private attempt(batch: Batch, careful: boolean): CommitAnswer | null {
    const { turns, verifier, planner, sheets } = this.parts
    this.begin()
    let plan: Plan
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
      plan = planner.plan(batch, this.heads, { careful, mayLinger: this.mayLinger(batch) })
      if (!sheets.write(plan.sheet, turns.ledTo(plan.to))) {
        this.undo()
        if (careful) throw new Defect('a batch that was verified did not find what it expects')
        return null
      }
    } catch (error) {
      this.undo()
      if (!careful && isConstraint(error)) return null
      throw turns.told(error)
    }
    this.end(plan.to, plan.sheet.events.length > 0)
    return this.committed(batch, plan)
  }

  /** Among few writes a page spared counts. Others who write could not know where to look. */
  private mayLinger(batch: Batch): boolean {
    return this.besideOthers === 0 && batch.writes.length <= fewWrites
  }

  private begin(): void {
    const { turns } = this.parts
    turns.begin()
    try {
      this.refresh(turns.connection.versionSeen)
    } catch (error) {
      turns.undo()
      throw turns.told(error)
    }
  }

  private end(heads: Heads, isTold: boolean): void {
    const { turns, shapes } = this.parts
    try {
      turns.commit(heads, isTold)
    } catch (error) {
      shapes.forgetAdded()
      throw error
    }
    this.heads = heads
    shapes.keepAdded()
  }

  private undo(): void {
    const { turns, shapes } = this.parts
    turns.undo()
    shapes.forgetAdded()
  }

  /** The batch is in the store: its states learn their latest events. */
  private committed(batch: Batch, plan: Plan): CommitAnswer {
    const { from, lasts } = plan
    this.parts.planner.committed(plan)
    for (let i = 0; i < lasts.length; i++) batch.writes[i]!.after.last = lasts[i]!
    this.tally.committed(batch)
    return { committed: true, first: from.events + 1 }
  }
}
