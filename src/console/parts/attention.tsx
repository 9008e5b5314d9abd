// What needs somebody, first of all: one of each cause, and how many are like it.
import type { UseQueryResult } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useCall, type AnswerOf, type Resource } from '../api.ts'
import { useEvents } from '../live.ts'
import { attemptWords, isTriedAgain } from '../../protocol/attempt-words.ts'
import { foundWords } from '../../protocol/found-words.ts'
import { Link, toList, toResource } from '../route.tsx'
import { useSession } from '../session.tsx'
import { millis } from '../time.ts'
import { Age, Empty, leastRead, Panel, Read, Status, Tag } from './bits.tsx'
import { Icon } from './icon.tsx'

export type Listed = UseQueryResult<AnswerOf<'listAllResources'>, Error>
export type Counted = readonly { readonly type: string; readonly counts: Readonly<Record<string, number>> }[]
export const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((all, one) => all + one, 0)

const shownMost = 8
const nameOf = (one: Resource) => `${one.type}/${one.id}`

interface Row {
  readonly resource: Resource
  readonly tone: 'bad' | 'warn'
  readonly mark: string
  /** What those that are alike have in common, of one type. */
  readonly cause: string
  readonly words: string
}

/** What a person would look at first: stuck, then failed, then what fails again and again, then what has been under way longest. */
export function Attention(given: {
  readonly moving: Listed
  readonly failed: Listed
  readonly counts: UseQueryResult<{ readonly items: Counted }, Error>
}) {
  const moving = given.moving.data?.items ?? []
  const failed = given.failed.data?.items ?? []
  const { isDev, permissions } = useSession()
  /** Nothing was ever created. */
  const isEmpty = given.counts.data?.items.every((one) => sum(one.counts) === 0) === true
  const stuck = useCall('listStuck', { query: { pageSize: 500 } }, { everyMs: 5_000 })
  const preview = useCall('previewHealing', { query: { pageSize: 500 } }, { everyMs: 5_000 })
  const healOf = ({ type, id }: Resource) => {
    const heals = preview.data?.items.find(({ resource }) => resource.type === type && resource.id === id)
    return heals === undefined ? '' : heals.held === null ? `Healing will ${heals.would}.` : `Held: ${heals.held}.`
  }
  const events = useEvents()
  /** The last failure of each, as far as it was heard of. */
  const failures = useMemo(() => {
    const found = new Map<string, string>()
    for (const { subject, data } of events) {
      const reason = (data.detail as { reason?: string } | null)?.reason
      const isFailure = data.kind === 'attemptFailed' || data.kind === 'failed'
      if (isFailure && reason !== undefined && !found.has(subject)) found.set(subject, reason)
    }
    return found
  }, [events])
  const stuckItems = stuck.data?.items ?? []
  const isStuck = new Set(stuckItems.map(({ resource }) => nameOf(resource)))
  const struggling = moving
    .filter(
      (one) => !isStuck.has(nameOf(one)) && one.run !== null && (one.run.state !== 'running' || isTriedAgain(one.run)),
    )
    .toSorted((one, other) => millis(one.since) - millis(other.since))
  const rows = [
    ...stuckItems.map(({ resource, found }): Row => ({
      resource,
      tone: 'bad',
      mark: 'stuck',
      cause: `${resource.status} ${found}`,
      words: `${foundWords[found]?.replace(/^./, (one) => one.toUpperCase()) ?? ''}. ${healOf(resource)}`,
    })),
    ...failed.map((resource): Row => ({
      resource,
      tone: 'bad',
      mark: 'failed',
      cause: `${resource.status} ${resource.description}`,
      words: resource.description || 'It stays there until somebody acts.',
    })),
    ...struggling.map((resource): Row => ({
      resource,
      tone: 'warn',
      mark:
        resource.run!.state === 'parked'
          ? 'parked'
          : resource.run!.state === 'waiting'
            ? 'waits for a worker'
            : attemptWords(resource.run!),
      cause: `${resource.run!.state} ${resource.run!.operation} ${resource.run!.step ?? ''}`,
      words: `${resource.run!.operation}, step ${resource.run!.step ?? ''}${(failures.get(nameOf(resource)) ?? resource.run!.progress).replace(/^(?=.)/, ': ')}`,
    })),
  ]
  // Of one cause one is shown: hundreds that are the same would hide all others.
  const causes = Map.groupBy(rows, ({ resource, mark, cause }) => `${resource.type} ${mark === 'stuck'} ${cause}`)
  const isPart: Readonly<Record<string, boolean>> = {
    stuck: stuck.data?.nextPageToken != null,
    failed: given.failed.data?.nextPageToken != null,
  }
  const hasMore = Object.values(isPart).includes(true)
  const count = `${rows.length}${hasMore ? '+' : ''}`
  return (
    <Panel
      title="Needs attention"
      note={rows.length === 0 ? undefined : count}
      actions={<Link href="/stuck">By cause</Link>}
    >
      <Read from={leastRead([stuck, given.failed, given.moving, given.counts])}>
        {() =>
          rows.length > 0 ? null : isEmpty ? (
            <Empty title="Nothing has been created yet.">
              <Link href="/resources">Choose a type under Resources</Link>, then Create; or read{' '}
              <Link href="/lifecycles">what is declared</Link>.
              {isDev && permissions.includes('develop') && (
                <>
                  {' '}
                  <Link href="/dev">Break things</Link> has a tour of five minutes.
                </>
              )}
            </Empty>
          ) : (
            <Empty title="Nothing is stuck and nothing has failed.">What is in transition goes on by itself.</Empty>
          )
        }
      </Read>
      {rows.length > 0 && (
        <ul className="attention">
          {[...causes.values()].slice(0, shownMost).map(([first, ...like]) => (
            <Cause
              key={nameOf(first!.resource)}
              first={first!}
              like={like.length}
              isPart={isPart[first!.mark] ?? false}
            />
          ))}
        </ul>
      )}
      {rows.length > Math.min(causes.size, shownMost) && (
        <p className="more">
          <Link href="/stuck">All {count}</Link>
        </p>
      )}
    </Panel>
  )
}

function Cause(given: {
  readonly first: Row
  readonly like: number
  /** More than these may be alike. */
  readonly isPart: boolean
}) {
  const { first, like, isPart } = given
  const { resource, tone, mark, words } = first
  const { type, status } = resource
  return (
    <li>
      <Link href={toResource(resource)} className="one">
        <Status status={status} kind={resource.kind} />
        <span className="what">
          <b className="mono">{resource.id}</b> <span className="quiet">{type}</span>
          <span className="why">{words}</span>
        </span>
        <Tag tone={tone}>{mark}</Tag>
        <span className="quiet">
          <Age since={resource.since} />
        </span>
        <span className="go">
          Why? <Icon name="right" />
        </span>
      </Link>
      {like > 0 && (
        <Link className="like" href={toList({ type, status, ...(mark === 'stuck' ? { stuck: 'true' } : {}) })}>
          and {like.toLocaleString('en')}
          {isPart ? '+' : ''} more like it
        </Link>
      )}
    </li>
  )
}
