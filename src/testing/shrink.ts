// Makes a failing simulation smaller: takes choices back to the quiet one, in ever smaller groups, as long as the same promise
// stays broken. What is left is what matters.
import { countChoices, type ChoiceList } from './choices.ts'
import type { Strike } from './fault-plan.ts'
import type { Conditions, Simulator } from './simulation.ts'

export interface Shrunk {
  readonly conditions: Conditions
  /** How many choices there were before and are now. */
  readonly from: number
  readonly to: number
  readonly trials: number
}

/** One choice that is not quiet, or one strike. */
type Part = { readonly stream: string; readonly place: number; readonly value: number } | { readonly strike: Strike }

/** Only outside of microtasks. `isOver` ends it early. */
export function shrink(simulator: Simulator, failing: Conditions, isOver: () => boolean, trialsMost = 2_000): Shrunk {
  const told = simulator.run({ ...failing, isTold: true })
  const promise = told.violation?.promise
  let parts = partsOf(told.choices, failing.strikes ?? [])
  const from = parts.length
  let trials = 0
  const fails = (some: readonly Part[]) => {
    trials++
    return simulator.run(conditionsOf(failing, some)).violation?.promise === promise
  }
  // The recorded list must fail like the seed did; else the seed itself is all that can be given.
  if (promise === undefined || !fails(parts)) return { conditions: failing, from, to: from, trials }
  for (let size = Math.ceil(parts.length / 2); size >= 1;) {
    let hasShrunk = false
    for (let start = 0; start < parts.length;) {
      if (isOver() || trials >= trialsMost)
        return { conditions: conditionsOf(failing, parts), from, to: parts.length, trials }
      const fewer = [...parts.slice(0, start), ...parts.slice(start + size)]
      if (fewer.length < parts.length && fails(fewer)) {
        parts = fewer
        hasShrunk = true
      } else start += size
    }
    if (size === 1 && !hasShrunk) break
    size = size === 1 ? 1 : Math.ceil(size / 2)
  }
  return { conditions: conditionsOf(failing, parts), from, to: parts.length, trials }
}

function partsOf(list: ChoiceList, strikes: readonly Strike[]): Part[] {
  const parts: Part[] = strikes.map((strike) => ({ strike }))
  for (const [stream, choices] of Object.entries(list)) {
    for (const [place, value] of Object.entries(choices)) parts.push({ stream, place: Number(place), value })
  }
  return parts
}

function conditionsOf(failing: Conditions, parts: readonly Part[]): Conditions {
  const choices: Record<string, Record<number, number>> = {}
  const strikes: Strike[] = []
  for (const part of parts) {
    if ('strike' in part) strikes.push(part.strike)
    else (choices[part.stream] ??= {})[part.place] = part.value
  }
  return { ...failing, choices, strikes }
}

/** In one line, for a report. */
export const shrunkWords = ({ from, to, trials, conditions }: Shrunk): string =>
  `shrunk from ${from} to ${to} choices in ${trials} trials (${countChoices(conditions.choices ?? {})} drawn, ${conditions.strikes?.length ?? 0} chosen)`
