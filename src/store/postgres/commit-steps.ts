// The statements of a commit, made one after another while the first of them are sent: the server writes states while the events are
// still put into words here.
import type { Batch } from '../store.ts'
import { sendNow, type Step } from './pipeline.ts'
import type { Plan } from './planner.ts'
import { Columns, type Part } from './sheet.ts'
import { checkingParts, isOfStates, numberingOf, resourceParts, restParts, stepOf } from './statements.ts'

/** So many rows keep the server busy for longer than it takes to send them apart. */
const rowsWorthSending = 64

export class CommitSteps implements Iterable<Step | typeof sendNow> {
  /** Which of the statements numbers the commit: known when all have been made. */
  numberedAt = 0
  private readonly plan: Plan
  private readonly batch: Batch
  private readonly id: string
  private readonly judged: number

  /** `judged`: how often statuses had been judged anew when the plan was made. */
  constructor(plan: Plan, batch: Batch, id: string, judged: number) {
    this.plan = plan
    this.batch = batch
    this.id = id
    this.judged = judged
  }

  *[Symbol.iterator](): Generator<Step | typeof sendNow> {
    const { plan } = this
    yield* this.writing(resourceParts)
    plan.putRest()
    yield* this.writing(restParts)
    plan.putEvents()
    yield this.numbering()
    for (const name of ['tally', 'journal'] as const) {
      const columns = plan.sheet.find(name)
      if (columns !== null) yield stepOf(columns)
    }
    yield* this.checking()
  }

  private *writing(parts: readonly Part[]): Generator<Step | typeof sendNow> {
    for (const name of parts) {
      const columns = this.plan.sheet.find(name)
      if (columns === null) continue
      this.numberedAt++
      yield this.writingOf(name, columns)
      if (columns.count >= rowsWorthSending) yield sendNow
    }
  }

  private writingOf(name: Part, columns: Columns): Step {
    const count = String(columns.count)
    if (isOfStates(name)) return stepOf(columns, this.id, count)
    if (name === 'newLive' || name === 'newSettled') return stepOf(columns, this.id)
    if (name === 'recordChanges' || name === 'recordDeletes') return stepOf(columns, count)
    return stepOf(columns)
  }

  private numbering(): Step {
    const { sheet } = this.plan
    const { events: told, ended } = this.batch
    const events = sheet.find('events') ?? new Columns('events')
    const runs = sheet.find('runs')
    return numberingOf([String(told.length), String(ended.length), String(this.judged), this.id], events, runs)
  }

  private *checking(): Generator<Step> {
    const { sheet } = this.plan
    const members = {
      parents: sheet.find('childMembers')?.count ?? 0,
      linkTargets: sheet.find('linkMembers')?.count ?? 0,
    }
    for (const name of checkingParts) {
      const columns = sheet.find(name)
      if (columns === null) continue
      if (name === 'parents' || name === 'linkTargets') yield stepOf(columns, String(members[name]))
      else if (name.startsWith('absent')) yield stepOf(columns)
      else yield stepOf(columns, String(columns.count))
    }
  }
}
