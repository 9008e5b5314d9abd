// Bulk jobs: how far each is, what was refused, and pausing or ending it.
import { isMissing, useCall, usePages, type AnswerOf } from '../api.ts'
import { asCli } from '../copies.ts'
import { ActButton } from '../parts/act.tsx'
import { At, Empty, Missing, More, PageHead, Panel, Read, ResourceLink, Table, Tag, useTitle } from '../parts/bits.tsx'
import { address, Link } from '../route.tsx'
import { useRefusal } from '../session.tsx'

type Job = AnswerOf<'getBulk'>
const tones = { running: 'info', paused: 'warn', cancelled: 'warn', done: 'good' } as const

export default function Bulk({ id }: { readonly id: string | undefined }) {
  useTitle('Bulk jobs')
  return id === undefined ? <Jobs /> : <JobPage id={id} />
}

function Jobs() {
  const jobs = usePages('listBulk', { query: { pageSize: 100 } }, { everyMs: 2_000 })
  return (
    <>
      <PageHead
        title="Bulk jobs"
        lead="One operation over a frozen list of resources, at a rate. Begin one from Resources: choose a type and filters, then Bulk."
      />
      <div className="panel">
        <Read from={jobs}>
          {({ pages }) =>
            pages[0]!.items.length === 0 ? (
              <Empty title="No bulk job yet.">
                <Link href="/resources">Choose resources</Link>
              </Empty>
            ) : (
              <ul className="rows-of">
                {pages
                  .flatMap(({ items }) => items)
                  .map((job) => (
                    <li key={job.id}>
                      <div className="grow">
                        <Link href={address('bulk', job.id)}>
                          {job.operation} over {job.total} {job.filter.type}
                        </Link>{' '}
                        <Tag tone={tones[job.state]}>{job.state}</Tag> <span className="quiet">{job.reason}</span>
                        <Progress job={job} />
                      </div>
                      <span className="quiet">
                        {job.by}, <At time={job.createdAt} />
                      </span>
                    </li>
                  ))}
              </ul>
            )
          }
        </Read>
        <More from={jobs}>More bulk jobs</More>
      </div>
    </>
  )
}

const Progress = ({ job }: { readonly job: Job }) => (
  <span
    className="bar-of large"
    role="img"
    aria-label={`${job.accepted} accepted, ${job.refused} refused, ${job.left} left`}
  >
    {job.accepted > 0 && <i className="stable" style={{ flexGrow: job.accepted }} />}
    {job.refused > 0 && <i className="failed" style={{ flexGrow: job.refused }} />}
    {job.left > 0 && <i className="rest" style={{ flexGrow: job.left }} />}
  </span>
)

function JobPage({ id }: { readonly id: string }) {
  const job = useCall('getBulk', { path: { bulk: id } }, { everyMs: 1_000 })
  const targets = usePages('listBulkItems', { path: { bulk: id }, query: { pageSize: 500 } }, { everyMs: 2_000 })
  if (isMissing(job.error))
    return (
      <Missing title={id} error={job.error} href="/bulk">
        Bulk jobs that are
      </Missing>
    )
  return (
    <Read from={job}>
      {(data) => (
        <>
          <PageHead title={`${data.operation} over ${data.filter.type}`} lead={`${data.reason}, asked by ${data.by}`}>
            <Tag tone={tones[data.state]}>{data.state}</Tag>
            <Buttons job={data} />
          </PageHead>
          <div className="figures">
            {(['total', 'accepted', 'refused', 'left'] as const).map((name) => (
              <div key={name} className={`figure ${name === 'refused' && data.refused > 0 ? 'bad' : ''}`}>
                <span className="label">{name}</span>
                <b className="num">{data[name].toLocaleString('en')}</b>
              </div>
            ))}
          </div>
          <Panel title="Targets" note={`${data.perSecond} a second`}>
            <Progress job={data} />
            <Read from={targets}>
              {({ pages }) => (
                <Table className="stacks" heads={['Resource', 'State', 'Run', 'Why not']}>
                  {pages
                    .flatMap(({ items }) => items)
                    .map((one) => (
                      <tr key={one.index}>
                        <td>
                          <ResourceLink of={one.resource} />
                        </td>
                        <td>
                          <Tag tone={one.state === 'accepted' ? 'good' : one.state === 'refused' ? 'bad' : 'info'}>
                            {one.state}
                          </Tag>
                        </td>
                        <td>
                          {one.run !== null && (
                            <Link href={address('runs', one.run)} className="mono whole">
                              {one.run}
                            </Link>
                          )}
                        </td>
                        <td className="prose">{one.message}</td>
                      </tr>
                    ))}
                </Table>
              )}
            </Read>
            <More from={targets}>More targets</More>
          </Panel>
        </>
      )}
    </Read>
  )
}

function Buttons({ job }: { readonly job: Job }) {
  const refusal = useRefusal('bulk') ?? (job.state === 'done' || job.state === 'cancelled' ? 'It is over.' : null)
  const path = { bulk: job.id }
  const isPaused = job.state === 'paused'
  return (
    <>
      <ActButton
        refusal={refusal}
        act={{
          route: isPaused ? 'resumeBulk' : 'pauseBulk',
          title: isPaused ? 'Go on' : 'Pause',
          does: isPaused ? 'Resume' : 'Pause',
          words: (
            <p>
              {isPaused
                ? 'It goes on where it was paused.'
                : 'Nothing more is asked for until it is resumed; what was accepted goes on.'}
            </p>
          ),
          given: () => ({ path }),
          cli: () => asCli('bulk', isPaused ? 'resume' : 'pause', job.id),
        }}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </ActButton>
      <ActButton
        className="danger-outline"
        refusal={refusal}
        act={{
          route: 'cancelBulk',
          title: 'Cancel the bulk job',
          does: 'Cancel it',
          leaves: 'Let it go on',
          danger: true,
          reason: 'needed',
          confirm: job.operation,
          words: (
            <p>
              Nothing more is asked for, for good: {job.left.toLocaleString('en')} of {job.total.toLocaleString('en')}{' '}
              are left out. What was accepted goes on.
            </p>
          ),
          given: ({ reason }) => ({ path, body: { reason } }),
          cli: () => asCli('bulk cancel', job.id),
        }}
      >
        Cancel
      </ActButton>
    </>
  )
}
