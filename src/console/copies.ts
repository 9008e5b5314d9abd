// What an action of the console is outside of it: the same request for curl and for the command line.
import { pathOf } from '../protocol/route.ts'
import { routeOf, type RouteName } from '../protocol/routes.ts'

interface Asked {
  readonly path?: object
  readonly query?: object
  readonly body?: unknown
  /** The state of the resource it was decided on: changed meanwhile, it is refused. */
  readonly ifMatch?: string | undefined
}

const quoted = (text: string): string => (/^[\w./:=@,+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

export function asCurl(name: RouteName, { path = {}, query = {}, body, ifMatch }: Asked): string {
  const { method, path: pattern } = routeOf(name)
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][]).toString()}`
  const url = `${location.origin}${pathOf(pattern, path as Record<string, string>)}${search}`
  return [
    'curl -fsS',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    '-H "authorization: Bearer $HOMEOSTAT_TOKEN"',
    ...(ifMatch === undefined ? [] : [`-H ${quoted(`if-match: ${ifMatch}`)}`]),
    ...(body === undefined ? [] : ["-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
    quoted(url),
  ].join(' ')
}

/** A word of the command line. */
export const word = (text: string): string => quoted(text)

/** A text that the command line would take for something else: a number, a list, a moment. */
function isTaken(text: string): boolean {
  if (/^now(?:[+-]\d+(?:ms|s|m|h|d))?$/.test(text)) return true
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** `name=value` of each, as the command line takes it. */
export const words = (input: Readonly<Record<string, unknown>>): string =>
  Object.entries(input)
    .map(([name, value]) =>
      quoted(`${name}=${typeof value === 'string' && !isTaken(value) ? value : JSON.stringify(value)}`),
    )
    .join(' ')

export const asCli = (...parts: string[]): string => ['homeostat', ...parts].filter((part) => part !== '').join(' ')
