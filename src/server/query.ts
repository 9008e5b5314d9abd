// The query of a request, as its row of the contract says: every name once, numbers as digits.
import { HomeostatError } from '../base/errors.ts'
import { routes, type RouteName } from '../protocol/routes.ts'
import { requestInvalid } from './problem.ts'

export function queryOf(name: RouteName, url: string): unknown {
  const at = url.indexOf('?')
  if (at < 0 && emptyQueries.has(name)) return emptyQueries.get(name)
  const { query } = routes[name]
  const given: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [key, value] of new URLSearchParams(at < 0 ? '' : url.slice(at + 1))) {
    if (key in given) throw new HomeostatError('request_invalid', `'${key.slice(0, 50)}' occurs twice in the query.`)
    if (isNumber(query.shape, key) && !/^-?\d{1,16}(\.\d{1,9})?$/.test(value))
      throw new HomeostatError('request_invalid', `'${key}' in the query is a number: '${value.slice(0, 50)}' is none.`)
    given[key] = value
  }
  const checked = query.safeParse({ ...given })
  if (!checked.success) throw requestInvalid('query', checked.error, query)
  if (at < 0) emptyQueries.set(name, Object.freeze(checked.data))
  return checked.data
}

/** What a row makes of a query that is not there. */
const emptyQueries = new Map<RouteName, unknown>()

interface Inside {
  readonly type?: string
  readonly innerType?: unknown
}

/** Whether the schema makes a number of it: by itself it would take nothing for 0, and 0x10 for 16. */
function isNumber(shape: Readonly<Record<string, unknown>>, key: string): boolean {
  let schema = Object.hasOwn(shape, key) ? shape[key] : undefined
  for (;;) {
    const { type, innerType } = (schema as { readonly _zod?: { readonly def: Inside } } | undefined)?._zod?.def ?? {}
    if (innerType === undefined) return type === 'number'
    schema = innerType
  }
}
