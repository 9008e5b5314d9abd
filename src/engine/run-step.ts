// One driver call: what the driver is shown, and how the call is made. Its outcome goes back to the worker, never an exception.
import type { Clock } from '../base/clock.ts'
import type { Outcome } from '../decision/command.ts'
import { Draft } from '../decision/draft.ts'
import type { OwedCall } from '../decision/owed.ts'
import type { LedgerEntry, Resource } from '../decision/state.ts'
import type { LedgerView, Sweeper } from '../lifecycle/driver.ts'
import type { Plan, Plans } from '../lifecycle/plan.ts'
import type { Store } from '../store/store.ts'
import { outcomeOfThrown, outcomeOfValue } from './call-outcome.ts'
import { deepFreeze, keepText } from './json-result.ts'
import { read } from './read.ts'

/** A driver as the engine sees it: functions by name, and perhaps a sweeper. */
export type AnyDriver = Readonly<Record<string, unknown>> & { readonly sweeper?: Sweeper }
export type DriverFunction = (call: DriverCall) => unknown

export interface StepContext {
  readonly store: Store
  readonly plans: Plans
  readonly clock: Clock
  readonly drivers: ReadonlyMap<string, AnyDriver>
  /** The store answers at once: related resources are looked up only when the driver asks for them. */
  readonly isStoreNear: boolean
}

export interface CallView {
  readonly id: string
  readonly type: string
  readonly name: string | null
  readonly tenant: string
  readonly status: string
  readonly properties: unknown
}

/** After a read that failed. */
const readAgainMs = 1_000
/** Progress is written at most this often. */
const progressGapMs = 1_000

/** What a driver function is given. The signal is made when it is first looked at: most calls never do. */
export class DriverCall {
  readonly resource: CallView
  readonly input: unknown
  readonly results: unknown
  readonly item: CallView | undefined
  readonly ledger: readonly LedgerView[]
  readonly name: string | undefined
  readonly key: string
  readonly epoch: number
  readonly attempt: number
  readonly forced: boolean
  readonly progress: (text: string) => void
  readonly #abort: Abort
  readonly #related: () => unknown

  constructor(call: CallFacts, abort: Abort, progress: (text: string) => void) {
    const { resource, owed, plan, item, related } = call
    const run = resource.run!
    this.resource = viewOf(resource)
    this.input = deepFreeze(run.input)
    this.results = deepFreeze(run.results)
    this.item = item === null ? undefined : viewOf(item)
    this.ledger = resource.ledger.length === 0 ? none : resource.ledger.map(ledgerView)
    this.name = ledgerName(plan, owed, resource)
    this.key = owed.key
    this.epoch = resource.epoch
    this.attempt = owed.name.attempt
    this.forced = run.forced
    this.progress = progress
    this.#abort = abort
    this.#related = related
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get related(): unknown {
    return this.#related()
  }
}

const none: readonly LedgerView[] = Object.freeze([])

interface CallFacts {
  readonly resource: Resource
  readonly plan: Plan
  readonly owed: OwedCall
  readonly item: Resource | null
  readonly related: () => unknown
}

/** An abort signal that costs nothing until somebody looks at it. */
export class Abort {
  #controller: AbortController | null = null
  #reason: string | null = null

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#reason !== null) this.#controller.abort(new CallAborted(this.#reason))
    }
    return this.#controller.signal
  }

  get isAborted(): boolean {
    return this.#reason !== null
  }

  abort(reason: string): void {
    if (this.#reason !== null) return
    this.#reason = reason
    this.#controller?.abort(new CallAborted(reason))
  }
}

/** The reason of a signal that fired: the run no longer owes the call. */
export class CallAborted extends Error {
  override readonly name = 'AbortError'
}

export interface StartedCall {
  readonly resource: Resource
  readonly owed: OwedCall
  readonly abort: Abort
  /** Called with the text at most once a second. */
  readonly onProgress: (text: string) => void
  /** Called once, never before `runStep` has returned or thrown. */
  readonly onEnd: (outcome: Outcome) => void
}

/** Makes the call. `onEnd` may be called before this returns, when everything answers at once. */
export function runStep(context: StepContext, call: StartedCall): void {
  const plan = context.plans.get(call.resource.type)!
  const fn = context.drivers.get(call.resource.type)?.[call.owed.function]
  if (typeof fn !== 'function') {
    return call.onEnd({
      kind: 'failed',
      code: 'driver_missing',
      reason: `The driver of ${call.resource.type} has no function ${call.owed.function}.`,
      terminal: true,
    })
  }
  let preparing: CallFacts | Promise<CallFacts>
  try {
    preparing = prepare(context, plan, call)
  } catch {
    return runLater(context, call)
  }
  if (!(preparing instanceof Promise)) return callDriver(context, call, fn as DriverFunction, preparing)
  preparing.then(
    (facts) => {
      if (call.abort.isAborted) call.onEnd(withdrawn)
      else callDriver(context, call, fn as DriverFunction, facts)
    },
    () => runLater(context, call),
  )
}

const withdrawn: Outcome = { kind: 'unknown', reason: 'the call was withdrawn before it was made' }

/** The store could not be read: nothing was begun, so nothing has failed. Tried again while the call is wanted. */
function runLater(context: StepContext, call: StartedCall): void {
  context.clock.after(readAgainMs, () => (call.abort.isAborted ? call.onEnd(withdrawn) : runStep(context, call)))
}

function callDriver(context: StepContext, call: StartedCall, fn: DriverFunction, facts: CallFacts): void {
  const progress = throttled(context.clock, call.onProgress)
  const { phase } = call.owed.name
  const end = (outcome: Outcome) => {
    progress.stop()
    call.onEnd(outcome)
  }
  let returned: unknown
  try {
    returned = fn(new DriverCall(facts, call.abort, progress.tell))
  } catch (thrown) {
    return end(outcomeOfThrown(call.owed.function, thrown))
  }
  if (!isThenable(returned)) return end(outcomeOfValue(phase, call.owed.function, returned))
  Promise.resolve(returned).then(
    (value) => end(outcomeOfValue(phase, call.owed.function, value)),
    (thrown: unknown) => end(outcomeOfThrown(call.owed.function, thrown)),
  )
}

/** Loads the item and, where the store is far away, the related resources. */
function prepare(context: StepContext, plan: Plan, call: StartedCall): CallFacts | Promise<CallFacts> {
  const { resource, owed } = call
  const facts = (item: Resource | null, related: () => unknown): CallFacts => ({ resource, plan, owed, item, related })
  if (owed.item === 0 && plan.relations.size === 0) return facts(null, noRelations)
  if (context.isStoreNear) {
    const item =
      owed.item === 0 ? null : (read(context, (situation) => situation.resource(owed.item)) as Resource | null)
    return facts(item, () =>
      read(context, (situation) => relatedViews(new Draft(context.plans, situation, ''), plan, resource)),
    )
  }
  const loading = read(context, (situation) => ({
    item: owed.item === 0 ? null : situation.resource(owed.item),
    related: relatedViews(new Draft(context.plans, situation, ''), plan, resource),
  }))
  if (!(loading instanceof Promise)) return facts(loading.item, () => loading.related)
  return loading.then(({ item, related }) => facts(item, () => related))
}

const nothing = Object.freeze({})
const noRelations = (): unknown => nothing

function relatedViews(draft: Draft, plan: Plan, resource: Resource): Record<string, unknown> {
  const views: Record<string, unknown> = {}
  for (const [name, relation] of plan.relations) {
    const found = draft.related(resource, relation).map(viewOf)
    views[name] = relation.many ? found : found[0]
  }
  return views
}

export function viewOf(resource: Resource): CallView {
  const { id, type, name, tenant, status } = resource
  return { id, type, name, tenant, status, properties: deepFreeze(resource.properties) }
}

const ledgerView = ({ kind, name, ref }: LedgerEntry): LedgerView => ({ kind, name, ref: deepFreeze(ref) })

/** The name under which the step's thing is, or was, to be made; of an undo: the thing it takes back. */
function ledgerName(plan: Plan, owed: OwedCall, resource: Resource): string | undefined {
  const run = resource.run!
  const index = owed.name.phase === 'undo' ? (run.undoing[0] ?? run.step) : run.step
  const step = plan.operations.get(run.operation)?.steps[index]
  if (step?.creates == null) return undefined
  return resource.ledger.findLast((entry) => entry.step === step.name && entry.begun === run.begun)?.name
}

function isThenable(value: unknown): boolean {
  if (value instanceof Promise) return true
  if (typeof value !== 'object' || value === null) return false
  try {
    return typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return false
  }
}

/** The first word at once, then the latest at most once a second. */
function throttled(clock: Clock, tell: (text: string) => void): { tell: (text: string) => void; stop: () => void } {
  let toldAt = -Infinity
  let latest: string | null = null
  let cancel: (() => void) | null = null
  let isOver = false
  const send = (text: string) => {
    toldAt = clock.monotonic()
    tell(text)
  }
  return {
    tell(text) {
      if (isOver) return
      const kept = keepText(String(text), 500)
      const wait = toldAt + progressGapMs - clock.monotonic()
      if (wait <= 0 && cancel === null) return send(kept)
      latest = kept
      cancel ??= clock.after(Math.max(0, wait), () => {
        cancel = null
        if (!isOver && latest !== null) send(latest)
        latest = null
      })
    },
    stop() {
      isOver = true
      cancel?.()
      cancel = null
    },
  }
}
