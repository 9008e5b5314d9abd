// Who carries runs out: every start of every worker with its lease; and how the process that answers is doing.
import { useCall } from '../api.ts'
import { At, Countdown, PageHead, Panel, Read, Scroll, Tag, useTitle } from '../parts/bits.tsx'

const tones = { live: 'good', ended: 'info', dead: 'bad', expired: 'bad' } as const
const gauges: readonly (readonly [RegExp, string, (value: number) => string])[] = [
  [
    /^homeostat_worker_event_loop_lag_seconds(?:\{\})? (\S+)/m,
    'Event loop lag, 99th percentile',
    (value) => `${(value * 1_000).toFixed(1)} ms`,
  ],
  [/^homeostat_door_waiting(?:\{\})? (\S+)/m, 'Commands that wait for their commit', String],
  [/^homeostat_door_commands(?:\{\})? (\S+)/m, 'Commands answered', (value) => value.toLocaleString('en')],
  [/^homeostat_door_commits(?:\{\})? (\S+)/m, 'Commits', (value) => value.toLocaleString('en')],
  [/^homeostat_event_streams(?:\{\})? (\S+)/m, 'Open event streams', String],
  [/^homeostat_lease_lost_total(?:\{\})? (\S+)/m, 'Runs taken over from a lost owner', String],
  [/^homeostat_fenced_writes_total(?:\{\})? (\S+)/m, 'Late outcomes refused', String],
]

export default function Workers() {
  useTitle('Workers')
  const workers = useCall('listWorkers', {}, { everyMs: 2_000 })
  const metrics = useCall('metrics', {}, { everyMs: 5_000 })
  const text = String(metrics.data ?? '')
  return (
    <>
      <PageHead
        title="Workers"
        lead="A worker that stops beating loses its lease; others take its runs over, and what it still writes is refused."
      />
      <Panel title="Incarnations" note="every start is one">
        <Read from={workers}>
          {({ items }) => (
            <Scroll label="Table">
              <table>
                <thead>
                  <tr>
                    <th>No</th>
                    <th>Name</th>
                    <th>State</th>
                    <th>Started</th>
                    <th>Last beat</th>
                    <th>Lease</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((one) => (
                    <tr key={one.no}>
                      <td className="num">{one.no}</td>
                      <td>
                        {one.name} {one.isHere && <Tag tone="info">answers here</Tag>}
                      </td>
                      <td>
                        <Tag tone={tones[one.state]}>{one.state}</Tag>
                      </td>
                      <td>
                        <At time={one.startedAt} />
                      </td>
                      <td>
                        <At time={one.beatAt} />
                      </td>
                      <td>{one.state === 'live' ? <Countdown to={one.leaseUntil} /> : <At time={one.leaseUntil} />}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </Read>
      </Panel>
      <Panel title="This process" note={<a href="/metrics">all figures</a>}>
        <dl className="facts wide">
          {gauges.flatMap(([pattern, name, shown]) => {
            const found = pattern.exec(text)?.[1]
            return found === undefined
              ? []
              : [
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd className="num">{shown(Number(found))}</dd>
                  </div>,
                ]
          })}
        </dl>
      </Panel>
    </>
  )
}
