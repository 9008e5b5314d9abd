// How many changes there were in each slice of the last minutes, by what they were; and the newest of them.
import { useEvents } from '../live.ts'
import { millis } from '../time.ts'
import { useNow } from './bits.tsx'
import { Newest } from './trends.tsx'
import { eventTone } from './words.ts'

const slices = 40
const sliceMs = 15_000

export function Activity() {
  const events = useEvents()
  const at = useNow()
  const end = Math.ceil(at / sliceMs) * sliceMs
  const bars = Array.from({ length: slices }, () => ({ good: 0, bad: 0 }))
  for (const { data } of events) {
    const slice = slices - 1 - Math.floor((end - millis(data.at)) / sliceMs)
    const bar = bars[slice]
    if (bar === undefined) continue
    if (eventTone(data) === 'bad') bar.bad++
    else bar.good++
  }
  const most = Math.max(4, ...bars.map(({ good, bad }) => good + bad))
  const total = bars.reduce((all, { good, bad }) => all + good + bad, 0)
  return (
    <div className="activity">
      <svg
        viewBox="0 0 400 70"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${total} changes in the last ten minutes`}
      >
        {bars.map(({ good, bad }, index) => {
          const height = ((good + bad) / most) * 66
          const failing = (bad / most) * 66
          return (
            <g key={index}>
              <rect className="good" x={index * 10 + 1} y={70 - height} width={8} height={height - failing} />
              <rect className="bad" x={index * 10 + 1} y={70 - failing} width={8} height={failing} />
            </g>
          )
        })}
      </svg>
      <p className="scale quiet">
        <span>10 min ago</span>
        <span>now</span>
      </p>
      <Newest />
    </div>
  )
}
