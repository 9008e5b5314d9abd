// The console: signs in, follows the events, and shows the page that the address names.
import '@fontsource-variable/inter/wght.css'
import './styles.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { Component, StrictMode, useEffect, type ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { askAgain, queries, useCall } from './api.ts'
import { startLive } from './live.ts'
import Fleet from './pages/fleet.tsx'
import SignIn, { spendTicket } from './pages/sign-in.tsx'
import { Acts } from './parts/act.tsx'
import { Empty, Loading, PageHead, Problem, useNow } from './parts/bits.tsx'
import { later, readAhead } from './parts/later.tsx'
import { applyScheme } from './parts/scheme.ts'
import { Allowed, Shell } from './parts/shell.tsx'
import { Toasts } from './parts/toasts.tsx'
import { go, Link, toList, usePlace } from './route.tsx'
import { isSignedOut, SessionContext, whoIs } from './session.tsx'

const Resources = later(() => import('./pages/resources.tsx'))
const ResourcePage = later(() => import('./pages/resource.tsx'))
const Runs = later(() => import('./pages/runs.tsx'))
const RunPage = later(() => import('./pages/run.tsx'))
const Stuck = later(() => import('./pages/stuck.tsx'))
const Healing = later(() => import('./pages/healing.tsx'))
const Orphans = later(() => import('./pages/orphans.tsx'))
const Workers = later(() => import('./pages/workers.tsx'))
const Bulk = later(() => import('./pages/bulk.tsx'))
const Events = later(() => import('./pages/events.tsx'))
const Webhooks = later(() => import('./pages/webhooks.tsx'))
const Audit = later(() => import('./pages/audit.tsx'))
const Access = later(() => import('./pages/access.tsx'))
const Lifecycles = later(() => import('./pages/lifecycles.tsx'))
const LifecyclePage = later(() => import('./pages/lifecycle.tsx'))
const Rehearsal = later(() => import('./pages/rehearsal.tsx'))
const Dev = later(() => import('./pages/dev.tsx'))

function Page() {
  const { path } = usePlace()
  const [first = '', second, third] = path
  switch (first) {
    case '':
      return <Fleet />
    case 'resources':
      if (second === undefined) return <Resources />
      return third === undefined ? (
        <Type type={second} />
      ) : (
        <ResourcePage key={`${second}/${third}`} type={second} id={third} />
      )
    case 'runs':
      return second === undefined ? <Runs /> : <RunPage key={second} run={second} />
    case 'stuck':
      return <Stuck />
    case 'healing':
      return <Healing />
    case 'orphans':
      return <Orphans />
    case 'workers':
      return <Workers />
    case 'bulk':
      return <Bulk id={second} />
    case 'events':
      return <Events />
    case 'webhooks':
      return <Webhooks />
    case 'audit':
      return <Audit />
    case 'access':
      return <Access />
    case 'lifecycles':
      if (second === undefined) return <Lifecycles />
      return third === 'rehearsal' ? (
        <Rehearsal key={second} type={second} />
      ) : (
        <LifecyclePage key={second} type={second} />
      )
    case 'dev':
      return <Dev />
    default:
      return <NotFound />
  }
}

/** The address of a resource without its id: those of its type. */
function Type({ type }: { readonly type: string }) {
  useEffect(() => go(toList({ type }), 'replace'), [type])
  return null
}

const NotFound = () => (
  <>
    <PageHead title="There is no such page." />
    <Empty title="Nothing stands at this address.">
      <Link href="/">Go to the fleet</Link>, or press Ctrl K and type what you look for.
    </Empty>
  </>
)

/** A page that breaks does not take the others with it. */
class Guard extends Component<
  { readonly at: string; readonly children: ReactNode },
  { readonly error: unknown; readonly at: string }
> {
  override state = { error: null, at: this.props.at }
  static getDerivedStateFromError = (error: unknown) => ({ error })
  static getDerivedStateFromProps = (props: { at: string }, state: { at: string }) =>
    props.at === state.at ? null : { error: null, at: props.at }
  override render() {
    return this.state.error === null ? this.props.children : <Problem error={this.state.error} />
  }
}

function Live({ children }: { readonly children: ReactNode }) {
  useEffect(startLive, [])
  return children
}

/** Nobody answered when the page was opened: it is asked again until somebody does. */
function Alone({ error }: { readonly error: unknown }) {
  const at = useNow()
  useEffect(askAgain, [at])
  return (
    <main>
      <Problem error={error} />
    </main>
  )
}

function App() {
  // Nobody is asked for while somebody types his password.
  const isIn = queries.getQueryData(['getSession', {}]) !== undefined
  const session = useCall('getSession', {}, isIn ? { everyMs: 60_000 } : {})
  const { path } = usePlace()
  const isOut = isSignedOut(session.error)
  const who = isOut || session.data === undefined ? null : whoIs(session.data)
  return (
    <Acts who={who}>
      {isOut ? (
        <SignIn hasEnded={session.data !== undefined} />
      ) : session.data !== undefined ? (
        <SessionContext value={session.data}>
          <Live>
            <Shell>
              <Guard at={path.join('/')}>
                <Allowed>
                  <Page />
                </Allowed>
              </Guard>
            </Shell>
          </Live>
        </SessionContext>
      ) : session.error === null ? (
        <Loading />
      ) : (
        <Alone error={session.error} />
      )}
    </Acts>
  )
}

applyScheme()
await spendTicket()
readAhead()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
)
