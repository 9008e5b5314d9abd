// Spans of time as people write them: '30s', '5m', '7d'.
import { assert } from '../base/assert.ts'
import type { Millis } from '../base/clock.ts'

export type Duration = `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

const millisOf = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const form = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/

/** The compiler lets '-1s' and '1e9d' pass; check does not. */
export function isDuration(text: unknown): text is Duration {
  return typeof text === 'string' && form.test(text) && Number.isSafeInteger(durationMs(text))
}

/** In milliseconds, whole ones. */
export function durationMs(text: string): Millis {
  const match = form.exec(text)
  assert(match, `'${text}' is no duration; checkLifecycles would have said so`)
  return Math.round(Number(match[1]) * millisOf[match[2] as keyof typeof millisOf])
}
