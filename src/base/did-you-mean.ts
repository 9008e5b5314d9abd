// What somebody may have meant who mistyped a name.
import { editDistance } from './edit-distance.ts'

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
  return near.length === 0 ? '' : `Did you mean ${near.map((name) => `'${name}'`).join(' or ')}?`
}

/** The same; where nothing is near, all that there is. */
export function didYouMeanOf(given: string, known: Iterable<string>): string {
  const names = [...known]
  const all = names.length === 0 ? 'There is none to name here.' : `Known are: ${names.join(', ')}.`
  return didYouMean(given, names) || all
}

/** Below 1: near. A name that holds what was given, as the last part of it most of all, is near however long it is. */
function scoreOf(given: string, known: string): number {
  if (given === '') return 1
  if (known.split('.').includes(given)) return 0.1
  if (known.includes(given)) return 0.3
  const last = known.split('.').at(-1)!
  const least = Math.min(editDistance(given, known), editDistance(given, last))
  return least <= mistakesIn(given) ? 0.4 + least / 100 : 1
}

/** So many letters may be wrong: in a short name one makes another name of it. */
const mistakesIn = (given: string): number => (given.length < 4 ? 1 : Math.max(2, Math.floor(given.length / 3)))
