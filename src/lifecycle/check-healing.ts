// Checks healing: every transitional status has a way out for a resource with a run and for one without, and none goes in a ring.
import {
  casesOf,
  healOf,
  isPrevious,
  isRow,
  namedStatus,
  sourcesOf,
  type CaseData,
  type Declaration,
  type HealData,
} from './declaration.ts'
import { checkCases, landsBack, mustSettle } from './check-operations.ts'
import type { Faults } from './fault.ts'
import { isKind, type Declarations } from './known-names.ts'
import { answersOf, PreviousStatuses, recoveriesOf } from './lifecycle-graph.ts'
import { refusesEmpty } from './schema.ts'
import { conditionWords, listWords } from './words.ts'

export function checkHealing(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  const { type, resource, heal } = declaration
  for (const status of Object.keys(resource.statuses.transitional ?? {})) {
    const path = `${type}.heal.${status}`
    const row = healOf(heal, status)
    if (row === undefined) {
      const ring = heal[status] !== undefined && isRow(heal[status]) && heal[status].like !== undefined
      if (!ring) faults.error(path, 'transitional without recovery', 'Say what to do with a resource found stuck here.')
      else if (Object.hasOwn(heal, (heal[status] as HealData).like!)) {
        faults.error(`${path}.like`, 'is like itself, in a ring', 'Write one of the rows out.')
      }
      continue
    }
    if (isRow(heal[status]!) && heal[status].like !== undefined) {
      // Judged where it is written out.
      const beside = Object.keys(heal[status]).filter((word) => word !== 'like')
      if (beside.length > 0) {
        const fault = `${listWords(beside, 'and')} beside \`like\` would not be looked at`
        faults.error(path, fault, 'Leave it out, or write the whole row.')
      }
      continue
    }
    checkRow(faults, path, row)
    checkRecoveries(faults, declaration, status, path)
    if (isRow(row)) checkOwners(faults, loaded, declaration, status, row)
  }
  for (const status of Object.keys(heal)) {
    if (isKind(resource, status, 'transitional')) continue
    faults.error(
      `${type}.heal.${status}`,
      `${status} is not transitional: nothing gets stuck there`,
      'Use `drift` for it.',
    )
  }
  checkDrift(faults, declaration)
}

/** Is something said for a resource with a recorded run, and for one without? */
function checkRow(faults: Faults, path: string, row: HealData | readonly CaseData[]): void {
  if (!isRow(row)) {
    checkCases(faults, path, row)
    if (row.some((one) => isPrevious(one.status))) {
      faults.error(
        path,
        '`previous` needs a run; nothing is said for a resource without one',
        'Use `otherwise` and `unowned`.',
      )
    }
    return
  }
  if (row.unowned !== undefined) checkCases(faults, `${path}.unowned`, casesOf(row.unowned))
  if (row.otherwise !== undefined) checkCases(faults, `${path}.otherwise`, casesOf(row.otherwise))
  const lands = row.status !== undefined || row.attempt !== undefined
  const always = lands || row.probe !== undefined || row.otherwise !== undefined
  const answers = answersOf(row.probe ?? {}).map(({ recovery }) => recovery)
  const comesBack = [row, ...casesOf(row.otherwise), ...answers].some((one) => isPrevious(one.status))
  if (!always && !row.resume) {
    if (row.unowned !== undefined)
      faults.error(path, 'nothing is said for a resource whose run is recorded', 'Add `resume`, or land.')
    else if (row.withOwner === undefined)
      faults.error(path, 'transitional without recovery', 'Say where to land, or `resume`.')
    else faults.error(path, 'nothing is said when the owner stands elsewhere', 'Add `otherwise`.')
  } else if (row.unowned === undefined && (!always || comesBack)) {
    const word = comesBack ? '`previous`' : '`resume`'
    faults.error(path, `${word} needs a run; nothing is said for a resource without one`, 'Add `unowned`.')
  }
  if (lands && row.otherwise !== undefined) {
    faults.warning(`${path}.otherwise`, 'is never looked at: the row itself lands', 'Remove one of the two.')
  }
  if (!lands && (row.set !== undefined || row.move !== undefined || row.add !== undefined || row.link !== undefined)) {
    faults.error(path, 'changes something without landing', 'Put the changes beside the `status` they belong to.')
  }
}

function checkRecoveries(faults: Faults, declaration: Declaration, status: string, path: string): void {
  const previous = new PreviousStatuses(declaration)
  for (const { path: place, recovery, words } of recoveriesOf(declaration, status)) {
    const where = `${path}${place}`
    mustSettle(faults, declaration, where, namedStatus(recovery))
    const inPlace = recovery.status === undefined
    if (inPlace && recovery.attempt === undefined && recovery.again === undefined) {
      faults.error(where, 'neither lands nor attempts anything', 'Give it a `status`, an `attempt`, or both.')
    }
    if (isPrevious(recovery.status)) {
      if (place.startsWith('.unowned'))
        faults.error(where, '`previous` needs a run, and here there is none', 'Name a status.')
      else if (previous.inStatus(status).size === 0) {
        faults.error(where, '`previous` is nowhere: no operation leads here from a settled status', 'Name a status.')
      }
    }
    if (recovery.attempt !== undefined) {
      const from = isPrevious(recovery.status) ? [...previous.inStatus(status)] : [namedStatus(recovery) ?? status]
      checkAttempt(faults, declaration, {
        path: where,
        words,
        attempt: recovery.attempt,
        from,
        inPlace,
        changes: recovery,
      })
    }
  }
}

interface Attempt {
  readonly path: string
  readonly words: string
  readonly attempt: string
  readonly from: readonly string[]
  /** No landing: it is attempted in the status it is stuck in. */
  readonly inPlace: boolean
  readonly changes: CaseData
}

function checkAttempt(
  faults: Faults,
  declaration: Declaration,
  { path, words, attempt, from, inPlace, changes }: Attempt,
): void {
  const { type, operations } = declaration
  const operation = Object.hasOwn(operations, attempt) ? operations[attempt] : undefined
  if (!operation) {
    faults.unknown(`${path}.attempt`, attempt, `operation of ${type}`, Object.keys(operations))
    return
  }
  const starts = sourcesOf(declaration, operation.from)
  const wrong = from.filter((status) => !starts.includes(status))
  if (wrong.length > 0) {
    const suggestion =
      starts.length > 0 ? `It starts from ${listWords(starts)}.` : 'It creates the resource; attempt another.'
    faults.error(
      `${path}.attempt`,
      `${attempt} cannot start from ${listWords(wrong)}${words && ` (${words})`}`,
      suggestion,
    )
  }
  if (!inPlace) return
  if (landsBack(operation)) {
    faults.error(
      `${path}.attempt`,
      `${attempt} may land in \`previous\`, and there is none`,
      'Give the row a `status`.',
    )
  }
  const refusals = [
    ...(operation.requires ?? []).map(conditionWords),
    ...(refusesEmpty(operation.input) ? ['an input is recorded'] : []),
  ]
  if (refusals.length > 0) {
    const fault = `${attempt} may be refused (it requires that ${listWords(refusals, 'and')}), and then nothing leads out`
    faults.warning(`${path}.attempt`, fault, 'Give the row a `status` to land in first.')
  }
  if (
    changes.set !== undefined ||
    changes.move !== undefined ||
    changes.link !== undefined ||
    changes.add !== undefined
  ) {
    faults.error(path, 'changes something without landing', 'Give the row a `status`; changes belong to a landing.')
  }
}

/** Two resources that each wait for the other to be healed wait for ever. */
function checkOwners(
  faults: Faults,
  loaded: Declarations,
  declaration: Declaration,
  status: string,
  row: HealData,
): void {
  for (const [relation, statuses] of Object.entries(row.withOwner ?? {})) {
    const owner = loaded.across(declaration, relation)
    if (!owner) continue
    for (const one of statuses) {
      const path = `${declaration.type}.heal.${status}.withOwner.${relation}`
      if (!isKind(owner.resource, one, 'transitional')) {
        faults.error(
          path,
          `a ${owner.type} in ${one} is not healed: nothing would bring this one out`,
          'Name transitional statuses.',
        )
      }
      const back = healOf(owner.heal, one)
      const waits = back && isRow(back) ? Object.entries(back.withOwner ?? {}) : []
      for (const [name, awaited] of waits) {
        if (loaded.across(owner, name)?.type !== declaration.type || !awaited.includes(status)) continue
        const fault = `waits for ${owner.type} in ${one}, which waits for ${declaration.type} in ${status}`
        faults.error(path, fault, 'Let one of the two be healed by itself.')
      }
    }
  }
}

function checkDrift(faults: Faults, declaration: Declaration): void {
  const { type, resource, drift } = declaration
  const landing = new Map<string, string>()
  for (const [status, { probe }] of Object.entries(drift)) {
    const path = `${type}.drift.${status}`
    if (isKind(resource, status, 'transitional')) faults.error(path, `${status} is transitional`, 'Use `heal` for it.')
    if (Object.keys(probe).length === 0) faults.error(`${path}.probe`, 'asks nothing', 'Name a probe.')
    for (const { path: place, words, recovery } of answersOf(probe)) {
      const where = `${path}${place}`
      mustSettle(faults, declaration, where, namedStatus(recovery))
      if (isPrevious(recovery.status))
        faults.error(where, '`previous` needs a run, and here there is none', 'Name a status.')
      const to = namedStatus(recovery) ?? status
      if (to !== status) landing.set(JSON.stringify([status, words]), to)
      if (recovery.attempt === undefined) continue
      const attempt = { path: where, words, attempt: recovery.attempt, from: [to], inPlace: false, changes: recovery }
      checkAttempt(faults, declaration, attempt)
    }
  }
  // The same answer leads there and back: the record would swing for ever.
  for (const [key, to] of landing) {
    const [status, words] = JSON.parse(key) as [string, string]
    if (status < to && landing.get(JSON.stringify([to, words])) === status) {
      faults.error(
        `${type}.drift.${status}`,
        `swings between ${status} and ${to} ${words}`,
        'Let one answer mean one status.',
      )
    }
  }
}
