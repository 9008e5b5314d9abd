// Checks timers: each has one moment, and asks for something that can be asked then.
import { checkAsked } from './check-operations.ts'
import { sourcesOf, type Declaration, type OperationData, type TimerData } from './declaration.ts'
import type { Faults } from './fault.ts'
import { isKind, type Declarations } from './known-names.ts'
import { refusesEmpty } from './schema.ts'
import { listWords } from './words.ts'

export function checkTimers(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  for (const [name, timer] of Object.entries(declaration.timers)) {
    const path = `${declaration.type}.timers.${name}`
    if ((timer.at === undefined) === (timer.after === undefined)) {
      const fault = timer.at === undefined ? 'has neither `at` nor `after`' : 'has both `at` and `after`'
      faults.error(path, fault, 'Give it one moment: a property with the time, or a delay.')
    }
    if (timer.in.length === 0) faults.error(`${path}.in`, 'is never armed', 'Name the statuses in which it runs.')
    if (timer.rank !== undefined && !Number.isFinite(timer.rank))
      faults.error(`${path}.rank`, 'is no number', 'Use 1, 2, 3.')
    if (typeof timer.ask === 'string') checkOwn(faults, declaration, path, timer, timer.ask)
    else checkOthers(faults, loaded, declaration, path, timer.ask)
  }
}

function checkOwn(faults: Faults, declaration: Declaration, path: string, timer: TimerData, wanted: string): void {
  const operation = checkAsked(faults, declaration, `${path}.ask`, wanted)
  if (!operation || operation.from.length === 0) return
  const starts = sourcesOf(declaration, operation.from)
  const wrong = timer.in.filter((status) => !starts.includes(status))
  // While it moves, the request would be refused as busy; that is what `again` is for.
  const never = wrong.filter((status) => !isKind(declaration.resource, status, 'transitional'))
  if (never.length > 0) {
    faults.error(
      `${path}.in`,
      `${wanted} cannot start from ${listWords(never)}`,
      `It starts from ${listWords(starts)}.`,
    )
  }
  needsNoInput(faults, path, wanted, operation)
}

function checkOthers(
  faults: Faults,
  loaded: Declarations,
  declaration: Declaration,
  path: string,
  asks: Readonly<Record<string, string>>,
): void {
  if (Object.keys(asks).length === 0) faults.error(`${path}.ask`, 'asks nothing', 'Name an operation.')
  for (const [relation, wanted] of Object.entries(asks)) {
    const other = loaded.across(declaration, relation)
    const operation = other && checkAsked(faults, other, `${path}.ask.${relation}`, wanted)
    if (operation) needsNoInput(faults, path, wanted, operation)
  }
}

function needsNoInput(faults: Faults, path: string, wanted: string, { input }: OperationData): void {
  if (refusesEmpty(input))
    faults.error(`${path}.ask`, `${wanted} needs an input, and a timer has none`, 'Give its input defaults.')
}
