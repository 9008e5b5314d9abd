// Makes one driver call. Its outcome goes back to the worker, never an exception.
import type { Outcome } from '../decision/command.ts'
import { Draft } from '../decision/draft.ts'
import type { Sweeper } from '../lifecycle/driver.ts'
import type { Store } from '../store/store.ts'
import { outcomeOfThrown, outcomeOfValue } from './call-outcome.ts'
import { DriverCall, relatedViews, type CallFacts, type Loaded } from './driver-call.ts'
import type { Door } from './door.ts'
import { read, type ReadFrom } from './read.ts'
import { beginSpan, type StepSpan } from './step-span.ts'

/** A driver as the engine sees it: functions by name, and perhaps a sweeper. */
export type AnyDriver = Readonly<Record<string, unknown>> & { readonly sweeper?: Sweeper }
export type { DriverCall }
export type DriverFunction = (call: DriverCall) => unknown

export interface StepContext extends ReadFrom {
  readonly store: Store
  readonly drivers: ReadonlyMap<string, AnyDriver>
  /** The store answers at once: related resources are looked up only when the driver asks for them. */
  readonly isStoreNear: boolean
  readonly door: Pick<Door, 'submit'>
}

export interface StartedCall extends CallFacts {
  /** No longer wanted. */
  readonly isAborted: boolean
  /** What was loaded for it, when it could not begin at once. */
  loaded: Loaded | null
  /** Asked when loading took time. False: what is known of its run has grown old; it comes again when that is verified. */
  mayBegin(): boolean
  /** Called once; perhaps before `runStep` returns, when everything answers at once. */
  onEnd(outcome: Outcome): void
}

/** After a read that failed. */
const readAgainMs = 1_000

export function runStep(context: StepContext, call: StartedCall): void {
  let fn: unknown
  try {
    fn = context.drivers.get(call.resource.type)?.[call.owed.function]
  } catch (thrown) {
    return call.onEnd(outcomeOfThrown(call.owed.function, thrown))
  }
  if (typeof fn !== 'function') {
    return call.onEnd({
      kind: 'failed',
      code: 'driver_missing',
      reason: `The driver of ${call.resource.type} has no function ${call.owed.function}.`,
      terminal: true,
    })
  }
  if (call.loaded !== null) return callDriver(context, call, fn as DriverFunction, call.loaded)
  let loading: Loaded | null | Promise<Loaded>
  try {
    loading = load(context, call, fn)
  } catch {
    return runLater(context, call)
  }
  if (loading === null) return callDriver(context, call, fn as DriverFunction, null)
  const begin = (loaded: Loaded) => {
    call.loaded = loaded
    if (call.isAborted) call.onEnd(withdrawn)
    else if (call.mayBegin()) callDriver(context, call, fn as DriverFunction, loaded)
  }
  if (loading instanceof Promise) loading.then(begin, () => runLater(context, call))
  else begin(loading)
}

const withdrawn: Outcome = { kind: 'unknown', reason: 'the call was withdrawn before it was made' }

/** The store could not be read: nothing was begun, so nothing has failed. Tried again while the call is wanted. */
function runLater(context: StepContext, call: StartedCall): void {
  context.clock.after(readAgainMs, () => (call.isAborted ? call.onEnd(withdrawn) : runStep(context, call)))
}

/**
 * A run that was at work when a worker died says in the record that its call begins: should this worker die as well, its death
 * counts for those that were at work, and for nobody else.
 */
function announce(context: StepContext, call: StartedCall, begin: () => void): void {
  const { no, epoch } = call.resource
  context.door.submit({ kind: 'progressReported', no, epoch, text: 'its call begins', by: 'worker' }, (decision) => {
    if (call.isAborted) call.onEnd(withdrawn)
    else if (!decision.accepted) runLater(context, call)
    else if (call.mayBegin()) begin()
  })
}

function callDriver(context: StepContext, call: StartedCall, fn: DriverFunction, loaded: Loaded | null): void {
  const run = call.resource.run!
  if (run.resumed > 0 && run.progress === '') announce(context, call, () => makeCall(context, call, fn, loaded))
  else makeCall(context, call, fn, loaded)
}

function makeCall(context: StepContext, call: StartedCall, fn: DriverFunction, loaded: Loaded | null): void {
  const span = beginSpan(call)
  const { phase } = call.owed.name
  let returned: unknown
  let later: Promise<unknown> | null
  try {
    const given = new DriverCall(context, call, loaded, () => lookers.add(fn), span?.traceparent)
    returned = span === null ? fn(given) : span.within(() => fn(given))
    // Also to look at what it returned may throw.
    later = isThenable(returned) ? Promise.resolve(returned) : null
  } catch (thrown) {
    return end(call, outcomeOfThrown(call.owed.function, thrown), span)
  }
  if (later === null) return end(call, outcomeOfValue(phase, call.owed.function, returned), span)
  later.then(
    (value) => end(call, outcomeOfValue(phase, call.owed.function, value), span),
    (thrown: unknown) => end(call, outcomeOfThrown(call.owed.function, thrown), span),
  )
}

function end(call: StartedCall, outcome: Outcome, span: StepSpan | null): void {
  call.progress?.stop()
  span?.end(outcome)
  call.onEnd(outcome)
}

/**
 * The item of a forEach step and, where the store is far away, the related resources. Most functions never look at these: where the store
 * can answer on the spot, they are read ahead only for functions that were seen to look.
 */
function load(context: StepContext, call: StartedCall, fn: object): Loaded | null | Promise<Loaded> {
  const { resource, owed, plan } = call
  const isReadWhenAsked = context.isStoreNear || (context.store.loadNow !== undefined && !lookers.has(fn))
  if (owed.item === 0 && (isReadWhenAsked || plan.relations.size === 0)) return null
  return read(context, (situation) => ({
    item: owed.item === 0 ? null : situation.resource(owed.item),
    related: isReadWhenAsked ? null : relatedViews(new Draft(context.plans, situation, ''), plan, resource),
  }))
}

/** Driver functions that have looked at related resources. */
const lookers = new WeakSet<object>()

function isThenable(value: unknown): boolean {
  if (value instanceof Promise) return true
  if (typeof value !== 'object' || value === null) return false
  try {
    return typeof (value as { then?: unknown }).then === 'function'
  } catch {
    return false
  }
}
