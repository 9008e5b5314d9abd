// What the installation did over the last hours: ends of runs in slices, and how long it took until things were stable. From the
// server's own figures, so that they are whole however long this page has been open.
import { useCall, type AnswerOf } from '../api.ts'
import { go, Link, toResource, usePlace, withQuery } from '../route.tsx'
import { useEvents } from '../live.ts'
import { clockTime, millis, span } from '../time.ts'
import { At, Read } from './bits.tsx'
import { eventStory, eventTone } from './words.ts'

type Trends = AnswerOf<'readTrends'>
type Point = Trends['points'][number]

const ranges = [
  ['60', '1 h'],
  ['360', '6 h'],
  ['1440', '24 h'],
] as const

export const useTrends = (enabled: boolean) => {
  const { query } = usePlace()
  const minutes = Number(ranges.find(([value]) => value === query.get('range'))?.[0] ?? 60)
  return useCall('readTrends', { query: { minutes } }, { enabled, everyMs: 5_000, keep: true })
}

export function RangeChooser() {
  const { query } = usePlace()
  const chosen = query.get('range') ?? '60'
  return (
    <span className="ranges" role="group" aria-label="How far back">
      {ranges.map(([value, words]) => (
        <button
          key={value}
          type="button"
          className="ghost small"
          aria-pressed={value === chosen}
          onClick={() => go(withQuery({ range: value === '60' ? null : value }), 'replace')}
        >
          {words}
        </button>
      ))}
    </span>
  )
}

export function OverTime() {
  const trends = useTrends(true)
  return (
    <>
      <Read from={trends}>
        {(data) => (
          <>
            <Ends data={data} />
            <Stable data={data} />
          </>
        )}
      </Read>
      <Newest />
    </>
  )
}

const width = 400
const height = 64

/** Bars upward: what ended well, what was healed, what failed; with every attempt that failed as a dot below. */
function Ends({ data: { points, whole, sliceMs } }: { readonly data: Trends }) {
  const most = Math.max(4, ...points.map(({ succeeded, failed, healed }) => succeeded + failed + healed))
  const step = width / points.length
  const label = `${whole.changes} changes of status; ${whole.succeeded} runs ended well, ${whole.failed} failed, ${whole.healed} healings, ${whole.retried} attempts failed and were tried again`
  return (
    <figure className="trend">
      <figcaption>
        <b>Ends of runs</b>{' '}
        <span className="quiet">
          <i className="key good" /> <b className="num">{whole.succeeded.toLocaleString('en')}</b> well{' '}
          <i className="key heal" /> <b className="num">{whole.healed.toLocaleString('en')}</b> healed{' '}
          <i className="key bad" /> <b className="num">{whole.failed.toLocaleString('en')}</b> failed
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {points.map((point, index) => {
          const { succeeded, healed, failed } = point
          let top = height
          const bar = (count: number, name: string) => {
            const tall = (count / most) * (height - 4)
            top -= tall
            return <rect className={name} x={index * step + 0.5} y={top} width={Math.max(1, step - 1)} height={tall} />
          }
          return (
            <g key={point.at}>
              <title>{wordsOf(point)}</title>
              <rect className="whole" x={index * step} y={0} width={step} height={height} />
              {bar(failed, 'bad')}
              {bar(healed, 'heal')}
              {bar(succeeded, 'good')}
            </g>
          )
        })}
      </svg>
      <Scale points={points} sliceMs={sliceMs} />
    </figure>
  )
}

/** Two lines over a scale that grows tenfold at each mark: half of the runs, and 95 of 100. */
function Stable({ data: { points, whole, sliceMs, since } }: { readonly data: Trends }) {
  const highest = Math.max(1_000, ...points.map(({ p95Ms }) => p95Ms ?? 0))
  const place = (ms: number) =>
    height - 4 - (Math.log10(Math.max(10, ms)) - 1) * ((height - 8) / (Math.log10(highest) - 1))
  const step = width / points.length
  const dots = (of: (point: Point) => number | null) =>
    points.flatMap((point, index) => {
      const ms = of(point)
      return ms === null ? [] : [{ x: (index + 0.5) * step, y: place(ms), ms, point }]
    })
  const line = (some: readonly { readonly x: number; readonly y: number }[]) =>
    some.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('')
  const half = dots(({ p50Ms }) => p50Ms)
  const most = dots(({ p95Ms }) => p95Ms)
  const told = (ms: number | null) => (ms === null ? 'none yet' : span(ms))
  return (
    <figure className="trend">
      <figcaption>
        <b>Time to stable</b>{' '}
        <span className="quiet">
          <i className="key p50" /> half <b className="num">{told(whole.p50Ms)}</b> <i className="key p95" /> 95 of 100{' '}
          <b className="num">{told(whole.p95Ms)}</b>
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Time to stable: half of the runs within ${told(whole.p50Ms)}, 95 of 100 within ${told(whole.p95Ms)}`}
      >
        <path className="p95" d={line(most)} vectorEffect="non-scaling-stroke" />
        <path className="p50" d={line(half)} vectorEffect="non-scaling-stroke" />
        {[...half.map((dot) => ({ ...dot, name: 'p50' })), ...most.map((dot) => ({ ...dot, name: 'p95' }))].map(
          ({ x, y, ms, point, name }) => (
            <rect key={`${name}${point.at}`} className={`dot-of ${name}`} x={x - 1.5} y={y - 1.5} width={3} height={3}>
              <title>{`${clockTime(point.at)}: ${name === 'p50' ? 'half' : '95 of 100'} within ${span(ms)}`}</title>
            </rect>
          ),
        )}
      </svg>
      <Scale points={points} sliceMs={sliceMs} />
      {millis(since) > millis(points[0]!.at) && (
        <p className="quiet since">whole since {clockTime(since)}: before that not everything was read back</p>
      )}
    </figure>
  )
}

const wordsOf = ({ at, succeeded, healed, failed, retried, changes }: Point): string =>
  `${clockTime(at)}: ${changes} changes, ${succeeded} ended well, ${healed} healed, ${failed} failed, ${retried} tried again`

const Scale = ({ points, sliceMs }: { readonly points: readonly Point[]; readonly sliceMs: number }) => (
  <p className="scale quiet">
    <span>{clockTime(points[0]!.at).slice(0, 5)}</span>
    <span>a bar is {span(sliceMs)}</span>
    <span>now</span>
  </p>
)

/** What was heard last, live. */
export function Newest() {
  const events = useEvents()
  return (
    <ol className="feed" aria-label="The newest changes">
      {events.slice(0, 4).map(({ data }) => (
        <li key={data.n} className={eventTone(data)}>
          <At time={data.at} />{' '}
          {data.resource !== null && <Link href={toResource(data.resource)}>{data.resource.id}</Link>}{' '}
          <span>{eventStory(data)}</span>
        </li>
      ))}
      {events.length === 0 && <li className="quiet">Nothing has happened yet.</li>}
    </ol>
  )
}
