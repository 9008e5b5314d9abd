// Checks that a declaration is made of the language's words. The compiler sees a misspelt word only in a literal, not in parts
// that are shared between declarations, and not where it was not asked.
import {
  casesOf,
  isRow,
  type CasesData,
  type ChangesData,
  type Declaration,
  type ProbeData,
  type Table,
  type TestData,
} from './declaration.ts'
import { didYouMeanOf } from '../base/did-you-mean.ts'
import type { Faults } from './fault.ts'

const changes = ['set', 'move', 'add', 'link', 'say']
const landing = [...changes, 'status', 'when']
const failure = [...landing, 'code', 'undo', 'during', 'ifUndoFails', 'again', 'atMost']
const recovery = [...landing, 'attempt', 'again', 'atMost']
const heal = [...recovery, 'resume', 'unowned', 'probe', 'withOwner', 'otherwise', 'like']
const operation = [
  'meaning',
  'from',
  'input',
  'requires',
  'ifBusy',
  'queueBehind',
  'ifTerminal',
  'grace',
  'force',
  'whileForced',
  'steps',
  'to',
  'onFailure',
  'failureText',
]
const calling = ['result', 'undo', 'probe', 'creates', 'destroys', 'retry', 'deadline', 'progress', 'ifForced']
const step = ['meaning', 'during', 'when', 'forEach', 'ask', 'onFailure', ...calling]
const timer = ['in', 'when', 'at', 'after', 'ask', 'again', 'rank']
const body = ['begins', 'moves', 'probes', 'rules', 'timers', 'operations', 'heal', 'drift']

/** All of them, once. */
export const languageWords: readonly string[] = [
  ...new Set([...failure, ...heal, ...operation, ...step, ...timer, ...body]),
]

/** Answers false when something is missing or misshapen, so that the other checks cannot read the declaration. */
export function checkWords(faults: Faults, declaration: Declaration, written: object): boolean {
  const { type } = declaration
  const reader = new WordReader(faults)
  reader.words(type, written, body, ['heal'])
  for (const [name, data] of reader.table(`${type}.operations`, declaration.operations)) {
    const path = `${type}.operations.${name}`
    if (!reader.words(path, data, operation, ['from', 'steps', 'to', 'onFailure'])) continue
    reader.cases(`${path}.to`, data.to, landing)
    reader.cases(`${path}.onFailure`, data.onFailure, failure)
    for (const [stepName, one] of reader.table(`${path}.steps`, data.steps)) {
      const place = `${path}.steps.${stepName}`
      if (!reader.words(place, one, step, ['during'])) continue
      if (typeof one.during === 'object')
        reader.landing(`${place}.during`, one.during, [...changes, 'status'], ['status'])
      if (one.onFailure !== undefined) reader.cases(`${place}.onFailure`, one.onFailure, failure)
      if (one.retry !== undefined) reader.words(`${place}.retry`, one.retry, ['times', 'first', 'atMost'], ['times'])
      for (const [relation, each] of Object.entries(one.forEach ?? {})) {
        if (reader.words(`${place}.forEach.${relation}`, each, ['in', 'only', 'done', 'failed', 'stopAtFirst']))
          reader.only(`${place}.forEach.${relation}`, each.only)
      }
      for (const [relation, ask] of Object.entries(one.ask ?? {})) {
        if (typeof ask === 'string') continue
        reader.words(`${place}.ask.${relation}`, ask, ['operation', 'in', 'input', 'failed'], ['operation'])
      }
    }
  }
  for (const [status, row] of reader.table(`${type}.heal`, declaration.heal)) {
    if (!isRow(row)) reader.cases(`${type}.heal.${status}`, row, recovery)
    else if (reader.landing(`${type}.heal.${status}`, row, heal)) {
      if (row.unowned !== undefined) reader.cases(`${type}.heal.${status}.unowned`, row.unowned, recovery)
      if (row.otherwise !== undefined) reader.cases(`${type}.heal.${status}.otherwise`, row.otherwise, recovery)
      reader.answers(`${type}.heal.${status}.probe`, row.probe)
    }
  }
  for (const [status, drift] of reader.table(`${type}.drift`, declaration.drift)) {
    if (reader.words(`${type}.drift.${status}`, drift, ['every', 'probe'], ['every', 'probe']))
      reader.answers(`${type}.drift.${status}.probe`, drift.probe)
  }
  for (const [name, one] of reader.table(`${type}.timers`, declaration.timers)) {
    reader.words(`${type}.timers.${name}`, one, timer, ['in', 'ask'])
  }
  for (const [name, rule] of reader.table(`${type}.rules`, declaration.rules)) {
    reader.words(`${type}.rules.${name}`, rule, ['says', 'holds'], ['says', 'holds'])
  }
  for (const [index, row] of reader.table(`${type}.moves`, declaration.moves as unknown as Table<unknown>)) {
    reader.words(`${type}.moves[${index}]`, row, ['from', 'to', 'by'], ['from', 'to', 'by'])
  }
  return reader.readable
}

class WordReader {
  readable = true
  private readonly faults: Faults

  constructor(faults: Faults) {
    this.faults = faults
  }

  /** Are all words known and all needed ones there? Unknown words leave the declaration readable. */
  words(path: string, data: unknown, known: readonly string[], needed: readonly string[] = []): boolean {
    if (typeof data !== 'object' || data === null) {
      this.faults.error(path, 'is not an object', `Write { ${needed.join(', ') || known.join(', ')} }.`)
      return (this.readable = false)
    }
    for (const word of Object.keys(data)) {
      if (!known.includes(word))
        this.faults.error(`${path}.${word}`, `'${word}' is no word here`, didYouMeanOf(word, known))
    }
    for (const word of needed) {
      if ((data as Table<unknown>)[word] !== undefined) continue
      this.faults.error(path, `'${word}' is missing`, `Add \`${word}\`.`)
      this.readable = false
    }
    return needed.every((word) => (data as Table<unknown>)[word] !== undefined)
  }

  cases(path: string, data: CasesData, known: readonly string[]): void {
    const cases = casesOf(data)
    cases.forEach((one, index) => this.landing(cases.length > 1 ? `${path}[${index}]` : path, one, known))
  }

  /** Also the words of what changes with it. */
  landing(path: string, data: ChangesData, known: readonly string[], needed: readonly string[] = []): boolean {
    if (!this.words(path, data, known, needed)) return false
    for (const [relation, moved] of this.entries(data.move)) {
      const place = `${path}.move.${relation}`
      if (typeof moved === 'object' && this.words(place, moved, ['from', 'only', 'to', 'set']))
        this.only(place, moved.only)
    }
    for (const [relation, added] of this.entries(data.add))
      this.words(`${path}.add.${relation}`, added, ['status', 'each'], ['status', 'each'])
    return true
  }

  only(path: string, test: TestData | undefined): void {
    if (test !== undefined) this.words(`${path}.only`, test, ['says', 'test'], ['says', 'test'])
  }

  /** Where the answers of a probe lead. */
  answers(path: string, probe: ProbeData | undefined): void {
    for (const [name, answers] of this.entries(probe)) {
      for (const [answer, one] of this.entries(answers)) {
        if (typeof one === 'object') this.landing(`${path}.${name}.${answer}`, one, recovery)
      }
    }
  }

  /** Nothing where something else than a table stands: what it must be is told by its shape. */
  private entries<Value>(data: Table<Value> | undefined): readonly (readonly [string, Value])[] {
    return typeof data === 'object' && data !== null ? Object.entries(data) : []
  }

  table<Value>(path: string, data: Table<Value>): readonly (readonly [string, Value])[] {
    return this.words(path, data, Object.keys(data ?? {})) ? Object.entries(data) : []
  }
}
