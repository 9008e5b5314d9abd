// A quantile out of the histograms that the process tells Prometheus, over all their labels.

/** In seconds; null when nothing was counted. The upper end of the bucket it falls into. */
export function quantileOf(text: string, name: string, quantile: number): number | null {
  const buckets = new Map<number, number>()
  for (const [, end, count] of text.matchAll(new RegExp(`^${name}_bucket\\{[^}]*le="([^"]+)"[^}]*\\} (\\S+)`, 'gm'))) {
    const upTo = end === '+Inf' ? Number.POSITIVE_INFINITY : Number(end)
    buckets.set(upTo, (buckets.get(upTo) ?? 0) + Number(count))
  }
  const sorted = [...buckets].sort(([one], [other]) => one - other)
  const all = sorted.at(-1)?.[1] ?? 0
  if (all === 0) return null
  return sorted.find(([, count]) => count >= all * quantile)?.[0] ?? null
}
