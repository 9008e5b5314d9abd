// What upstream's HTTP API answers (spec 2.5, 2.6), read off what the engine answers. Pure; decision 0.7: a refusal has its reason,
// and is never a failure of the server.

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | null
}

/** What a delete was accepted for: its stacks stand in the ledger. */
export interface Deleted {
  readonly ledger: readonly { readonly kind: string; readonly name: string }[]
}

/** A plain delete has no body; a forced one (APIv2) names the stack that may be left behind, the last one that was made. */
export function answerToDelete({ ledger }: Deleted, isForced: boolean): Answer {
  if (!isForced) return { status: 204, body: null }
  return { status: 200, body: { stack_name: ledger.findLast(({ kind }) => kind === 'machine')?.name ?? null } }
}

/** A refusal, as the engine words it. */
export interface Refused {
  readonly code: string
  readonly message: string
}

const answers: Readonly<Record<string, readonly [status: number, errorCode: string]>> = {
  input_invalid: [400, 'VALIDATION_ERROR'],
  properties_invalid: [400, 'VALIDATION_ERROR'],
  already_exists: [409, 'NAME_ALREADY_EXISTS'],
  resource_not_found: [404, 'NOT_FOUND'],
}

/** Scale in the wrong status is 400 INVALID_REFERENCE; a delete that is denied is 403; anything else in the way is a conflict. */
export function answerToRefusal(operation: string, { code, message }: Refused): Answer {
  const [status, errorCode] = answers[code] ?? ofOperation(operation, code)
  return { status, body: { error_code: errorCode, error_message: message } }
}

function ofOperation(operation: string, code: string): readonly [number, string] {
  if (operation === 'scale') return code === 'requirement_not_met' ? [404, 'NOT_FOUND'] : [400, 'INVALID_REFERENCE']
  if (operation === 'delete' && code === 'requirement_not_met') return [403, 'DELETION_FAILED']
  return [409, 'CONFLICT']
}
