// Resources whose stored state could not be read whole. Nothing is guessed about them: what is known is shown, the rest waits for a person.
import type { Incident, Resource } from './state.ts'

/** Not of those that lack only the record of their run: healing does without. */
export const isDamaged = ({ damaged }: Resource): boolean => damaged !== undefined && !damaged.isRunOnly

/** In words, with the way out. */
export const damageWords = (resource: Resource): string =>
  `The stored state of ${resource.type} ${resource.id} is damaged: ${resource.damaged!.why}. ` +
  (isRepairable(resource)
    ? 'Look what there really is and set its status by hand, or restore it from a back-up.'
    : 'Restore it from a back-up.')

/** Whoever writes says what he expects to find: of what has no status or no revision nobody can. */
export const isRepairable = ({ status, revision, epoch }: Resource): boolean =>
  status !== '' && Number.isSafeInteger(revision) && Number.isSafeInteger(epoch)

/** For people, with the texts that could not be read: nothing else may know any more what they said. */
export function damageReport({ no, status, damaged }: Resource): Omit<Incident, 'at'> {
  const { why, texts } = damaged!
  return { no, kind: 'damaged', status, text: `Its stored state is damaged: ${why}.`, evidence: { ...texts } }
}
