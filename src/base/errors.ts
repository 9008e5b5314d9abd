// Every code a user can meet, in one table: server, command line and documents are readers of it.

interface Code {
  /** Status of the HTTP answer. */
  readonly http: number
  /** Exit code of the command line. */
  readonly exit: number
  /** The same request may succeed later, unchanged. */
  readonly retryable: boolean
  readonly summary: string
}

export const codes = {
  // Rejections: the asker must act.
  type_unknown: { http: 404, exit: 4, retryable: false, summary: 'No lifecycle of this type is loaded.' },
  resource_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such resource.' },
  run_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such run under way.' },
  view_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such view.' },
  worker_not_found: { http: 404, exit: 4, retryable: false, summary: 'No such worker is alive.' },
  orphan_not_found: { http: 404, exit: 4, retryable: false, summary: 'The ledger has no such orphan.' },
  already_exists: { http: 409, exit: 5, retryable: false, summary: 'A resource of this type and id exists already.' },
  operation_unknown: { http: 404, exit: 4, retryable: false, summary: 'The lifecycle declares no such operation.' },
  operation_not_allowed: {
    http: 409,
    exit: 5,
    retryable: false,
    summary: 'The operation does not start from the present status.',
  },
  operation_in_progress: { http: 409, exit: 5, retryable: true, summary: 'Another run is under way.' },
  related_busy: { http: 409, exit: 5, retryable: true, summary: 'A related resource that would be moved is busy.' },
  requirement_not_met: {
    http: 409,
    exit: 5,
    retryable: false,
    summary: 'A requirement of the operation does not hold.',
  },
  rule_breached: { http: 409, exit: 5, retryable: false, summary: 'The change would break a declared rule.' },
  state_damaged: { http: 409, exit: 5, retryable: false, summary: 'The stored state of the resource is damaged.' },
  follower_of_pair: { http: 409, exit: 5, retryable: false, summary: 'The resource follows its pair; ask the leader.' },
  not_forceable: {
    http: 409,
    exit: 5,
    retryable: false,
    summary: 'The lifecycle does not allow this operation to be forced.',
  },
  input_invalid: { http: 400, exit: 2, retryable: false, summary: 'The input does not fit its schema.' },
  properties_invalid: { http: 400, exit: 2, retryable: false, summary: 'The properties do not fit their schema.' },
  parent_invalid: {
    http: 400,
    exit: 2,
    retryable: false,
    summary: 'The parent is missing, unknown or of the wrong type.',
  },
  link_invalid: { http: 400, exit: 2, retryable: false, summary: 'A link names an unknown relation or resource.' },
  status_unknown: { http: 400, exit: 2, retryable: false, summary: 'The lifecycle declares no such status.' },
  reason_required: { http: 400, exit: 2, retryable: false, summary: 'This action needs a reason.' },
  key_reused: { http: 422, exit: 2, retryable: false, summary: 'The idempotency key was used for another request.' },
  revision_conflict: { http: 412, exit: 5, retryable: false, summary: 'The resource has changed since it was read.' },
  fenced: {
    http: 409,
    exit: 5,
    retryable: false,
    summary: 'Ownership moved on; the late outcome is kept as evidence.',
  },
  not_stuck: { http: 409, exit: 5, retryable: false, summary: 'The resource is not stuck: nothing to heal.' },
  healed_with_owner: {
    http: 409,
    exit: 5,
    retryable: true,
    summary: 'The resource is healed together with its owner.',
  },
  healing_held: {
    http: 409,
    exit: 5,
    retryable: true,
    summary: 'Healing is switched off, waits for approval or its breaker is open.',
  },
  run_not_parked: { http: 409, exit: 5, retryable: false, summary: 'The run is not parked or waiting.' },
  step_not_waiting: { http: 409, exit: 5, retryable: false, summary: 'The step does not wait for this completion.' },
  timer_not_due: { http: 409, exit: 5, retryable: true, summary: 'The timer is not armed or not due.' },
  limit_exceeded: { http: 413, exit: 2, retryable: false, summary: 'A limit of size or count is exceeded.' },
  declaration_defect: {
    http: 500,
    exit: 70,
    retryable: false,
    summary: 'The declaration contradicts itself here; an incident tells where.',
  },
  // The HTTP edge.
  unauthenticated: {
    http: 401,
    exit: 77,
    retryable: false,
    summary: 'No valid token or session came with the request.',
  },
  sign_in_failed: { http: 401, exit: 77, retryable: false, summary: 'Account, password or ticket are not right.' },
  forbidden: { http: 403, exit: 77, retryable: false, summary: 'The role or the tenant does not allow this.' },
  route_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such path.' },
  method_not_allowed: { http: 405, exit: 2, retryable: false, summary: 'The path does not take this method.' },
  request_invalid: {
    http: 400,
    exit: 2,
    retryable: false,
    summary: 'The request is not as the contract says; every fault is listed.',
  },
  media_type_unsupported: { http: 415, exit: 2, retryable: false, summary: 'The body is of a type that is not taken.' },
  precondition_required: { http: 428, exit: 2, retryable: false, summary: 'This action needs If-Match.' },
  request_timeout: { http: 408, exit: 75, retryable: true, summary: 'The request did not arrive in time.' },
  rate_limited: { http: 429, exit: 75, retryable: true, summary: 'Too many requests; come back later.' },
  connections_exhausted: { http: 503, exit: 75, retryable: true, summary: 'Too many open connections.' },
  streams_exhausted: { http: 429, exit: 75, retryable: true, summary: 'Too many open event streams.' },
  record_conflict: {
    http: 409,
    exit: 5,
    retryable: true,
    summary: 'Somebody else changed the same thing at the same time.',
  },
  token_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such token.' },
  account_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such account.' },
  webhook_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such webhook.' },
  event_unknown: {
    http: 409,
    exit: 5,
    retryable: false,
    summary: 'No event of this number has happened yet: a back-up was restored, or it is of another installation.',
  },
  secret_key_missing: {
    http: 503,
    exit: 78,
    retryable: false,
    summary: 'The server has no key to keep, or to open, this secret with.',
  },
  server_unrecognised: {
    http: 502,
    exit: 69,
    retryable: false,
    summary: 'What answers at this address is no Homeostat server.',
  },
  bulk_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such bulk operation.' },
  incident_not_found: { http: 404, exit: 4, retryable: false, summary: 'There is no such open incident.' },
  bulk_changed: {
    http: 409,
    exit: 5,
    retryable: false,
    summary: 'Another number of resources fits the filter than was expected.',
  },
  bulk_over: { http: 409, exit: 5, retryable: false, summary: 'The bulk operation has ended.' },
  address_refused: {
    http: 400,
    exit: 2,
    retryable: false,
    summary: 'The address may not be called: it is private, or not https.',
  },
  rehearsal_absent: {
    http: 404,
    exit: 4,
    retryable: false,
    summary: 'This server was put together without the invented world that rehearsals need.',
  },
  worker_absent: { http: 503, exit: 75, retryable: true, summary: 'This process has no worker that could do it.' },
  internal: {
    http: 500,
    exit: 70,
    retryable: false,
    summary: 'A defect of Homeostat; the log has it under the id of the request.',
  },
  listen_refused: {
    http: 500,
    exit: 78,
    retryable: false,
    summary: 'It does not listen beyond this machine without authentication.',
  },
  // Errors: thrown at the edges.
  lifecycle_invalid: {
    http: 500,
    exit: 2,
    retryable: false,
    summary: 'The declaration has faults; all of them are listed.',
  },
  lifecycle_missing: {
    http: 500,
    exit: 78,
    retryable: false,
    summary: 'Stored resources stand in statuses or steps that no loaded declaration knows.',
  },
  lifecycle_differs: {
    http: 503,
    exit: 75,
    retryable: true,
    summary: 'Processes at work have other steps for the same operation; stop them first.',
  },
  driver_missing: {
    http: 500,
    exit: 78,
    retryable: false,
    summary: 'The driver lacks functions that the declaration names.',
  },
  driver_unsuitable: {
    http: 500,
    exit: 78,
    retryable: false,
    summary: 'The driver cannot be used as it is set up; the message tells what to change.',
  },
  store_unavailable: { http: 503, exit: 75, retryable: true, summary: 'The store does not answer.' },
  store_corrupt: { http: 503, exit: 74, retryable: false, summary: 'The store is damaged; restore a back-up.' },
  schema_newer: { http: 500, exit: 78, retryable: false, summary: 'The store was written by a newer Homeostat.' },
  sqlite_too_old: {
    http: 500,
    exit: 78,
    retryable: false,
    summary: 'This SQLite has a known fault that can lose data.',
  },
  store_unsuitable: {
    http: 500,
    exit: 78,
    retryable: false,
    summary: 'The database does not give what the store needs; the message tells what to change.',
  },
  outcome_unknown: {
    http: 503,
    exit: 75,
    retryable: false,
    summary: 'Whether the change was made is not known; look before asking again.',
  },
  lease_lost: { http: 503, exit: 75, retryable: true, summary: 'This worker is no longer an owner.' },
  engine_stopped: { http: 503, exit: 75, retryable: true, summary: 'The engine is stopping.' },
} as const satisfies Record<string, Code>

export type ErrorCode = keyof typeof codes

/** What was thrown, in words: by other people's code it may be anything. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** What is thrown at the edges. Told apart by `code`, never by instanceof across a wire. */
export class HomeostatError extends Error {
  override readonly name = 'HomeostatError'
  readonly code: ErrorCode
  readonly details: unknown

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly details?: unknown; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.details = options.details
  }
}
