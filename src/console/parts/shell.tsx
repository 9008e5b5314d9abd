// The frame around every page: where one can go, whether it is live, the palette, light and dark, and who is signed in.
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { api, askAgain, queries, useCall, useDownSince, type Session } from '../api.ts'
import { useLiveState } from '../live.ts'
import { Link, usePlace } from '../route.tsx'
import { useSession } from '../session.tsx'
import { aheadMs, clockTime, span, spanPassed, zone } from '../time.ts'
import { Empty, PageHead, useNow } from './bits.tsx'
import { keepFocus } from './focus.ts'
import { Icon, type IconName } from './icon.tsx'
import { Palette } from './palette.tsx'
import { schemes, useScheme } from './scheme.ts'

export interface Item {
  readonly href: string
  readonly label: string
  readonly icon: IconName
  readonly words: string
  readonly needs?: 'administer' | 'develop' | 'installation'
}

export const groups: readonly { readonly name: string; readonly items: readonly Item[] }[] = [
  {
    name: 'Now',
    items: [
      { href: '/', label: 'Fleet', icon: 'fleet', words: 'How everything is' },
      { href: '/resources', label: 'Resources', icon: 'list', words: 'Find and filter' },
      { href: '/runs', label: 'Runs', icon: 'run', words: 'What is being carried out' },
      { href: '/stuck', label: 'Stuck', icon: 'alert', words: 'Stuck, failed, incidents' },
    ],
  },
  {
    name: 'Control',
    items: [
      { href: '/healing', label: 'Healing', icon: 'heal', words: 'Rules, modes, breakers', needs: 'installation' },
      { href: '/orphans', label: 'Orphans', icon: 'orphan', words: 'Left behind in the real world' },
      { href: '/bulk', label: 'Bulk jobs', icon: 'bulk', words: 'One operation over many' },
      { href: '/workers', label: 'Workers', icon: 'worker', words: 'Who carries runs out', needs: 'installation' },
    ],
  },
  {
    name: 'Records',
    items: [
      { href: '/lifecycles', label: 'Lifecycles', icon: 'shape', words: 'What is declared' },
      { href: '/events', label: 'Events', icon: 'event', words: 'Live feed' },
      { href: '/webhooks', label: 'Webhooks', icon: 'out', words: 'Events sent elsewhere', needs: 'administer' },
      { href: '/audit', label: 'Audit', icon: 'audit', words: 'Who did what and why', needs: 'administer' },
      { href: '/access', label: 'Access', icon: 'key', words: 'Tokens and accounts', needs: 'administer' },
      { href: '/dev', label: 'Break things', icon: 'dev', words: 'Development mode', needs: 'develop' },
    ],
  },
]

/** Why this session cannot use a page; null: it can. */
function refusalOf({ needs, href }: Item, { principal, permissions, tenant }: Session): string | null {
  const isOfAll = needs === 'installation' || href === '/audit'
  if (needs !== undefined && needs !== 'installation' && !permissions.includes(needs))
    return `${principal} lacks the permission '${needs}'.`
  return isOfAll && tenant !== null ? `It is about all tenants, and ${principal} works in tenant ${tenant} only.` : null
}

/** The pages that this session can use. */
function useItems(): typeof groups {
  const session = useSession()
  const mayUse = (item: Item) => refusalOf(item, session) === null && (item.needs !== 'develop' || session.isDev)
  return groups.map(({ name, items }) => ({ name, items: items.filter(mayUse) }))
}

/** A page that this session cannot use, by an address that somebody else sent: says so instead of asking in vain. */
export function Allowed({ children }: { readonly children: ReactNode }) {
  const { path } = usePlace()
  const session = useSession()
  const item = groups.flatMap(({ items }) => items).find(({ href }) => href === `/${path[0] ?? ''}`)
  const refusal = item === undefined ? null : refusalOf(item, session)
  if (item === undefined || refusal === null) return children
  return (
    <>
      <PageHead title={item.label} />
      <Empty title="This page is not for you.">
        {refusal} Ask somebody who may, or <Link href="/">go to the fleet</Link>.
      </Empty>
    </>
  )
}

export function Shell({ children }: { readonly children: ReactNode }) {
  const { path } = usePlace()
  const session = useSession()
  const [isOpen, setOpen] = useState(false)
  const [isSearching, setSearching] = useState(false)
  const here = `/${path[0] ?? ''}`
  const items = useItems()
  const stuck = useCall('listStuck', { query: { pageSize: 100 } }, { everyMs: 5_000 })
  const stuckCount = stuck.data?.items.length ?? 0

  const menu = useMenu(isOpen, setOpen)
  useEffect(keepFocus, [])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest?.('input, textarea, select') !== null
      if ((event.key === 'k' && (event.metaKey || event.ctrlKey)) || (event.key === '/' && !isTyping)) {
        event.preventDefault()
        // A dialog that is open is answered first: who goes elsewhere would leave it standing over another page.
        if (document.querySelector('dialog[open]') === null) setSearching(true)
      }
    }
    window.addEventListener('keydown', press)
    return () => window.removeEventListener('keydown', press)
  }, [])

  return (
    <div className={`shell ${isOpen ? 'open' : ''}`}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <aside>
        <Link href="/" className="brand" aria-label="Homeostat, to the fleet">
          <img src="/mark.svg" alt="" width="26" height="26" /> Homeostat
        </Link>
        <nav aria-label="Pages" id="pages">
          {items.map(({ name, items: some }) => (
            <div key={name}>
              <p className="group">{name}</p>
              {some.map(({ href, label, icon }) => (
                <Link key={href} href={href} aria-current={here === href ? 'page' : undefined}>
                  <Icon name={icon} /> {label}
                  {href === '/stuck' && stuckCount > 0 && (
                    <span className="pill bad">
                      {stuck.data?.nextPageToken == null ? stuckCount : `${stuckCount}+`}
                    </span>
                  )}
                </Link>
              ))}
            </div>
          ))}
        </nav>
        <p className="foot quiet">
          {session.version} · <a href="/docs">API</a> · times in {zone()}
          <ClockNote />
        </p>
      </aside>
      <div className="side">
        <div className="top">
          <div className="bar" role="banner">
            <button
              ref={menu}
              type="button"
              className="ghost only-small"
              aria-label="Menu"
              aria-expanded={isOpen}
              aria-controls="pages"
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="menu" />
            </button>
            <button type="button" className="search" onClick={() => setSearching(true)}>
              <Icon name="search" /> <span>Find a resource, run or page</span> <kbd>Ctrl K</kbd>
            </button>
            <span className="spring" />
            <LiveMark />
            <SchemeButton />
            <span className="who" title={`${session.role}${session.tenant === null ? '' : ` of ${session.tenant}`}`}>
              {session.principal}
            </span>
            {session.expiresAt !== null && (
              <button
                type="button"
                className="ghost small"
                aria-label="Sign out"
                title="Sign out"
                onClick={() => void signOut()}
              >
                <Icon name="out" />
              </button>
            )}
          </div>
          <Down />
        </div>
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      {isSearching && <Palette items={items.flatMap((group) => group.items)} onClose={() => setSearching(false)} />}
    </div>
  )
}

/** The menu of a small screen: opened, the keyboard is in it; Escape, a page that was chosen, and whatever is beside it close it. */
function useMenu(isOpen: boolean, setOpen: (isOpen: boolean) => void) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return undefined
    const pages = document.querySelector('aside')!
    pages.querySelector<HTMLElement>('nav a')?.focus()
    const close = (heir: HTMLElement | null) => {
      setOpen(false)
      heir?.focus({ preventScroll: true })
    }
    const press = ({ key }: KeyboardEvent) => key === 'Escape' && close(button.current)
    const leave = ({ target }: Event) =>
      !pages.contains(target as Node) && button.current?.contains(target as Node) !== true && setOpen(false)
    const choose = ({ target }: Event) =>
      (target as Element).closest('a') !== null && close(document.querySelector('main'))
    document.addEventListener('keydown', press)
    document.addEventListener('focusin', leave)
    document.addEventListener('pointerdown', leave)
    pages.addEventListener('click', choose)
    return () => {
      document.removeEventListener('keydown', press)
      document.removeEventListener('focusin', leave)
      document.removeEventListener('pointerdown', leave)
      pages.removeEventListener('click', choose)
    }
  }, [isOpen])
  return button
}

async function signOut(): Promise<void> {
  await api.call('signOut', {}).catch(() => {})
  queries.clear()
  location.assign('/')
}

/** Below this, nobody would notice. */
const noticedMs = 10_000

/** A device whose clock is wrong would show wrong ages and deadlines. */
function ClockNote() {
  useNow()
  const ahead = aheadMs()
  if (Math.abs(ahead) < noticedMs) return null
  return (
    <>
      , by the server&apos;s clock: that of this device is {span(Math.abs(ahead))} {ahead < 0 ? 'fast' : 'slow'}
    </>
  )
}

function LiveMark() {
  const state = useLiveState()
  const isDown = useDownSince() !== null
  const word = isDown ? 'no answer' : state
  return (
    <span className={`live ${isDown ? 'down' : state}`} role="status">
      <i aria-hidden="true" /> {word}
    </span>
  )
}

function SchemeButton() {
  const [scheme, setScheme] = useScheme()
  const next = schemes[(schemes.indexOf(scheme) + 1) % schemes.length]!
  return (
    <button
      type="button"
      className="ghost small"
      aria-label={`Colours: ${scheme}. Change to ${next}`}
      title={`Colours: ${scheme}`}
      onClick={() => setScheme(next)}
    >
      <Icon name={scheme === 'dark' ? 'moon' : 'sun'} />
      {scheme === 'auto' && <small>auto</small>}
    </button>
  )
}

/** The server is gone: says so, and from when what is still shown is. */
function Down() {
  const since = useDownSince()
  const at = useNow()
  useEffect(() => {
    if (since === null) return
    askAgain()
  }, [since, at])
  if (since === null) return null
  return (
    <div className="down" role="alert">
      <Icon name="alert" />
      <div>
        <strong>
          The server does not answer{/* It ticks: read out every second, nothing else could be heard. */}
          <span aria-hidden="true">, for {spanPassed(Math.max(1_000, at - since))} now</span>.
        </strong>{' '}
        What you see is from {clockTime(since)}. It is asked again every second; other workers take over what this one
        was carrying out.
      </div>
    </div>
  )
}
