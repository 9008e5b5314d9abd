// The first look: what needs attention and why, then every lifecycle with its live figures.
import '../parts/trends.css'
import { useState } from 'react'
import { useCall, type AnswerOf, type Diagram as Placed, type Resource } from '../api.ts'
import { PageHead, Panel, Read, Scroll, Tag, useNow, useTitle } from '../parts/bits.tsx'
import { Activity } from '../parts/activity.tsx'
import { Attention, sum, type Counted } from '../parts/attention.tsx'
import { Diagram } from '../parts/diagram.tsx'
import { OverTime, RangeChooser, useTrends } from '../parts/trends.tsx'
import { address, go, Link, toList, usePlace, withQuery } from '../route.tsx'
import { useSeesAll } from '../session.tsx'
import { millis, span, spanPassed } from '../time.ts'

export default function Fleet() {
  useTitle('')
  const seesAll = useSeesAll()
  const counts = useCall('countResources', {}, { everyMs: 10_000 })
  const moving = useCall(
    'listAllResources',
    { query: { kind: 'transitional', pageSize: 500, total: 'true' } },
    { everyMs: 10_000 },
  )
  const failed = useCall('listAllResources', { query: { kind: 'failed', pageSize: 100, total: 'true' } })
  return (
    <>
      <PageHead title="Fleet" lead="What needs somebody, what is under way, and how everything else is.">
        <Link className="button" href="/resources">
          All resources
        </Link>
      </PageHead>
      <Figures moving={moving.data?.total} failed={failed.data?.total} counts={counts.data?.items} />
      <div className="columns wide-left">
        <Attention moving={moving} failed={failed} counts={counts} />
        {seesAll ? (
          <Panel title="Over time" actions={<RangeChooser />}>
            <OverTime />
          </Panel>
        ) : (
          <Panel title="Changes" note="of the last minutes, live">
            <Activity />
          </Panel>
        )}
      </div>
      <Read from={counts}>{({ items }) => <Lifecycles items={items} moving={moving.data?.items ?? []} />}</Read>
    </>
  )
}

function Figures({
  moving,
  failed,
  counts,
}: {
  readonly moving: number | undefined
  readonly failed: number | undefined
  readonly counts: Counted | undefined
}) {
  const seesAll = useSeesAll()
  const stuck = useCall('listStuck', { query: { pageSize: 500 } }, { everyMs: 5_000 })
  const healing = useCall('getHealing', {}, { everyMs: 5_000, enabled: seesAll })
  const slow = useTrends(seesAll).data?.whole.p95Ms ?? null
  const orphans = useCall('listOrphans', { query: { pageSize: 100 } })
  const open = (healing.data?.breakers ?? []).filter(({ isOpen }) => isOpen)
  const lastPass = healing.data?.lastPassAgeMs
  const stuckCount = stuck.data?.items.length
  const orphanCount = orphans.data === undefined ? undefined : orphans.data.items.length + orphans.data.strays.length
  // Figures of a first page are not called the whole.
  const orMore = (count: number | undefined, page: { readonly nextPageToken: string | null } | undefined) =>
    page?.nextPageToken == null ? count : `${count}+`
  // What is not read yet is neither good nor bad.
  const toned = (count: number | undefined, some: string, none = '') =>
    count === undefined ? '' : count > 0 ? some : none
  return (
    <div className="figures">
      <Figure href="/resources" label="Resources" value={counts?.reduce((all, one) => all + sum(one.counts), 0)} />
      <Figure
        href={toList({ kind: 'transitional' })}
        label="In transition"
        value={moving}
        tone={toned(moving, 'info')}
      />
      <Figure href={toList({ kind: 'failed' })} label="Failed" value={failed} tone={toned(failed, 'bad')} />
      <Figure
        href="/stuck"
        label="Stuck"
        value={orMore(stuckCount, stuck.data)}
        tone={toned(stuckCount, 'bad', 'good')}
      />
      <Figure
        href="/orphans"
        label="Orphans"
        value={orMore(orphanCount, orphans.data)}
        tone={toned(orphanCount, 'warn')}
      />
      {seesAll && (
        <Figure
          href="/runs?state=ended"
          label="Time to stable"
          value={slow === null ? 'none yet' : span(slow)}
          note="95 of 100 runs"
        />
      )}
      {seesAll && (
        <Figure
          href="/healing"
          label="Healing"
          value={healing.data === undefined ? undefined : open.length > 0 ? 'held' : 'on'}
          tone={toned(healing.data === undefined ? undefined : open.length, 'bad', 'good')}
          note={
            open.length > 0
              ? `breaker open: ${open.map(({ type }) => type).join(', ')}`
              : lastPass == null
                ? ''
                : `last pass ${spanPassed(lastPass)} ago`
          }
        />
      )}
    </div>
  )
}

const Figure = (given: {
  readonly href: string
  readonly label: string
  /** Undefined: it is not known yet. */
  readonly value: number | string | undefined
  readonly tone?: string
  readonly note?: string
}) => (
  <Link href={given.href} className={`figure ${given.tone ?? ''}`}>
    <span className="label">{given.label}</span>
    <b className="num">{typeof given.value === 'number' ? given.value.toLocaleString('en') : (given.value ?? '...')}</b>
    {given.note !== undefined && <small className="quiet">{given.note}</small>}
  </Link>
)

function Lifecycles({ items, moving }: { readonly items: Counted; readonly moving: readonly Resource[] }) {
  const { query } = usePlace()
  const stuck = useCall('listStuck', { query: { pageSize: 500 } })
  // What is shown first is chosen once: a picture that changes under one's eyes cannot be read.
  const [first, setFirst] = useState('')
  const largest = () => items.toSorted((one, other) => sum(other.counts) - sum(one.counts))[0]?.type
  const telling = stuck.data === undefined ? '' : (stuck.data.items[0]?.resource.type ?? moving[0]?.type ?? largest())
  // An address may name what is no longer declared, and so may what was chosen before the server was started anew.
  const isDeclared = (type: string | null | undefined) => items.some((one) => one.type === type)
  if (!isDeclared(first) && isDeclared(telling)) setFirst(telling!)
  const asked = query.get('type')
  const chosen = isDeclared(asked) ? asked! : isDeclared(first) ? first : ''
  const listed = items.toSorted((one, other) => Number(sum(one.counts) === 0) - Number(sum(other.counts) === 0))
  const counts = items.find(({ type }) => type === chosen)?.counts ?? {}
  const placed = useCall('placeLifecycle', { path: { type: chosen } }, { enabled: chosen !== '', keep: true })
  const at = useNow()
  const ages: Record<string, number> = {}
  for (const { type, status, since } of moving)
    if (type === chosen) ages[status] = Math.max(ages[status] ?? 0, Math.floor((at - millis(since)) / 1_000) * 1_000)
  const stuckHere: Record<string, number> = {}
  for (const { resource } of stuck.data?.items ?? [])
    if (resource.type === chosen) stuckHere[resource.status] = (stuckHere[resource.status] ?? 0) + 1
  const stuckOf = (type: string) => (stuck.data?.items ?? []).filter(({ resource }) => resource.type === type).length
  const isPart = stuck.data?.nextPageToken != null
  const healing = useCall('getHealing', {}, { everyMs: 5_000, enabled: useSeesAll() }).data
  const isHeld = (type: string) => (healing?.breakers ?? []).some((one) => one.type === type && one.isOpen)
  const kinds = (boxes: Placed['boxes'] | undefined, one: Readonly<Record<string, number>>, kind: string) =>
    (boxes ?? [])
      .filter((box) => box.kind === kind)
      .reduce((all, box) => all + (one[box.name] ?? 0), 0)
      .toLocaleString('en')
  return (
    <Panel title="Lifecycles" note="click a status for its resources" className="lifecycles">
      <div className="fleet-map">
        <ul className="types" aria-label="Types of resources">
          {listed.map(({ type, counts: some }) => (
            <li key={type}>
              <Link
                href={withQuery({ type })}
                aria-current={type === chosen ? 'true' : undefined}
                onClick={(event) => (event.preventDefault(), go(withQuery({ type }), 'replace'))}
              >
                <span>
                  <span className="mono">{type}</span>
                  <span className="marks">
                    {stuckOf(type) > 0 && <Tag tone="bad">{`${stuckOf(type)}${isPart ? '+' : ''} stuck`}</Tag>}
                    {isHeld(type) && <Tag tone="bad">breaker open</Tag>}
                  </span>
                </span>
                <b className="num">{sum(some).toLocaleString('en')}</b>
                <Bar type={type} counts={some} />
              </Link>
            </li>
          ))}
        </ul>
        <div className="map">
          <p className="map-head">
            <Link href={address('lifecycles', chosen)} className="mono">
              {chosen}
            </Link>
            <span className="quiet">
              {kinds(placed.data?.boxes, counts, 'stable')} at rest, {kinds(placed.data?.boxes, counts, 'transitional')}{' '}
              in transition, {kinds(placed.data?.boxes, counts, 'failed')} failed
            </span>
          </p>
          <Read from={placed}>
            {(data) => (
              <Scroll label="Diagram">
                <Diagram
                  placed={data}
                  label={`Statuses of ${chosen} with the number of resources in each`}
                  counts={counts}
                  ages={ages}
                  stuck={stuckHere}
                  isPart={isPart}
                  href={(status) => toList({ type: chosen, status })}
                  onPick={(status) => go(toList({ type: chosen, status }))}
                />
              </Scroll>
            )}
          </Read>
          <p className="map-foot">
            <span>
              The oldest there, for <i className="heat" /> a minute <i className="heat warm" /> ten minutes{' '}
              <i className="heat hot" /> an hour, or stuck
            </span>
            {healing !== undefined && <HealingOf type={chosen} healing={healing} isHeld={isHeld(chosen)} />}
          </p>
        </div>
      </div>
    </Panel>
  )
}

/** Whether what is stuck in this type is healed by itself. */
function HealingOf(given: {
  readonly type: string
  readonly healing: AnswerOf<'getHealing'>
  readonly isHeld: boolean
}) {
  const { type, healing, isHeld } = given
  const held = healing.modes.filter((one) => one.type === type && one.mode !== 'auto')
  const done = healing.scoreboard.filter((one) => one.type === type).reduce((all, { count }) => all + count, 0)
  return (
    <span>
      <Link href="/healing">Healing</Link>:{' '}
      {isHeld
        ? 'held, its breaker is open'
        : held.length === 0
          ? 'by itself in every status'
          : `not by itself in ${held.map(({ status, mode }) => `${status} (${mode})`).join(', ')}`}
      {done > 0 ? `; ${done} healed so far` : ''}
    </span>
  )
}

/** How the resources of a type are spread over the kinds of statuses. */
function Bar({ type, counts }: { readonly type: string; readonly counts: Readonly<Record<string, number>> }) {
  const { data } = useCall('placeLifecycle', { path: { type } })
  const all = sum(counts)
  if (data === undefined || all === 0) return <span className="bar-of none" />
  return (
    <span className="bar-of">
      {(['stable', 'transitional', 'failed', 'terminal'] as const).map((kind) => {
        const part = data.boxes
          .filter((box) => box.kind === kind)
          .reduce((some, box) => some + (counts[box.name] ?? 0), 0)
        return part === 0 ? null : (
          <i key={kind} className={kind} style={{ flexGrow: part }} title={`${kind}: ${part}`} />
        )
      })}
    </span>
  )
}
