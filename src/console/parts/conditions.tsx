// Whether all is well with a resource, one statement after the other: each holds, does not hold, or cannot be said; with the reason.
import type { ReactNode } from 'react'
import { useCall, type Resource, type Run } from '../api.ts'
import { Link } from '../route.tsx'
import { useSeesAll } from '../session.tsx'
import { millis } from '../time.ts'
import { Age, At, Countdown, Table, Tag, useNow } from './bits.tsx'
import { foundWords } from '../../protocol/found-words.ts'

interface Condition {
  readonly name: string
  /** Null: it cannot be said, or does not apply. */
  readonly holds: boolean | null
  readonly words: ReactNode
  /** That it does not hold is as it should be for a while. */
  readonly isPassing?: boolean
}

/** The run under way, the worker that carries it out, and what healing and incidents say. */
function useConditions(resource: Resource): readonly Condition[] {
  const { type, id, kind, status, orphans, queued, timers, since } = resource
  const seesAll = useSeesAll()
  const at = useNow()
  const run = useCall(
    'getRun',
    { path: { run: resource.run?.id ?? '' } },
    { enabled: resource.run !== null, keep: true },
  ).data
  const live = resource.run === null ? undefined : run
  const workers = useCall('listWorkers', {}, { enabled: seesAll && live !== undefined, everyMs: 5_000 }).data?.items
  const found = useCall('explainResource', { path: { type, id } }, { keep: true }).data?.stuck
  const incidents = useCall('listIncidents', { query: { type, id } }).data?.items
  const healing = useCall('getHealing', {}, { enabled: seesAll }).data
  const mode = healing?.modes.find((one) => one.type === type && one.status === status)?.mode
  const isHeld = healing?.breakers.some((one) => one.type === type && one.isOpen) === true
  const probeAt = timers['drift probe']
  return [
    {
      name: 'Settled',
      holds: kind !== 'transitional',
      isPassing: found == null,
      words:
        kind === 'transitional' ? (
          <>
            in transition for <Age since={since} />
          </>
        ) : kind === 'failed' ? (
          'at rest, in a failed status: somebody has to decide'
        ) : (
          'at rest'
        ),
    },
    {
      name: 'Not stuck',
      holds: found === undefined ? null : found === null,
      words: found == null ? '' : foundWords[found.found],
    },
    { name: 'Carried out', ...carried(live, workers, kind) },
    {
      name: 'In time',
      holds: live?.deadlineAt == null ? null : millis(live.deadlineAt) > at,
      words:
        live?.deadlineAt == null ? (
          'no deadline runs'
        ) : (
          <>
            the deadline of the step is <Countdown to={live.deadlineAt} />
          </>
        ),
    },
    {
      name: 'As in the real world',
      holds: found?.found === 'drifted' ? false : null,
      words:
        probeAt === undefined ? (
          'its lifecycle declares no regular look in this status'
        ) : (
          <>
            looked at regularly; next <Countdown to={probeAt} />
          </>
        ),
    },
    {
      name: 'Healed by itself',
      holds: mode === undefined ? null : mode === 'auto' && !isHeld,
      words:
        mode === undefined ? (
          'nothing gets stuck in this status'
        ) : isHeld ? (
          <>
            the breaker of {type} is open: <Link href="/healing">Healing</Link>
          </>
        ) : mode === 'auto' ? (
          'if it gets stuck here'
        ) : (
          <>
            the mode for {status} is {mode}: <Link href="/healing">Healing</Link>
          </>
        ),
    },
    {
      name: 'Nothing left behind',
      holds: orphans === 0,
      words: orphans === 0 ? '' : <Link href="/orphans">{orphans} things in the real world that nobody owns</Link>,
    },
    {
      name: 'No open incident',
      holds: incidents === undefined ? null : incidents.length === 0,
      words: incidents?.map(({ text }) => text).join('; '),
    },
    {
      name: 'Nothing waits for its turn',
      holds: queued.length === 0,
      words: queued.map(({ operation, by, at: asked }) => (
        <span key={asked}>
          {operation}, asked by {by} at <At time={asked} />{' '}
        </span>
      )),
    },
  ]
}

type Workers = readonly { readonly no: number; readonly name: string; readonly state: string }[]

function carried(run: Run | undefined, workers: Workers | undefined, kind: string): Omit<Condition, 'name'> {
  if (run === undefined)
    return kind === 'transitional'
      ? { holds: false, words: 'no run is recorded for it' }
      : { holds: null, words: 'nothing is under way' }
  if (run.parked !== null) return { holds: false, words: `parked: ${run.parked.reason}` }
  if (run.owner === 0) return { holds: false, words: 'it waits for a worker' }
  const worker = workers?.find(({ no }) => no === run.owner)
  if (worker === undefined) return { holds: workers === undefined ? null : false, words: `by worker ${run.owner}` }
  return { holds: worker.state === 'live', words: `by worker ${worker.no} (${worker.name}), which is ${worker.state}` }
}

export function Conditions({ resource }: { readonly resource: Resource }) {
  const conditions = useConditions(resource)
  return (
    <Table heads={['Condition', 'Holds', 'Why']}>
      {conditions.map(({ name, holds, words, isPassing = false }) => (
        <tr key={name}>
          <td>{name}</td>
          <td>
            <Tag tone={holds === null ? undefined : holds ? 'good' : isPassing ? 'info' : 'bad'}>
              {holds === null ? 'not said' : holds ? 'yes' : isPassing ? 'not yet' : 'no'}
            </Tag>
          </td>
          <td className="prose quiet">{words}</td>
        </tr>
      ))}
    </Table>
  )
}

/** In the head of the page: who carries it out, and how long its step still has. */
export function Ownership({ resource }: { readonly resource: Resource }) {
  const seesAll = useSeesAll()
  const run = useCall(
    'getRun',
    { path: { run: resource.run?.id ?? '' } },
    { enabled: resource.run !== null, keep: true, everyMs: 5_000 },
  ).data
  const workers = useCall('listWorkers', {}, { enabled: seesAll && resource.run !== null, everyMs: 5_000 }).data?.items
  if (resource.run === null || run === undefined) return null
  const worker = workers?.find(({ no }) => no === run.owner)
  return (
    <span className="ownership">
      {run.parked !== null ? (
        <Tag tone="warn">parked</Tag>
      ) : run.owner === 0 ? (
        <Tag tone="warn">waits for a worker</Tag>
      ) : (
        <Tag tone={worker === undefined || worker.state === 'live' ? 'info' : 'bad'}>
          worker {run.owner}
          {worker === undefined || worker.state === 'live' ? '' : `, ${worker.state}`}
        </Tag>
      )}
      {run.deadlineAt !== null && (
        <span>
          deadline <Countdown to={run.deadlineAt} />
        </span>
      )}
    </span>
  )
}
