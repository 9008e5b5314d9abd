// The player of a rehearsal: its moments one after the other on the diagram, and what can be broken at each.
import { useEffect, useRef, useState } from 'react'
import { useCall, type AnswerOf } from '../api.ts'
import { kindOf, type Lifecycle } from '../lifecycle.ts'
import { go, withQuery } from '../route.tsx'
import { every, span } from '../time.ts'
import { Panel, Read, Status, Tag } from './bits.tsx'
import { DiagramOfOne } from './diagram.tsx'
import { callFaults, commitFaults, faultWords, momentWords, strikeWords } from './rehearsal-words.ts'

type Played = AnswerOf<'rehearse'>
type Moment = Played['moments'][number]

const set = (changes: Readonly<Record<string, string | null>>) => go(withQuery(changes), 'replace')

const stepMs = 900

export function Player(given: {
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
          <button type="button" className="small" aria-disabled={at === 0} onClick={() => look(0)}>
            First
          </button>
          <button type="button" className="small" aria-disabled={at === 0} onClick={() => look(at - 1)}>
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
          <button type="button" className="small" aria-disabled={at === last} onClick={() => look(at + 1)}>
            Next
          </button>
          <button type="button" className="small" aria-disabled={at === last} onClick={() => look(last)}>
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
          {(data) => <DiagramOfOne placed={data} label={`Where it stands`} current={here.status} walked={walked} />}
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
