// The only file that touches real time and timers. Everything else is given a Clock, so that simulation can replace it.

/** Milliseconds since 1970. */
export type Millis = number

/** A moment as people and other programs read it. */
export const isoTime = (at: Millis): string => new Date(at).toISOString()

export interface Clock {
  /** Wall time in milliseconds since 1970: for records, never for measuring. */
  now(): Millis
  /** Milliseconds that never go back: for watching one's own lease and deadlines. */
  monotonic(): number
  /** Calls `then` once after `ms`; the answer cancels it. A timer never keeps the process alive by itself. */
  after(ms: number, then: () => void): () => void
  /** Keeps the process alive until the answer is called: somebody in it waits for something that only timers bring. */
  hold?(): () => void
  /** Calls `then` when the present turn of the event loop is over: how the door gathers commands. */
  soon(then: () => void): void
  /** Calls `then` before the turn is over, after what is under way: for whom nobody else is worth waiting for. Left out: `soon` does. */
  atOnce?(then: () => void): void
}

/** setTimeout overflows (and fires at once) beyond this. */
const longestTimeoutMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, then) {
    let timer: NodeJS.Timeout
    const arm = (left: number) => {
      timer = setTimeout(
        () => (left > longestTimeoutMs ? arm(left - longestTimeoutMs) : then()),
        Math.min(left, longestTimeoutMs),
      )
      timer.unref()
    }
    arm(Math.max(0, ms))
    return () => clearTimeout(timer)
  },
  hold() {
    const timer = setInterval(() => {}, longestTimeoutMs)
    return () => clearInterval(timer)
  },
  soon: (then) => void setImmediate(then),
  atOnce: (then) => queueMicrotask(then),
}

/** Waits by a clock that was given; ends early when the signal fires: the caller looks at the signal. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal?.addEventListener('abort', end, { once: true })
  })
}

/** Lets all others have their turn: whoever reads much from a store that answers at once would hold them up. */
export const nextTurn = (clock: Clock): Promise<void> => new Promise((resolve) => clock.soon(resolve))

/** Keeps the process alive meanwhile: what is waited for may be all that is left in it. */
export async function held(clock: Clock, work: () => Promise<void>): Promise<void> {
  const release = clock.hold?.()
  try {
    await work()
  } finally {
    release?.()
  }
}

/** Waits, in Node and in browsers; ends early when the signal fires. For programs that wait for a server: it keeps them alive. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.min(ms, longestTimeoutMs))
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** Calls `then` once after `ms`, in Node and in browsers; the answer cancels it. For what waits for a server: it keeps the program alive. */
export function afterwards(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, Math.min(ms, longestTimeoutMs))
  return () => clearTimeout(timer)
}
