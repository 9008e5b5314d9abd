// Spans of time as people write them: '30s', '5m', '7d'.
import type { Millis } from '../base/clock.ts'

export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const millisOf = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** In milliseconds; undefined when the text is no duration (the compiler lets '-1s' and '1e9d' pass). */
export function durationMs(text: string): Millis | undefined {
  const match = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text)
  if (!match) return undefined
  const millis = Math.round(Number(match[1]) * millisOf[match[2] as keyof typeof millisOf])
  return Number.isSafeInteger(millis) ? millis : undefined
}
