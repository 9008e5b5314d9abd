// What is stuck, failed or struggling, grouped by cause, and the incidents that no crash explains.
import { useCall, usePages, type Resource } from '../api.ts'
import { useEvents } from '../live.ts'
import { ActButton } from '../parts/act.tsx'
import {
  More,
  Age,
  At,
  Copy,
  Empty,
  Json,
  PageHead,
  Panel,
  Read,
  ResourceLink,
  Scroll,
  Status,
  Tag,
  useTitle,
} from '../parts/bits.tsx'
import { HealNow } from '../parts/why.tsx'
import { foundWords } from '../../protocol/found-words.ts'
import { asCli, word } from '../copies.ts'
import { Link } from '../route.tsx'
import { useRefusal } from '../session.tsx'

/** Of one cause; the others differ only in their names. */
const shownOfGroup = 50

interface Group {
  readonly cause: string
  readonly tone: 'bad' | 'warn'
  readonly members: { readonly resource: Resource; readonly rule?: string }[]
}

export default function Stuck() {
  useTitle('Stuck')
  const stuck = useCall('listStuck', { query: { pageSize: 500 } }, { everyMs: 3_000 })
  const failed = useCall('listAllResources', { query: { kind: 'failed', pageSize: 500 } })
  const moving = useCall('listAllResources', { query: { kind: 'transitional', pageSize: 500 } }, { everyMs: 5_000 })
  const preview = useCall('previewHealing', { query: { pageSize: 500 } }, { everyMs: 3_000 })
  const events = useEvents()
  /** What happens by itself, in words. */
  const nextOf = ({ type, id, kind, run }: Resource): string => {
    const heals = preview.data?.items.find(({ resource }) => resource.type === type && resource.id === id)
    if (heals !== undefined) return heals.held === null ? `healing will ${heals.would}` : `nothing: ${heals.held}`
    if (run?.state === 'parked') return 'nothing: it waits for somebody'
    return kind === 'failed' ? 'nothing: it waits for somebody' : 'it is tried again'
  }
  const groups = new Map<string, Group>()
  const add = (cause: string, tone: Group['tone'], resource: Resource, rule?: string) => {
    const group = groups.get(cause) ?? { cause, tone, members: [] }
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
    if (run === null || isStuck.has(`${type}/${id}`) || (run.attempt < 2 && run.state !== 'parked')) continue
    const last = events.find(({ subject, data }) => subject === `${type}/${id}` && data.kind === 'attemptFailed')
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
        lead="Stuck, failed and struggling resources by their cause. What is stuck is healed by itself unless its rule waits for approval or is off, or its breaker is open."
      />
      <Read from={stuck}>
        {() =>
          sorted.length === 0 ? (
            <div className="panel">
              <Empty title="Nothing is stuck, failed or struggling.">
                Resources in transition go on by themselves; this page fills by itself.
              </Empty>
            </div>
          ) : (
            sorted.map(({ cause, tone, members }) => (
              <Panel key={cause} title={cause} note={<Tag tone={tone}>{members.length}</Tag>}>
                <Scroll label="Table">
                  <table className="causes">
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
                      {members.slice(0, shownOfGroup).map(({ resource, rule }) => (
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
                              <span className="quiet">none</span>
                            ) : (
                              `${resource.run.operation}, ${resource.run.step ?? ''}, attempt ${resource.run.attempt}`
                            )}
                          </td>
                          <td className="prose">{nextOf(resource)}</td>
                          <td className="right">{rule !== undefined && <HealNow resource={resource} rule={rule} />}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </Scroll>
                {members.length > shownOfGroup && (
                  <p className="quiet">And {members.length - shownOfGroup} more of the same cause.</p>
                )}
              </Panel>
            ))
          )
        }
      </Read>
      {stuck.data?.nextPageToken != null && (
        <p className="quiet">
          More are stuck than the {stuck.data.items.length} above.{' '}
          <Link href="/resources?stuck=true">List them all</Link>
        </p>
      )}
      <Incidents />
    </>
  )
}

function Incidents() {
  const incidents = usePages('listIncidents', { query: { pageSize: 100 } }, { everyMs: 10_000 })
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
