// Quantiles out of Prometheus text.
import { expect, test } from 'vitest'
import { quantileOf } from './metrics.ts'

const text = `# HELP waits
waits_bucket{le="0.1",type="a"} 50
waits_bucket{le="1",type="a"} 90
waits_bucket{le="+Inf",type="a"} 100
waits_bucket{le="0.1",type="b"} 100
waits_bucket{le="1",type="b"} 100
waits_bucket{le="+Inf",type="b"} 100
waits_count{type="a"} 100`

test('a quantile is the end of the bucket it falls into, over all labels', () => {
  expect(quantileOf(text, 'waits', 0.5)).toBe(0.1)
  expect(quantileOf(text, 'waits', 0.95)).toBe(1)
  expect(quantileOf(text, 'waits', 0.99)).toBe(Number.POSITIVE_INFINITY)
})

test('where nothing was counted there is none', () => {
  expect(quantileOf(text, 'other', 0.5)).toBeNull()
})
