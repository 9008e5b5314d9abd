// The live feed of everything that happens, with a filter; it can be held still to be read.
import { useState } from 'react'
import { useEvents, useLiveState } from '../live.ts'
import { At, Empty, Json, PageHead, useTitle } from '../parts/bits.tsx'
import { spaced } from '../../protocol/event-words.ts'
import { eventStory, eventTone } from '../parts/words.ts'
import { Link, toResource } from '../route.tsx'

export default function Events() {
  useTitle('Events')
  const events = useEvents()
  const state = useLiveState()
  const [text, setText] = useState('')
  const [held, setHeld] = useState<typeof events | null>(null)
  const shown = (held ?? events)
    .filter(({ subject, data }) =>
      `${subject} ${data.kind} ${data.to} ${data.by}`.toLowerCase().includes(text.toLowerCase()),
    )
    .slice(0, 200)
  return (
    <>
      <PageHead
        title="Events"
        lead={`Every change, numbered without gaps; the newest first. The feed is ${held === null ? state : 'held still'}.`}
      >
        <input
          type="search"
          aria-label="Filter the events"
          placeholder="resource, kind, status or who"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="button" onClick={() => setHeld(held === null ? events : null)}>
          {held === null ? 'Hold still' : 'Go on'}
        </button>
      </PageHead>
      <div className="panel flush">
        {shown.length === 0 ? (
          events.length === 0 ? (
            <Empty title="Nothing has happened yet.">Every change of a resource is listed here as it happens.</Empty>
          ) : (
            <Empty title="No event fits.">Of the newest {events.length}, none contains what was typed.</Empty>
          )
        ) : (
          <ol className="timeline of-all">
            {shown.map(({ data }) => (
              <li key={data.n} className={eventTone(data)}>
                <span className="num quiet">{data.n}</span> <At time={data.at} />{' '}
                {data.resource !== null && (
                  <Link href={toResource(data.resource)} className="mono">
                    {data.resource.id}
                  </Link>
                )}
                <details>
                  <summary>
                    <span className="words">{eventStory(data)}</span>{' '}
                    <span className="quiet">
                      {spaced(data.kind)}, by {data.by}
                    </span>
                  </summary>
                  <Json value={data} />
                </details>
              </li>
            ))}
          </ol>
        )}
      </div>
    </>
  )
}
