// The frame around every page: where one can go, whether it is live, the palette, light and dark, and who is signed in.
import { useEffect, useState, type ReactNode } from 'react'
import { api, askAgain, queries, useCall, useDownSince } from '../api.ts'
import { useLiveState } from '../live.ts'
import { Link, usePlace } from '../route.tsx'
import { useSession } from '../session.tsx'
import { clockTime, span } from '../time.ts'
import { useNow } from './bits.tsx'
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

/** The pages that this session can use. */
function useItems(): typeof groups {
  const { permissions, tenant, isDev } = useSession()
  const mayUse = ({ needs, href }: Item) => {
    if (href === '/audit' && tenant !== null) return false
    if (needs === 'installation') return tenant === null
    if (needs === 'develop') return isDev && permissions.includes('develop')
    return needs === undefined || permissions.includes(needs)
  }
  return groups.map(({ name, items }) => ({ name, items: items.filter(mayUse) }))
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

  useEffect(() => setOpen(false), [here])
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest?.('input, textarea, select') !== null
      if ((event.key === 'k' && (event.metaKey || event.ctrlKey)) || (event.key === '/' && !isTyping)) {
        event.preventDefault()
        setSearching(true)
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
          {session.version} · <a href="/docs">API</a>
        </p>
      </aside>
      <div className="side">
        <div className="bar" role="banner">
          <button
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
        <main id="main" tabIndex={-1}>
          {children}
        </main>
      </div>
      {isSearching && <Palette items={items.flatMap((group) => group.items)} onClose={() => setSearching(false)} />}
    </div>
  )
}

async function signOut(): Promise<void> {
  await api.call('signOut', {}).catch(() => {})
  queries.clear()
  location.assign('/')
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
          The server does not answer for {span(Math.max(1_000, Math.round((at - since) / 1_000) * 1_000))}.
        </strong>{' '}
        What you see is from {clockTime(since)}. It is asked again every second; other workers take over what this one
        was carrying out.
      </div>
    </div>
  )
}
