// A fault of a declaration: where it is, what is wrong and what to do about it.
import { didYouMeanOf } from '../base/did-you-mean.ts'

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
    this.error(path, `'${String(name)}' is no ${what}`, didYouMeanOf(String(name), known))
  }

  private add(fault: Fault): void {
    const same = (one: Fault) => one.path === fault.path && one.fault === fault.fault
    if (!this.all.some(same)) this.all.push(fault)
  }
}
