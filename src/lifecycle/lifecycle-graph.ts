// A declaration as a graph: every change of status that an operation, healing, drift, a move or a pair can commit, and no other.
// An outside checker judges each committed event by it. Repair by hand (setStatus) and import are not in it: they may go anywhere.
import {
  casesOf,
  declarationOf,
  entryOf,
  failureOf,
  healOf,
  isPrevious,
  isRow,
  namedStatus,
  sourcesOf,
  type CaseData,
  type Declaration,
  type OperationData,
  type ProbeData,
  type StepData,
} from './declaration.ts'
import type { AnyLifecycle } from './lifecycle.ts'
import { relatedTypeOf, relationKindOf } from './relation.ts'
import { kindsOf, type StatusKind } from './resource-type.ts'
import { conditionWords, listWords } from './words.ts'

export type EdgeKind = 'begin' | 'step' | 'done' | 'failure' | 'heal' | 'drift' | 'move' | 'pair'

export interface Edge {
  readonly type: string
  /** '' before it is created. */
  readonly from: string
  readonly to: string
  /** In words: the operation and step, the condition, who moves it. */
  readonly why: string
  readonly kind: EdgeKind
  /** The operation that takes it, if one does. */
  readonly operation?: string
  /** Back to where the run came from: leads only to what was reached before. */
  readonly back?: true
}

/** The edges of one lifecycle; `set` is all that are loaded (a follower takes the edges of the leader of its pair). */
export function edgesOf(lifecycle: AnyLifecycle, set: readonly AnyLifecycle[] = [lifecycle]): readonly Edge[] {
  const declaration = declarationOf(lifecycle)
  const own = ownEdges(declaration)
  const leader = leaderOf(declaration, set)
  if (!leader) return own
  const followed = ownEdges(leader).map(({ operation: _operation, ...edge }): Edge => ({
    ...edge,
    type: declaration.type,
    kind: edge.from === '' ? 'begin' : 'pair',
    why: `with its ${leader.type}: ${edge.why}`,
  }))
  return [...own, ...followed]
}

/** The other side of a pair when that one has the operations. */
function leaderOf(declaration: Declaration, set: readonly AnyLifecycle[]): Declaration | undefined {
  const pair = Object.values(declaration.relations).find((relation) => relationKindOf(relation) === 'pair')
  if (!pair || Object.keys(declaration.operations).length > 0) return undefined
  const type = relatedTypeOf(pair)?.type
  const other = set.map(declarationOf).find((one) => one.type === type)
  return other && Object.keys(other.operations).length > 0 ? other : undefined
}

function ownEdges(declaration: Declaration): readonly Edge[] {
  const edges = new EdgeList(declaration.type)
  const previous = new PreviousStatuses(declaration)
  for (const status of declaration.begins) edges.add('', status, { why: 'added by another', kind: 'begin' })
  for (const [name, operation] of Object.entries(declaration.operations)) {
    addOperation(edges, declaration, previous, name, operation)
  }
  for (const status of Object.keys(declaration.heal)) addHealing(edges, declaration, previous, status)
  for (const [status, { probe }] of Object.entries(declaration.drift)) {
    for (const { words, recovery } of answersOf(probe)) {
      const to = namedStatus(recovery)
      if (to !== undefined) edges.add(status, to, { why: `found otherwise, ${words}`, kind: 'drift' })
    }
  }
  for (const { from, to, by } of declaration.moves) {
    for (const status of sourcesOf(declaration, from)) edges.add(status, to, { why: `by its ${by}`, kind: 'move' })
  }
  return edges.all
}

class EdgeList {
  readonly all: Edge[] = []
  private readonly type: string
  private readonly known = new Set<string>()

  constructor(type: string) {
    this.type = type
  }

  /** Staying where it is is no edge. */
  add(from: string, to: string, how: Omit<Edge, 'type' | 'from' | 'to'>): void {
    const key = JSON.stringify([from, to, how])
    if (from === to || this.known.has(key)) return
    this.known.add(key)
    this.all.push({ type: this.type, from, to, ...how })
  }
}

/** Where `previous` can lead: the settled statuses from which the runs that stand in a status, or carry out an operation, came. */
export class PreviousStatuses {
  private readonly declaration: Declaration
  private readonly kinds: ReadonlyMap<string, StatusKind>
  private readonly byOperation = new Map<string, ReadonlySet<string>>()

  constructor(declaration: Declaration) {
    this.declaration = declaration
    this.kinds = kindsOf(declaration.resource)
    // A pre-empting run inherits from the one it interrupts, which may have inherited itself: until nothing is added.
    for (let grown = true; grown;) {
      grown = false
      for (const [name, operation] of Object.entries(declaration.operations)) {
        const before = this.byOperation.get(name)?.size ?? -1
        const now = this.sourcesFor(operation)
        this.byOperation.set(name, now)
        grown ||= now.size > before
      }
    }
  }

  ofOperation(name: string): ReadonlySet<string> {
    return this.byOperation.get(name) ?? new Set()
  }

  /** Of the runs that show this transitional status. */
  inStatus(status: string): ReadonlySet<string> {
    const found = new Set<string>()
    for (const [name, operation] of Object.entries(this.declaration.operations)) {
      if (statusesOf(operation).has(status)) for (const one of this.ofOperation(name)) found.add(one)
    }
    return found
  }

  private sourcesFor({ from, ifBusy }: OperationData): ReadonlySet<string> {
    const found = new Set<string>()
    for (const status of sourcesOf(this.declaration, from)) {
      if (this.kinds.get(status) !== 'transitional') found.add(status)
      else if (ifBusy === 'preempt') for (const one of this.inStatus(status)) found.add(one)
    }
    return found
  }
}

/** The transitional statuses that a run of the operation can show. */
function statusesOf(operation: OperationData): ReadonlySet<string> {
  const found = new Set<string>(operation.whileForced === undefined ? [] : [operation.whileForced])
  for (const step of Object.values(operation.steps ?? {})) {
    const entered = namedStatus(entryOf(step))
    if (entered !== undefined) found.add(entered)
    for (const { during } of failureOf(operation, step)) if (during !== undefined) found.add(during)
  }
  return found
}

/** May the run go past it in the commit that would enter it? A step over no items is done at once. */
function canBePassed(operation: OperationData, step: StepData): boolean {
  const forcedPast = operation.force !== undefined && step.ifForced === 'skip'
  return step.when !== undefined || step.forEach !== undefined || step.ask !== undefined || forcedPast
}

function addOperation(
  edges: EdgeList,
  declaration: Declaration,
  previous: PreviousStatuses,
  name: string,
  operation: OperationData,
): void {
  const came = previous.ofOperation(name)
  /** Statuses from which the next step may begin: steps that can be passed leave more than one. */
  let reach: readonly string[] = startsOf(declaration, previous, operation)
  const forced = operation.whileForced
  if (forced !== undefined) {
    for (const from of reach) edges.add(from, forced, { why: `${name}: forced`, kind: 'step', operation: name })
  }
  const begun: StepData[] = []
  for (const [stepName, step] of Object.entries(operation.steps ?? {})) {
    begun.push(step)
    const status = namedStatus(entryOf(step))
    if (status === undefined) continue
    for (const from of reach) {
      edges.add(from, status, { why: `${name}: ${stepName}`, kind: from === '' ? 'begin' : 'step', operation: name })
    }
    const failing = { edges, came, operation: name, why: `${name}: ${stepName} failed`, undo: undoOf(begun) }
    for (const one of failureOf(operation, step)) addFailure(failing, declaration, status, one)
    reach = canBePassed(operation, step) ? [...new Set([...reach, status])] : [status]
  }
  for (const from of forced === undefined ? reach : [...reach, forced]) {
    for (const one of casesOf(operation.to)) {
      for (const to of targetsOf(one, came)) {
        const how = {
          why: `${name} done${caseWords(one)}`,
          kind: from === '' ? 'begin' : 'done',
          operation: name,
        } as const
        edges.add(from, to, isPrevious(one.status) ? { ...how, back: true } : how)
      }
    }
  }
}

/** Where it can be asked. Pre-empting, it also starts where a run stands that came from one of its sources. */
function startsOf(declaration: Declaration, previous: PreviousStatuses, operation: OperationData): readonly string[] {
  if (operation.from.length === 0) return ['']
  const from = new Set(sourcesOf(declaration, operation.from))
  if (operation.ifBusy === 'preempt') {
    for (const status of Object.keys(declaration.resource.statuses.transitional ?? {})) {
      if ([...previous.inStatus(status)].some((one) => from.has(one))) from.add(status)
    }
  }
  return [...from]
}

/** Whether something is to be undone when the last of the begun steps fails: always, sometimes or never. */
function undoOf(begun: readonly StepData[]): 'always' | 'sometimes' | 'never' {
  const withUndo = begun.filter((step) => step.undo !== undefined)
  if (withUndo.length === 0) return 'never'
  return withUndo.some((step) => step.when === undefined || step === begun.at(-1)) ? 'always' : 'sometimes'
}

interface Failing {
  readonly edges: EdgeList
  readonly came: ReadonlySet<string>
  readonly operation: string
  readonly why: string
  readonly undo: 'always' | 'sometimes' | 'never'
}

function addFailure(failing: Failing, declaration: Declaration, from: string, one: CaseData): void {
  const { edges, came, operation, why, undo } = failing
  if (one.again !== undefined) return
  const undoes = one.undo === true && undo !== 'never'
  const add = (start: string, to: string, words: string, back: boolean) =>
    edges.add(start, to, { why: words, kind: 'failure', operation, ...(back ? { back: true } : {}) })
  const back = isPrevious(one.status)
  const words = `${why}${caseWords(one)}`
  if (!undoes || undo === 'sometimes') for (const to of targetsOf(one, came)) add(from, to, words, back)
  if (!undoes) return
  const via = one.during ?? from
  add(from, via, `${why}, undoing`, false)
  for (const to of targetsOf(one, came)) add(via, to, words, back)
  const stranded = one.ifUndoFails ?? onlyFailed(declaration)
  if (stranded !== undefined) add(via, stranded, `${why}, undo failed`, false)
}

/** Where an undo that fails lands when nothing is said; undefined: where the failure itself lands. */
function onlyFailed({ resource }: Declaration): string | undefined {
  const failed = Object.keys(resource.statuses.failed ?? {})
  return failed.length === 1 ? failed[0] : undefined
}

const targetsOf = (one: CaseData, came: ReadonlySet<string>): readonly string[] =>
  isPrevious(one.status) ? [...came] : one.status === undefined ? [] : [one.status]

function caseWords({ when, code }: CaseData): string {
  return `${code ? ` with ${listWords(code)}` : ''}${when ? ` if ${conditionWords(when)}` : ''}`
}

function addHealing(edges: EdgeList, declaration: Declaration, previous: PreviousStatuses, status: string): void {
  for (const { words, recovery } of recoveriesOf(declaration, status)) {
    const back = isPrevious(recovery.status)
    for (const to of targetsOf(recovery, previous.inStatus(status))) {
      const why = `healed${words && `, ${words}`}${back ? ', where it came from' : ''}`
      edges.add(status, to, { why, kind: 'heal', ...(back ? { back: true } : {}) })
    }
  }
}

export interface WordedRecovery {
  /** When it applies. */
  readonly words: string
  /** Its place in the row, for fault paths. */
  readonly path: string
  readonly recovery: CaseData
}

/** All landings a heal row can end in. */
export function recoveriesOf({ heal }: Declaration, status: string): readonly WordedRecovery[] {
  const row = healOf(heal, status)
  if (row === undefined) return []
  if (!isRow(row)) return wordedCases(row, '', '')
  const own = row.status !== undefined || row.attempt !== undefined ? [{ words: '', path: '', recovery: row }] : []
  return [
    ...answersOf(row.probe),
    ...own,
    ...wordedCases(casesOf(row.otherwise), '.otherwise', ''),
    ...wordedCases(casesOf(row.unowned), '.unowned', 'no run is recorded'),
  ]
}

const wordedCases = (cases: readonly CaseData[], path: string, lead: string): WordedRecovery[] =>
  cases.map((recovery, index) => ({
    words: [lead, recovery.when ? conditionWords(recovery.when) : '']
      .filter(Boolean)
      .join(' and ')
      .replace(/^(?=.)/, 'if '),
    path: cases.length > 1 ? `${path}[${index}]` : path,
    recovery,
  }))

/** The landings by a probe's answers. */
export function answersOf(probe: ProbeData | undefined): readonly WordedRecovery[] {
  return Object.entries(probe ?? {}).flatMap(([name, answers]) =>
    Object.entries(answers).flatMap(([answer, landing]) =>
      casesOf(landing).map((recovery) => ({
        words: `if ${name} answers ${answer}`,
        path: `.probe.${name}.${answer}`,
        recovery,
      })),
    ),
  )
}
