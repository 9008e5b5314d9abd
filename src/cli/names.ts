// Names as people type them: `cluster` for `sahara.cluster`, `cluster/web` or just `web` for a resource.
import { z } from 'zod'
import { HomeostatError } from '../base/errors.ts'
import type { HttpClient } from '../client/http-client.ts'
import type * as shape from '../protocol/shapes.ts'
import { CliError, exits } from './cli-error.ts'
import { didYouMean } from '../base/did-you-mean.ts'

export type Resource = z.infer<typeof shape.resource>

export interface Ref {
  readonly type: string
  readonly id: string
}

interface OperationWords {
  readonly meaning: string
  readonly words: string | readonly string[]
  readonly input: {
    readonly properties?: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  } | null
  readonly declared: { readonly from?: readonly string[] }
}

export interface TypeWords {
  readonly type: string
  readonly counts: Readonly<Record<string, number>>
  readonly statuses: readonly { readonly name: string; readonly kind: string; readonly meaning: string }[]
  readonly operations: Readonly<Record<string, OperationWords>>
}

export async function typesOf(api: HttpClient): Promise<readonly TypeWords[]> {
  const { items } = await api.call('listLifecycles', {})
  return items.map(({ type, lifecycle, counts }) => ({ ...(lifecycle as unknown as TypeWords), type, counts }))
}

export async function typeNamed(api: HttpClient, given: string): Promise<string> {
  return pick(
    given,
    (await typesOf(api)).map(({ type }) => type),
  )
}

/** The whole name, or its last part where only one type has it. */
export function pick(given: string, types: readonly string[]): string {
  if (types.includes(given)) return given
  const wanted = given.toLowerCase()
  const short = types.filter((type) => type.split('.').at(-1)!.toLowerCase() === wanted.replace(/s$/, ''))
  const exact = short.length > 0 ? short : types.filter((type) => type.split('.').at(-1)!.toLowerCase() === wanted)
  if (exact.length === 1) return exact[0]!
  if (exact.length > 1)
    throw new CliError(exits.notFound, `'${given}' may be ${exact.join(' or ')}.`, 'Give the whole name.')
  const hint = didYouMean(given, types)
  throw new CliError(exits.notFound, `There is no type '${given}'.`, hint || `There are: ${types.join(', ')}.`)
}

/** `type/id`, with the type as short as it may be; or an id that only one resource has. */
export async function refNamed(api: HttpClient, given: string): Promise<Ref> {
  const slash = given.indexOf('/')
  if (slash > 0) return { type: await typeNamed(api, given.slice(0, slash)), id: given.slice(slash + 1) }
  const exact = await allNamed(api, given)
  const living = exact.filter(({ kind }) => kind !== 'terminal')
  const found = living.length > 0 ? living : exact
  if (found.length === 1) return { type: found[0]!.type, id: found[0]!.id }
  if (found.length > 1) {
    const names = found.map(({ type, id }) => `${type}/${id}`)
    throw new CliError(exits.notFound, `Several have the id '${given}': ${names.join(', ')}.`, 'Give type/id.')
  }
  const hint = didYouMean(given, await idsNear(api, given)) || 'homeostat ls shows what there is.'
  throw new CliError(exits.notFound, `There is no resource '${given}'.`, hint)
}

/** All with this id or name. By type and id and by name each is found by an index; a part of a text is looked for in some rows only. */
async function allNamed(api: HttpClient, given: string): Promise<readonly Resource[]> {
  const { items } = await api.call('countResources', {})
  const types = items.filter(({ counts }) => Object.keys(counts).length > 0)
  const [named, ...identified] = await Promise.all([
    api.call('listAllResources', { query: { name: given, pageSize: 500 } }),
    ...types.map(({ type }) => api.call('getResource', { path: { type, id: given } }).catch(nullIfNone)),
  ])
  const found = identified.filter((one) => one !== null)
  return [...found, ...named.items.filter((one) => !found.some(({ type, id }) => one.type === type && one.id === id))]
}

function nullIfNone(error: unknown): null {
  if (error instanceof HomeostatError && error.code === 'resource_not_found') return null
  throw error
}

export const wordOf = ({ type, id }: Ref): string => `${type}/${id}`

/** What somebody may have meant: of those that hold what was given, or else of those there are. */
async function idsNear(api: HttpClient, given: string): Promise<readonly string[]> {
  const { items } = await api.call('listAllResources', { query: { q: given, pageSize: 500 } })
  const known = items.length > 0 ? items : (await api.call('listAllResources', { query: { pageSize: 500 } })).items
  return known.filter(({ kind }) => kind !== 'terminal').map(({ id }) => id)
}
