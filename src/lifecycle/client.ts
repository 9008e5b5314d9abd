// What a set of lifecycles offers to its callers, as types: `client.volume.extend('v-17', { size: 20 })`.
import type { Lifecycle } from './lifecycle.ts'
import type { Relations, ResourceView, ViewOf } from './relation.ts'
import type { GivenOf } from './resource-type.ts'

export interface Accepted<View = ResourceView> {
  readonly resource: View
  /** Null: nothing was begun. `outcome` tells why. */
  readonly run: { readonly id: string } | null
  /** It waits its turn, as `ifBusy: 'queue'` says; or there was nothing left to do (`ifTerminal: 'succeed'`). */
  readonly outcome: 'begun' | 'queued' | 'over'
}
export interface Created<View = ResourceView> extends Accepted<View> {
  readonly run: { readonly id: string }
}

/** Nothing when there is no input schema; may be left out when everything in it has a default. */
type Arguments<Input> = unknown extends Input ? [] : {} extends Input ? [input?: Input] : [input: Input]

type LinkNames<R> = R extends Relations
  ? { [K in keyof R]: R[K] extends { readonly link: any } | { readonly pair: any } ? K : never }[keyof R]
  : never

/** What the creator of a resource gives; properties with a default may be left out. */
export interface NewResource<T, R> {
  readonly id?: string
  readonly name?: string
  readonly tenant?: string
  /** Id of the parent. */
  readonly parent?: string
  /** Ids by relation. */
  readonly links?: { readonly [K in LinkNames<R>]?: string }
  readonly properties: GivenOf<T>
}

/** Operations that start from nowhere: whatever their names, they make a resource. */
type Creating<Starts> = { [Op in keyof Starts]: Starts[Op] extends readonly [] ? Op : never }[keyof Starts]

export type Client<Lifecycles> = {
  readonly [K in keyof Lifecycles]: Lifecycles[K] extends Lifecycle<
    infer T,
    infer R,
    any,
    any,
    infer Givens,
    any,
    any,
    any,
    any,
    infer Starts
  >
    ? { readonly get: (id: string) => Promise<ViewOf<T> | null> } & {
        readonly [Op in Exclude<Extract<keyof Givens, string>, Creating<Starts>>]: (
          id: string,
          ...input: Arguments<Givens[Op]>
        ) => Promise<Accepted<ViewOf<T>>>
      } & {
        readonly [Op in Extract<keyof Givens, Creating<Starts>>]: (
          resource: NewResource<T, R>,
          ...input: Arguments<Givens[Op]>
        ) => Promise<Created<ViewOf<T>>>
      }
    : never
}
