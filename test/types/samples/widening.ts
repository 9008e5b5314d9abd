// Why the lifecycle is a method of what was declared before: a type that is still being inferred loses the literals that a
// function of the declaration returns. If the second expectation ever becomes unused, the two stages could be one call.
import { resourceType, type PropertiesOf, type Relations, type Schema } from 'homeostat'
import { z } from 'zod'

const child = resourceType('c', { properties: z.object({ eventType: z.enum(['a', 'b']), n: z.number() }), statuses: { stable: { S: '' }, transitional: { T: '' } } })
const parent = resourceType('p', { properties: z.object({}), statuses: { stable: { S: '' }, transitional: { T: '' } } })
const input = z.object({ n: z.number() })

/** Fine in the language: T and R are fixed before the body is read. */
export const parents = parent.relations({ kids: { children: child } }).lifecycle({
  operations: { x: { from: [], input, to: 'S', onFailure: 'S', steps: {
    make: { during: { status: 'T', add: { kids: { status: 'S', each: ({ input }) => [{ eventType: 'a', n: input.n }] } } } } } } },
  heal: { T: { status: 'S' } },
})
export const wrong = parent.relations({ kids: { children: child } }).lifecycle({
  operations: { x: { from: [], input, to: 'S', onFailure: 'S', steps: {
    // @ts-expect-error the properties of what is added are typed
    make: { during: { status: 'T', add: { kids: { status: 'S', each: ({ input }) => [{ eventType: 'c', n: input.n }] } } } } } } },
  heal: { T: { status: 'S' } },
})

type Target<R> = R extends { readonly children: infer T } ? T : never
interface Op<R, I> { input?: Schema<I>; add?: { readonly [K in keyof R]?: (view: { input: I }) => readonly PropertiesOf<Target<R[K]>>[] } }
declare function together<const R extends Relations, I>(declaration: { relations: R; operations: { [K in keyof I]: Op<R, I[K]> } }): I
declare function staged<const R extends Relations>(relations: R): <I>(declaration: { operations: { [K in keyof I]: Op<R, I[K]> } }) => I
const relations = { kids: { children: child } } as const

export const inTwoStages = () => staged(relations)({ operations: { x: { input, add: { kids: ({ input }) => [{ eventType: 'a', n: input.n }] } } } })
// @ts-expect-error eventType has become a string
export const inOneCall = () => together({ relations, operations: { x: { input, add: { kids: ({ input }) => [{ eventType: 'a', n: input.n }] } } } })
