// The commit: one transaction for a whole batch. A batch that does not find what it expects is undone, and then verified in full in
// order to say what has changed.
import { Defect } from '../../base/assert.ts'
import type { Batch, CommitAnswer } from '../store.ts'
import { isConstraint } from './connection.ts'
import type { Plan, Planner } from './planner.ts'
import type { Shapes } from './shapes.ts'
import type { SheetWriter } from './sheet-writer.ts'
import type { Heads, Turns } from './turns.ts'
import type { Verifier } from './verifier.ts'

export interface WriterParts {
  readonly turns: Turns
  readonly shapes: Shapes
  readonly planner: Planner
  readonly sheets: SheetWriter
  readonly verifier: Verifier
  /** The number that this handle writes under. */
  readonly me: number
}

export class Writer {
  private readonly parts: WriterParts
  /** What the feed's row said when the file had version `version`, and what we wrote since. */
  private version = -1
  private heads: Heads = { events: 0, runs: 0, commits: 0 }
  private foreign = false

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
  private refresh(): void {
    const { turns, planner, me } = this.parts
    const version = turns.connection.version()
    if (version === this.version) return
    const feed = turns.feed()
    // Heartbeats and registrations change the version too, but not the count of commits.
    if (feed.commits !== this.heads.commits) {
      if (feed.writer !== me) this.foreign = true
      this.heads = feed
      planner.forget()
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
    const { turns, shapes } = this.parts
    this.begin()
    let result: T
    try {
      result = work()
    } catch (error) {
      this.undo()
      throw turns.told(error)
    }
    this.end({ ...this.heads, commits: this.heads.commits + 1 })
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
      plan = planner.plan(batch, this.heads, careful)
      if (!sheets.write(plan.sheet)) {
        this.undo()
        if (careful) throw new Defect('a batch that was verified did not find what it expects')
        return null
      }
    } catch (error) {
      this.undo()
      if (!careful && isConstraint(error)) return null
      throw turns.told(error)
    }
    this.end(plan.to)
    return committed(batch, plan)
  }

  private begin(): void {
    const { turns } = this.parts
    turns.begin()
    try {
      this.refresh()
    } catch (error) {
      turns.undo()
      throw turns.told(error)
    }
  }

  private end(heads: Heads): void {
    const { turns, shapes, planner } = this.parts
    try {
      turns.commit(heads)
    } catch (error) {
      shapes.forgetAdded()
      planner.forget()
      throw error
    }
    this.heads = heads
    shapes.keepAdded()
  }

  private undo(): void {
    const { turns, shapes, planner } = this.parts
    turns.undo()
    shapes.forgetAdded()
    planner.forget()
  }
}

/** The batch is in the store: its states learn their latest events. */
function committed(batch: Batch, { from, lasts }: Plan): CommitAnswer {
  for (let i = 0; i < lasts.length; i++) batch.writes[i]!.after.last = lasts[i]!
  return { committed: true, first: from.events + 1 }
}
