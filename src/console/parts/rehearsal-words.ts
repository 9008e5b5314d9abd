// Rehearsals in words: what can go wrong at a commit or a call, and what a moment is.
import type * as contract from '../../protocol/lifecycle-routes.ts'
import type { AnswerOf, Event } from '../api.ts'
import { eventStory } from './words.ts'

type Moment = AnswerOf<'rehearse'>['moments'][number]

/** In the order in which they are offered. The contract takes one more. */
export const commitFaults = [
  'crashBefore',
  'crashAfter',
  'vanishAfter',
  'pauseBefore',
  'pauseAfter',
  'unavailable',
  'delete',
] as const satisfies readonly (typeof contract.commitFaults)[number][]
export const callFaults = [
  'crash',
  'vanish',
  'pause',
  'lost',
  'cut',
  'hangs',
  'hangsAfter',
  'late',
  'failed',
  'failedAfter',
  'terminal',
  'garbage',
  'throws',
  'again',
  'delete',
] as const satisfies readonly (typeof contract.callFaults)[number][]

type FaultSpot = `commit ${(typeof contract.commitFaults)[number]}` | `call ${(typeof contract.callFaults)[number]}`

const words: Readonly<Record<FaultSpot, string>> = {
  'commit crashBefore': 'the worker dies just before it is written',
  'commit crashAfter': 'the worker dies right after it is written',
  'commit vanishBefore': 'the worker vanishes before it is written; only its lease tells',
  'commit vanishAfter': 'the worker vanishes after it is written; only its lease tells',
  'commit pauseBefore': 'the worker freezes before it is written, longer than its lease',
  'commit pauseAfter': 'the worker freezes after it is written, longer than its lease',
  'commit unavailable': 'the store does not answer',
  'commit delete': 'somebody deletes it at the same time',
  'call crash': 'the worker dies in the middle of the call',
  'call vanish': 'the worker vanishes in the middle of the call; only its lease tells',
  'call pause': 'the worker freezes in the middle of the call, longer than its lease',
  'call lost': 'it is done, but the reply is lost',
  'call cut': 'the connection breaks before it is done',
  'call hangs': 'it hangs and does nothing',
  'call hangsAfter': 'it is done, but then it hangs',
  'call late': 'it is done much too late',
  'call failed': 'the backend says it failed',
  'call failedAfter': 'the backend says it failed, after having done it',
  'call terminal': 'the backend refuses for good',
  'call garbage': 'the reply makes no sense',
  'call throws': 'the driver throws an error at once',
  'call again': 'it is not finished yet',
  'call delete': 'somebody deletes it meanwhile',
}

export const faultWords = (at: 'commit' | 'call', fault: string): string =>
  (words as Readonly<Record<string, string>>)[`${at} ${fault}`] ?? fault

/** Of `commit:3:crashAfter`. */
export function strikeWords(strike: string): string {
  const [at, , fault] = strike.split(':') as ['commit' | 'call', string, string]
  return faultWords(at, fault)
}

/** What a worker commits is told as in the timeline of a real resource. */
export function momentWords({ kind, words: said, event, resource }: Moment, id: string): string {
  const other = resource !== null && resource.id !== id ? `${resource.id}: ` : ''
  if (event !== null) return `writes: ${other}${eventStory(event as Event)}`
  if (kind === 'called' || kind === 'replied') return other === '' ? said : `${said} (${resource!.id})`
  return said
}
