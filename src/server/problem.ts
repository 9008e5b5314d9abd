// Errors as RFC 9457 problem details. What is no error of ours is a defect: it is logged, and nothing of it goes out.
import { codes, HomeostatError, type ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { z } from 'zod'
import type { problem } from '../protocol/shapes.ts'

export type Problem = z.infer<typeof problem>

export function problemOf(error: HomeostatError, requestId: string): Problem {
  const { code } = error
  const { http: status, retryable, summary } = codes[code]
  const violations = violationsOf(error)
  return {
    type: `/docs/errors#${code}`,
    title: summary,
    status,
    // What went wrong inside is not told to strangers.
    detail: status === 500 && code !== 'declaration_defect' ? summary : error.message,
    instance: `urn:homeostat:request:${requestId}`,
    code,
    retryable,
    ...(violations === null ? {} : { violations }),
    ...(error.details === undefined || violations !== null ? {} : { details: error.details as Json }),
  }
}

class Violations {
  readonly list: { readonly path: string; readonly message: string }[]

  constructor(list: Violations['list']) {
    this.list = list
  }
}

const violationsOf = ({ details }: HomeostatError): Violations['list'] | null =>
  details instanceof Violations ? details.list : null

/** All faults of a request at once, each with its path. */
export function requestInvalid(where: string, error: z.ZodError): HomeostatError {
  const list = error.issues.slice(0, 50).map((issue) => ({
    path: [where, ...issue.path.map(String)].join('.').slice(0, 300),
    message: issue.message.slice(0, 300),
  }))
  const words = list.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
  return new HomeostatError('request_invalid', `The request does not fit: ${words.join('; ')}.`, {
    details: new Violations(list),
  })
}

/** Errors of fastify and of Node's HTTP parser by their codes. */
const outerCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'limit_exceeded',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'media_type_unsupported',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'request_invalid',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'request_invalid',
  FST_ERR_BAD_URL: 'request_invalid',
  FST_ERR_ASYNC_CONSTRAINT: 'request_invalid',
  ECONNRESET: 'request_invalid',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Where the summary of the code does not say what would be right. */
const outerWords: Readonly<Record<string, string>> = {
  FST_ERR_CTP_BODY_TOO_LARGE:
    'The body is too large: 1 MB of JSON is taken, and 16 MB of lines (application/x-ndjson).',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'Send the body as JSON, with the header Content-Type: application/json.',
  FST_ERR_BAD_URL: 'The path cannot be read: % is followed by two hex digits, which together are UTF-8.',
}

/** The error as one of ours; null when it is a defect. */
export function knownError(error: unknown): HomeostatError | null {
  if (error instanceof HomeostatError) return error
  const { code } = error as { readonly code?: unknown }
  const known = typeof code === 'string' ? outerCodes[code] : undefined
  if (known === undefined) return null
  return new HomeostatError(known, outerWords[code as string] ?? codes[known].summary)
}
