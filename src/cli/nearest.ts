// What somebody may have meant who mistyped a name.
import { editDistance } from '../base/edit-distance.ts'

/** Of the known names the nearest ones, best first; none when nothing is near. */
export function nearest(given: string, known: readonly string[]): readonly string[] {
  const wanted = given.toLowerCase()
  const scored = [...new Set(known)].map((name) => ({ name, score: scoreOf(wanted, name.toLowerCase()) }))
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
  const least = Math.min(editDistance(given, known), editDistance(given, last))
  return least <= Math.max(1, Math.floor(given.length / 3)) ? 0.4 + least / 10 : 1
}
