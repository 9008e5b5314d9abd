// What is stuck, failed or struggling, grouped by cause, and the incidents that no crash explains.
import { useState } from 'react'
import { useCall, usePages, type AnswerOf, type Resource } from '../api.ts'
import { useEvents } from '../live.ts'
import { ActButton } from '../parts/act.tsx'
import {
  More,
  Age,
  At,
  Copy,
  Empty,
  Json,
  leastRead,
  PageHead,
  Panel,
  Read,
  ResourceLink,
  Scroll,
  Status,
  Tag,
  useTitle,
} from '../parts/bits.tsx'
import { ApproveAll } from '../parts/approve-all.tsx'
import { HealNow } from '../parts/why.tsx'
import { attemptWords, isTriedAgain } from '../../protocol/attempt-words.ts'
import { foundWords } from '../../protocol/found-words.ts'
import { asCli, word } from '../copies.ts'
import { Link, toList } from '../route.tsx'
import { useRefusal, useSeesAll } from '../session.tsx'

/** Of one cause; the others differ only in their names. First so few that the next cause is in sight. */
const shownFirst = 3
const shownOfGroup = 50

interface Group {
  readonly cause: string
  readonly tone: 'bad' | 'warn'
  readonly isStuck: boolean
  /** Where all of them are listed. */
  readonly all: string
  readonly members: { readonly resource: Resource; readonly rule?: string }[]
}

export default function Stuck() {
  useTitle('Stuck')
  const stuck = useCall('listStuck', { query: { pageSize: 500 } }, { everyMs: 3_000 })
  const failed = useCall('listAllResources', { query: { kind: 'failed', pageSize: 500 } })
  const moving = useCall('listAllResources', { query: { kind: 'transitional', pageSize: 500 } }, { everyMs: 5_000 })
  const preview = useCall('previewHealing', { query: { pageSize: 500 } }, { everyMs: 3_000 })
  const events = useEvents()
  const seesAll = useSeesAll()
  /** What happens by itself, in words. */
  const nextOf = ({ type, id, kind, run }: Resource): string => {
    const heals = preview.data?.items.find(({ resource }) => resource.type === type && resource.id === id)
    if (heals !== undefined) return heals.held === null ? `healing will ${heals.would}` : `nothing: ${heals.held}`
    if (run?.state === 'parked') return 'nothing: it waits for somebody'
    return kind === 'failed' ? 'nothing: it waits for somebody' : 'it is tried again'
  }
  const groups = new Map<string, Group>()
  const add = (cause: string, tone: Group['tone'], resource: Resource, rule?: string) => {
    const { type, status } = resource
    const all = toList({ type, status, ...(rule === undefined ? {} : { stuck: 'true' }) })
    const group = groups.get(cause) ?? { cause, tone, isStuck: rule !== undefined, all, members: [] }
    group.members.push({ resource, ...(rule === undefined ? {} : { rule }) })
    groups.set(cause, group)
  }
  for (const { resource, found, rule } of stuck.data?.items ?? [])
    add(`${resource.type} is ${resource.status} and ${foundWords[found]}`, 'bad', resource, rule)
  for (const resource of failed.data?.items ?? [])
    add(
      `${resource.type} ended in ${resource.status}: ${resource.description || 'no reason is recorded'}`,
      'bad',
      resource,
    )
  const isStuck = new Set((stuck.data?.items ?? []).map(({ resource }) => `${resource.type}/${resource.id}`))
  for (const resource of moving.data?.items ?? []) {
    const { run, type, id } = resource
    if (run === null || isStuck.has(`${type}/${id}`) || (!isTriedAgain(run) && run.state !== 'parked')) continue
    const last = events.find(
      ({ subject, data }) => subject === `${type}/${id}` && (data.kind === 'attemptFailed' || data.kind === 'failed'),
    )
    const reason = (last?.data.detail as { reason?: string } | null)?.reason
    add(
      `step ${run.step ?? ''} of ${type} ${run.state === 'parked' ? 'is parked' : 'fails again and again'}${reason === undefined ? '' : `: ${reason}`}`,
      'warn',
      resource,
    )
  }
  const sorted = [...groups.values()].sort(
    (one, other) =>
      Number(one.tone === 'warn') - Number(other.tone === 'warn') || other.members.length - one.members.length,
  )
  return (
    <>
      <PageHead
        title="Stuck"
        lead={
          <>
            Stuck, failed and struggling resources by their cause. What is stuck is healed by itself unless its rule
            waits for approval or is off, or its breaker is open
            {seesAll && (
              <>
                : see <Link href="/healing">Healing</Link>
              </>
            )}
            .
          </>
        }
      />
      <Read from={leastRead([stuck, failed, moving])}>
        {() =>
          sorted.length === 0 ? (
            <div className="panel">
              <Empty title="Nothing is stuck, failed or struggling.">
                Resources in transition go on by themselves; this page fills by itself.
              </Empty>
            </div>
          ) : (
            sorted.map((group) => (
              <Cause
                key={group.cause}
                group={group}
                isPart={group.isStuck && stuck.data?.nextPageToken != null}
                nextOf={nextOf}
                preview={preview.data}
              />
            ))
          )
        }
      </Read>
      <Rest of={stuck} href="/resources?stuck=true">
        are stuck
      </Rest>
      <Rest of={failed} href={toList({ kind: 'failed' })}>
        have failed
      </Rest>
      <Rest of={moving} href={toList({ kind: 'transitional' })}>
        are in transition
      </Rest>
      <Incidents />
    </>
  )
}

function Cause(given: {
  readonly group: Group
  readonly isPart: boolean
  readonly nextOf: (resource: Resource) => string
  readonly preview: AnswerOf<'previewHealing'> | undefined
}) {
  const { group, nextOf, preview } = given
  const { cause, tone, all, members } = group
  const [isWhole, setWhole] = useState(false)
  const { type, status } = members[0]!.resource
  const shown = members.slice(0, isWhole ? shownOfGroup : shownFirst)
  const rest = members.length - shown.length
  return (
    <Panel
      title={cause}
      note={
        <Tag tone={tone}>
          {members.length}
          {given.isPart ? '+' : ''}
        </Tag>
      }
      actions={group.isStuck && preview !== undefined && <ApproveAll of={preview} only={{ type, status }} />}
    >
      <Scroll label="Table">
        <table className="causes stacks">
          <thead>
            <tr>
              <th>Resource</th>
              <th>Status</th>
              <th>For</th>
              <th>Run</th>
              <th>Next, by itself</th>
              <th>
                <span className="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ resource, rule }) => (
              <tr key={`${resource.type}/${resource.id}`}>
                <td>
                  <ResourceLink of={resource} />
                </td>
                <td>
                  <Status status={resource.status} kind={resource.kind} />
                </td>
                <td>
                  <Age since={resource.since} />
                </td>
                <td>
                  {resource.run === null ? (
                    <span className="quiet">no run</span>
                  ) : (
                    `${resource.run.operation}, ${resource.run.step ?? ''}, ${attemptWords(resource.run)}`
                  )}
                </td>
                <td className="prose">{nextOf(resource)}</td>
                <td className="right">{rule !== undefined && <HealNow resource={resource} rule={rule} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      {rest > 0 && (
        <p className="row quiet rest">
          And {rest} more of the same cause.
          {!isWhole && (
            <button type="button" className="small" onClick={() => setWhole(true)}>
              Show {Math.min(rest, shownOfGroup - shownFirst)} more
            </button>
          )}
          <Link href={all}>
            List all {status} of {type}
          </Link>
        </p>
      )}
    </Panel>
  )
}

/** Only a first page was looked at, and says so. */
function Rest(given: {
  readonly of: {
    readonly data?: { readonly items: readonly unknown[]; readonly nextPageToken: string | null } | undefined
  }
  readonly href: string
  readonly children: string
}) {
  const { data } = given.of
  if (data?.nextPageToken == null) return null
  return (
    <p className="quiet">
      More {given.children} than the {data.items.length} that were looked at here.{' '}
      <Link href={given.href}>List them all</Link>
    </p>
  )
}

function Incidents() {
  const incidents = usePages('listIncidents', { query: { pageSize: 20 } }, { everyMs: 10_000 })
  const refusal = useRefusal('steer')
  return (
    <Panel title="Incidents" note="stuck resources that no crash explains: bugs to report">
      <Read from={incidents}>
        {({ pages }) =>
          pages[0]!.items.length === 0 ? (
            <Empty title="No incident is open." />
          ) : (
            pages
              .flatMap(({ items }) => items)
              .map((incident) => (
                <details key={incident.id} className="incident">
                  <summary>
                    <Tag tone="bad">{incident.kind}</Tag> <b className="mono">{incident.resource.id}</b>{' '}
                    <span className="quiet">{incident.status}</span> {incident.text} <At time={incident.at} />
                  </summary>
                  <p>
                    <ResourceLink of={incident.resource} /> of {incident.resource.type}
                  </p>
                  <Json value={incident.evidence} />
                  <div className="row">
                    <Copy text={`${incident.text}\n\n${JSON.stringify(incident, null, 2)}`} label="Copy as a report" />
                    <ActButton
                      className="small"
                      refusal={refusal}
                      act={{
                        route: 'closeIncident',
                        title: 'Close the incident',
                        does: 'Close',
                        reason: 'needed',
                        words: <p>Somebody has looked. The evidence stays in the audit.</p>,
                        given: ({ reason }) => ({ path: { incident: incident.id }, body: { reason } }),
                        cli: ({ reason }) => asCli('incidents close', word(incident.id), '--reason', word(reason)),
                      }}
                    >
                      Close ...
                    </ActButton>
                  </div>
                </details>
              ))
          )
        }
      </Read>
      <More from={incidents}>Older incidents</More>
    </Panel>
  )
}
