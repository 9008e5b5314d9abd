// Where the reader is: the address is the whole state of a page, so that every view can be sent to somebody else.
import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent, type ReactNode } from 'react'

const listeners = new Set<() => void>()
const tell = () => {
  for (const listener of listeners) listener()
}
window.addEventListener('popstate', tell)

export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', href)
  else history.replaceState(null, '', href)
  tell()
  if (how === 'push') window.scrollTo(0, 0)
}

const subscribe = (listener: () => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export interface Place {
  readonly path: readonly string[]
  readonly query: URLSearchParams
}

export function usePlace(): Place {
  const href = useSyncExternalStore(subscribe, () => location.pathname + location.search)
  const [path = '', ...search] = href.split('?')
  return { path: path.split('/').filter(Boolean).map(decoded), query: new URLSearchParams(search.join('?')) }
}

/** An address that was cut off or typed by hand may hold a lone %: it is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The present address with some parts of its query changed; empty ones are left out. */
export function withQuery(changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  return location.pathname + (text === '' ? '' : `?${text}`)
}

export const address = (...path: string[]): string => `/${path.map(encodeURIComponent).join('/')}`
export const toResource = ({ type, id }: { type: string; id: string }): string => address('resources', type, id)
export const toList = (query: Readonly<Record<string, string>>): string =>
  `/resources?${new URLSearchParams(query).toString()}`

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly href: string; readonly children?: ReactNode }

/** A link within the console: the browser's own ways of opening it elsewhere stay. */
export function Link({ href, onClick, ...rest }: LinkProps) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    go(href)
  }
  return <a href={href} onClick={follow} {...rest} />
}
