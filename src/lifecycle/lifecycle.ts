// The two stages of a declaration: `resourceType` says what there is, `.relations().lifecycle()` how it moves. No behaviour.
import type { Drift, Heal, RecoveryCase } from './healing.ts'
import type { Operation } from './operation.ts'
import type { Relations } from './relation.ts'
import type { NamesOf, ResourceType, StatusOf, StatusTable, TerminalOf, TransitionalOf } from './resource-type.ts'
import type { Rule } from './rule.ts'
import type { Schema } from './schema.ts'
import type { Timer } from './timer.ts'

/** An edge that another resource's operation or healing may take; `by` names the relation. */
export interface MoveRow<T, R> {
  readonly from: readonly (StatusOf<T> | '*')[]
  readonly to: StatusOf<T>
  readonly by: keyof R
}

/**
 * How a resource moves. `operations` is an intersection, since each reverse-mapped type can infer one thing per operation: the
 * input as its functions see it and as its caller gives it, the results of its steps, the names of their undos, what they go
 * over, which of them ask others, and where it starts from (nowhere: it creates the resource).
 */
export interface Body<T, R, Probes, Inputs, Givens, Results, Undos, Items, Asks, Starts> {
  /** Statuses in which another resource's operation may add one. */
  readonly begins?: readonly StatusOf<T>[]
  /** What others may do to it. */
  readonly moves?: readonly MoveRow<T, R>[]
  /** Questions the driver can answer, with the possible answers (besides `unknown`). */
  readonly probes?: Probes
  readonly rules?: { readonly [name: string]: Rule<T, R> }
  readonly timers?: { readonly [name: string]: Timer<T, R, NoInfer<keyof Inputs>> }
  readonly operations?: { readonly [K in keyof Inputs]: { readonly input?: Schema<Inputs[K]> } } & {
    readonly [K in keyof Givens]: { readonly input?: Schema<any, Givens[K]> }
  } & {
    readonly [K in keyof Results]: Operation<
      T,
      R,
      K extends keyof Inputs ? Inputs[K] : unknown,
      Results[K],
      keyof Probes
    >
  } & {
    readonly [K in keyof Undos]: {
      readonly steps: { readonly [N in keyof Undos[K]]: { readonly undo?: Undos[K][N] & string } }
    }
  } & {
    readonly [K in keyof Items]: {
      readonly steps: { readonly [N in keyof Items[K]]: { readonly forEach?: Items[K][N] } }
    }
  } & {
    readonly [K in keyof Asks]: { readonly steps: { readonly [N in keyof Asks[K]]: { readonly ask?: Asks[K][N] } } }
  } & {
    readonly [K in keyof Starts]: { readonly from: Starts[K] }
  }
  /** For every transitional status: what to do with a resource found stuck in it. */
  readonly heal: {
    readonly [S in TransitionalOf<T>]:
      | Heal<T, R, NoInfer<keyof Inputs>, Probes>
      | readonly RecoveryCase<T, R, NoInfer<keyof Inputs>>[]
  }
  /** For settled statuses: look at the real world on a rhythm, and land by what is seen. */
  readonly drift?: {
    readonly [S in Exclude<StatusOf<T>, TransitionalOf<T> | TerminalOf<T>>]?: Drift<T, R, NoInfer<keyof Inputs>, Probes>
  }
}
export type AnyBody = Body<any, any, any, any, any, any, any, any, any, any>

/** A whole declaration: plain data plus small pure functions. */
export interface Lifecycle<
  T = any,
  R = any,
  Probes = any,
  Inputs = any,
  Givens = any,
  Results = any,
  Undos = any,
  Items = any,
  Asks = any,
  Starts = any,
> {
  readonly resource: T
  readonly relations: R
  readonly body: AnyBody
  /** Only for the compiler. */
  readonly names?: {
    readonly probes: Probes
    readonly inputs: Inputs
    readonly givens: Givens
    readonly results: Results
    readonly undos: Undos
    readonly items: Items
    readonly asks: Asks
    readonly starts: Starts
  }
}

/** Any declaration: what check, graph, words and plans take. */
export type AnyLifecycle = Lifecycle

/** The type whose lifecycle it is. */
export const typeOf = (lifecycle: AnyLifecycle): string => (lifecycle.resource as { readonly type: string }).type

/** T and R are known before the body is read: only so do literals that its functions return keep their types. */
export interface Declaring<T, R> {
  /** Says how it moves. */
  lifecycle<
    const Probes extends Readonly<Record<string, readonly string[]>> = {},
    Inputs = {},
    Givens = {},
    Results = {},
    const Undos = {},
    const Items = {},
    const Asks = {},
    const Starts = {},
  >(
    body: Body<T, R, Probes, Inputs, Givens, Results, Undos, Items, Asks, Starts>,
  ): Lifecycle<T, R, Probes, Inputs, Givens, Results, Undos, Items, Asks, Starts>
}

export interface DeclaredType<
  Name extends string,
  Properties,
  Stable extends string,
  Transitional extends string,
  Failed extends string,
  Terminal extends string,
  Given,
>
  extends
    ResourceType<Name, Properties, Stable, Transitional, Failed, Terminal, Given>,
    Declaring<ResourceType<Name, Properties, Stable, Transitional, Failed, Terminal, Given>, {}> {
  /** Names the resources this one is connected with. */
  relations<const R extends Relations>(
    relations: R,
  ): Declaring<ResourceType<Name, Properties, Stable, Transitional, Failed, Terminal, Given>, R>
}

/** Declares a type of resource: its properties and its statuses, each with its meaning. */
export function resourceType<const Name extends string, Properties, Given, const Statuses extends StatusTable>(
  type: Name,
  declaration: { readonly properties: Schema<Properties, Given>; readonly statuses: Statuses },
): DeclaredType<
  Name,
  Properties,
  NamesOf<Statuses, 'stable'>,
  NamesOf<Statuses, 'transitional'>,
  NamesOf<Statuses, 'failed'>,
  NamesOf<Statuses, 'terminal'>,
  Given
> {
  const resource = { type, properties: declaration.properties, statuses: declaration.statuses }
  const declaring = (relations: Relations): Declaring<any, any> => ({
    lifecycle: (body: AnyBody) => ({ resource, relations, body }),
  })
  return { ...resource, ...declaring({}), relations: declaring }
}
