// One run: its steps and attempts over time, what was undone, what went in and came out, and how to steer it.
import { isMissing, useCall, type Run } from '../api.ts'
import { asCli, asCurl, word } from '../copies.ts'
import { ActButton } from '../parts/act.tsx'
import {
  At,
  Copy,
  Countdown,
  Json,
  Missing,
  PageHead,
  Panel,
  Read,
  ResourceLink,
  Tag,
  useTitle,
} from '../parts/bits.tsx'
import { Timeline } from '../parts/resource-tabs.tsx'
import { runTone } from '../parts/run-rows.tsx'
import { Attempts, LateResults } from '../parts/attempts.tsx'
import { Waterfall } from '../parts/waterfall.tsx'
import { useRefusal } from '../session.tsx'
import { millis, span } from '../time.ts'

export default function RunPage({ run }: { readonly run: string }) {
  useTitle(`Run ${run}`)
  const found = useCall('getRun', { path: { run } }, { keep: true, everyMs: 5_000 })
  if (isMissing(found.error))
    return (
      <Missing title={run} error={found.error} href="/runs">
        Runs that are
      </Missing>
    )
  return <Read from={found}>{(data) => <Whole run={data} />}</Read>
}

function Whole({ run }: { readonly run: Run }) {
  /** The event of its beginning has the input; history is not kept for ever. */
  const wasTold = !run.isOver || (run.events ?? []).some(({ kind }) => kind === 'accepted')
  const results = run.steps.filter(({ result }) => result !== undefined)
  return (
    <>
      <PageHead
        title={
          <>
            {run.operation} <span className="quiet">of</span> <ResourceLink of={run.resource} />{' '}
            <Tag tone={runTone(run.state)}>{run.state}</Tag>
          </>
        }
        lead={
          <>
            Run <span className="mono">{run.id}</span>, asked by {run.by} at <At time={run.acceptedAt} />
            {run.endedAt !== null && <>, took {span(millis(run.endedAt) - millis(run.acceptedAt))}</>}
          </>
        }
      >
        <Copy text={asCli('run', run.id)} label="CLI" />
        <Copy text={asCurl('getRun', { path: { run: run.id } })} label="curl" />
        <Steer run={run} />
      </PageHead>
      {run.parked !== null && (
        <div className="problem" role="status">
          <div>
            <strong>
              Parked since <At time={run.parked.at} />:
            </strong>{' '}
            {run.parked.reason} It waits for somebody: retry, skip the step, or cancel.
          </div>
        </div>
      )}
      <Panel
        title="Steps"
        note={run.isOver ? undefined : run.owner === 0 ? 'waits for a worker' : `carried out by worker ${run.owner}`}
      >
        <Waterfall run={run} />
        <Attempts run={run} />
        <dl className="facts">
          <div>
            <dt>Status of the resource</dt>
            <dd>{run.status}</dd>
          </div>
          {run.nextCallAt !== null && (
            <div>
              <dt>Next call</dt>
              <dd>
                <Countdown to={run.nextCallAt} />
              </dd>
            </div>
          )}
          {run.deadlineAt !== null && (
            <div>
              <dt>Deadline</dt>
              <dd>
                <Countdown to={run.deadlineAt} />
              </dd>
            </div>
          )}
          {run.uncertain && (
            <div>
              <dt>Uncertain</dt>
              <dd>a call may have been made whose outcome nobody knows: it is probed first</dd>
            </div>
          )}
        </dl>
        {run.reasons.length > 0 && (
          <ul className="reasons">
            {run.reasons.map((reason, index) => (
              <li key={index}>{reason}</li>
            ))}
          </ul>
        )}
      </Panel>
      <LateResults run={run} />
      <div className="columns">
        <Panel title="What happened">
          <Timeline events={run.events ?? []} of={run.id} />
        </Panel>
        <Panel title="Input and results">
          <h3>Input</h3>
          {run.input === null ? (
            <p className="quiet none">{wasTold ? 'none' : 'no longer kept'}</p>
          ) : (
            <Json value={run.input} />
          )}
          {results.map(({ name, result }) => (
            <div key={name}>
              <h3 className="mono">{name}</h3>
              <Json value={result} />
            </div>
          ))}
        </Panel>
      </div>
    </>
  )
}

function Steer({ run }: { readonly run: Run }) {
  const refusal = useRefusal('steer') ?? (run.isOver ? 'The run has ended.' : null)
  const isHalted = run.state === 'parked' || run.state === 'waiting' || run.nextCallAt !== null
  const path = { run: run.id }
  return (
    <>
      <ActButton
        refusal={refusal ?? (isHalted ? null : 'It is not waiting for anything.')}
        act={{
          route: 'retryRun',
          title: `Retry ${run.operation} now`,
          does: run.state === 'parked' ? 'Resume' : 'Retry now',
          words: <p>The step at hand is called at once, with the same key: what was done already is not done twice.</p>,
          given: () => ({ path }),
          cli: () => asCli('retry', run.id),
        }}
      >
        {run.state === 'parked' ? 'Resume' : 'Retry now'}
      </ActButton>
      <ActButton
        refusal={refusal ?? (run.state === 'parked' ? null : 'Only a parked run can skip its step.')}
        act={{
          route: 'skipStep',
          title: 'Skip the step at hand',
          does: 'Skip step',
          danger: true,
          reason: 'needed',
          confirm: run.resource.id,
          words: <p>You vouch that the work of this step is done: the run goes on with the next one as if it were.</p>,
          given: ({ reason }) => ({ path, body: { reason } }),
          cli: ({ reason }) => asCli('skip', run.id, '--reason', word(reason)),
        }}
      >
        Skip step
      </ActButton>
      <ActButton
        className="danger-outline"
        refusal={refusal}
        act={{
          route: 'cancelRun',
          title: `Cancel ${run.operation}`,
          does: 'Cancel the run',
          leaves: 'Let it go on',
          danger: true,
          reason: 'needed',
          confirm: run.resource.id,
          words: <p>The run is taken as failed: what its lifecycle declares for that follows, undo included.</p>,
          given: ({ reason }) => ({ path, body: { reason } }),
          cli: ({ reason }) => asCli('cancel', run.id, '--reason', word(reason)),
        }}
      >
        Cancel
      </ActButton>
    </>
  )
}
