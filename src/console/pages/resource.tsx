// One resource: where it stands and why, what happens next by itself, what may be asked of it, and everything that happened.
import { useMemo } from 'react'
import { isMissing, useCall, usePages, type Event, type Resource } from '../api.ts'
import { asCli, asCurl, word } from '../copies.ts'
import { useLifecycle } from '../lifecycle.ts'
import {
  Age,
  Copy,
  Countdown,
  Empty,
  PageHead,
  Panel,
  Read,
  ResourceLink,
  Status,
  Tag,
  useTitle,
} from '../parts/bits.tsx'
import { DiagramOfOne } from '../parts/diagram.tsx'
import { Operations } from '../parts/operations.tsx'
import { Ownership } from '../parts/conditions.tsx'
import { Details } from '../parts/resource-tabs.tsx'
import { Waterfall } from '../parts/waterfall.tsx'
import { WhyPanel } from '../parts/why.tsx'
import { address, Link, toList } from '../route.tsx'

export default function ResourcePage({ type, id }: { readonly type: string; readonly id: string }) {
  useTitle(id)
  const found = useCall('getResource', { path: { type, id } }, { keep: true })
  if (isMissing(found.error)) {
    return (
      <>
        <PageHead title={<span className="mono">{id}</span>} />
        <Empty title={`There is no ${type} ${id}${found.data === undefined ? '' : ' any more'}.`}>
          {found.error.message}{' '}
          {found.error.code === 'type_unknown' ? (
            <Link href="/lifecycles">Lifecycles that are</Link>
          ) : (
            <Link href={toList({ type })}>Others of this type</Link>
          )}
        </Empty>
      </>
    )
  }
  return <Read from={found}>{(resource) => <Whole resource={resource} />}</Read>
}

function Whole({ resource }: { readonly resource: Resource }) {
  const { type, id } = resource
  const path = { type, id }
  // Of a long one, more pages than are read anew with every event.
  const history = usePages('getHistory', { path, query: { pageSize: 200 } }, { keep: true, everyMs: 10_000 })
  const events = useMemo(() => history.data?.pages.flatMap(({ items }) => items) ?? [], [history.data])
  return (
    <>
      <Head resource={resource} />
      <div className="columns why-and-map">
        <div className="stack">
          <WhyPanel resource={resource} events={events} />
          {resource.run !== null && <Running run={resource.run.id} />}
        </div>
        <Way resource={resource} events={events} />
      </div>
      <Details resource={resource} history={history} />
    </>
  )
}

function Head({ resource }: { readonly resource: Resource }) {
  const { type, id, status, kind, name, parent, tenant, since } = resource
  const lifecycle = useLifecycle(type)
  const meaning = lifecycle?.statuses.find((one) => one.name === status)?.meaning
  return (
    <div className="resource-head">
      <p className="crumbs quiet">
        <Link href={toList({ type })}>{type}</Link>
        {parent !== null && (
          <>
            {' '}
            in <ResourceLink of={parent} />
          </>
        )}{' '}
        · tenant {tenant}
      </p>
      <div className="title">
        <h1 className="mono">{id}</h1>
        {name !== null && <bdi className="quiet">{name}</bdi>}
        <Status status={status} kind={kind} size="large" />
        <span className="since">
          for <Age since={since} />
        </span>
        <Ownership resource={resource} />
        {resource.orphans > 0 && <Tag tone="warn">{resource.orphans} left behind</Tag>}
        <span className="spring" />
        <Copy text={asCli('why', word(`${type}/${id}`))} label="CLI" />
        <Copy text={asCurl('getResource', { path: { type, id } })} label="curl" />
      </div>
      {meaning !== undefined && <p className="meaning">{meaning}</p>}
      <Operations resource={resource} />
    </div>
  )
}

function Running({ run }: { readonly run: string }) {
  const found = useCall('getRun', { path: { run } }, { keep: true, everyMs: 5_000 })
  const data = found.data
  return (
    <Panel
      title={data === undefined ? 'Under way' : `Under way: ${data.operation}`}
      note={data === undefined ? undefined : `asked by ${data.by}`}
      actions={<Link href={address('runs', run)}>Whole run</Link>}
    >
      <Read from={found}>
        {(one) => (
          <>
            <Waterfall run={one} />
            <dl className="facts">
              <div>
                <dt>Carried out by</dt>
                <dd>{one.owner === 0 ? <Tag tone="warn">nobody yet</Tag> : `worker ${one.owner}`}</dd>
              </div>
              {one.deadlineAt !== null && (
                <div>
                  <dt>Deadline of the step</dt>
                  <dd>
                    <Countdown to={one.deadlineAt} />
                  </dd>
                </div>
              )}
              {one.nextCallAt !== null && (
                <div>
                  <dt>Next call</dt>
                  <dd>
                    <Countdown to={one.nextCallAt} />
                  </dd>
                </div>
              )}
              {one.progress !== '' && (
                <div>
                  <dt>Progress</dt>
                  <dd>{one.progress}</dd>
                </div>
              )}
            </dl>
          </>
        )}
      </Read>
    </Panel>
  )
}

function Way({ resource, events }: { readonly resource: Resource; readonly events: readonly Event[] }) {
  const placed = useCall('placeLifecycle', { path: { type: resource.type } })
  const walked = useMemo(() => {
    const way: string[] = []
    for (const { from, to } of events.toReversed()) {
      if (way.length === 0 && from !== to) way.push(from)
      if (to !== way.at(-1) && to !== '') way.push(to)
    }
    return way
  }, [events])
  return (
    <Panel
      title="Where it stands"
      note={
        <span className="legend">
          <i className="walked" /> walked <i className="ahead" /> where it can go
        </span>
      }
      actions={
        resource.kind === 'transitional' && (
          <Link
            href={`${address('lifecycles', resource.type, 'rehearsal')}?${new URLSearchParams({ stuck: resource.status }).toString()}`}
          >
            What if it is stuck here?
          </Link>
        )
      }
    >
      <Read from={placed}>
        {(data) => (
          <DiagramOfOne
            placed={data}
            label={`Lifecycle of ${resource.type}; ${resource.id} is ${resource.status}`}
            current={resource.status}
            walked={walked}
          />
        )}
      </Read>
    </Panel>
  )
}
