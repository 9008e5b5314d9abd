// Checks operations and their steps: names, statuses, failure answers, undoing, asking others, precedence.
import {
  askOf,
  casesOf,
  entryOf,
  failureOf,
  isPrevious,
  namedStatus,
  sourcesOf,
  type CaseData,
  type Declaration,
  type OperationData,
  type StepData,
} from './declaration.ts'
import { didYouMeanOf } from '../base/did-you-mean.ts'
import type { Faults } from './fault.ts'
import { isKind, type Declarations } from './known-names.ts'
import { kindsOf } from './resource-type.ts'
import { refusesEmpty } from './schema.ts'
import { listWords } from './words.ts'

/** Words of the API that stand where operations stand. */
const reservedOperations = ['get', 'setStatus', 'import']
/** Methods of the client over HTTP: they hide an operation of the same name. */
const clientWords = ['list', 'explain', 'watch', 'with', 'then']
const nameForm = /^[A-Za-z][A-Za-z0-9_-]*$/

export function checkOperations(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  checkDriverNames(faults, declaration)
  checkDestroyed(faults, declaration)
  for (const [name, operation] of Object.entries(declaration.operations)) {
    const path = `${declaration.type}.operations.${name}`
    if (!nameForm.test(name))
      faults.error(path, 'the name cannot stand in an address', 'Use letters and digits, a letter first.')
    if (reservedOperations.includes(name))
      faults.error(path, `'${name}' has its own meaning in the API`, 'Choose another verb.')
    if (clientWords.includes(name))
      faults.warning(
        path,
        `'${name}' has its own meaning in the client: it cannot be asked there`,
        'Choose another verb.',
      )
    checkTarget(faults, declaration, path, operation)
    checkFailure(faults, declaration, `${path}.onFailure`, casesOf(operation.onFailure))
    checkPrecedence(faults, path, operation)
    checkForcedStatus(faults, declaration, path, operation)
    checkPrevious(faults, declaration, path, operation)
    checkUndo(faults, declaration, path, operation)
    for (const [stepName, step] of Object.entries(operation.steps)) {
      const place = `${path}.steps.${stepName}`
      checkStep(faults, declaration, place, stepName, step)
      checkAsk(faults, loaded, declaration, place, step)
      if (step.onFailure !== undefined) checkFailure(faults, declaration, `${place}.onFailure`, casesOf(step.onFailure))
      if (step.ifForced !== undefined && operation.force === undefined) {
        faults.warning(
          `${place}.ifForced`,
          'the operation cannot be forced',
          'Give the operation `force`, or leave this out.',
        )
      }
    }
  }
}

/** What is destroyed has been created under the same name; where nothing is created, it may have come by import. */
function checkDestroyed(faults: Faults, { type, operations }: Declaration): void {
  const steps = Object.entries(operations).flatMap(([name, operation]) =>
    Object.entries(operation.steps).map(([stepName, step]) => ({
      path: `${type}.operations.${name}.steps.${stepName}`,
      step,
    })),
  )
  const created = new Set(steps.flatMap(({ step }) => step.creates ?? []))
  if (created.size === 0) return
  for (const { path, step } of steps) {
    if (step.destroys !== undefined && !created.has(step.destroys))
      faults.warning(`${path}.destroys`, `no step creates '${step.destroys}'`, didYouMeanOf(step.destroys, created))
  }
}

/** The cases of a target, a failure or a recovery: one of them must always hold. */
export function checkCases(faults: Faults, path: string, cases: readonly CaseData[]): void {
  const isOpen = (one: CaseData) => one.when === undefined && one.code === undefined
  const last = cases.at(-1)
  if (!last) faults.error(path, 'the list of cases is empty', 'Give it at least one case.')
  else if (!isOpen(last))
    faults.error(path, 'no case is left when none holds', 'End the list with a case without `when` and `code`.')
  const first = cases.findIndex(isOpen)
  if (first >= 0 && first < cases.length - 1) {
    faults.warning(
      `${path}[${first + 1}]`,
      'is never looked at: the case before it always holds',
      'Move it up, or remove it.',
    )
  }
}

function checkTarget(faults: Faults, declaration: Declaration, path: string, { to }: OperationData): void {
  checkCases(faults, `${path}.to`, casesOf(to))
  for (const one of casesOf(to)) mustSettle(faults, declaration, `${path}.to`, namedStatus(one))
}

function checkFailure(faults: Faults, declaration: Declaration, path: string, cases: readonly CaseData[]): void {
  checkCases(faults, path, cases)
  for (const one of cases) {
    if (one.again !== undefined && cases.length > 1) {
      faults.error(
        path,
        '`again` cannot be one case of several',
        'Let the whole answer be { again }, or land in each case.',
      )
    }
    mustSettle(faults, declaration, path, namedStatus(one))
    mustSettle(faults, declaration, `${path}.ifUndoFails`, one.ifUndoFails)
    if (one.during !== undefined) mustBeTransitional(faults, declaration, `${path}.during`, one.during)
    if (one.undo === undefined && (one.during !== undefined || one.ifUndoFails !== undefined)) {
      faults.warning(path, '`during` and `ifUndoFails` are for undoing', 'Add `undo: true`, or leave them out.')
    }
  }
}

export function mustSettle(faults: Faults, { resource }: Declaration, path: string, status: string | undefined): void {
  if (status === undefined || !isKind(resource, status, 'transitional')) return
  faults.error(
    path,
    `leads to the transitional status ${status} without a run`,
    'Land in a stable, failed or terminal status.',
  )
}

function mustBeTransitional(faults: Faults, { resource }: Declaration, path: string, status: string): void {
  const kind = (['stable', 'failed', 'terminal'] as const).find((one) => isKind(resource, status, one))
  if (kind) faults.error(path, `${status} is ${kind}, not transitional`, 'Name a status that says what is going on.')
}

function checkStep(faults: Faults, declaration: Declaration, path: string, name: string, step: StepData): void {
  if (/^\d/.test(name)) {
    faults.error(path, 'a step name may not start with a digit: JavaScript would reorder it', 'Start it with a verb.')
  }
  if (name === 'sweeper') faults.error(path, "'sweeper' is a word of the driver", 'Choose another verb.')
  const status = namedStatus(entryOf(step))
  if (status !== undefined) mustBeTransitional(faults, declaration, `${path}.during`, status)
  const over = Object.keys(step.forEach ?? {})
  if (over.length > 1)
    faults.error(`${path}.forEach`, `goes over ${over.length} relations`, 'Write one step for each relation.')
  if (step.forEach && over.length === 0) faults.error(`${path}.forEach`, 'goes over nothing', 'Name a relation.')
  if (step.forEach && step.ask) faults.error(path, 'has both `ask` and `forEach`', 'Make two steps of it.')
  const { retry } = step
  if (retry && !(Number.isInteger(retry.times) && retry.times >= 0)) {
    faults.error(
      `${path}.retry.times`,
      `${String(retry.times)} is no number of attempts`,
      'Use a whole number, 0 or more.',
    )
  }
  const idle = (['result', 'probe', 'creates', 'destroys', 'retry'] as const).filter((word) => step[word] !== undefined)
  if (step.ask && idle.length > 0) {
    faults.error(
      path,
      `\`ask\` makes no driver call, so ${listWords(idle, 'and')} cannot apply`,
      'Leave out one or the other.',
    )
  }
}

/** One function of the driver cannot be a probe and something else: they answer differently. */
function checkDriverNames(faults: Faults, { type, operations, probes }: Declaration): void {
  for (const [name, operation] of Object.entries(operations)) {
    for (const [step, data] of Object.entries(operation.steps)) {
      for (const word of [step, data.undo]) {
        if (word === undefined || !Object.hasOwn(probes, word)) continue
        faults.error(
          `${type}.operations.${name}.steps.${step}`,
          `'${word}' is also a probe`,
          'Give one of them another name.',
        )
      }
    }
  }
  for (const [name, answers] of Object.entries(probes)) {
    if (answers.length === 0 || answers.includes('unknown')) {
      faults.error(`${type}.probes.${name}`, 'must list its answers besides `unknown`', "List them: ['yes', 'no'].")
    }
  }
}

function checkAsk(faults: Faults, loaded: Declarations, declaration: Declaration, path: string, step: StepData): void {
  for (const [relation, data] of Object.entries(step.ask ?? {})) {
    const { operation: wanted, in: statuses, input } = askOf(data)
    const other = loaded.across(declaration, relation)
    if (!other) continue
    const asked = checkAsked(faults, other, `${path}.ask.${relation}`, wanted)
    if (!asked) continue
    const wrong = (statuses ?? []).filter((status) => !sourcesOf(other, asked.from).includes(status))
    if (wrong.length > 0) {
      const starts = `It starts from ${listWords(sourcesOf(other, asked.from))}.`
      faults.error(
        `${path}.ask.${relation}.in`,
        `${wanted} of ${other.type} cannot start from ${listWords(wrong)}`,
        starts,
      )
    }
    if (input === undefined && refusesEmpty(asked.input)) {
      faults.error(`${path}.ask.${relation}`, `${wanted} of ${other.type} needs an input`, 'Add `input`.')
    }
  }
}

/** An operation of another resource (or its own) that a step or a timer asks for. */
export function checkAsked(
  faults: Faults,
  other: Declaration,
  path: string,
  wanted: string,
): OperationData | undefined {
  const found = Object.hasOwn(other.operations, wanted) ? other.operations[wanted] : undefined
  if (!found) faults.unknown(path, wanted, `operation of ${other.type}`, Object.keys(other.operations))
  else if (found.from.length === 0) {
    faults.error(
      path,
      `${wanted} creates ${other.type}: it cannot be asked of one that exists`,
      'Use `add`, or another operation.',
    )
  }
  return found
}

function checkPrecedence(faults: Faults, path: string, operation: OperationData): void {
  const { from, ifBusy, ifTerminal, queueBehind, grace, force } = operation
  if (queueBehind !== undefined && !(Number.isInteger(queueBehind) && queueBehind > 0))
    faults.error(`${path}.queueBehind`, `${queueBehind} is no number of requests`, 'Write 1 or more, or leave it out.')
  if (from.length > 1 && from.includes('*')) faults.warning(`${path}.from`, "'*' says it all", "Write only ['*'].")
  if (grace !== undefined && ifBusy !== 'preempt') {
    faults.warning(
      `${path}.grace`,
      'it interrupts nothing, so there is nothing to wait for',
      "Add ifBusy: 'preempt', or leave it out.",
    )
  }
  if (from.length === 0 && ifTerminal !== undefined)
    faults.warning(`${path}.ifTerminal`, 'it creates the resource: there is none before', 'Leave `ifTerminal` out.')
  if (from.length === 0 && (ifBusy !== undefined || force !== undefined)) {
    const word = force === undefined ? 'ifBusy' : 'force'
    faults.warning(`${path}.${word}`, 'it creates the resource: nothing is under way then', `Leave \`${word}\` out.`)
  } else if (force !== undefined && ifBusy !== 'preempt') {
    faults.warning(`${path}.force`, 'a forced one is refused while anything is under way', "Add ifBusy: 'preempt'.")
  }
}

function checkForcedStatus(faults: Faults, { resource }: Declaration, path: string, operation: OperationData): void {
  const { whileForced, force } = operation
  if (whileForced === undefined) return
  if (force === undefined)
    faults.error(`${path}.whileForced`, 'the operation cannot be forced', 'Give it `force`, or leave this out.')
  const kind = kindsOf(resource).get(whileForced)
  if (kind !== undefined && kind !== 'transitional')
    faults.error(`${path}.whileForced`, `${whileForced} is ${kind}, not transitional`, 'Name a transitional status.')
}

function checkPrevious(faults: Faults, declaration: Declaration, path: string, operation: OperationData): void {
  if (!landsBack(operation)) return
  if (operation.from.length === 0) {
    faults.error(path, '`previous` is nowhere: it creates the resource', 'Name the status to land in.')
    return
  }
  const moving = sourcesOf(declaration, operation.from).filter((status) =>
    isKind(declaration.resource, status, 'transitional'),
  )
  if (moving.length === 0) return
  const fault = `\`previous\` may be nowhere: it can be asked in ${listWords(moving)}`
  faults.error(path, fault, 'Name the status to land in, or let it start from settled statuses only.')
}

/** Does it land in `previous` anywhere? */
export const landsBack = (operation: OperationData): boolean =>
  [operation.to, operation.onFailure, ...Object.values(operation.steps).map((step) => step.onFailure)].some((cases) =>
    casesOf(cases).some((one) => isPrevious(one.status)),
  )

function checkUndo(faults: Faults, declaration: Declaration, path: string, operation: OperationData): void {
  const steps = Object.entries(operation.steps)
  const failed = Object.keys(declaration.resource.statuses.failed ?? {})
  const used = new Set<string>()
  const answers = new Map<string, boolean>()
  steps.forEach(([name, step], index) => {
    const undoable = steps.slice(0, index + 1).filter(([, one]) => one.undo !== undefined)
    const cases = failureOf(operation, step)
    cases.forEach((one, at) => {
      if (one.undo !== true) return
      for (const [undone] of undoable) used.add(undone)
      const place = `${step.onFailure === undefined ? path : `${path}.steps.${name}`}.onFailure${cases.length > 1 ? `[${at}]` : ''}`
      answers.set(place, (answers.get(place) ?? false) || undoable.length > 0)
      if (undoable.length > 0 && one.ifUndoFails === undefined && failed.length !== 1) {
        const fault =
          failed.length === 0
            ? 'there is no failed status for an undo that fails'
            : 'several failed statuses: an undo that fails may land in any'
        faults.error(place, fault, `Say where: ifUndoFails: '${failed[0] ?? '...'}'.`)
      }
    })
  })
  for (const [place, undoes] of answers) {
    if (!undoes)
      faults.warning(place, '`undo: true`, but no step before it can be undone', 'Give a step `undo`, or leave it out.')
  }
  for (const [name, step] of steps) {
    if (step.undo === undefined || used.has(name)) continue
    faults.warning(
      `${path}.steps.${name}.undo`,
      'no failure answer undoes it',
      'Add `undo: true` to one, or leave it out.',
    )
  }
}
