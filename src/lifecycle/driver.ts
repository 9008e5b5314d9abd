// What a declaration asks of its driver: one function per name it uses, typed by it, and the ways in which a call can end.
import type { Duration } from './duration.ts'
import type { Answers } from './healing.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { RelatedViews, TargetOf, ViewOf } from './relation.ts'
import type { PropertiesOf } from './resource-type.ts'

/** Something that exists, or may exist, in the real world for the resource. */
export interface LedgerView {
  readonly kind: string
  /** Under which it was, or was to be, made. */
  readonly name: string
  /** What the driver answered when it made it; null when that is not known. */
  readonly ref: unknown
}

/** What a driver function is given. */
export interface Call<T, R, Input, Results, Item = undefined> {
  readonly resource: ViewOf<T>
  readonly related: RelatedViews<R>
  readonly input: Input
  readonly results: { readonly [Step in keyof Results]?: Results[Step] }
  /** The related resource this call is for, in a forEach step. */
  readonly item: Item
  /** Open ledger entries of the resource. */
  readonly ledger: readonly LedgerView[]
  /** The ledger name of what this step creates: make it under this name, so that it can be found again. */
  readonly name: string | undefined
  /** The same for every attempt of this step of this run. */
  readonly key: string
  readonly epoch: number
  readonly attempt: number
  /** What the run wants of the function: a name may be a step here and an undo there. */
  readonly phase: 'step' | 'undo' | 'probe'
  /** The run that the call is for, and the operation it carries out. */
  readonly run: string
  readonly operation: string
  /** When the call is given up, in milliseconds since 1970; 0: never. */
  readonly deadlineAt: number
  /** The operation is forced: be brief, and do not wait for anything. */
  readonly forced: boolean
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
  /** The W3C trace context of this call, to be handed on as the header `traceparent`; where the request came with one. */
  readonly traceparent?: string | undefined
}

/** Not finished; look again after this long. Not a failure. */
export interface Again {
  readonly again: Duration
}
export const again = (after: Duration): Again => ({ again: after })

/** Thrown by a step that has failed for good: no retry, the failure answer at once. Any other error is retried by policy. */
export class TerminalError extends Error {
  override readonly name = 'TerminalError'
  /** Chooses among the failure cases; any error with a string `code` can do that. */
  readonly code: string

  constructor(code: string, message: string = code, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Thrown by a step whose call was cut: it may have happened or not. The step's probe is asked before anything is repeated. */
export class UnknownOutcomeError extends Error {
  override readonly name = 'UnknownOutcomeError'
}

/** A probe's answer, or the answer with the properties it saw: they are written with the landing. */
export type Observed<Answer, P> = Answer | { readonly answer: Answer; readonly observed: Partial<P> }

/**
 * Where a driver elsewhere completes steps later, its object has a function under this name: it answers the key that a token was made
 * for, or null when the token is none of its own.
 */
export const completes: unique symbol = Symbol.for('homeostat.completes')

/** For the sweeper: what exists in the real world, and how to destroy what nobody owns. */
export interface Sweeper {
  /** All of it, or an error: a part would make known strays look gone. */
  inventory?(asked?: {
    readonly signal: AbortSignal
  }): Promise<readonly { readonly kind: string; readonly name: string; readonly ref?: unknown }[]>
  /** Must succeed when the thing is gone already. */
  destroy(thing: LedgerView & { readonly key: string; readonly signal: AbortSignal }): Promise<void>
}

type ValuesOf<M> = M[keyof M]
type InputIn<Inputs, Op> = Op extends keyof Inputs ? Inputs[Op] : unknown
/** An entry that the declaration left out is inferred as unknown; one that it has, as an object. */
type Has<Nested, Op, N> = Op extends keyof Nested
  ? N extends keyof Nested[Op]
    ? Nested[Op][N] extends object
      ? true
      : false
    : false
  : false
type ItemIn<R, Items, Op, N> =
  Has<Items, Op, N> extends true
    ? Op extends keyof Items
      ? N extends keyof Items[Op]
        ? ViewOf<TargetOf<R[keyof Items[Op][N] & keyof R]>>
        : undefined
      : undefined
    : undefined

type StepNames<Results, Asks> = ValuesOf<{
  [Op in keyof Results]: ValuesOf<{ [N in keyof Results[Op]]: Has<Asks, Op, N> extends true ? never : N }>
}>
/** Steps without an undo are inferred as unknown. */
type UndosIn<Steps> = ValuesOf<{ [N in keyof Steps]: Steps[N] extends string ? Steps[N] : never }>
type UndoNames<Undos> = ValuesOf<{ [Op in keyof Undos]: UndosIn<Undos[Op]> }>

type StepCalls<T, R, Inputs, Results, Items, N> = ValuesOf<{
  [Op in keyof Results]: N extends keyof Results[Op]
    ? Call<T, R, InputIn<Inputs, Op>, Results[Op], ItemIn<R, Items, Op, N>>
    : never
}>
type UndoCalls<T, R, Inputs, Results, Undos, N> = ValuesOf<{
  [Op in keyof Undos]: N extends UndosIn<Undos[Op]>
    ? Call<T, R, InputIn<Inputs, Op>, Op extends keyof Results ? Results[Op] : unknown>
    : never
}>
type ProbeCalls<T, R, Probes, N> = N extends keyof Probes ? Call<T, R, unknown, unknown> : never

type StepAnswers<Results, N> = ValuesOf<{
  [Op in keyof Results]: N extends keyof Results[Op]
    ? unknown extends Results[Op][N]
      ? void | Again
      : Results[Op][N] | Again
    : never
}>
type UndoAnswers<Undos, N> = N extends UndoNames<Undos> ? void | Again : never
type ProbeAnswers<T, Probes, N> = N extends keyof Probes
  ? Observed<Answers<Probes[N]> | 'unknown', PropertiesOf<T>>
  : never

/** One function per name that the declaration uses: steps that do not ask others, undos, probes. A name used twice is one function. */
export type Driver<L> =
  L extends Lifecycle<
    infer T,
    infer R,
    infer Probes,
    infer Inputs,
    any,
    infer Results,
    infer Undos,
    infer Items,
    infer Asks
  >
    ? {
        readonly [N in Extract<StepNames<Results, Asks> | UndoNames<Undos> | keyof Probes, string>]: (
          call:
            | StepCalls<T, R, Inputs, Results, Items, N>
            | UndoCalls<T, R, Inputs, Results, Undos, N>
            | ProbeCalls<T, R, Probes, N>,
        ) => Promise<StepAnswers<Results, N> | UndoAnswers<Undos, N> | ProbeAnswers<T, Probes, N>>
      } & { readonly sweeper?: Sweeper }
    : never
