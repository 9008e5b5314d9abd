// Real time for the console, and how times and spans are read by people. The only file here that touches clocks and timers.

/** How far the server's clock is ahead of this device's: ages and clocks that tick are of the server's times. */
let ahead = 0

/** Of this device, by the server's clock. */
export const byServer = (at: number): number => at + ahead
export const now = (): number => byServer(Date.now())
export const aheadMs = (): number => ahead

/** A header tells whole seconds, and may be a moment old. */
const coarseMs = 2_000

/** What an answer says of the server's clock, which was asked and heard at these times of this device. */
export function hearClock(date: string | null, askedAt: number, heardAt: number): void {
  const told = millis(date ?? '')
  if (Number.isNaN(told)) return
  ahead = Math.min(Math.max(ahead, told - heardAt), told + coarseMs - askedAt)
}

export const deviceTime = (): number => Date.now()

/** Calls `then` every so often until the answer is called. */
export function every(ms: number, then: () => void): () => void {
  const timer = setInterval(then, ms)
  return () => clearInterval(timer)
}

export function after(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}

export const millis = (text: string): number => new Date(text).getTime()

const units: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** The two largest units, in the words of the command line: `3 h 12 min`; below ten seconds with a tenth. */
export function span(ms: number): string {
  const whole = Math.max(0, ms)
  if (whole < 1_000) return `${Math.round(whole)} ms`
  if (whole < 10_000) return `${(whole / 1_000).toFixed(1)} s`
  const first = units.findIndex(([, size]) => whole >= size)
  const [unit, size] = units[first]!
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((whole % size) / next[1])
  const head = `${Math.floor(whole / size)} ${unit}`
  return rest === 0 || next === undefined ? head : `${head} ${rest} ${next[0]}`
}

/** Whole seconds, for clocks that tick. */
export const spanTicking = (ms: number): string =>
  ms < 60_000 ? `${Math.max(0, Math.ceil(ms / 1_000))} s` : span(Math.ceil(ms / 1_000) * 1_000)

/** Whole seconds that have passed. */
export const spanPassed = (ms: number): string => (ms < 60_000 ? `${Math.max(0, Math.floor(ms / 1_000))} s` : span(ms))

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', year: 'numeric' })
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })

/** The zone of all times that are shown: that of this browser. */
export const zone = (): string =>
  new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''

export const clockTime = (text: string | number): string => clock.format(new Date(text))
export const fullTime = (text: string | number): string => full.format(new Date(text))

/** The clock alone for today, with the day for another one, and with its year for another year. */
export function shortTime(text: string): string {
  const [at, today] = [new Date(text), new Date(now())]
  if (today.toDateString() === at.toDateString()) return clock.format(at)
  return `${(today.getFullYear() === at.getFullYear() ? day : dayOfYear).format(at)} ${clock.format(at)}`
}
