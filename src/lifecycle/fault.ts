// A fault of a declaration: where it is, what is wrong and what to do about it.
import { editDistance } from '../base/edit-distance.ts'

export interface Fault {
  /** An error is refused; a warning is shown. */
  readonly severity: 'error' | 'warning'
  /** `<type>.operations.<name>...`, as it is written in the declaration. */
  readonly path: string
  readonly fault: string
  readonly suggestion: string
}

/** Collects: the author sees all faults at once. */
export class Faults {
  readonly all: Fault[] = []

  error(path: string, fault: string, suggestion: string): void {
    this.add({ severity: 'error', path, fault, suggestion })
  }

  warning(path: string, fault: string, suggestion: string): void {
    this.add({ severity: 'warning', path, fault, suggestion })
  }

  /** A name that is none of `known`. */
  unknown(path: string, name: unknown, what: string, known: Iterable<string>): void {
    this.error(path, `'${String(name)}' is no ${what}`, didYouMean(String(name), known))
  }

  private add(fault: Fault): void {
    const same = (one: Fault) => one.path === fault.path && one.fault === fault.fault
    if (!this.all.some(same)) this.all.push(fault)
  }
}

/** The nearest known word, or all of them when none is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const words = [...known]
  const near = words
    .map((one) => ({ one, steps: editDistance(word.toLowerCase(), one.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps)[0]
  if (near && near.steps <= Math.max(2, word.length / 3)) return `Did you mean '${near.one}'?`
  return words.length === 0 ? 'There is none to name here.' : `Known are: ${words.join(', ')}.`
}
