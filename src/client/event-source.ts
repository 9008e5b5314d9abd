// Follows the events of a server: every one once and in order, over broken connections and restarts of the server.
import { sleep } from '../base/clock.ts'
import { codes, HomeostatError } from '../base/errors.ts'
import { z } from 'zod'
import type { cloudEvent } from '../protocol/shapes.ts'
import { partsOf } from './answer.ts'
import type { HttpClient } from './http-client.ts'

export type CloudEvent = z.infer<typeof cloudEvent>

export interface WatchOptions {
  /** From this number on; left out: only what is new. */
  readonly after?: number | undefined
  readonly type?: string | undefined
  readonly id?: string | undefined
  /** Only events of these kinds; left out: of all. */
  readonly kinds?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
  /** Wait before a broken connection is made again. */
  readonly retryMs?: number | undefined
  /** A connection over which nothing comes for so long, not even a sign of life, is dead: another one is made. Default 40 s. */
  readonly silenceMs?: number | undefined
  /** Told when events come, and with the reason when they cannot. */
  readonly onState?: ((state: 'live' | 'lost', error?: HomeostatError) => void) | undefined
  /** Told when events are missing because the server keeps them no longer: what is followed has to be read anew. */
  readonly onRemoved?: ((removed: RemovedEvents) => void) | undefined
}

/** Those with a number above `after`, up to `to`. */
export interface RemovedEvents {
  readonly after: number
  readonly to: number
}

/** A server gives a sign of life every 15 seconds: two of them may be late. */
const defaultSilenceMs = 40_000
/** Far more than any event is. */
const messageMax = 16 * 1024 * 1024

/** Ends when the signal fires; throws when the server refuses. */
export async function* watchEvents(client: HttpClient, options: WatchOptions = {}): AsyncGenerator<CloudEvent> {
  const { after, type, id, signal, retryMs = 500, silenceMs = defaultSilenceMs, onState, onRemoved } = options
  const kinds = options.kinds?.join(',')
  const lost = (error: HomeostatError) => onState?.('lost', error)
  let last = after ?? null
  while (!signal?.aborted) {
    try {
      const query = { type, id, kinds, ...(last === null ? {} : { after: last }) }
      const response = await client.stream(query, last, signal, lost)
      onState?.('live')
      for await (const message of messagesOf(response, silenceMs)) {
        const n = message.id === undefined ? null : Number(message.id)
        const isNew = n === null || last === null || n > last || message.data === undefined
        if (message.event === 'ended') throw new HomeostatError('unauthenticated', 'The token has ended.')
        if (message.event === 'removed') onRemoved?.(JSON.parse(message.data!) as RemovedEvents)
        else if (message.data !== undefined && isNew) yield JSON.parse(message.data) as CloudEvent
        if (n !== null && (last === null || n > last)) last = n
      }
      if (!signal?.aborted) lost(broken('it ended the stream'))
    } catch (error) {
      if (signal?.aborted) return
      if (isRefusal(error)) throw error
      lost(error instanceof HomeostatError ? error : broken((error as Error).message))
    }
    await sleep(retryMs, signal)
  }
}

const broken = (why: string): HomeostatError =>
  new HomeostatError('store_unavailable', `The events have stopped coming: ${why}.`)

/** What stays so however often it is asked; all else is a server, or a way to it, that comes back. */
const isRefusal = (error: unknown): boolean =>
  error instanceof HomeostatError &&
  (error.code === 'server_unrecognised' || (codes[error.code].http < 500 && !codes[error.code].retryable))

interface Message {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

/** Server-sent events from a body as it arrives. One that is cut in the middle is not given out. */
async function* messagesOf(response: Response, silenceMs: number): AsyncGenerator<Message> {
  let text = ''
  for await (const part of partsOf(response, silenceMs)) {
    text += part
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield messageOf(text.slice(0, end))
      text = text.slice(end + 2)
    }
    if (text.length > messageMax) throw new Error(`an event is longer than ${messageMax} bytes`)
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
