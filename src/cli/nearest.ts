// What somebody may have meant who mistyped a name.

/** Of the known names the nearest ones, best first; none when nothing is near. */
export function nearest(given: string, known: readonly string[]): readonly string[] {
  const wanted = given.toLowerCase()
  const scored = known.map((name) => ({ name, score: scoreOf(wanted, name.toLowerCase()) }))
  const near = scored.filter(({ score }) => score < 1).sort((a, b) => a.score - b.score)
  return near.slice(0, 3).map(({ name }) => name)
}

/** 'Did you mean x?', or nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const near = nearest(given, known)
  return near.length === 0 ? '' : `Did you mean ${near.join(' or ')}?`
}

/** Below 1: near. A name that holds what was given, as the last part of it most of all, is near however long it is. */
function scoreOf(given: string, known: string): number {
  if (given === '') return 1
  if (known.split('.').includes(given)) return 0.1
  if (known.includes(given)) return 0.3
  const last = known.split('.').at(-1)!
  const least = Math.min(distance(given, known), distance(given, last))
  return least <= Math.max(1, Math.floor(given.length / 3)) ? 0.4 + least / 10 : 1
}

/** Letters to insert, remove, replace or swap. */
function distance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
