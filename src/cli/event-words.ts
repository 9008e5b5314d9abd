// What happened, in words: an event's detail as a person reads it. Kinds without words of their own are told as they are.
import { foundWords } from '../protocol/found-words.ts'
import { shown } from './print.ts'

interface Told {
  readonly kind: string
  readonly detail: unknown
}

type Detail = Readonly<Record<string, unknown>>

export function eventWords({ kind, detail }: Told): string {
  const given = (detail !== null && typeof detail === 'object' ? detail : {}) as Detail
  const text = (name: string): string => (given[name] === undefined ? '' : shown(given[name]))
  const next = given['next'] === undefined ? '' : `, next ${text('next')}`
  switch (kind) {
    case 'accepted':
      return `${text('operation')} is asked for${given['input'] === undefined ? '' : ` with ${text('input')}`}${next}`
    case 'stepDone':
      return `${text('step')} is done${given['result'] === undefined ? '' : `: ${text('result')}`}${next}`
    case 'resumed':
      return `${foundWords[text('found')] ?? text('found')}; it goes on${given['phase'] === 'probe' ? ', after asking whether the cut call happened' : ''}`
    case 'probed':
      return `${text('probe')} of ${text('step')} says ${text('answer')}${given['repeated'] === true ? ': the call is made again' : ''}`
    case 'stepAgain':
      return `${calledIn(text)} is not finished; it is looked at again`
    case 'attemptFailed':
    case 'failed':
      return `${calledIn(text)} failed: ${text('reason')}`
    case 'undone':
      return `${text('undone')} is undone`
    case 'progressed':
      return text('text')
    case 'landed':
      return landedWords(given, text)
    default:
      return Object.keys(given)
        .map((name) => `${name} ${text(name)}`)
        .join(', ')
  }
}

/** What was called: a probe, of a step or of healing, or the step itself. A cancelled run names neither. */
const calledIn = (text: (name: string) => string): string => text('probe') || text('step') || 'it'

function landedWords(given: Detail, text: (name: string) => string): string {
  if (given['undone'] !== undefined) return `${text('undone')} is undone; ${text('description')}`
  if (given['failed'] === true)
    return `${text('step') || text('operation')} failed: ${text('reason') || text('description')}`
  return given['operation'] === undefined ? text('description') : `${text('operation')} has ended`
}
