// What if it goes wrong: an operation played on the server by the real engine in an invented world, walked through moment by moment.
// The address holds what is played, what goes wrong, and the moment that is looked at.
import './rehearsal.css'
import { useState, type ReactNode } from 'react'
import { isMissing, useCall } from '../api.ts'
import { asCurl } from '../copies.ts'
import { creates, kindOf, useLifecycle, type Lifecycle } from '../lifecycle.ts'
import { AskButton, Copy, Loading, NoLifecycle, PageHead, Panel, Read, Status, Tag, useTitle } from '../parts/bits.tsx'
import { Icon } from '../parts/icon.tsx'
import { Player } from '../parts/rehearsal-player.tsx'
import { address, go, Link, usePlace, withQuery } from '../route.tsx'
import { useRefusal } from '../session.tsx'

export default function Rehearsal({ type }: { readonly type: string }) {
  useTitle(`Rehearsal of ${type}`)
  const lifecycle = useLifecycle(type)
  const placed = useCall('placeLifecycle', { path: { type } })
  if (isMissing(placed.error)) return <NoLifecycle type={type} reason={placed.error.message} />
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
  // What somebody typed stays to be mended, also when it could not be played.
  const shown = (name: 'properties' | 'input') =>
    question[name] ?? (played.data?.[name] == null ? undefined : JSON.stringify(played.data[name]))
  const properties = shown('properties')
  const input = shown('input')
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
          {properties !== undefined && <Values name="properties" shown={properties} />}
          {input !== undefined && <Values name="input" shown={input} />}
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
function Values({ name, shown }: { readonly name: 'properties' | 'input'; readonly shown: string }) {
  const [typed, type] = useState<string | null>(null)
  return (
    <form
      className="field grow"
      onSubmit={(event) => {
        event.preventDefault()
        if (typed !== null) set({ [name]: typed, strike: null, moment: null })
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
        <AskButton
          refusal={refusal ?? (wanted === asked && found.isFetching ? 'It is being tried.' : null)}
          onClick={() => (wanted === asked ? void found.refetch() : want(asked))}
        >
          Try all of {what}
        </AskButton>
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
