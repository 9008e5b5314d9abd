// Asks once, and reads what comes. It ends however the other side behaves: when it says nothing, stops in the middle of a word without
// hanging up, drips, or does not come to an end.
import { afterwards, systemClock } from '../base/clock.ts'

/** How long nothing may be heard: before an answer begins, and while it comes. */
export const defaultPatienceMs = 30_000
/** A whole answer may take so many times that; and so long may what is known to take long. */
export const longTimes = 10
/** Far more than any page, picture or document of the contract. */
const answerMaxBytes = 64 * 1024 * 1024

/** The beginning of an answer: its status and headers. */
export async function headOf(
  fetch: typeof globalThis.fetch,
  url: string,
  request: RequestInit,
  patienceMs: number,
): Promise<Response> {
  const silence = new AbortController()
  const { signal } = request
  const both = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal
  const cancel = afterwards(patienceMs, () => silence.abort(nothingFor(patienceMs)))
  try {
    return await fetch(url, { ...request, signal: both })
  } catch (error) {
    throw silence.signal.aborted ? silence.signal.reason : error
  } finally {
    cancel()
  }
}

/** A body as it comes; throws when nothing of it comes for so long. */
export async function* partsOf({ body }: Response, patienceMs: number): AsyncGenerator<string> {
  if (body === null) return
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      let isSilent = false
      const cancel = afterwards(patienceMs, () => {
        isSilent = true
        // What is waited for below ends by this.
        void reader.cancel().catch(() => {})
      })
      const { done, value } = await reader.read().finally(cancel)
      if (isSilent) throw nothingFor(patienceMs)
      if (done) return
      yield decoder.decode(value, { stream: true })
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The whole of it. */
export async function textOf(response: Response, patienceMs: number): Promise<string> {
  const begun = systemClock.monotonic()
  let text = ''
  for await (const part of partsOf(response, patienceMs)) {
    text += part
    if (text.length > answerMaxBytes) throw new Error(`its answer is longer than ${answerMaxBytes} bytes`)
    if (systemClock.monotonic() - begun > longTimes * patienceMs)
      throw new Error(`its answer did not come to an end within ${(longTimes * patienceMs) / 1_000} s`)
  }
  return text
}

const nothingFor = (ms: number): Error => new Error(`nothing was heard for ${ms / 1_000} s`)
