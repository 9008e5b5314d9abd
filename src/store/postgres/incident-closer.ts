// Closes an incident together with what is written beside it: one transaction, numbered like a commit, so that the journal has no gap.
import type { Incident, No } from '../../decision/state.ts'
import { emptyBatch, type Beside } from '../store.ts'
import { isMismatch } from './failures.ts'
import type { Step } from './pipeline.ts'
import { planOf } from './planner.ts'
import type { Shapes } from './shapes.ts'
import { stepOf } from './statements.ts'
import type { Statements, Wire } from './wire.ts'

export const closerStatements = {
  closeIncident: 'delete from incident where no = $1::int8 and kind = $2::text',
  /** From here on no commit can be numbered, and no entry be written to the journal, until this is over. */
  holdFeed: 'update feed set events = events where one = 1',
} as const satisfies Statements

/** False: a record is not as it was read, and nothing was done. */
export async function closeIncident(
  wire: Wire,
  shapes: Shapes,
  { no, kind, beside }: { readonly no: No; readonly kind: Incident['kind']; readonly beside: Beside },
): Promise<boolean> {
  const { sheet, putRest } = planOf({ ...emptyBatch, ...beside }, shapes)
  putRest()
  const steps: Step[] = [{ name: 'closeIncident', values: [String(no), kind] }]
  const add = (name: 'newRecords' | 'recordChanges' | 'recordDeletes' | 'journal' | 'absentRecords') => {
    const columns = sheet.find(name)
    if (columns === null) return
    const isCounted = name === 'recordChanges' || name === 'recordDeletes'
    steps.push(isCounted ? stepOf(columns, String(columns.count)) : stepOf(columns))
  }
  for (const name of ['newRecords', 'recordChanges', 'recordDeletes'] as const) add(name)
  steps.push({ name: 'holdFeed', values: [] })
  for (const name of ['journal', 'absentRecords'] as const) add(name)
  try {
    await wire.run(steps)
    return true
  } catch (error) {
    if (isMismatch(error)) return false
    throw error
  }
}
