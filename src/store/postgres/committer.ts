// The commit: one round trip for a whole batch, and an answer that is always true.
//
//   sent -> committed   the server has said so, and nothing but that
//   sent -> undone      the server has said, with an error, that it undid everything: a conflict (then it is looked what has changed),
//                       two commits that waited for each other (again), or a server that cannot (unavailable)
//   sent -> unknown     the connection broke, the server ended, or a warning came: it may wait for a standby in vain, or have been
//                       stopped from waiting. Then the batch's own number is inserted on another connection: that waits for a commit
//                       still under way, fails if it has happened, and if it succeeds it never can happen. Only then is it answered.
import { systemClock } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import type { Batch, CommitAnswer } from '../store.ts'
import { CommitSteps } from './commit-steps.ts'
import { codeOf, isDeadlock, isMismatch, isUndone, translated } from './failures.ts'
import { Pace } from './pace.ts'
import { Abandoned, type Row } from './pipeline.ts'
import { careful, likely, planOf, unknownShapes, type Plan, type Whereabouts } from './planner.ts'
import { UnknownShape, type Shapes } from './shapes.ts'
import type { Verifier } from './verifier.ts'
import type { Wire } from './wire.ts'
import type { Wires } from './wires.ts'

/** A batch that conflicts, and of which then nothing is found to conflict, is tried again so often. */
const attemptsMax = 20

export interface CommitterParts {
  readonly wires: Wires
  /** For finding out what became of a commit: connections of their own, so that what hangs does not stand in the way. */
  readonly resolvers: Wires
  readonly shapes: Shapes
  readonly verifier: Verifier
  /** The number of this handle: batches are numbered from it. */
  readonly handle: number
  readonly log: (line: string) => void
}

type Outcome =
  | { readonly is: 'committed'; readonly base: number }
  | { readonly is: 'mismatch' }
  | { readonly is: 'again' }

export class Committer {
  private readonly parts: CommitterParts
  private readonly pace = new Pace(systemClock)
  private batches = 0
  private isClosing = false
  /** Commits whose outcome was unknown, by what they turned out to be: for health and tests. */
  readonly resolved = { committed: 0, undone: 0 }

  constructor(parts: CommitterParts) {
    this.parts = parts
  }

  async commit(batch: Batch): Promise<CommitAnswer> {
    const { shapes, verifier } = this.parts
    for (let attempt = 1; ; attempt++) {
      const whereabouts = attempt === 1 ? likely : careful
      const plan = this.understood(batch, whereabouts) ?? (await this.learned(batch, whereabouts))
      const outcome: Outcome = plan.isHopeless ? { is: 'mismatch' } : await this.attempt(plan, batch)
      if (outcome.is === 'committed') return committed(batch, plan, outcome.base)
      if (outcome.is === 'mismatch') {
        const conflict = await verifier.conflictsOf(batch)
        if (conflict !== null) return { committed: false, ...conflict }
        // It has passed, statuses were judged anew meanwhile, or a state was not where it was likely to be.
        await shapes.reload()
      }
      // Anything may have changed.
      if (attempt >= attemptsMax) return { committed: false, conflicts: [], keys: [] }
    }
  }

  close(): void {
    this.isClosing = true
  }

  /** Null: it names what was never seen. */
  private understood(batch: Batch, whereabouts: Whereabouts): Plan | null {
    try {
      return planOf(batch, this.parts.shapes, whereabouts)
    } catch (error) {
      if (error instanceof UnknownShape) return null
      throw error
    }
  }

  private async learned(batch: Batch, whereabouts: Whereabouts): Promise<Plan> {
    const { shapes } = this.parts
    await shapes.learn(unknownShapes(batch, shapes))
    return planOf(batch, shapes, whereabouts)
  }

  private async attempt(plan: Plan, batch: Batch): Promise<Outcome> {
    const { wires, handle, shapes } = this.parts
    // A store that was restored often counts its handles in millions: more than a number can tell.
    const id = String(BigInt(handle) * 2n ** 32n + BigInt(++this.batches))
    const steps = new CommitSteps(plan, batch, id, shapes.judged)
    const outcome = await this.pace.with(wires, batch.writes.length, async (wire): Promise<Outcome | 'unknown'> => {
      const noticed = wire.noticesSeen
      try {
        const results = await wire.run(steps)
        // A warning with a commit says that it may not be where it should be.
        if (wire.noticesSeen !== noticed) return 'unknown'
        return { is: 'committed', base: baseOf(results[steps.numberedAt]!) }
      } catch (error) {
        if (error instanceof Abandoned) throw error.cause
        if (!isUndone(error) || wire.noticesSeen !== noticed) {
          if (error instanceof HomeostatError) throw error
          this.parts.log(`a commit's outcome is unknown: ${(error as Error).message}`)
          wire.cut()
          return 'unknown'
        }
        if (isMismatch(error)) return { is: 'mismatch' }
        if (isDeadlock(error)) return { is: 'again' }
        throw translated(error)
      }
    })
    return outcome === 'unknown' ? this.resolve(id) : outcome
  }

  /** Finds out, however long it takes. */
  private async resolve(id: string): Promise<Outcome> {
    for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
      try {
        const base = await this.parts.resolvers.use((wire) => this.askFor(wire, id))
        if (base !== null) {
          this.resolved.committed++
          return { is: 'committed', base }
        }
      } catch (error) {
        if (error instanceof NeverCommitted) {
          this.resolved.undone++
          throw new HomeostatError('store_unavailable', 'PostgreSQL did not take the commit: its connection was lost.')
        }
        this.parts.log(`cannot find out yet what became of a commit: ${(error as Error).message}`)
      }
      if (this.isClosing)
        throw new HomeostatError(
          'outcome_unknown',
          'The store was closed before it was known whether a commit happened.',
        )
      await new Promise<void>((resolve) => void systemClock.after(pauseMs, resolve))
    }
  }

  /** The number before its first event; null: ask again. Throws `NeverCommitted`. */
  private async askFor(wire: Wire, id: string): Promise<number | null> {
    const noticed = wire.noticesSeen
    const values = [id]
    try {
      await wire.run([{ name: 'forestall', values }])
    } catch (error) {
      if (!isUndone(error)) {
        wire.cut()
        throw error
      }
      if (codeOf(error) !== '23505') throw error
      // It has happened here. Whether it is as durable as it must be is told by a later commit that is: so one is made.
      const [, rows] = await wire.run([
        { name: 'confirm', values },
        { name: 'baseOf', values },
      ])
      if (wire.noticesSeen !== noticed) return null
      if (rows!.length === 0 || rows![0]![0] === null) throw new NeverCommitted()
      return Number(rows![0]![0])
    }
    if (wire.noticesSeen !== noticed) return null
    throw new NeverCommitted()
  }
}

class NeverCommitted extends Error {
  constructor() {
    super('the commit never happened')
  }
}

/** Statements for finding out about a commit. */
export const resolverStatements = {
  forestall: 'insert into commit (batch, n) values ($1::int8, null)',
  confirm: 'update commit set at = clock_timestamp() where batch = $1::int8',
  baseOf: 'select n from commit where batch = $1::int8',
}

const baseOf = (rows: readonly Row[]): number => Number(rows[0]![0])

/** The batch is in the store: its states learn their latest events. */
function committed(batch: Batch, { lasts }: Plan, base: number): CommitAnswer {
  const { writes } = batch
  for (let i = 0; i < writes.length; i++) {
    const { before, after } = writes[i]!
    after.last = lasts[i] === 0 ? (before?.last ?? 0) : base + lasts[i]!
  }
  return { committed: true, first: base + 1 }
}
