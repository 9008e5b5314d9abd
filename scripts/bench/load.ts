// How work is offered: a number of operations with so many in flight at a time; and the figures of what it took.

/** As a user raises them for a thousand in flight: calls at a time (an eighth more is kept for other lanes) and commands of one commit. */
export const manyInFlight = { concurrency: 2_000, batchLimit: 2_000 }

export type Operation = (done: () => void) => void

/** Milliseconds until all are done. */
export function keepInFlight(run: Operation, total: number, inFlight: number): Promise<number> {
  const began = performance.now()
  let begun = 0
  let ended = 0
  return new Promise((resolve) => {
    const done = () => {
      if (++ended === total) resolve(performance.now() - began)
      else if (begun < total) {
        begun++
        run(done)
      }
    }
    while (begun < Math.min(total, inFlight)) {
      begun++
      run(done)
    }
  })
}

/** One after another: milliseconds of each. */
export async function oneByOne(run: Operation, total: number): Promise<number[]> {
  const took: number[] = []
  for (let i = 0; i < total; i++) {
    const began = performance.now()
    await new Promise<void>((resolve) => run(resolve))
    took.push(performance.now() - began)
  }
  return took
}

/** The value below which this share of the list lies. */
export function quantile(list: readonly number[], share: number): number {
  const sorted = [...list].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (list: readonly number[]): number => {
  const sorted = [...list].sort((a, b) => a - b)
  const middle = sorted.length >>> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
