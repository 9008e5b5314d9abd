// Tries something that may be refused while the rest of the decision stands: the follow-up of a healing, a queued request, what
// a timer asks for. A refusal takes back all that was drafted for it.
import { DeclarationDefect, Refusal, type Draft } from './draft.ts'
import { findBreaches } from './rules.ts'

/** Answers why it was refused, or null. What would break a rule that holds without it is refused, too. */
export function attempt(draft: Draft, change: () => void): Refusal | null {
  if (findBreaches(draft).length > 0) return new Refusal('rule_breached', 'What came before it breaks a rule already.')
  const mark = draft.mark()
  try {
    change()
    const [breach] = findBreaches(draft)
    if (breach === undefined) return null
    draft.restore(mark)
    return new Refusal('rule_breached', `Refused: ${breach.words}.`)
  } catch (thrown) {
    if (!(thrown instanceof Refusal) && !(thrown instanceof DeclarationDefect)) throw thrown
    draft.restore(mark)
    return thrown instanceof Refusal ? thrown : reported(draft, thrown)
  }
}

function reported(draft: Draft, { no, text }: DeclarationDefect): Refusal {
  const status = draft.get(no)?.status ?? ''
  draft.report({ no, kind: 'declaration_defect', status, text, evidence: {} })
  return new Refusal('declaration_defect', text)
}
