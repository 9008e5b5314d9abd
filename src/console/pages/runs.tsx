// Runs of all resources: those under way first, then the ended ones.
import { usePages } from '../api.ts'
import { More, PageHead, Read, useTitle } from '../parts/bits.tsx'
import { RunRows } from '../parts/run-rows.tsx'
import { go, usePlace, withQuery } from '../route.tsx'

const states = ['live', 'waiting', 'running', 'parked', 'ended'] as const

export default function Runs() {
  useTitle('Runs')
  const { query } = usePlace()
  const state = states.find((one) => one === query.get('state'))
  const runs = usePages(
    'listRuns',
    { query: { pageSize: 200, ...(state === undefined ? {} : { state }) } },
    { keep: true, everyMs: 10_000 },
  )
  return (
    <>
      <PageHead
        title="Runs"
        lead="Each is one carrying-out of an operation, taken over by another worker when its own dies. Those under way come first, then the last that ended."
      />
      <div className="filters">
        <div className="field">
          <label htmlFor="run-state">State</label>
          <select
            id="run-state"
            value={state ?? ''}
            onChange={(event) => go(withQuery({ state: event.target.value }), 'replace')}
          >
            <option value="">all</option>
            {states.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </div>
      </div>
      <div className="panel flush">
        <Read from={runs}>{({ pages }) => <RunRows items={pages.flatMap(({ items }) => items)} withResource />}</Read>
        <More from={runs}>Older runs</More>
      </div>
    </>
  )
}
