// Small parts that every page is made of: badges, ages, clocks, copying, and what is shown when there is nothing to show.
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'
import type { UseInfiniteQueryResult, UseQueryResult } from '@tanstack/react-query'
import { isMissing, queries, useDownSince, wordsOf } from '../api.ts'
import type { Kind } from '../lifecycle.ts'
import { Link } from '../route.tsx'
import {
  after,
  byServer,
  clockTime,
  every,
  fullTime,
  millis,
  now,
  shortTime,
  span,
  spanPassed,
  spanTicking,
} from '../time.ts'
import { Icon, type IconName } from './icon.tsx'
import { toast } from './toasts.tsx'

let tick = now()
const tickers = new Set<() => void>()
every(1_000, () => {
  if (document.visibilityState === 'hidden') return
  tick = now()
  for (const ticker of tickers) ticker()
})

/** The time, once a second: one timer for the whole page. */
export const useNow = (): number =>
  useSyncExternalStore(
    (ticker) => {
      tickers.add(ticker)
      return () => tickers.delete(ticker)
    },
    () => tick,
  )

export function Age({ since }: { readonly since: string }) {
  const at = useNow()
  return (
    <time dateTime={since} title={fullTime(since)} className="num">
      {spanPassed(at - millis(since))}
    </time>
  )
}

export const At = ({ time }: { readonly time: string }) => (
  <time dateTime={time} title={fullTime(time)} className="num">
    {shortTime(time)}
  </time>
)

/** Until a moment, ticking; past it, how long it is over. */
export function Countdown({ to }: { readonly to: string }) {
  const left = millis(to) - useNow()
  return (
    <time dateTime={to} title={fullTime(to)} className={`num ${left < 0 ? 'late' : ''}`}>
      {left > 0 ? `in ${spanTicking(left)}` : left > -3_000 ? 'now' : `${span(-left)} ago`}
      <span className="quiet"> ({clockTime(to)})</span>
    </time>
  )
}

export const Status = ({
  status,
  kind,
  size,
}: {
  readonly status: string
  readonly kind: Kind
  readonly size?: 'large'
}) => (
  <span className={`status ${kind} ${size ?? ''}`}>
    <i aria-hidden="true" />
    {status}
  </span>
)

export const Tag = ({
  tone,
  children,
}: {
  readonly tone?: 'good' | 'bad' | 'warn' | 'info'
  readonly children: ReactNode
}) => <span className={`tag ${tone ?? ''}`}>{children}</span>

export function Panel(given: {
  readonly title: ReactNode
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}) {
  return (
    <section className={`panel ${given.className ?? ''}`}>
      <header>
        <h2>{given.title}</h2>
        {given.note !== undefined && <span className="quiet">{given.note}</span>}
        {given.actions !== undefined && <div className="actions">{given.actions}</div>}
      </header>
      {given.children}
    </section>
  )
}

export function PageHead({
  title,
  lead,
  children,
}: {
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly children?: ReactNode
}) {
  return (
    <div className="page-head">
      <div>
        <h1>{title}</h1>
        {lead !== undefined && <p className="quiet">{lead}</p>}
      </div>
      <div className="actions">{children}</div>
    </div>
  )
}

export const Empty = ({ title, children }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <strong>{title}</strong>
    {children !== undefined && <div className="quiet">{children}</div>}
  </div>
)

/** Never declared, or no longer since the server was started anew. */
export const NoLifecycle = ({ type, reason }: { readonly type: string; readonly reason: string }) => (
  <>
    <PageHead title={<span className="mono">{type}</span>} />
    <Empty title={`There is no lifecycle ${type}.`}>
      {reason} <Link href="/lifecycles">Those that are</Link>
    </Empty>
  </>
)

/** What an address names is not there: never was, or is kept no longer. */
export const Missing = (given: {
  readonly title: string
  readonly error: Error
  readonly href: string
  readonly children: string
}) => (
  <>
    <PageHead title={<span className="mono">{given.title}</span>} />
    <Empty title={wordsOf(given.error)}>
      It never was, or it ended so long ago that it is kept no longer. <Link href={given.href}>{given.children}</Link>
    </Empty>
  </>
)

/** What was asked for could not be read: what it was, and what to do. */
export const Problem = ({ error }: { readonly error: unknown }) => (
  <div className="problem" role="alert">
    <Icon name="alert" />
    <div>
      <strong>This could not be read.</strong> {wordsOf(error)}
      <div className="row">
        <button type="button" className="small" onClick={() => void queries.invalidateQueries()}>
          Try again
        </button>
        <a href="/docs/errors">What the codes mean</a>
      </div>
    </div>
  </div>
)

/** Waiting, failed, or there. What was there once stays while it is read anew; but not what is gone, and not as if it were new. */
export function Read<T>({
  from,
  children,
}: {
  readonly from: Pick<UseQueryResult<T, Error>, 'data' | 'error' | 'dataUpdatedAt'>
  readonly children: (data: T) => ReactNode
}) {
  if (from.data === undefined || isMissing(from.error))
    return from.error === null ? <Loading /> : <Problem error={from.error} />
  return (
    <>
      {from.error !== null && <Old error={from.error} since={from.dataUpdatedAt} />}
      {children(from.data)}
    </>
  )
}

/** Of several that a page needs to say anything: the one that failed, else one that is not read yet. */
export const leastRead = (all: readonly [Sought, ...Sought[]]): Sought =>
  all.find(({ error }) => error !== null) ?? all.find(({ data }) => data === undefined) ?? all[0]

type Sought = Pick<UseQueryResult<unknown, Error>, 'data' | 'error' | 'dataUpdatedAt'>

/** Reads the next page of a list, if there is one. */
export function More({
  from,
  children,
}: {
  readonly from: Pick<UseInfiniteQueryResult, 'hasNextPage' | 'isFetchingNextPage' | 'fetchNextPage'>
  readonly children: string
}) {
  if (!from.hasNextPage) return null
  return (
    <button
      type="button"
      className="small"
      disabled={from.isFetchingNextPage}
      onClick={() => void from.fetchNextPage()}
    >
      {children}
    </button>
  )
}

/** What follows could not be read anew. While nobody answers at all, the bar above says so for the whole page. */
function Old({ error, since }: { readonly error: Error; readonly since: number }) {
  if (useDownSince() !== null) return null
  return (
    <div className="problem" role="alert">
      <Icon name="alert" />
      <div>
        <strong>What you see is from {clockTime(byServer(since))}.</strong> It could not be read anew: {wordsOf(error)}
      </div>
    </div>
  )
}

/** Shown only when it takes long enough to be noticed (the style sheet waits). */
export function Loading() {
  const [isLong, setLong] = useState(false)
  useEffect(() => after(3_000, () => setLong(true)), [])
  return (
    <div className="loading" role="status">
      <span>
        {isLong
          ? 'Still reading: the server takes its time. Nothing is lost by waiting or going elsewhere.'
          : 'Reading ...'}
      </span>
    </div>
  )
}

export function Copy({
  text,
  label,
  icon = 'copy',
}: {
  readonly text: string
  readonly label: string
  readonly icon?: IconName
}) {
  const copy = async () => {
    try {
      // Without https, and not on this machine, browsers have no clipboard for pages.
      await navigator.clipboard.writeText(text)
      toast('good', `Copied: ${text.length > 80 ? `${text.slice(0, 77)}...` : text}`)
    } catch {
      toast('bad', `This browser does not let the page copy. Take it from here: ${text}`)
    }
  }
  return (
    <button type="button" className="ghost small" title={text} onClick={() => void copy()}>
      <Icon name={icon} /> {label}
    </button>
  )
}

/** A button that says why not to whoever may not press it: by keyboard and by touch no title shows, and one that is off is passed over. */
export function AskButton(given: {
  readonly refusal: string | null
  readonly className?: string
  readonly label?: string
  readonly onClick: () => void
  readonly children: ReactNode
}) {
  const { refusal } = given
  return (
    <button
      type="button"
      className={given.className}
      {...(given.label === undefined ? {} : { 'aria-label': given.label })}
      aria-disabled={refusal !== null}
      title={refusal ?? undefined}
      onClick={() => (refusal === null ? given.onClick() : toast('bad', refusal))}
    >
      {given.children}
    </button>
  )
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title === '' ? 'Homeostat' : `${title} · Homeostat`
  }, [title])
}

/** What is typed, after the typing has paused. */
export function useSettled(value: string, ms = 250): string {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const stop = every(ms, () => settle(value))
    return stop
  }, [value, ms])
  return settled
}

export const ResourceLink = ({ of }: { readonly of: { readonly type: string; readonly id: string } }) => (
  <Link href={`/resources/${encodeURIComponent(of.type)}/${encodeURIComponent(of.id)}`} className="mono">
    {of.id}
  </Link>
)

export const Json = ({ value }: { readonly value: unknown }) => (
  // Wide content scrolls within itself: reachable by keyboard too.
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <pre className="json" tabIndex={0} aria-label="JSON">
    {JSON.stringify(value, null, 2)}
  </pre>
)

/** Wide or long content scrolls within itself, by keyboard too. */
export const Scroll = ({
  tall = false,
  label,
  children,
}: {
  readonly tall?: boolean
  readonly label: string
  readonly children: ReactNode
}) => (
  // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
  <div className={`scroll ${tall ? 'tall' : ''}`} tabIndex={0} role="group" aria-label={label}>
    {children}
  </div>
)

/** Rows under their heads. The column of the rows' actions has a head only for those who do not see it. */
export const Table = ({
  heads,
  hasActions = false,
  className,
  children,
}: {
  readonly heads: readonly (string | { readonly right: string })[]
  /** `stacks`: where it is narrow the cells of a row stand below each other. */
  readonly className?: 'stacks'
  readonly hasActions?: boolean
  readonly children: ReactNode
}) => (
  <Scroll label="Table">
    <table className={className}>
      <thead>
        <tr>
          {heads.map((head) =>
            typeof head === 'string' ? (
              <th key={head}>{head}</th>
            ) : (
              <th key={head.right} className="right">
                {head.right}
              </th>
            ),
          )}
          {hasActions && (
            <th>
              <span className="hidden">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Scroll>
)
