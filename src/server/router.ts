// Finds the row of the contract for a method and a path. Parameters are cut out before they are decoded, so that an encoded
// slash or colon belongs to the parameter and not to the path.
import { HomeostatError } from '../base/errors.ts'
import { parameterNames, parameterSchemas, type Method } from '../protocol/route.ts'
import { routeNames, routeOf, type RouteName } from '../protocol/routes.ts'

export interface Match {
  readonly name: RouteName
  readonly parameters: Readonly<Record<string, string>>
}

interface Pattern {
  readonly name: RouteName
  readonly method: Method
  readonly expression: RegExp
  readonly parameters: readonly string[]
  readonly slashes: number
  /** Literal characters: the more specific row wins. */
  readonly weight: number
}

export class Router {
  /** By the number of slashes: what stands in the place of a parameter holds none. */
  readonly #patterns: ReadonlyMap<number, readonly Pattern[]>

  readonly #isDev: boolean

  constructor(options: { readonly dev: boolean }) {
    this.#isDev = options.dev
    const names = routeNames.filter((name) => options.dev || routeOf(name).dev !== true)
    const patterns = names.map(patternOf).sort((a, b) => b.weight - a.weight)
    this.#patterns = Map.groupBy(patterns, ({ slashes }) => slashes)
  }

  /** Throws `route_not_found`, or `method_not_allowed` with the methods that are. */
  match(method: string, path: string): Match {
    const allowed = new Set<string>()
    for (const pattern of this.#patterns.get(slashesIn(path)) ?? []) {
      const found = pattern.expression.exec(path)
      if (found === null) continue
      if (pattern.method !== method) {
        allowed.add(pattern.method)
        continue
      }
      return { name: pattern.name, parameters: decoded(pattern.parameters, found.slice(1)) }
    }
    if (allowed.size === 0) {
      throw new HomeostatError('route_not_found', `There is no ${path.slice(0, 200)}. ${this.#wayOut(path)}`)
    }
    // Whatever can be read has a head.
    if (allowed.has('GET')) allowed.add('HEAD')
    const methods = [...allowed].sort().join(', ')
    throw new HomeostatError('method_not_allowed', `${path.slice(0, 200)} takes ${methods}.`, { details: { methods } })
  }

  #wayOut(path: string): string {
    if (path.startsWith('/v1/dev/') && !this.#isDev)
      return 'This server is not in development mode: serve --dev begins it.'
    const without = path.replace(/\/$/, '')
    const isThere = this.#patterns.get(slashesIn(without))?.some(({ expression }) => expression.test(without)) ?? false
    return without !== path && isThere ? 'Leave the slash at its end out.' : '/docs shows what there is.'
  }
}

function slashesIn(path: string): number {
  let count = 0
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) count++
  return count
}

function patternOf(name: RouteName): Pattern {
  const { method, path } = routeOf(name)
  // What stands before a verb may hold colons itself: the last one splits. An id is made by strangers, and may end a path with one.
  const source = path
    .replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`)
    .replace(/\{(?!id\})\w+\}$/, '([^/:]+)')
    .replace(/\{\w+\}/g, '([^/]+)')
  return {
    name,
    method,
    expression: new RegExp(`^${source}$`),
    parameters: parameterNames(path),
    slashes: slashesIn(path),
    weight: path.replace(/\{\w+\}/g, '').length + (path.includes(':') ? 1_000 : 0),
  }
}

function decoded(names: readonly string[], values: readonly string[]): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const [index, name] of names.entries()) {
    const value = decode(values[index]!)
    const checked = parameterSchemas[name]!.safeParse(value)
    if (!checked.success) {
      const why = checked.error.issues.map((issue) => issue.message).join('; ')
      throw new HomeostatError('request_invalid', `'${name}' in the path does not fit: ${why}.`)
    }
    parameters[name] = checked.data
  }
  return parameters
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new HomeostatError('request_invalid', 'The path holds a % that encodes nothing.')
  }
}
