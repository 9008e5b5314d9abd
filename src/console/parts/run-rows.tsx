// Runs as rows: what was asked, how far it is or how it ended.
import type { Run } from '../api.ts'
import { address, Link } from '../route.tsx'
import { millis, span } from '../time.ts'
import { At, Empty, ResourceLink, Scroll, Tag } from './bits.tsx'

export const runTone = (state: Run['state']): 'good' | 'bad' | 'warn' | 'info' =>
  state === 'succeeded' || state === 'healed'
    ? 'good'
    : state === 'failed'
      ? 'bad'
      : state === 'running'
        ? 'info'
        : 'warn'

export function RunRows({
  items,
  withResource = false,
}: {
  readonly items: readonly Run[]
  readonly withResource?: boolean
}) {
  if (items.length === 0)
    return <Empty title="No run.">Whatever is asked of a resource, and whatever is healed, makes one.</Empty>
  return (
    <Scroll label="Table">
      <table className="stacks">
        <thead>
          <tr>
            <th>Run</th>
            {withResource && <th>Resource</th>}
            <th>Operation</th>
            <th>State</th>
            <th>Status</th>
            <th>Asked</th>
            <th>Took</th>
            <th>By</th>
          </tr>
        </thead>
        <tbody>
          {items.map((run) => (
            <tr key={run.id}>
              <td>
                <Link href={address('runs', run.id)} className="mono whole">
                  {run.id}
                </Link>
              </td>
              {withResource && (
                <td>
                  <ResourceLink of={run.resource} /> <span className="quiet">{run.resource.type}</span>
                </td>
              )}
              <td>
                {run.operation} {run.kind !== 'operation' && <Tag>{run.kind}</Tag>}
              </td>
              <td>
                <Tag tone={runTone(run.state)}>{run.state}</Tag>
              </td>
              <td>{run.status}</td>
              <td>
                <At time={run.acceptedAt} />
              </td>
              <td className="num">{run.endedAt === null ? '' : span(millis(run.endedAt) - millis(run.acceptedAt))}</td>
              <td className="quiet">{run.by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
