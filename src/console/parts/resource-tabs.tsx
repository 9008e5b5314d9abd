// Below the fold of a resource: timeline, relations, ledger, runs, properties, raw. The chosen tab is in the address.
import { useState, type KeyboardEvent } from 'react'
import { useCall, usePages, type AnswerOf, type Resource } from '../api.ts'
import { useLifecycle } from '../lifecycle.ts'
import { address, go, Link, toResource, usePlace, withQuery } from '../route.tsx'
import { fullTime } from '../time.ts'
import { At, Empty, Json, More, Read, ResourceLink, Status, Table, Tag } from './bits.tsx'
import { Conditions } from './conditions.tsx'
import { RunRows } from './run-rows.tsx'
import { eventStory, eventTone } from './words.ts'

const tabs = ['timeline', 'conditions', 'relations', 'ledger', 'runs', 'properties', 'raw'] as const

export function Details({
  resource,
  history,
}: {
  readonly resource: Resource
  readonly history: ReturnType<typeof usePages<'getHistory'>>
}) {
  const { query } = usePlace()
  const chosen = tabs.find((tab) => tab === query.get('tab')) ?? 'timeline'
  const choose = (tab: (typeof tabs)[number]) => go(withQuery({ tab: tab === 'timeline' ? null : tab }), 'replace')
  const press = (event: KeyboardEvent) => {
    const at = tabs.indexOf(chosen)
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key]
    const tab = to === undefined ? undefined : tabs.at(to % tabs.length)
    if (tab === undefined) return
    event.preventDefault()
    choose(tab)
    document.getElementById(`tab-${tab}`)?.focus()
  }
  return (
    <section className="panel tabs">
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div role="tablist" aria-label="About this resource" onKeyDown={press}>
        {tabs.map((tab) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`tab-${tab}`}
            aria-selected={tab === chosen}
            aria-controls="tab-panel"
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => choose(tab)}
          >
            {tab}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${chosen}`}>
        {chosen === 'timeline' && (
          <>
            <Read from={history}>{({ pages }) => <Timeline events={pages.flatMap(({ items }) => items)} />}</Read>
            <More from={history}>Older events</More>
          </>
        )}
        {chosen === 'conditions' && <Conditions resource={resource} />}
        {chosen === 'relations' && <Relations of={resource} depth={0} />}
        {chosen === 'ledger' && <Ledger resource={resource} />}
        {chosen === 'runs' && <Runs resource={resource} />}
        {chosen === 'properties' && <Properties resource={resource} />}
        {chosen === 'raw' && <Json value={resource} />}
      </div>
    </section>
  )
}

export const Timeline = ({
  events,
  of,
}: {
  readonly events: AnswerOf<'getHistory'>['items']
  /** The run that the page is about: not linked to once more. */
  readonly of?: string
}) => (
  <ol className="timeline">
    {events.map((event) => (
      <li key={event.n} className={eventTone(event)}>
        <At time={event.at} />
        <span className="words">{eventStory(event)}</span>
        <span className="quiet">
          {event.by}
          {event.run !== null && event.run !== of && (
            <>
              {' '}
              · <Link href={address('runs', event.run)}>run {event.run}</Link>
            </>
          )}
        </span>
      </li>
    ))}
    {events.length === 0 && <Empty title="Nothing has happened to it yet." />}
  </ol>
)

/** A tree of what hangs together, read as it is unfolded. */
function Relations({
  of,
  depth,
}: {
  readonly of: { readonly type: string; readonly id: string }
  readonly depth: number
}) {
  const related = useCall('getRelated', { path: { type: of.type, id: of.id } }, { keep: true })
  return (
    <Read from={related}>
      {({ relations }) => {
        const named = Object.entries(relations).filter(([, some]) => some.length > 0)
        if (named.length === 0)
          return depth === 0 ? (
            <Empty title="It is related to nothing." />
          ) : (
            <p className="quiet none">nothing further</p>
          )
        return (
          <ul className="tree">
            {named.map(([name, some]) => (
              <li key={name}>
                <span className="label">
                  {name} <span className="quiet">{some.length}</span>
                </span>
                <ul>
                  {some.slice(0, 200).map((one) => (
                    <li key={`${one.type}/${one.id}`}>
                      <Node one={one} />
                      {depth < 3 && <Unfolding of={one} depth={depth + 1} />}
                    </li>
                  ))}
                </ul>
              </li>
            ))}
          </ul>
        )
      }}
    </Read>
  )
}

/** What is folded is not read: a tree of many would ask for all of it at once. */
function Unfolding({ of, depth }: { readonly of: Resource; readonly depth: number }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="quiet">what belongs to it</summary>
      {isOpen && <Relations of={of} depth={depth} />}
    </details>
  )
}

const Node = ({ one }: { readonly one: Resource }) => (
  <span className="node">
    <Status status={one.status} kind={one.kind} />{' '}
    <Link href={toResource(one)} className="mono">
      {one.id}
    </Link>{' '}
    <span className="quiet">{one.type}</span>
  </span>
)

function Ledger({ resource: { type, id } }: { readonly resource: Resource }) {
  const ledger = useCall('getLedger', { path: { type, id } })
  const tone = { there: 'good', meant: 'info', unknown: 'warn', orphaned: 'bad', sweeping: 'warn' } as const
  return (
    <Read from={ledger}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing exists for it in the real world." />
        ) : (
          <Table heads={['Name', 'Kind', 'State', 'Made by step', 'Since']}>
            {items.map((entry) => (
              <tr key={entry.name}>
                <td className="mono">{entry.name}</td>
                <td>{entry.kind}</td>
                <td>
                  <Tag tone={tone[entry.state]}>{entry.state}</Tag>
                </td>
                <td className="mono">{entry.step}</td>
                <td>
                  <At time={entry.since} />
                </td>
              </tr>
            ))}
          </Table>
        )
      }
    </Read>
  )
}

function Runs({ resource: { type, id } }: { readonly resource: Resource }) {
  const runs = usePages('listRunsOf', { path: { type, id }, query: { pageSize: 50 } })
  return (
    <>
      <Read from={runs}>{({ pages }) => <RunRows items={pages.flatMap(({ items }) => items)} />}</Read>
      <More from={runs}>Older runs</More>
    </>
  )
}

function Properties({ resource }: { readonly resource: Resource }) {
  const schemas = useLifecycle(resource.type)?.properties?.properties ?? {}
  return (
    <dl className="facts wide">
      {Object.entries(resource.properties).map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd className="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
          {schemas[name]?.format === 'moment' && typeof value === 'number' && (
            <dd className="quiet">{fullTime(value)}</dd>
          )}
        </div>
      ))}
      {Object.entries(resource.links).map(([name, ref]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <ResourceLink of={ref} />
          </dd>
        </div>
      ))}
      {Object.entries(resource.timers).map(([name, time]) => (
        <div key={name}>
          <dt>timer {name}</dt>
          <dd>
            <At time={time} />
          </dd>
        </div>
      ))}
      <div>
        <dt>revision, epoch</dt>
        <dd className="num">
          {resource.revision}, {resource.epoch}
        </dd>
      </div>
      <div>
        <dt>created</dt>
        <dd>
          <At time={resource.createdAt} />
        </dd>
      </div>
    </dl>
  )
}
