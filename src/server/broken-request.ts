// What cannot be read as a request, and how it is told.
import type { Socket } from 'node:net'
import { HomeostatError } from '../base/errors.ts'
import { systemRandom } from '../base/random.ts'
import { problemOf } from './problem.ts'

/** Bytes that are no HTTP: answered as far as that is possible, and the connection is over. */
export function endBroken(error: Error & { readonly code?: string }, socket: Socket): void {
  const isLate = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const isLong = error.code === 'HPE_HEADER_OVERFLOW'
  const known = new HomeostatError(
    isLate ? 'request_timeout' : isLong ? 'limit_exceeded' : 'request_invalid',
    'The request cannot be read.',
  )
  const problem = problemOf(known, systemRandom.uuid())
  const body = JSON.stringify(problem)
  const head = `HTTP/1.1 ${problem.status} Refused\r\nconnection: close\r\ncontent-type: application/problem+json\r\ncontent-length: ${Buffer.byteLength(body)}`
  // Whoever does not close his side then is let go when nothing has moved for a while.
  if (socket.writable && error.code !== 'ECONNRESET') socket.end(`${head}\r\n\r\n${body}`)
  else socket.destroy()
}

/** What fastify refuses with a status of its own is the client's fault. */
export function statusError(error: unknown): HomeostatError | null {
  const { statusCode } = error as { readonly statusCode?: unknown }
  if (typeof statusCode !== 'number' || statusCode < 400 || statusCode >= 500) return null
  return new HomeostatError(statusCode === 413 ? 'limit_exceeded' : 'request_invalid', 'The request cannot be read.')
}
