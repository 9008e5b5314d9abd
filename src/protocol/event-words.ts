// What happened, in words: an event as the command line and the console tell it. Kinds without words of their own are told as they are.
import { shown } from '../base/json.ts'
import { foundWords } from './found-words.ts'

interface Told {
  readonly kind: string
  readonly detail: unknown
}

type Detail = Readonly<Record<string, unknown>>
/** The named part of the detail; '' where it is left out. */
type Text = (name: string) => string

export function eventWords({ kind, detail }: Told): string {
  const given = (detail !== null && typeof detail === 'object' ? detail : {}) as Detail
  const text: Text = (name) => (given[name] === undefined ? '' : shown(given[name]))
  const words = Object.hasOwn(wordsOf, kind) ? wordsOf[kind] : undefined
  if (words !== undefined) return words(text, given)
  const parts = Object.keys(given).map((name) => `${name} ${text(name)}`)
  return `${spaced(kind)}${after(parts.join(', '), ': ')}`
}

/** From which status to which; the one alone where it stayed or began there. */
export const pathWords = ({ from, to }: { readonly from: string; readonly to: string }): string =>
  from === to || to === '' ? from : from === '' ? to : `${from} → ${to}`

/** `timerFired` as `timer fired`. */
export const spaced = (name: string): string => name.replace(/([A-Z])/g, (_, one: string) => ` ${one.toLowerCase()}`)

/** The part with what stands around it, where it is there. */
const after = (text: string, before: string): string => (text === '' ? '' : `${before}${text}`)
const found = (text: Text): string => foundWords[text('found')] ?? text('found')
/** What was called: a probe, of a step or of healing, or the step itself. A cancelled run names neither. */
const calledIn = (text: Text): string => text('probe') || text('step') || 'it'
const attempted = (text: Text): string => after(text('attempt'), ' at attempt ') + after(text('round'), ' of round ')
const orphan = (words: string) => (text: Text) => `${text('orphan')} ${words}${after(text('reason'), ': ')}`

const wordsOf: Readonly<Record<string, (text: Text, given: Detail) => string>> = {
  accepted: (text, given) =>
    [
      `${text('operation')} is accepted`,
      after(text('input'), ' with '),
      given['forced'] === undefined ? '' : `, forced${after(text('forced'), ': ')}`,
      after(text('next'), ', first step '),
    ].join(''),
  queued: (text) => `${text('operation')} waits its turn, at place ${text('place')}`,
  dropped: (text) => `${text('operation')} is not begun: ${text('reason')}`,
  stepDone: (text) => `${text('step')} is done${after(text('result'), ': ')}${after(text('next'), ', next ')}`,
  stepAgain: (text) => `${calledIn(text)} is not finished; it is looked at again`,
  skipped: (text) => `${text('step')} is skipped${after(text('reason'), ': ')}${after(text('next'), ', next ')}`,
  itemDone: (text) =>
    `${text('step')} is done for ${text('item')}${after(text('left'), ', left: ')}${after(text('next'), ', next ')}`,
  itemFailed: (text) =>
    `${text('step')} failed for ${text('item')}: ${text('reason')}${after(text('left'), ', left: ')}`,
  itemAsked: (text) => `${text('step')}: ${text('item')} is asked`,
  outcomeUnknown: (text) => `${text('step')}: nobody knows whether it happened${after(text('reason'), ': ')}`,
  probed: (text, given) =>
    `${text('probe')} of ${text('step')} says ${text('answer')}${given['repeated'] === true ? ': the call is made again' : ''}`,
  observed: (text) => `${text('probe')} was asked and says ${text('answer')}`,
  attemptFailed: (text) => `${calledIn(text)} failed${attempted(text)}: ${text('reason')}`,
  failed: (text) =>
    // What is tried until it works stays in its step.
    text('phase') === 'step'
      ? `${calledIn(text)} failed as often as it may: ${text('reason')}; it is tried again later`
      : `${calledIn(text)} failed for good: ${text('reason')}`,
  undone: (text) => `${text('undone')} is undone`,
  undoFailed: (text) => `${text('undo')}, which undoes, failed${attempted(text)}: ${text('reason')}`,
  progressed: (text) => text('text'),
  landed: landedWords,
  parked: (text) => `parked, it waits for somebody${after(text('reason'), ': ')}`,
  retried: (text) => `tried again by hand${after(text('parked'), '; it was parked: ')}`,
  preempted: (text) => `interrupted by ${text('by')}`,
  claimed: () => 'taken up by a worker',
  handedOver: (text) => `handed over to another worker${after(found(text), ': ')}`,
  resumed: (text, given) =>
    `taken over where it stood (${found(text)}); ${given['probe'] === undefined ? goesOn(text) : `${text('probe')} is asked how it really is`}`,
  healed: healedWords,
  moved: (text, given) =>
    [
      text('with') === '' ? 'its related ones move before it' : `moved with ${text('with')}`,
      after(text('preempted'), ', which interrupts '),
      Array.isArray(given['orphans']) ? `, left behind: ${given['orphans'].map(shown).join(', ')}` : '',
    ].join(''),
  added: (text) => `added with ${text('with')}`,
  imported: () => 'brought in as it is',
  timerFired: (text) => `timer ${text('timer')} is due`,
  timerRefused: (text, given) =>
    `timer ${text('timer')} is refused: ${text('reason')}${given['again'] === undefined ? '' : ' It asks again later.'}`,
  statusSet: (text) => `status set by hand${after(text('reason'), ': ')}`,
  orphaned: orphan('is left behind'),
  sweeping: orphan('is being destroyed'),
  swept: orphan('is destroyed'),
  adopted: orphan('belongs to it again'),
  writtenOff: orphan('is written off'),
}

const goesOn = (text: Text): string =>
  `it goes on${text('phase') === 'probe' ? ', after asking whether the cut call happened' : ''}`

function healedWords(text: Text): string {
  return [
    `healed: ${found(text)}`,
    after(text('answer'), ', the driver says '),
    after(text('attempt'), ', '),
    text('attempt') === '' ? '' : ' is asked for again',
    after(text('budgetSpent'), ', too often healed to ask again for '),
  ].join('')
}

function landedWords(text: Text, given: Detail): string {
  const name = text('operation') || 'it'
  const undone = text('undone') === '' ? '' : `${text('undone')} is undone; `
  if (given['undoFailed'] === true) return `undoing ${name} failed${after(text('undo'), ' at ')}: ${text('reason')}`
  if (given['failed'] === true)
    return `${undone}${name} failed${after(text('step'), ' at ')}${after(text('reason') || text('description'), ': ')}`
  const skipped = given['skip'] === true ? `${text('step')} is skipped${after(text('reason'), ': ')}; ` : ''
  return `${skipped}${name} has ended${after(text('description'), ': ')}`
}
