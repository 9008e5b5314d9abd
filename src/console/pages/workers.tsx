// Who carries runs out: every start of every worker with its lease, the lanes of the process that answers, and how that one is doing.
import './workers.css'
import { useCall, type AnswerOf } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { useAct } from '../parts/act.tsx'
import { AskButton, At, Countdown, PageHead, Panel, Read, Scroll, Table, Tag, useTitle } from '../parts/bits.tsx'
import { useRefusal } from '../session.tsx'
import { span } from '../time.ts'

type Worker = AnswerOf<'listWorkers'>['items'][number]
type Lanes = AnswerOf<'readLanes'>

const tones = { live: 'good', ended: undefined, dead: 'bad', expired: 'bad' } as const
const gauges: readonly (readonly [RegExp, string, (value: number) => string])[] = [
  [
    /^homeostat_worker_event_loop_lag_seconds(?:\{\})? (\S+)/m,
    'Event loop lag, 99th percentile',
    (value) => `${(value * 1_000).toFixed(1)} ms`,
  ],
  [/^homeostat_door_waiting(?:\{\})? (\S+)/m, 'Commands that wait for their commit', String],
  [/^homeostat_commands_total(?:\{\})? (\S+)/m, 'Commands answered', (value) => value.toLocaleString('en')],
  [/^homeostat_commits_total(?:\{\})? (\S+)/m, 'Commits', (value) => value.toLocaleString('en')],
  [/^homeostat_event_streams(?:\{\})? (\S+)/m, 'Open event streams', String],
  [/^homeostat_lease_lost_total(?:\{\})? (\S+)/m, 'Runs taken over from a lost owner', String],
  [/^homeostat_fenced_writes_total(?:\{\})? (\S+)/m, 'Late outcomes refused', String],
]

export default function Workers() {
  useTitle('Workers')
  const workers = useCall('listWorkers', {}, { everyMs: 2_000 })
  const lanes = useCall('readLanes', {}, { everyMs: 1_000 })
  const metrics = useCall('metrics', {}, { everyMs: 5_000 })
  const text = String(metrics.data ?? '')
  return (
    <>
      <PageHead
        title="Workers and lanes"
        lead="A worker that stops beating loses its lease; others take its runs over, and what it still writes is refused."
      />
      <Panel title="Workers" note="every start is one incarnation">
        <Read from={workers}>{({ items }) => <WorkerTable items={items} lanes={lanes.data} />}</Read>
      </Panel>
      <Panel title="Lanes" note="of the process that answers this page: who goes next when more is due than may run">
        <Read from={lanes}>{(data) => <LaneTable lanes={data} />}</Read>
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

function WorkerTable({ items, lanes }: { readonly items: readonly Worker[]; readonly lanes: Lanes | undefined }) {
  const act = useAct()
  const refusal = useRefusal('steer')
  const drains = lanes?.drains ?? []
  const working = items.filter((one) => one.state === 'live' && !drains.some(({ worker }) => worker === one.no))
  const drain = (one: Worker) => {
    const isLast = working.length <= 1
    act({
      route: 'drainWorker',
      title: `Drain worker ${one.no}`,
      does: 'Drain it',
      danger: isLast,
      reason: 'needed',
      ...(isLast ? { confirm: one.name } : {}),
      words: (
        <>
          <p>
            It takes on nothing more, finishes its calls under way and hands its runs over to other workers. Its process
            still answers; it works again after it is restarted.
          </p>
          {isLast && (
            <p>
              <b>
                It is the only worker that works: nothing is carried out and nothing is healed until another starts.
              </b>
            </p>
          )}
        </>
      ),
      given: ({ reason }) => ({ path: { worker: String(one.no) }, body: { reason } }),
      cli: ({ reason }) => asCli('drain', String(one.no), '--reason', word(reason)),
      done: ({ isHere }) =>
        `Worker ${one.no} is being drained${isHere ? '' : '; its process sees that within seconds'}.`,
    })
  }
  return (
    <Table heads={['No', 'Name', 'State', 'Started', 'Last beat', 'Lease ends']} hasActions>
      {items.map((one) => {
        const drained = drains.find(({ worker }) => worker === one.no)
        return (
          <tr key={one.no}>
            <td className="num">{one.no}</td>
            <td>
              {one.name} {one.isHere && <Tag tone="info">answers here</Tag>}
            </td>
            <td>
              <Tag tone={tones[one.state]}>{one.state}</Tag>
              {drained !== undefined && one.state === 'live' && (
                <>
                  <Tag tone="warn">{drained.isDone ? 'drained' : 'draining'}</Tag>
                  <span className="quiet">
                    {' '}
                    by {drained.by}: {drained.reason}
                  </span>
                </>
              )}
            </td>
            <td>
              <At time={one.startedAt} />
            </td>
            <td>
              <At time={one.beatAt} />
            </td>
            <td>{one.state === 'live' ? <Countdown to={one.leaseUntil} /> : <At time={one.leaseUntil} />}</td>
            <td className="right">
              {one.state === 'live' && drained === undefined && (
                <AskButton className="small" refusal={refusal} onClick={() => drain(one)}>
                  Drain ...
                </AskButton>
              )}
            </td>
          </tr>
        )
      })}
    </Table>
  )
}

const meanings: Readonly<Record<string, string>> = {
  delete: 'removing things: before all others, it is how load goes away',
  heal: 'what healing took over or began',
  user: 'what people and programs asked for',
  background: 'bulk jobs and what nobody waits for',
}

function LaneTable({
  lanes: { lanes, capacity, owned, runsMost, oldestWaitMs, hasWorker },
}: {
  readonly lanes: Lanes
}) {
  return (
    <>
      <dl className="facts lanes-facts">
        <div>
          <dt>Runs carried out here</dt>
          <dd className="num">
            {owned.toLocaleString('en')} <span className="quiet">of at most {runsMost.toLocaleString('en')}</span>
          </dd>
        </div>
        <div>
          <dt>Calls at a time</dt>
          <dd className="num">{capacity}</dd>
        </div>
        <div>
          <dt>Longest wait for any worker</dt>
          <dd className="num">{oldestWaitMs === 0 ? 'nobody waits' : span(oldestWaitMs)}</dd>
        </div>
      </dl>
      {!hasWorker ? (
        <p className="quiet">This process only answers: it carries nothing out, or it was drained.</p>
      ) : (
        <Scroll label="Table">
          <table className="lanes">
            <thead>
              <tr>
                <th>Lane</th>
                <th>For</th>
                <th className="right">Under way</th>
                <th className="right">Waiting</th>
                <th className="right">Floor</th>
                <th>Room</th>
              </tr>
            </thead>
            <tbody>
              {lanes.map(({ lane, running, waiting, floor }) => (
                <tr key={lane}>
                  <td>
                    <b>{lane}</b>
                  </td>
                  <td className="prose quiet">{meanings[lane]}</td>
                  <td className="num right">{running}</td>
                  <td className="num right">{waiting > 0 ? <Tag tone="warn">{waiting}</Tag> : 0}</td>
                  <td className="num right" title="calls that no other lane can take the room of">
                    {floor}
                  </td>
                  <td>
                    <span
                      className="room"
                      role="img"
                      aria-label={`${running} of ${capacity} calls, ${floor} kept for this lane`}
                    >
                      <i className="used" style={{ width: `${Math.min(100, (running / capacity) * 100)}%` }} />
                      <i className="floor" style={{ left: `${(floor / capacity) * 100}%` }} />
                    </span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}
