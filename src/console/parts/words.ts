// Events in words, as a person would tell them.
import { foundWords } from '../../protocol/found-words.ts'
import type { Event } from '../api.ts'

interface Detail {
  readonly operation?: string
  readonly step?: string
  readonly next?: string
  readonly attempt?: number
  readonly reason?: string
  readonly code?: string
  readonly failed?: boolean
  readonly description?: string
  readonly found?: string
  readonly rule?: string
  readonly what?: string
  /** Somebody vouched for the step. */
  readonly skip?: boolean
  /** The step that was taken back last. */
  readonly undone?: string
  readonly probe?: string
  readonly answer?: string
}

export const detailOf = ({ detail }: Pick<Event, 'detail'>): Detail => (detail ?? {}) as Detail

export function eventTone(event: Event): 'bad' | 'good' | 'heal' | 'plain' {
  const { kind } = event
  const { failed } = detailOf(event)
  if (kind === 'attemptFailed' || kind === 'failed' || kind === 'outcomeUnknown' || failed === true) return 'bad'
  if (/heal|drift|probed|claim|taken/i.test(kind)) return 'heal'
  return kind === 'landed' ? 'good' : 'plain'
}

const way = ({ from, to }: Event): string => (from === to || from === '' ? to : `${from} to ${to}`)

export function eventWords(event: Event): string {
  const { step = '', next = '', attempt, reason = '', operation = '', failed, skip, undone } = detailOf(event)
  // A probe, of a step or of healing, or the step itself.
  const called = detailOf(event).probe ?? (step === '' ? 'it' : step)
  switch (event.kind) {
    case 'accepted':
      return `${operation} accepted, ${way(event)}${next === '' ? '' : `, first step ${next}`}`
    case 'stepDone':
      return `${step} done, ${way(event)}${next === '' ? '' : `, next ${next}`}`
    case 'stepAgain':
      return `${called} is not finished; it is looked at again`
    case 'attemptFailed':
      return `${called} failed${attempt === undefined ? '' : ` at attempt ${attempt}`}: ${reason}`
    case 'outcomeUnknown':
      return `${step}: nobody knows whether the call was made`
    case 'landed':
      return failed === true
        ? [
            `${operation} failed`,
            step === '' ? '' : ` at ${step}`,
            reason === '' ? '' : `: ${reason}`,
            undone === undefined ? '' : `, ${undone} undone`,
            `; ${way(event)}`,
          ].join('')
        : `${skip === true ? `${step} skipped: ${reason}; ` : ''}${operation} ended, ${way(event)}`
    case 'failed':
      return `${called} failed for good: ${reason}; ${way(event)}`
    case 'undone':
      return `${undone ?? 'a step'} undone, ${way(event)}`
    case 'added':
      return `added as ${event.to}`
    case 'moved':
      return `moved along, ${way(event)}`
    case 'claimed':
      return 'taken up by a worker'
    case 'handedOver':
      return 'handed over to another worker'
    case 'imported':
      return `brought in as ${event.to}`
    case 'statusSet':
      return `status set by hand${reason === '' ? '' : `: ${reason}`}; ${way(event)}`
    case 'parked':
      return `parked${reason === '' ? '' : `: ${reason}`}; it waits for somebody`
    case 'preempted':
      return `${operation === '' ? 'what was under way' : operation} interrupted, ${way(event)}`
    case 'probed':
      return `${detailOf(event).probe ?? 'the real world'} was asked and answers ${detailOf(event).answer ?? 'nothing'}${event.from === event.to ? '' : `, ${way(event)}`}`
    case 'resumed':
      return `taken over where it stood (${foundWords[detailOf(event).found ?? ''] ?? 'its worker is gone'}), ${event.to}`
    case 'healed':
      return `healed (${foundWords[detailOf(event).found ?? ''] ?? 'it was stuck'}), ${way(event)}`
    default:
      return [spaced(event.kind), step, reason, event.from === event.to ? '' : way(event)].filter(Boolean).join(' · ')
  }
}

/** `probedAgain` as `probed again`. */
export const spaced = (name: string): string => name.replace(/([A-Z])/g, (_, one: string) => ` ${one.toLowerCase()}`)
