// What a waterfall only hints at: every attempt with how it ended, and what drivers told when their run had moved on.
import { useCall, type Run } from '../api.ts'
import { clockTime, millis, span } from '../time.ts'
import { At, Json, Panel, Table, Tag, useNow } from './bits.tsx'
import { tracksOf } from './tracks.ts'

const tones = { done: 'good', failed: 'bad', unknown: 'warn', running: 'info', waiting: 'info' } as const

export function Attempts({ run }: { readonly run: Run }) {
  const tick = useNow()
  const end = run.endedAt === null ? tick : millis(run.endedAt)
  const rows = tracksOf(run, end)
    .flatMap(({ name, isUndo, bars }) => bars.map((bar) => ({ name: isUndo ? `undo ${name}` : name, ...bar })))
    .filter(({ mark }) => mark !== 'waiting')
    .toSorted((one, other) => one.from - other.from)
  if (rows.length === 0) return null
  return (
    <details className="attempts">
      <summary>
        {rows.length === 1 ? 'One attempt' : `${rows.length} attempts`} <span className="quiet">as a table</span>
      </summary>
      <Table heads={['Begun', 'Step', 'Took', 'Ended', 'In words']}>
        {rows.map(({ name, from, to, mark, words }, index) => (
          <tr key={index}>
            <td className="num">{clockTime(from)}</td>
            <td className="mono">{name}</td>
            <td className="num">{span(to - from)}</td>
            <td>
              <Tag tone={tones[mark]}>{mark}</Tag>
            </td>
            <td className="prose">{words}</td>
          </tr>
        ))}
      </Table>
    </details>
  )
}

/** Of owners that this run had and lost: told too late, so that they changed nothing. */
export function LateResults({ run }: { readonly run: Run }) {
  const { type, id } = run.resource
  const late = useCall('listLateResults', { path: { type, id } }, { everyMs: 5_000 })
  const epochs = new Set((run.events ?? []).map(({ epoch }) => epoch))
  const own = (late.data?.items ?? []).filter(({ epoch, at }) => epochs.has(epoch) && at >= run.acceptedAt)
  if (own.length === 0) return null
  return (
    <Panel title="Late results" note="told after the run had moved on: they changed nothing, and are kept as evidence">
      <Table heads={['When', 'Call', 'Epoch of its owner', 'What it told']}>
        {own.map(({ at, call, epoch, outcome }) => (
          <tr key={`${at}${call}`}>
            <td>
              <At time={at} />
            </td>
            <td>{callWords(run, call)}</td>
            <td className="num">{epoch}</td>
            <td>
              <Json value={outcome} />
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

/** Of `step/1/0/2`: the phase, the number of the step, the item, the attempt. */
function callWords({ steps }: Run, call: string): string {
  const [phase = '', index = '', , attempt = '1'] = call.split('/')
  const name = steps[Number(index)]?.name ?? index
  return `${phase === 'step' ? '' : `${phase} of `}${name}, attempt ${attempt}`
}
