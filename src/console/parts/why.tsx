// The answer to "why is it stuck, and what happens next": the engine's own explanation, the last failure, and a clock.
import { useCall, type AnswerOf, type Event, type Resource } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { useRefusal } from '../session.tsx'
import { fullTime, shortTime, span } from '../time.ts'
import { useAct } from './act.tsx'
import { AskButton, At, Copy, Countdown, Panel, Read, Tag } from './bits.tsx'
import { Icon } from './icon.tsx'
import { foundWords } from '../../protocol/found-words.ts'
import { detailOf, eventTone } from './words.ts'

/** Moments within a sentence, as people read them. */
const isoPattern = /(\d{4}-\d\d-\d\dT[\d:.]+Z)/
const readable = (text: string) =>
  text.split(isoPattern).map((part, index) =>
    index % 2 === 1 ? (
      <time key={index} dateTime={part} title={fullTime(part)}>
        {shortTime(part)}
      </time>
    ) : (
      part
    ),
  )

export function WhyPanel({ resource, events }: { readonly resource: Resource; readonly events: readonly Event[] }) {
  const { type, id } = resource
  const why = useCall('explainResource', { path: { type, id } }, { keep: true, everyMs: 3_000 })
  const found = why.data?.stuck ?? undefined
  const failure = events.find(
    (event) =>
      // Who sets a status by hand, or forces a delete, gives a reason, too.
      eventTone(event) === 'bad' &&
      detailOf(event).reason !== undefined &&
      (resource.run === null ? event.to === resource.status : event.run === resource.run.id),
  )
  const isSame =
    failure !== undefined &&
    resource.run === null &&
    events.some((event) => event.n > failure.n && event.from !== event.to)
  return (
    <Panel
      className={`why ${found !== undefined || resource.kind === 'failed' ? 'bad' : resource.kind}`}
      title={
        resource.kind === 'stable' || resource.kind === 'terminal' ? 'Why it is so' : `Why it is ${resource.status}`
      }
      note={found === undefined ? undefined : <Tag tone="bad">stuck: {foundWords[found.found]}</Tag>}
      actions={<Copy text={asCli('why', word(`${type}/${id}`))} label="CLI" />}
    >
      <Read from={why}>
        {({ because, next, settlesWithinMs }) => (
          <>
            <ol className="because">
              {because.map((line) => (
                <li key={line}>{readable(line)}</li>
              ))}
              {failure !== undefined && !isSame && (
                <li className="failure">
                  <b>Last failure</b>, <At time={failure.at} />:{' '}
                  {detailOf(failure).step !== undefined && <span className="mono">{detailOf(failure).step}</span>}{' '}
                  {detailOf(failure).reason}
                </li>
              )}
              {found !== undefined && (
                <li>
                  The rule for {resource.status}: {found.rule}.
                </li>
              )}
            </ol>
            <Next resource={resource} planned={next} settlesWithinMs={settlesWithinMs} found={found} />
          </>
        )}
      </Read>
    </Panel>
  )
}

interface NextProps {
  readonly resource: Resource
  readonly planned: { readonly what: string; readonly at: string | null } | null
  readonly settlesWithinMs: number | null
  readonly found: AnswerOf<'explainResource'>['stuck'] | undefined
}

/** What happens by itself. Of what is stuck, healing itself says what it would do, and what keeps it from doing so. */
function Next({ resource, planned, settlesWithinMs, found }: NextProps) {
  if (found) {
    return (
      <div className={`next ${found.held === null ? '' : 'held'}`}>
        <Icon name={found.held === null ? 'heal' : 'alert'} />
        <div>
          <span className="label">Next, by itself</span>
          <strong>{found.held === null ? `Healing will ${found.would}.` : `Nothing: ${found.held}.`}</strong>
          {found.held !== null && <span className="quiet">Once approved, healing will {found.would}.</span>}
        </div>
        <HealNow resource={resource} rule={found.would} />
      </div>
    )
  }
  return (
    <div className={`next ${planned === null ? 'none' : ''}`}>
      <Icon name={planned === null ? 'check' : 'clock'} />
      <div>
        <span className="label">
          Next, by itself
          {planned?.at != null && (
            <>
              , <Countdown to={planned.at} />
            </>
          )}
        </span>
        {planned === null ? (
          <strong>
            {resource.kind === 'failed'
              ? 'Nothing: it waits for somebody. See what may be asked of it above.'
              : 'Nothing: it is at rest.'}
          </strong>
        ) : (
          <strong>{planned.what}</strong>
        )}
        {settlesWithinMs !== null && settlesWithinMs > 0 && (
          <span className="quiet">At the latest it is settled in {span(settlesWithinMs)}.</span>
        )}
      </div>
    </div>
  )
}

export function HealNow({
  resource,
  rule,
}: {
  readonly resource: { readonly type: string; readonly id: string }
  readonly rule: string
}) {
  const act = useAct()
  const refusal = useRefusal('override')
  const { type, id } = resource
  const open = () =>
    act({
      route: 'approveHealing',
      title: `Heal ${id}`,
      does: 'Heal now',
      reason: 'needed',
      words: <p>Whatever modes, budget and breaker say, this is done now: {rule}.</p>,
      given: ({ reason }) => ({ body: { type, id, reason } }),
      cli: ({ reason }) => asCli('heal', word(`${type}/${id}`), '--reason', word(reason)),
      done: ({ resource: healed }) => `${healed.id} is ${healed.status}.`,
    })
  return (
    <AskButton className="small" refusal={refusal} onClick={open}>
      Heal now ...
    </AskButton>
  )
}
