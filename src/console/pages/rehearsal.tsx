// What if it goes wrong: an operation played on the server by the real engine in an invented world, walked through moment by moment.
// The address holds what is played, what goes wrong, and the moment that is looked at.
import './rehearsal.css'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useCall, type AnswerOf } from '../api.ts'
import { asCurl } from '../copies.ts'
import { creates, kindOf, useLifecycle, type Lifecycle } from '../lifecycle.ts'
import { Copy, Loading, PageHead, Panel, Read, Scroll, Status, Tag, useTitle } from '../parts/bits.tsx'
import { Diagram } from '../parts/diagram.tsx'
import { Icon } from '../parts/icon.tsx'
import { callFaults, commitFaults, faultWords, momentWords, strikeWords } from '../parts/rehearsal-words.ts'
import { address, go, Link, usePlace, withQuery } from '../route.tsx'
import { useRefusal } from '../session.tsx'
import { every, span } from '../time.ts'

type Played = AnswerOf<'rehearse'>
type Moment = Played['moments'][number]

export default function Rehearsal({ type }: { readonly type: string }) {
  useTitle(`Rehearsal of ${type}`)
  const lifecycle = useLifecycle(type)
  return (
    <>
      <PageHead
        title={
          <>
            What if it goes wrong? <span className="quiet mono">{type}</span>
          </>
        }
        lead="The real engine plays it in an invented world: nothing of yours is touched. Walk to a moment, break it there, and see what follows."
      >
        <Link className="button" href={address('lifecycles', type)}>
          The lifecycle
        </Link>
      </PageHead>
      {lifecycle === undefined ? <Loading /> : <Stage lifecycle={lifecycle} />}
    </>
  )
}

/** What the address asks for; the defaults are left to the server. */
function useQuestion(lifecycle: Lifecycle) {
  const { query } = usePlace()
  const names = Object.keys(lifecycle.operations)
  const stuck = query.get('stuck')
  const first = names.find((name) => creates(lifecycle.operations[name]!)) ?? names[0]
  const operation = stuck === null ? (query.get('operation') ?? first) : undefined
  const text = (name: string) => query.get(name) ?? undefined
  const question = {
    ...(operation === undefined ? {} : { operation }),
    ...(stuck === null ? (text('from') === undefined ? {} : { from: text('from') }) : { from: stuck }),
    ...(text('properties') === undefined ? {} : { properties: text('properties') }),
    ...(text('input') === undefined ? {} : { input: text('input') }),
  }
  return { question, operation, stuck, strike: text('strike'), moment: Number(query.get('moment') ?? 0) }
}

const set = (changes: Readonly<Record<string, string | null>>) => go(withQuery(changes), 'replace')

function Stage({ lifecycle }: { readonly lifecycle: Lifecycle }) {
  const { type } = lifecycle
  const { question, operation, stuck, strike, moment } = useQuestion(lifecycle)
  const query = { ...question, ...(strike === undefined ? {} : { strike }) }
  const played = useCall('rehearse', { path: { type }, query }, { keep: true })
  return (
    <>
      <Panel
        title="Play"
        note="times are cut short: no step waits longer than half a minute"
        actions={<Copy text={asCurl('rehearse', { path: { type }, query })} label="curl" />}
      >
        <div className="filters">
          <div className="field">
            <label htmlFor="play-what">What happens</label>
            <select
              id="play-what"
              value={stuck === null ? `operation ${operation}` : `stuck ${stuck}`}
              onChange={({ target: { value } }) => {
                const [kind, name] = value.split(' ', 2) as [string, string]
                const nothing = { from: null, strike: null, moment: null, properties: null, input: null }
                set({
                  ...nothing,
                  operation: kind === 'operation' ? name : null,
                  stuck: kind === 'stuck' ? name : null,
                })
              }}
            >
              <optgroup label="An operation is asked for">
                {Object.keys(lifecycle.operations).map((name) => (
                  <option key={name} value={`operation ${name}`}>
                    {name}
                  </option>
                ))}
              </optgroup>
              <optgroup label="It is found stuck, and nobody carries anything out">
                {lifecycle.statuses
                  .filter(({ kind }) => kind === 'transitional')
                  .map(({ name }) => (
                    <option key={name} value={`stuck ${name}`}>
                      stuck in {name}
                    </option>
                  ))}
              </optgroup>
            </select>
          </div>
          {played.data !== undefined && operation !== undefined && (
            <From lifecycle={lifecycle} operation={operation} from={played.data.from} />
          )}
          {played.data !== undefined && (
            <>
              <Values name="properties" value={played.data.properties} />
              {played.data.input !== null && <Values name="input" value={played.data.input} />}
            </>
          )}
        </div>
      </Panel>
      <Read from={played}>
        {(data) => <Player lifecycle={lifecycle} played={data} strike={strike} moment={moment} />}
      </Read>
      <Everything lifecycle={lifecycle} question={question} what={stuck === null ? operation! : `stuck in ${stuck}`} />
    </>
  )
}

/** From which status, where the operation starts from several. */
function From({ lifecycle, operation, from }: { lifecycle: Lifecycle; operation: string; from: string }) {
  const declared = lifecycle.operations[operation]?.declared.from
  const some = Array.isArray(declared) ? (declared as string[]) : []
  const names = some.includes('*')
    ? lifecycle.statuses.filter(({ kind }) => kind !== 'terminal').map(({ name }) => name)
    : some
  if (names.length < 2 || from === '') return null
  return (
    <div className="field">
      <label htmlFor="play-from">while it is</label>
      <select
        id="play-from"
        value={from}
        onChange={(event) => set({ from: event.target.value, strike: null, moment: null })}
      >
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  )
}

/** Invented from the schema, unless somebody says otherwise. */
function Values({ name, value }: { readonly name: 'properties' | 'input'; readonly value: unknown }) {
  const shown = JSON.stringify(value)
  const [typed, type] = useState<string | null>(null)
  return (
    <form
      className="field grow"
      onSubmit={(event) => {
        event.preventDefault()
        set({ [name]: typed, strike: null, moment: null })
        type(null)
      }}
    >
      <label htmlFor={`play-${name}`}>
        {name === 'input' ? 'Input' : 'Properties'} <span className="quiet">JSON; Enter plays it</span>
      </label>
      <input
        id={`play-${name}`}
        className="mono"
        spellCheck={false}
        value={typed ?? shown}
        onChange={(event) => type(event.target.value)}
      />
    </form>
  )
}

const stepMs = 900

function Player(given: {
  readonly lifecycle: Lifecycle
  readonly played: Played
  readonly strike: string | undefined
  readonly moment: number
}) {
  const { lifecycle, played, strike } = given
  const { moments, violation, status } = played
  const last = Math.max(0, moments.length - 1)
  const at = Math.min(Math.max(0, given.moment), last)
  const [isPlaying, setPlaying] = useState(false)
  const placed = useCall('placeLifecycle', { path: { type: lifecycle.type } })
  const look = (index: number) => set({ moment: String(Math.min(Math.max(0, index), last)) })
  useEffect(() => {
    if (!isPlaying) return undefined
    if (at === last) {
      setPlaying(false)
      return undefined
    }
    return every(stepMs, () => look(at + 1))
  })
  const here = moments[at]
  if (here === undefined) return null
  const walked = walkedTo(moments, at, played.from)
  return (
    <div className="columns stage">
      <Panel
        title={
          <>
            Moment <span className="num">{at + 1}</span> of <span className="num">{moments.length}</span>
          </>
        }
        note={<Outcome lifecycle={lifecycle} status={status} violation={violation} />}
      >
        <div
          className="controls"
          role="toolbar"
          aria-label="Playing"
          onKeyDown={(event) => {
            if (event.key === 'ArrowRight') look(at + 1)
            else if (event.key === 'ArrowLeft') look(at - 1)
            else return
            event.preventDefault()
          }}
        >
          <button type="button" className="small" disabled={at === 0} onClick={() => look(0)}>
            First
          </button>
          <button type="button" className="small" disabled={at === 0} onClick={() => look(at - 1)}>
            Back
          </button>
          <button
            type="button"
            className="small primary"
            onClick={() => {
              if (!isPlaying && at === last) look(0)
              setPlaying(!isPlaying)
            }}
          >
            {isPlaying ? 'Pause' : at === last ? 'Play again' : 'Play'}
          </button>
          <button type="button" className="small" disabled={at === last} onClick={() => look(at + 1)}>
            Next
          </button>
          <button type="button" className="small" disabled={at === last} onClick={() => look(last)}>
            Last
          </button>
        </div>
        <Break lifecycle={lifecycle} moment={here} at={at} strike={strike} />
        <Moments moments={moments} at={at} onLook={look} id={played.id} />
      </Panel>
      <Panel
        title={
          here.status === '' ? (
            'It is not there yet'
          ) : (
            <Status status={here.status} kind={kindOf(lifecycle, here.status)} />
          )
        }
        note={<span className="num">{span(here.atMs)} after it began</span>}
      >
        <p className="said" role="status">
          {here.lane !== '' && <b>{here.lane}</b>} {momentWords(here, played.id)}
        </p>
        <Read from={placed}>
          {(data) => (
            <Scroll label="Diagram">
              <Diagram placed={data} label={`Where it stands`} current={here.status} walked={walked} />
            </Scroll>
          )}
        </Read>
      </Panel>
    </div>
  )
}

/** The statuses it went through until then, in order. */
function walkedTo(moments: readonly Moment[], at: number, from: string): string[] {
  const walked = [from]
  for (const { status } of moments.slice(0, at + 1)) if (status !== walked.at(-1)) walked.push(status)
  return walked
}

function Outcome(given: {
  readonly lifecycle: Lifecycle
  readonly status: string
  readonly violation: Played['violation']
}) {
  const { lifecycle, status, violation } = given
  if (violation !== null) return <Tag tone="bad">a promise is broken</Tag>
  return (
    <>
      {status === '' ? (
        'it ends: nothing came to be'
      ) : (
        <>
          it ends <Status status={status} kind={kindOf(lifecycle, status)} />
        </>
      )}
      , no promise broken
    </>
  )
}

/** Faults that can be put at the moment that is looked at; and the one that was. */
function Break(given: {
  readonly lifecycle: Lifecycle
  readonly moment: Moment
  readonly at: number
  readonly strike: string | undefined
}) {
  const { moment, at, strike } = given
  const { strikes } = moment
  const hasDelete = Object.keys(given.lifecycle.operations).some((name) =>
    /delete|destroy|terminate|remove/i.test(name),
  )
  const faults = (strikes === null ? [] : strikes.at === 'commit' ? commitFaults : callFaults).filter(
    (fault) => fault !== 'delete' || hasDelete,
  )
  const chosen = strikes !== null && strike?.startsWith(`${strikes.at}:${strikes.n}:`) === true ? strike : ''
  return (
    <div className="break">
      {strike !== undefined && (
        <p className="broken-here">
          <Tag tone="warn">broken</Tag> {strikeWords(strike)}{' '}
          <button type="button" className="small" onClick={() => set({ strike: null })}>
            Play it without
          </button>
        </p>
      )}
      <div className="field">
        <label htmlFor="break-here">
          {strikes === null
            ? 'Nothing can be broken at this moment'
            : strikes.at === 'commit'
              ? 'Break this commit'
              : 'Break this call'}{' '}
          <span className="quiet">{strikes === null ? 'walk to a commit or a call' : ''}</span>
        </label>
        <select
          id="break-here"
          disabled={strikes === null}
          value={chosen}
          onChange={({ target: { value } }) => set({ strike: value || null, moment: String(at) })}
        >
          <option value="">it goes well</option>
          {faults.map((fault) => (
            <option key={fault} value={`${strikes!.at}:${strikes!.n}:${fault}`}>
              {faultWords(strikes!.at, fault)}
            </option>
          ))}
        </select>
      </div>
    </div>
  )
}

function Moments(given: {
  readonly moments: readonly Moment[]
  readonly at: number
  readonly onLook: (index: number) => void
  readonly id: string
}) {
  const { moments, at, onLook, id } = given
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    const row = list.current?.children[at] as HTMLElement | undefined
    const box = list.current
    if (row === undefined || box === null) return
    if (row.offsetTop < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = row.offsetTop - box.clientHeight / 2
  }, [at])
  return (
    <ol className="moments" ref={list}>
      {moments.map((moment, index) => (
        <li key={index} className={`${moment.kind} ${index > at ? 'ahead' : ''}`}>
          <button type="button" aria-current={index === at ? 'step' : undefined} onClick={() => onLook(index)}>
            <span className="num quiet">{span(moment.atMs)}</span>
            <span className="lane quiet">{moment.lane}</span>
            <span className="what">{momentWords(moment, id)}</span>
          </button>
        </li>
      ))}
    </ol>
  )
}

/** Every fault at every commit and call of it, one after the other. */
function Everything(given: {
  readonly lifecycle: Lifecycle
  readonly question: { readonly operation?: string; readonly from?: string | undefined }
  readonly what: string
}) {
  const { lifecycle, question, what } = given
  const { type } = lifecycle
  const refusal = useRefusal('steer')
  const asked = JSON.stringify(question)
  const [wanted, want] = useState('')
  const found = useCall('rehearseAll', { path: { type }, query: question }, { enabled: wanted === asked })
  let said: ReactNode = null
  if (wanted === asked && found.data !== undefined) {
    const { schedules, isCut, ends, violation } = found.data
    const sorted = Object.entries(ends).toSorted(([, one], [, other]) => other - one)
    said = (
      <div className="everything" role="status">
        <p>
          {violation === null ? <Tag tone="good">no promise broken</Tag> : <Tag tone="bad">a promise is broken</Tag>}{' '}
          <b className="num">{schedules}</b> schedules played{isCut ? ' until the time was over' : ''}. They ended:
        </p>
        <ul className="ends">
          {sorted.map(([status, count]) => (
            <li key={status}>
              {status === '' ? 'not there' : <Status status={status} kind={kindOf(lifecycle, status)} />}{' '}
              <b className="num">{count}</b>
            </li>
          ))}
        </ul>
        {violation !== null && (
          <div className="problem">
            <Icon name="alert" />
            <div>
              <strong>{violation.promise}</strong>: {violation.text}
              <div className="row">
                <button type="button" className="small" onClick={() => set({ strike: violation.strike, moment: null })}>
                  Play this counter-example
                </button>
              </div>
            </div>
          </div>
        )}
      </div>
    )
  }
  return (
    <Panel
      title="Every fault at every moment"
      note="is each promise kept, whatever goes wrong and whenever?"
      actions={
        <button
          type="button"
          disabled={refusal !== null || (wanted === asked && found.isFetching)}
          title={refusal ?? undefined}
          onClick={() => (wanted === asked ? void found.refetch() : want(asked))}
        >
          Try all of {what}
        </button>
      }
    >
      {said ??
        (wanted === asked ? (
          <Read from={found}>{() => null}</Read>
        ) : (
          <p className="quiet">
            Each commit and each call is broken once in every way: the worker dies before and after, freezes, loses the
            reply, a delete comes in between. A broken promise would be shown here as a counter-example to walk through.
          </p>
        ))}
    </Panel>
  )
}
