// What the door answers when it is not the decision that refuses.
import { HomeostatError, messageOf, type ErrorCode } from '../base/errors.ts'
import type { Rejected } from '../decision/decision.ts'

export function rejected(code: ErrorCode, message: string): Rejected {
  return { accepted: false, rejection: { code, message }, changes: null }
}

/** A record that was to be written is no longer as it was read. */
export const changedMeanwhile = 'Somebody else changed the same thing at the same time. Ask again.'

export function isUnavailable(error: unknown): boolean {
  return error instanceof HomeostatError && error.code === 'store_unavailable'
}

export function asRejection(error: unknown): [ErrorCode, string] {
  if (error instanceof HomeostatError) return [error.code, error.message]
  return ['store_unavailable', `The store refused the change: ${messageOf(error)}.`]
}
