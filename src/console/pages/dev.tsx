// Development mode: break calls of the backends, strike the worker, compare the world's truth with the records; and a tour.
import { api, useCall, wordsOf } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { useLifecycle } from '../lifecycle.ts'
import { useAct } from '../parts/act.tsx'
import { Copy, Empty, PageHead, Panel, Read, ResourceLink, Scroll, Tag, useTitle } from '../parts/bits.tsx'
import { toast } from '../parts/toasts.tsx'
import { Tour } from '../parts/tour.tsx'
import { useSession, useTyped } from '../session.tsx'

const kinds = {
  fail: 'throws, and nothing happens',
  hang: 'waits until the switch is cleared',
  slow: 'waits first',
  garbage: 'happens, and the answer is nonsense',
  lateSuccess: 'happens, and then hangs',
  lostReply: 'happens, and nobody knows',
  staleReads: 'looks show the past',
} as const
type Does = keyof typeof kinds

/** As the switches of the worlds tell them. */
interface Fault {
  readonly id: string
  readonly does: string
  readonly on?: { readonly type?: string; readonly step?: string }
  readonly message?: string
}
/** What is read of an operation as it is declared. */
interface Steps {
  readonly steps?: Readonly<Record<string, { readonly ask?: unknown }>>
}
interface Thing {
  readonly name: string
  readonly kind: string
  readonly power: string
  readonly resource: string
  readonly sizeBytes: number | null
}

export default function Dev() {
  useTitle('Break things')
  const { isDev } = useSession()
  if (!isDev)
    return (
      <Empty title="This server is not in development mode.">
        Start it with `npm start` to break things without harm.
      </Empty>
    )
  return (
    <>
      <PageHead title="Break things" lead="The backends here are yours to break. Watch the fleet deal with it." />
      <div className="columns">
        <Faults />
        <Tour />
      </div>
      <Strike />
      <Truth />
    </>
  )
}

const nothingTyped = { does: 'fail' as Does, type: '', step: '', message: '', times: '', isFinal: false }

function Faults() {
  const faults = useCall('listFaults', {}, { everyMs: 2_000 })
  const counts = useCall('countResources', {})
  const [typed, setTyped] = useTyped('fault', nothingTyped)
  const { does, type, step, message, times, isFinal } = typed
  const change = (changed: Partial<typeof typed>) => setTyped({ ...typed, ...changed })
  const lifecycle = useLifecycle(type)
  // A step that asks others calls no backend: there is nothing to break.
  const steps = [
    ...new Set(
      Object.values(lifecycle?.operations ?? {})
        .flatMap(({ declared }) => Object.entries((declared as Steps).steps ?? {}))
        .flatMap(([name, { ask }]) => (ask === undefined ? [name] : [])),
    ),
  ]
  const body = {
    does,
    ...(type === '' && step === ''
      ? {}
      : { on: { ...(type === '' ? {} : { type }), ...(step === '' ? {} : { step }) } }),
    ...(message === '' ? {} : { message }),
    ...(times === '' ? {} : { times: Number(times) }),
    ...(does === 'fail' && isFinal ? { terminal: true } : {}),
    ...(does === 'slow' || does === 'staleReads' ? { ms: 5_000 } : {}),
  }
  const run = async (what: Promise<unknown>, said: string) => {
    try {
      await what
      toast('good', said)
      await faults.refetch()
    } catch (error) {
      toast('bad', wordsOf(error))
    }
  }
  return (
    <Panel
      title="Fault switches"
      actions={
        <button
          type="button"
          className="small"
          onClick={() => void run(api.call('clearFaults', {}), 'All switches are cleared.')}
        >
          Clear all
        </button>
      }
    >
      <form
        className="fault-form"
        onSubmit={(event) => {
          event.preventDefault()
          void run(
            api.call('setFault', { body }),
            `Calls ${step === '' ? 'of the backend' : `of ${step}`} are broken now: ${does}.`,
          )
        }}
      >
        <div className="field">
          <label htmlFor="fault-does">A call</label>
          <select id="fault-does" value={does} onChange={(event) => change({ does: event.target.value as Does })}>
            {Object.entries(kinds).map(([name, words]) => (
              <option key={name} value={name}>
                {name}: {words}
              </option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="fault-type">of type</label>
          <select id="fault-type" value={type} onChange={(event) => change({ type: event.target.value, step: '' })}>
            <option value="">any</option>
            {(counts.data?.items ?? []).map((one) => (
              <option key={one.type}>{one.type}</option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="fault-step">in step</label>
          <select
            id="fault-step"
            value={step}
            onChange={(event) => change({ step: event.target.value })}
            disabled={type === ''}
          >
            <option value="">any</option>
            {steps.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </div>
        <div className="field">
          <label htmlFor="fault-message">saying</label>
          <input
            id="fault-message"
            value={message}
            placeholder="the message of the error"
            onChange={(event) => change({ message: event.target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor="fault-times">so many times</label>
          <input
            id="fault-times"
            type="number"
            min={1}
            value={times}
            placeholder="until cleared"
            onChange={(event) => change({ times: event.target.value })}
          />
        </div>
        {does === 'fail' && (
          <label className="check">
            <input type="checkbox" checked={isFinal} onChange={(event) => change({ isFinal: event.target.checked })} />{' '}
            for good, so that it is not tried again
          </label>
        )}
        <div className="row">
          <button type="submit" className="danger">
            Break it
          </button>
          <Copy
            text={asCli(
              'fault set',
              does,
              ...(type === '' ? [] : ['--type', type]),
              ...(step === '' ? [] : ['--step', step]),
              ...(does === 'fail' && isFinal ? ['--terminal'] : []),
              ...(message === '' ? [] : ['--message', word(message)]),
              ...(times === '' ? [] : ['--times', times]),
            )}
            label="CLI"
          />
        </div>
      </form>
      <Read from={faults}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing is broken." />
          ) : (
            <ul className="rows-of">
              {(items as unknown as readonly Fault[]).map((fault) => {
                const on = fault.on ?? {}
                return (
                  <li key={fault.id}>
                    <span>
                      <Tag tone="bad">{fault.does}</Tag> {on.type ?? 'any type'} {on.step ?? 'any step'}{' '}
                      <span className="quiet">{fault.message}</span>
                    </span>
                    <button
                      type="button"
                      className="small"
                      onClick={() =>
                        void run(api.call('clearFault', { path: { fault: fault.id } }), 'The switch is cleared.')
                      }
                    >
                      Clear
                    </button>
                  </li>
                )
              })}
            </ul>
          )
        }
      </Read>
    </Panel>
  )
}

function Strike() {
  const act = useAct()
  const strike = (operation: 'kill' | 'freeze') =>
    act({
      route: 'strikeWorker',
      title: operation === 'kill' ? 'Kill this process' : 'Freeze this process for 30 s',
      does: operation,
      danger: true,
      confirm: operation,
      words: (
        <p>
          {operation === 'kill'
            ? 'As kill -9 would: nothing is said goodbye to. The page will say that nobody answers until it is started again.'
            : 'It stands still past its lease; another worker takes its runs over, and its late writes are refused.'}
        </p>
      ),
      given: () => ({ path: { operation }, query: { confirm: 'true', seconds: 30 } }),
      done: ({ what }) => what,
    })
  return (
    <Panel title="The worker" note="the process that answers">
      <div className="row">
        <button type="button" className="danger-outline" onClick={() => strike('kill')}>
          Kill it ...
        </button>
        <button type="button" className="danger-outline" onClick={() => strike('freeze')}>
          Freeze it ...
        </button>
        <span className="quiet">Runs it was carrying out go on where they were when it, or another, comes back.</span>
      </div>
    </Panel>
  )
}

function Truth() {
  const truth = useCall('getTruth', {}, { everyMs: 2_000 })
  return (
    <Panel title="The world's truth" note="what really exists at the backends, not what is recorded">
      <Read from={truth}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing exists." />
          ) : (
            <Scroll tall label="Table">
              <table>
                <thead>
                  <tr>
                    <th>Thing</th>
                    <th>Kind</th>
                    <th>Power</th>
                    <th className="right">Size</th>
                    <th>Belongs to</th>
                  </tr>
                </thead>
                <tbody>
                  {(items as unknown as readonly Thing[]).map((thing) => {
                    const [type = '', ...id] = thing.resource.split('/')
                    const size = thing.sizeBytes
                    return (
                      <tr key={thing.name}>
                        <td className="mono">{thing.name}</td>
                        <td>{thing.kind}</td>
                        <td>
                          <Tag tone={thing.power === 'running' ? 'good' : 'info'}>{thing.power}</Tag>
                        </td>
                        <td className="right num">
                          {typeof size === 'number' ? `${Math.round((size / 2 ** 30) * 10) / 10} GiB` : ''}
                        </td>
                        <td>
                          <ResourceLink of={{ type, id: id.join('/') }} />
                        </td>
                      </tr>
                    )
                  })}
                </tbody>
              </table>
            </Scroll>
          )
        }
      </Read>
    </Panel>
  )
}
