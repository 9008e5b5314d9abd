// What a driver function is given. Views of the facts are made when the driver looks at them: most calls look at few.
import type { Clock } from '../base/clock.ts'
import { Draft } from '../decision/draft.ts'
import type { OwedCall } from '../decision/owed.ts'
import type { Ask } from '../decision/situation.ts'
import { runId, type LedgerEntry, type Resource } from '../decision/state.ts'
import type { LedgerView } from '../lifecycle/driver.ts'
import type { Plan } from '../lifecycle/plan.ts'
import { deepFreeze, keepText } from './json-result.ts'
import { read, type ReadFrom } from './read.ts'

/** The facts of one call; they stay as they were when it was made. */
export interface CallFacts {
  readonly resource: Resource
  readonly plan: Plan
  readonly owed: OwedCall
  readonly signal: AbortSignal
  /** Made when the driver first tells of its progress. */
  progress: Progress | null
  /** Called with the text at most once a second. */
  onProgress(text: string): void
}

/** What was read for the call before it was made. Where it can be read when the driver asks, `related` is null. */
export interface Loaded {
  readonly item: Resource | null
  readonly related: Readonly<Record<string, unknown>> | null
}

export interface CallView {
  readonly id: string
  readonly type: string
  readonly name: string | null
  readonly tenant: string
  readonly status: string
  readonly properties: unknown
}

export class DriverCall {
  readonly #from: ReadFrom
  readonly #call: CallFacts
  readonly #loaded: Loaded | null
  readonly #onLook: () => void

  readonly traceparent: string | undefined

  /** `onLook` is called when the driver looks at related resources that were not read for it. */
  constructor(from: ReadFrom, call: CallFacts, loaded: Loaded | null, onLook: () => void, traceparent?: string) {
    this.traceparent = traceparent
    this.#from = from
    this.#call = call
    this.#loaded = loaded
    this.#onLook = onLook
  }

  get resource(): CallView {
    return viewOf(this.#call.resource)
  }

  get input(): unknown {
    return deepFreeze(this.#call.resource.run!.input)
  }

  get results(): unknown {
    return deepFreeze(this.#call.resource.run!.results)
  }

  get related(): unknown {
    const { plan, resource } = this.#call
    if (plan.relations.size === 0) return nothing
    if (this.#loaded?.related) return this.#loaded.related
    this.#onLook()
    const { store, plans } = this.#from
    const load = (asks: readonly Ask[]) => (store.loadNow ?? store.load).call(store, asks)
    const from = { ...this.#from, store: { load } }
    return read(from, (situation) => relatedViews(new Draft(plans, situation, ''), plan, resource))
  }

  get item(): CallView | undefined {
    const item = this.#loaded?.item
    return item == null ? undefined : viewOf(item)
  }

  get ledger(): readonly LedgerView[] {
    return this.#call.resource.ledger.map(ledgerView)
  }

  get name(): string | undefined {
    return ledgerName(this.#call)
  }

  get key(): string {
    return this.#call.owed.key
  }

  get epoch(): number {
    return this.#call.resource.epoch
  }

  get attempt(): number {
    return this.#call.owed.name.attempt
  }

  get phase(): 'step' | 'undo' | 'probe' {
    const { phase } = this.#call.owed.name
    return phase === 'step' || phase === 'undo' ? phase : 'probe'
  }

  get run(): string {
    const { no, run } = this.#call.resource
    return runId({ no, begun: run!.begun })
  }

  get operation(): string {
    return this.#call.resource.run!.operation
  }

  get deadlineAt(): number {
    return this.#call.resource.run!.deadlineAt
  }

  get forced(): boolean {
    return this.#call.resource.run!.forced
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get progress(): (text: string) => void {
    const call = this.#call
    const progress = (call.progress ??= new Progress(this.#from.clock, (text) => call.onProgress(text)))
    return (text) => progress.tell(text)
  }
}

const nothing = Object.freeze({})

export function relatedViews(draft: Draft, plan: Plan, resource: Resource): Record<string, unknown> {
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
function ledgerName({ plan, owed, resource }: CallFacts): string | undefined {
  const run = resource.run!
  const index = owed.name.phase === 'undo' ? (run.undoing[0] ?? run.step) : run.step
  const step = plan.operations.get(run.operation)?.steps[index]
  if (step?.creates == null) return undefined
  return resource.ledger.findLast((entry) => entry.step === step.name && entry.begun === run.begun)?.name
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

/** Reasons for which only this process gives the call up: whoever owns the run next makes the same call again. */
export const givenUp = { leaseLost: 'the lease was lost', workerStops: 'the worker stops' } as const

/** The reason of a signal that fired: the run no longer owes the call, or somebody else will make it. */
class CallAborted extends Error {
  override readonly name = 'AbortError'
  /** True: the call goes on elsewhere, and what it began must not be stopped. */
  readonly isStillOwed: boolean

  constructor(reason: string) {
    super(reason)
    this.isStillOwed = (Object.values(givenUp) as string[]).includes(reason)
  }
}

/** A driver may tell anything, also where nobody would catch what is thrown. */
function textOf(told: unknown): string {
  try {
    return String(told)
  } catch {
    return 'what is no text'
  }
}

/** Progress is written at most this often. */
const progressGapMs = 1_000

/** The first word at once, then the latest at most once a second. */
export class Progress {
  readonly #clock: Clock
  readonly #send: (text: string) => void
  #toldAt = -Infinity
  #latest: string | null = null
  #cancel: (() => void) | null = null
  #isOver = false

  constructor(clock: Clock, send: (text: string) => void) {
    this.#clock = clock
    this.#send = send
  }

  tell(text: string): void {
    if (this.#isOver) return
    const kept = keepText(textOf(text), 500)
    const wait = this.#toldAt + progressGapMs - this.#clock.monotonic()
    if (wait <= 0 && this.#cancel === null) return this.#tellNow(kept)
    this.#latest = kept
    this.#cancel ??= this.#clock.after(Math.max(0, wait), () => {
      this.#cancel = null
      if (!this.#isOver && this.#latest !== null) this.#tellNow(this.#latest)
      this.#latest = null
    })
  }

  /** The call has ended: nothing more is told. */
  stop(): void {
    this.#isOver = true
    this.#cancel?.()
    this.#cancel = null
  }

  #tellNow(text: string): void {
    this.#toldAt = this.#clock.monotonic()
    this.#send(text)
  }
}
