// Events as the pages show them: in one line, with a colour, and the parts of their details that pages ask for.
import { eventWords, pathWords } from '../../protocol/event-words.ts'
import type { Event } from '../api.ts'

interface Detail {
  readonly step?: string
  readonly next?: string
  readonly attempt?: number
  readonly round?: number
  readonly phase?: string
  readonly reason?: string
  readonly failed?: boolean
}

export const detailOf = ({ detail }: Pick<Event, 'detail'>): Detail => (detail ?? {}) as Detail

export function eventTone(event: Event): 'bad' | 'good' | 'heal' | 'plain' {
  const { kind } = event
  const { failed } = detailOf(event)
  if (kind === 'attemptFailed' || kind === 'failed' || kind === 'outcomeUnknown' || failed === true) return 'bad'
  if (/heal|drift|probed|claim|taken/i.test(kind)) return 'heal'
  return kind === 'landed' ? 'good' : 'plain'
}

/** What happened and what became of the status, in one line. Without an arrow: the font that we serve has none, nor has every machine. */
export const eventStory = (event: Pick<Event, 'kind' | 'detail' | 'from' | 'to'>): string =>
  event.from === event.to ? eventWords(event) : `${eventWords(event)}; ${pathWords(event).replace(' → ', ' to ')}`
