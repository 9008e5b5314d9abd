// A guided tour of five minutes: break it and watch it heal. Each step says what to do and sees by itself when it is done.
import { useCall } from '../api.ts'
import { useEvents } from '../live.ts'
import { Link, toList, toResource } from '../route.tsx'
import { Panel } from './bits.tsx'
import { Icon } from './icon.tsx'

export function Tour() {
  const faults = useCall('listFaults', {})
  const counts = useCall('countResources', {})
  const events = useEvents()
  const first = counts.data?.items[0]?.type ?? ''
  const isBroken = (faults.data?.items.length ?? 0) > 0
  const created = events.find(({ data }) => data.kind === 'accepted' && data.from === '')
  const failed = events.find(
    ({ data }) => data.kind === 'attemptFailed' || (data.detail as { failed?: boolean } | null)?.failed === true,
  )
  const settled =
    failed === undefined
      ? undefined
      : events.find(
          ({ data, subject }) => subject === failed.subject && data.n > failed.data.n && data.kind === 'landed',
        )
  const steps = [
    {
      done: isBroken || failed !== undefined,
      words: (
        <>
          Choose <b>fail</b>, a type and one of its steps on the left, and <b>Break it</b>.
        </>
      ),
    },
    {
      done: created !== undefined,
      words: (
        <>
          Create one of that type: <Link href={toList({ type: first })}>Resources</Link>, then Create.
        </>
      ),
    },
    {
      done: failed !== undefined,
      words:
        failed?.data.resource == null ? (
          <>Watch its step fail: the page of the resource says why, and when it is tried again.</>
        ) : (
          <>
            Its step fails: see <Link href={toResource(failed.data.resource)}>{failed.data.resource.id}</Link>, which
            says why and when it is tried again.
          </>
        ),
    },
    { done: failed !== undefined && !isBroken, words: <>Clear the switch: the backend works again.</> },
    {
      done: settled !== undefined,
      words: <>Do nothing more. The next attempt goes through, or what was made is undone as declared.</>,
    },
    {
      done: false,
      words: <>Then kill the worker in the middle of a run, start it again, and see it go on where it was.</>,
    },
  ]
  return (
    <Panel title="Break it and watch it heal" note="a tour of five minutes">
      <ol className="tour">
        {steps.map(({ done, words }, index) => (
          <li key={index} className={done ? 'done' : ''}>
            <span className="mark">{done ? <Icon name="check" /> : index + 1}</span>
            <span>{words}</span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
