// Follows the events of a server: every one once and in order, over broken connections and restarts of the server.
import { sleep } from '../base/clock.ts'
import { codes, HomeostatError } from '../base/errors.ts'
import { z } from 'zod'
import type { cloudEvent } from '../protocol/shapes.ts'
import type { HttpClient } from './http-client.ts'

export type CloudEvent = z.infer<typeof cloudEvent>

export interface WatchOptions {
  /** From this number on; left out: only what is new. */
  readonly after?: number | undefined
  readonly type?: string | undefined
  readonly id?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Wait before a broken connection is made again. */
  readonly retryMs?: number | undefined
}

/** Ends when the signal fires; throws when the server refuses. */
export async function* watchEvents(client: HttpClient, options: WatchOptions = {}): AsyncGenerator<CloudEvent> {
  const { after, type, id, signal, retryMs = 500 } = options
  let last = after ?? null
  while (!signal?.aborted) {
    try {
      const response = await client.stream({ type, id, ...(last === null ? {} : { after: last }) }, last, signal)
      for await (const message of messagesOf(response)) {
        const n = message.id === undefined ? null : Number(message.id)
        const isNew = n === null || last === null || n > last || message.data === undefined
        if (message.event === 'ended') throw new HomeostatError('unauthenticated', 'The token has ended.')
        if (message.data !== undefined && isNew) yield JSON.parse(message.data) as CloudEvent
        if (n !== null && (last === null || n > last)) last = n
      }
    } catch (error) {
      if (signal?.aborted) return
      if (isRefusal(error)) throw error
    }
    await sleep(retryMs, signal)
  }
}

/** What stays so however often it is asked; all else is a server, or a way to it, that comes back. */
const isRefusal = (error: unknown): boolean =>
  error instanceof HomeostatError && codes[error.code].http < 500 && !codes[error.code].retryable

interface Message {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

/** Server-sent events from a body as it arrives. One that is cut in the middle is not given out. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  const decoder = new TextDecoder()
  let text = ''
  const reader = response.body!.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield messageOf(text.slice(0, end))
        text = text.slice(end + 2)
      }
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

function messageOf(text: string): Message {
  const message: { id?: string; event?: string; data?: string } = {}
  for (const line of text.split('\n')) {
    const found = /^(id|event|data): ?(.*)$/.exec(line)
    if (found === null) continue
    const field = found[1] as 'id' | 'event' | 'data'
    message[field] = field === 'data' && message.data !== undefined ? `${message.data}\n${found[2]}` : found[2]!
  }
  return message
}
