// Errors as RFC 9457 problem details. What is no error of ours is a defect: it is logged, and nothing of it goes out.
import { codes, HomeostatError, type ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { z } from 'zod'
import { didYouMeanOf } from '../base/did-you-mean.ts'
import type { problem } from '../protocol/shapes.ts'
import { namesAt } from './unknown-names.ts'

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

/** What is read of the details of some errors. */
interface Told {
  readonly methods?: string
  readonly retryAfter?: number
  readonly revision?: number
}

/** What comes with a problem, besides its body. */
export function problemHeaders({ code, details }: HomeostatError): Record<string, string> {
  const { methods = '', retryAfter = 1, revision } = (details ?? {}) as Told
  const { http: status, retryable } = codes[code]
  const headers: Record<string, string> = { 'content-type': 'application/problem+json; charset=utf-8' }
  if (code === 'unauthenticated') headers['www-authenticate'] = 'Bearer realm="homeostat"'
  if (code === 'method_not_allowed') headers['allow'] = methods
  if (retryable && (status === 429 || status === 503)) headers['retry-after'] = String(retryAfter)
  if (code === 'revision_conflict' && revision !== undefined) headers['etag'] = `"r${revision}"`
  return headers
}

class Violations {
  readonly list: { readonly path: string; readonly message: string }[]

  constructor(list: Violations['list']) {
    this.list = list
  }
}

function violationsOf({ code, details }: HomeostatError): Violations['list'] | null {
  if (details instanceof Violations) return details.list
  const isOfSchema = code === 'properties_invalid' || code === 'input_invalid'
  return isOfSchema && Array.isArray(details) ? details.map((fault) => violationOf(String(fault))) : null
}

/** What the schema of a lifecycle says, `size: it is too large`, as what our own say. */
function violationOf(fault: string): Violations['list'][number] {
  const [, path = '', message = fault] = /^([^\s:]+): (.*)$/s.exec(fault) ?? []
  return { path, message }
}

/** All faults of a request at once, each with its path. */
export function requestInvalid(where: string, error: z.ZodError, schema: z.ZodType): HomeostatError {
  const list = error.issues.slice(0, 50).flatMap((issue) => {
    const path = [where, ...issue.path.map(String)]
    const at = (...more: readonly string[]) => [...path, ...more].join('.').slice(0, 300)
    if (issue.code !== 'unrecognized_keys') return { path: at(), message: wordsOf(issue.message).slice(0, 300) }
    const known = namesAt(schema, issue.path)
    return issue.keys.slice(0, 10).map((key) => ({
      path: at(key.slice(0, 100)),
      message: `there is no such name. ${didYouMeanOf(key.slice(0, 100), known)}`.slice(0, 300),
    }))
  })
  const words = list.slice(0, 3).map(({ path, message }) => `${path}: ${message}`)
  return new HomeostatError(
    'request_invalid',
    `The request does not fit: ${words.join('; ')}${/[.?]$/.test(words.at(-1) ?? '') ? '' : '.'}`,
    {
      details: new Violations(list),
    },
  )
}

const wordsOf = (message: string): string =>
  message.replace(/^Invalid input: expected (\w+), received undefined$/, 'it is missing (expected $1)')

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
