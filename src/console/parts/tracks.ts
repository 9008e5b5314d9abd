// The steps of a run with what was tried when, for the waterfall and its table.
import { attemptWords } from '../../protocol/attempt-words.ts'
import type { Event, Run } from '../api.ts'
import { millis, span } from '../time.ts'
import { detailOf } from './words.ts'

type Mark = 'done' | 'failed' | 'running' | 'waiting' | 'unknown'
interface Bar {
  readonly from: number
  readonly to: number
  readonly mark: Mark
  readonly words: string
}
export interface Track {
  readonly name: string
  readonly status: string
  readonly state: string
  readonly bars: readonly Bar[]
  readonly isUndo: boolean
}

/** What each event ended began with the event before it. */
export function tracksOf(run: Run, at: number): readonly Track[] {
  const events: readonly Event[] = (run.events ?? []).toReversed()
  const forward = new Map<string, Bar[]>()
  const backward = new Map<string, Bar[]>()
  let from = millis(run.acceptedAt)
  const add = (tracks: Map<string, Bar[]>, step: string, bar: Bar) =>
    tracks.set(step, [...(tracks.get(step) ?? []), bar])
  /** What was called when an event does not name it. */
  let current: string | undefined
  let failedAt: number | null = null
  for (const event of events) {
    const { step: named, next, reason = '', attempt, round = 1, phase } = detailOf(event)
    const to = millis(event.at)
    const took = span(to - from)
    const step = named ?? current
    const isFailure = event.kind === 'failed' || (detailOf(event).failed === true && failedAt === null)
    if (step !== undefined) {
      if (event.kind === 'undone') add(backward, step, { from, to, mark: 'done', words: `undone in ${took}` })
      else if (event.kind === 'attemptFailed')
        add(failedAt === null ? forward : backward, step, {
          from,
          to,
          mark: 'failed',
          words: `${attempt === undefined ? 'an attempt' : attemptWords({ attempt, round })} failed: ${reason}`,
        })
      else if (isFailure) add(forward, step, { from, to, mark: 'failed', words: `failed: ${reason}` })
      else if (event.kind === 'outcomeUnknown')
        add(forward, step, { from, to, mark: 'unknown', words: 'nobody knows how the call ended' })
      else if (event.kind === 'stepDone' || (event.kind === 'landed' && failedAt === null))
        add(forward, step, { from, to, mark: 'done', words: `done in ${took}` })
    }
    // What is tried until it works stays in its step: nothing is undone.
    if (isFailure && phase !== 'step') failedAt = to
    if (next !== undefined) current = next
    from = to
  }
  // What was undone without a word of its own was so between the failure and the landing.
  if (failedAt !== null && run.endedAt !== null)
    for (const { name, state } of run.steps)
      if (state === 'undone' && !backward.has(name))
        add(backward, name, { from: failedAt, to: millis(run.endedAt), mark: 'done', words: 'undone' })
  // Between two attempts nothing is called.
  const waits = run.state !== 'running' || (run.nextCallAt !== null && millis(run.nextCallAt) > at)
  const running = run.steps.find(({ state }) => state === 'running' || state === 'undoing')
  if (!run.isOver && running !== undefined)
    add(running.state === 'undoing' ? backward : forward, running.name, {
      from,
      to: Math.max(at, from),
      mark: waits ? 'waiting' : 'running',
      words: waits ? 'nothing is called' : `under way, ${attemptWords(run)}`,
    })
  const track = (name: string, status: string, state: string, bars: readonly Bar[], isUndo: boolean): Track => ({
    name,
    status,
    state,
    bars,
    isUndo,
  })
  const steps = run.steps.map(({ name, status, state }) => {
    const bars = forward.get(name) ?? []
    const last = bars.at(-1)?.mark
    return track(
      name,
      status,
      last === 'waiting' ? 'waits' : last === 'failed' && run.isOver ? 'failed' : state,
      bars,
      false,
    )
  })
  const undone = run.steps
    .filter(({ name, state }) => backward.has(name) || state === 'undone' || state === 'undoing')
    .toReversed()
    .map(({ name, status, state }) => track(name, status, state, backward.get(name) ?? [], true))
  return [...steps, ...undone]
}
