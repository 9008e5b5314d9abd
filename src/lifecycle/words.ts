// Declarations in plain sentences, for preview, explain and refusals. Functions are never called: their words stand beside them.
import {
  askOf,
  casesOf,
  entryOf,
  isPrevious,
  isRow,
  moveOf,
  namedStatus,
  type CaseData,
  type ChangesData,
  type ConditionData,
  type DriftData,
  type HealData,
  type OperationData,
  type ProbeData,
  type StepData,
  type Table,
  type TimerData,
} from './declaration.ts'
import type { Scalar } from './relation.ts'

/** 'A', 'A or B', 'A, B or C'. */
export function listWords(items: readonly unknown[], last = 'or'): string {
  const words = items.map(String)
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

/** All that must hold, joined with "and". */
export function conditionWords(when: ConditionData): string {
  return Object.entries(when)
    .filter(([key]) => key !== 'test')
    .map(([key, is]) => (key === 'says' ? String(is) : termWords(key, is)))
    .join(' and ')
}

function termWords(key: string, is: unknown): string {
  if (typeof is === 'boolean' && !/^(is|has|can)[A-Z]/.test(key)) return `it is ${is ? '' : 'not '}${key}`
  if (Array.isArray(is)) return `${key} is ${listWords(is)}`
  if (is === null) return `it has no ${key}`
  if (typeof is !== 'object') return `${key} is ${String(is as Scalar)}`
  const related = is as { exists?: boolean; every?: unknown[]; some?: unknown[]; none?: unknown[] }
  if (related.exists !== undefined) return related.exists ? `it has ${key}` : `it has no ${key}`
  if (related.every) return `every one of its ${key} is ${listWords(related.every)}`
  if (related.some) return `one of its ${key} is ${listWords(related.some)}`
  return `none of its ${key} is ${listWords(related.none ?? [])}`
}

/** What changes beside the status, as verbs. */
function changeWords(changes: ChangesData): string[] {
  const moves = Object.entries(changes.move ?? {}).map(([relation, data]) => {
    const { from, only, to, set } = moveOf(data)
    const which = `${from ? ` in ${listWords(from)}` : ''}${only ? ` (${only.says})` : ''}`
    const what = to === undefined ? `change ${listWords(Object.keys(set ?? {}), 'and')} of its` : 'move its'
    return `${what} ${relation}${which}${to === undefined ? '' : ` to ${to}`}`
  })
  return [
    ...setWords(changes.set),
    ...moves,
    ...Object.entries(changes.add ?? {}).map(([relation, { status }]) => `add ${relation} as ${status}`),
    ...Object.entries(changes.link ?? {}).map(([name, id]) =>
      id === null ? `unlink its ${name}` : `link its ${name}`,
    ),
  ]
}

const setWords = (set: Table<unknown> = {}): string[] =>
  Object.entries(set).map(([name, value]) =>
    typeof value === 'function' ? `set ${name}` : `set ${name} to ${JSON.stringify(value)}`,
  )

/** What a landing, failure answer or recovery does. */
function landingWords(one: CaseData): string {
  if (one.again !== undefined)
    return `try again after ${one.again}${one.atMost ? `, then at most every ${one.atMost}` : ''}`
  const words = [
    ...(one.undo ? [`undo what was done${one.during ? ` (${one.during})` : ''}`] : []),
    ...changeWords(one),
    ...(one.status === undefined
      ? []
      : [isPrevious(one.status) ? 'put it back where it came from' : `put it to ${one.status}`]),
    ...(one.ifUndoFails ? [`or to ${one.ifUndoFails} if undoing fails`] : []),
    ...(one.attempt ? [`attempt ${one.attempt} again with its original input`] : []),
  ]
  return words.join(', ') || 'leave it'
}

/** A list of cases: 'if ..., ...; otherwise, ...'. */
function casesWords(cases: readonly CaseData[], lead = ''): string[] {
  return cases.map((one) => {
    const conditions = [
      ...(lead ? [lead] : []),
      ...(one.code ? [`the error is ${listWords(one.code)}`] : []),
      ...(one.when ? [conditionWords(one.when)] : []),
    ].join(' and ')
    if (conditions) return `if ${conditions}, ${landingWords(one)}`
    return `${cases.length > 1 ? 'otherwise, ' : ''}${landingWords(one)}`
  })
}

function probeWords(probe: ProbeData | undefined): string[] {
  return Object.entries(probe ?? {}).flatMap(([name, answers]) =>
    Object.entries(answers).map(
      ([answer, landing]) => `if ${name} answers ${answer}, ${casesOf(landing).map(landingWords).join()}`,
    ),
  )
}

/** A row of the healing table, `like` already followed. In the order in which healing reads it. */
export function healWords(row: HealData | readonly CaseData[]): string {
  if (!isRow(row)) return casesWords(row).join('; ')
  const own = row.status !== undefined || row.attempt !== undefined ? [row] : []
  return [
    ...(row.resume ? ['if its run is recorded, go on at the recorded step'] : []),
    ...Object.entries(row.withOwner ?? {}).map(
      ([relation, statuses]) => `while its ${relation} is ${listWords(statuses)}, it is healed with its ${relation}`,
    ),
    ...casesWords(casesOf(row.unowned), 'no run is recorded'),
    ...probeWords(row.probe),
    ...own.map(landingWords),
    ...otherwiseWords(casesOf(row.otherwise)),
  ].join('; ')
}

const otherwiseWords = (cases: readonly CaseData[]): string[] =>
  cases.map((one) => `${one.when ? `else if ${conditionWords(one.when)}` : 'otherwise'}, ${landingWords(one)}`)

export const driftWords = (drift: DriftData): string =>
  `every ${drift.every} it is looked at: ${probeWords(drift.probe).join('; ')}`

function stepWords(name: string, step: StepData): string {
  const over = Object.entries(step.forEach ?? {}).map(
    ([relation, each]) => ` for each of its ${relation}${each.in ? ` in ${listWords(each.in)}` : ''}`,
  )
  const asks = Object.entries(step.ask ?? {}).map(
    ([relation, ask]) => ` asks ${askOf(ask).operation} of its ${relation}`,
  )
  const entry = entryOf(step)
  return [
    `${name}${over.join('')}${asks.join(' and')} (${namedStatus(entry)})`,
    ...(step.when ? [`only if ${conditionWords(step.when)}`] : []),
    ...changeWords(entry),
  ].join(', ')
}

/** An operation as sentences. */
export function operationWords(name: string, operation: OperationData): string[] {
  const { from, requires, ifBusy, ifTerminal, queueBehind = 0, steps } = operation
  const where =
    from.length === 0 ? 'creates it' : from.includes('*') ? 'starts from any status' : `starts from ${listWords(from)}`
  const busy =
    ifBusy === 'preempt' ? ', interrupting what is under way' : ifBusy === 'queue' ? ', waiting for its turn' : ''
  const stepTexts = Object.entries(steps).map(([step, data]) => stepWords(step, data))
  return [
    `${name} ${where}${busy}.`,
    ...(queueBehind > 0
      ? [`Meanwhile ${queueBehind === 1 ? 'one request' : `${queueBehind} requests`} may wait.`]
      : []),
    ...(ifTerminal === 'succeed' ? ['Asked of what is gone for good, it succeeds and changes nothing.'] : []),
    ...(requires?.length ? [`It requires that ${requires.map(conditionWords).join(', and that ')}.`] : []),
    ...(stepTexts.length > 0 ? [`Steps: ${stepTexts.join('; ')}.`] : []),
    `When done: ${casesWords(casesOf(operation.to)).join('; ')}.`,
    ...(stepTexts.length > 0 ? [`When a step fails: ${casesWords(casesOf(operation.onFailure)).join('; ')}.`] : []),
    ...Object.entries(steps)
      .filter(([, step]) => step.onFailure !== undefined)
      .map(([step, data]) => `When ${step} fails: ${casesWords(casesOf(data.onFailure)).join('; ')}.`),
  ]
}

export function timerWords(name: string, timer: TimerData): string {
  const moment =
    timer.at === undefined
      ? `${timer.after} after it became ${listWords(timer.in)}`
      : `at its ${timer.at}, while it is ${listWords(timer.in)}`
  const what =
    typeof timer.ask === 'string'
      ? timer.ask
      : Object.entries(timer.ask)
          .map(([relation, operation]) => `${operation} of its ${relation}`)
          .join(' and ')
  const refused = timer.again ? `, and again every ${timer.again} while that is refused` : ''
  return `${name}: ${moment}${timer.when ? `, if ${conditionWords(timer.when)}` : ''}, ask for ${what}${refused}`
}
