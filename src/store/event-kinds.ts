// Kinds of events as small numbers, in every store the same.
import type { Event } from '../decision/state.ts'
import { wordsOf } from './row-texts.ts'

/** What is stored depends on these: never change one, only add. */
export const kindCodes: Readonly<Record<Event['kind'], number>> = {
  accepted: 0,
  queued: 1,
  dropped: 2,
  stepDone: 3,
  stepAgain: 4,
  attemptFailed: 5,
  outcomeUnknown: 6,
  probed: 7,
  itemDone: 8,
  itemFailed: 9,
  itemAsked: 10,
  failed: 11,
  undone: 12,
  undoFailed: 13,
  landed: 14,
  parked: 15,
  retried: 16,
  skipped: 17,
  progressed: 18,
  preempted: 19,
  claimed: 20,
  handedOver: 21,
  resumed: 22,
  healed: 23,
  moved: 24,
  added: 25,
  timerFired: 26,
  timerRefused: 27,
  statusSet: 28,
  imported: 29,
  observed: 30,
  orphaned: 31,
  sweeping: 32,
  swept: 33,
  adopted: 34,
  writtenOff: 35,
}
export const kindWords = wordsOf(kindCodes)
