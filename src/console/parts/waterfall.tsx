// A run as bars over time: a line for each step with its attempts, and what was undone as the mirrored track below.
import type { Run } from '../api.ts'
import { clockTime, millis, span } from '../time.ts'
import { useNow } from './bits.tsx'
import { tracksOf, type Track } from './tracks.ts'

export function Waterfall({ run }: { readonly run: Run }) {
  const tick = useNow()
  const begin = millis(run.acceptedAt)
  const end = run.endedAt === null ? Math.max(tick, begin + 1_000) : Math.max(millis(run.endedAt), begin + 1)
  const tracks = tracksOf(run, end)
  const share = (at: number) => `${Math.min(100, Math.max(0, ((at - begin) / (end - begin)) * 100))}%`
  const firstUndo = tracks.findIndex(({ isUndo }) => isUndo)
  return (
    <div className="waterfall">
      {tracks.map((track, index) => (
        <div
          key={`${track.name}${track.isUndo}`}
          className={`track ${track.isUndo ? 'undo' : ''} ${index === firstUndo ? 'first-undo' : ''}`}
        >
          <span className="step">
            <i className={`dot ${track.state}`} aria-hidden="true" />
            <span className="mono">{track.isUndo ? `undo ${track.name}` : track.name}</span>
            <span className="quiet">{track.isUndo ? track.state : track.state === 'todo' ? '' : track.state}</span>
          </span>
          <span className="lane">
            {track.bars.map((bar, at) => (
              <i
                key={at}
                className={`bar ${bar.mark}`}
                title={bar.words}
                style={
                  track.isUndo
                    ? { right: `calc(100% - ${share(bar.to)})`, left: share(bar.from) }
                    : { left: share(bar.from), right: `calc(100% - ${share(bar.to)})` }
                }
              />
            ))}
          </span>
          <span className="took quiet">{wordsOf(track)}</span>
        </div>
      ))}
      <p className="scale quiet">
        <span>{clockTime(begin)}</span>
        <span>{span(end - begin)}</span>
        <span>{run.isOver ? clockTime(end) : 'now'}</span>
      </p>
    </div>
  )
}

function wordsOf({ bars }: Track): string {
  const last = bars.at(-1)
  if (last === undefined) return ''
  const failed = bars.filter(({ mark }) => mark === 'failed').length
  const took = span(last.to - bars[0]!.from)
  if (last.mark === 'waiting') return failed > 0 ? `${failed} failed` : ''
  if (last.mark === 'running') return failed > 0 ? `${failed} failed, again now` : 'now'
  return failed > 0 && last.mark === 'done' ? `${took}, ${failed} failed first` : took
}
