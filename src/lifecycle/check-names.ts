// Checks that every name refers to something: statuses, relations, properties, probes, and spans of time that can be read.
import { quantifiers } from './check-shapes.ts'
import {
  askOf,
  entryOf,
  isRow,
  moveOf,
  type CaseData,
  type ConditionData,
  type Declaration,
  type StepData,
} from './declaration.ts'
import type { JsonObject } from '../base/json.ts'
import { conditionsOf, sitesOf } from './declaration-sites.ts'
import { isDuration } from './duration.ts'
import type { Faults } from './fault.ts'
import { mayBeNumber, valueFault, type Declarations } from './known-names.ts'
import { isToMany } from './relation.ts'
import { kindsOf, type ResourceType } from './resource-type.ts'
import { listWords } from './words.ts'

export function checkNames(faults: Faults, loaded: Declarations, declaration: Declaration): void {
  const checker = new NameChecker(faults, loaded, declaration)
  for (const { path, data } of sitesOf(declaration)) checker.changes(path, data)
  for (const { path, when } of conditionsOf(declaration)) checker.condition(path, when)
  checker.operations()
  checker.healing()
  checker.others()
}

class NameChecker {
  private readonly faults: Faults
  private readonly loaded: Declarations
  private readonly declaration: Declaration
  private readonly own: ResourceType
  private readonly type: string

  constructor(faults: Faults, loaded: Declarations, declaration: Declaration) {
    this.faults = faults
    this.loaded = loaded
    this.declaration = declaration
    this.own = declaration.resource
    this.type = declaration.type
  }

  operations(): void {
    const { operations } = this.declaration
    for (const [name, operation] of Object.entries(operations)) {
      const path = `${this.type}.operations.${name}`
      for (const status of operation.from) if (status !== '*') this.status(`${path}.from`, status)
      this.durations(path, { grace: operation.grace, force: operation.force })
      this.status(`${path}.whileForced`, operation.whileForced)
      for (const [stepName, step] of Object.entries(operation.steps)) this.step(`${path}.steps.${stepName}`, step)
    }
  }

  private step(path: string, step: StepData): void {
    this.durations(path, { deadline: step.deadline, progress: step.progress })
    this.durations(`${path}.retry`, { first: step.retry?.first, atMost: step.retry?.atMost })
    this.status(`${path}.during`, entryOf(step).status)
    if (step.probe !== undefined) this.probe(`${path}.probe`, step.probe)
    for (const [relation, each] of Object.entries(step.forEach ?? {})) {
      const place = `${path}.forEach.${relation}`
      const type = this.relation(place, relation)
      for (const status of [...(each.in ?? []), each.done, each.failed]) this.statusAcross(place, status, type)
    }
    for (const [relation, data] of Object.entries(step.ask ?? {})) {
      const place = `${path}.ask.${relation}`
      const type = this.relation(place, relation)
      for (const status of askOf(data).in ?? []) this.statusAcross(`${place}.in`, status, type)
    }
  }

  healing(): void {
    const { heal, drift, probes } = this.declaration
    for (const [status, row] of Object.entries(heal)) {
      const path = `${this.type}.heal.${status}`
      this.status(path, status)
      if (!isRow(row)) continue
      if (row.like !== undefined && !Object.hasOwn(heal, row.like)) {
        this.faults.unknown(`${path}.like`, row.like, 'row of heal', Object.keys(heal))
      }
      for (const [relation, statuses] of Object.entries(row.withOwner ?? {})) {
        const type = this.relation(`${path}.withOwner.${relation}`, relation)
        for (const one of statuses) this.statusAcross(`${path}.withOwner.${relation}`, one, type)
      }
      this.answers(`${path}.probe`, row.probe, probes)
    }
    for (const [status, { every, probe }] of Object.entries(drift)) {
      const path = `${this.type}.drift.${status}`
      this.status(path, status)
      this.durations(path, { every })
      this.answers(`${path}.probe`, probe, probes)
    }
  }

  /** Begins, moves, rules and timers. */
  others(): void {
    const { begins, moves, rules, timers } = this.declaration
    for (const status of begins) this.status(`${this.type}.begins`, status)
    moves.forEach(({ from, to, by }, index) => {
      const path = `${this.type}.moves[${index}]`
      for (const status of from) if (status !== '*') this.status(`${path}.from`, status)
      this.status(`${path}.to`, to)
      this.relation(`${path}.by`, by)
    })
    for (const [name, { holds }] of Object.entries(rules)) {
      for (const status of Object.keys(holds)) this.status(`${this.type}.rules.${name}.holds`, status)
    }
    for (const [name, timer] of Object.entries(timers)) {
      const path = `${this.type}.timers.${name}`
      for (const status of timer.in) this.status(`${path}.in`, status)
      this.durations(path, { after: timer.after, again: timer.again })
      if (timer.at !== undefined) this.time(`${path}.at`, timer.at)
      if (typeof timer.ask === 'object')
        for (const relation of Object.keys(timer.ask)) this.relation(`${path}.ask`, relation)
    }
  }

  /** A landing, a failure answer or a recovery. */
  changes(path: string, data: CaseData): void {
    this.status(path, data.status)
    this.status(`${path}.during`, data.during)
    this.status(`${path}.ifUndoFails`, data.ifUndoFails)
    this.durations(path, { again: data.again, atMost: data.atMost })
    this.set(`${path}.set`, data.set, this.own)
    for (const [relation, moved] of Object.entries(data.move ?? {})) {
      const place = `${path}.move.${relation}`
      const type = this.relation(place, relation)
      const { from, to, set } = moveOf(moved)
      for (const status of [...(from ?? []), to]) this.statusAcross(place, status, type)
      if (type) this.set(`${place}.set`, set, type)
    }
    for (const [relation, added] of Object.entries(data.add ?? {})) {
      this.statusAcross(`${path}.add.${relation}`, added.status, this.relation(`${path}.add.${relation}`, relation))
    }
    for (const relation of Object.keys(data.link ?? {})) {
      const known = Object.entries(this.declaration.relations).filter(([, one]) => 'link' in one)
      if (!known.some(([name]) => name === relation)) {
        this.faults.unknown(
          `${path}.link`,
          relation,
          `link of ${this.type}`,
          known.map(([name]) => name),
        )
      }
    }
  }

  condition(path: string, when: ConditionData): void {
    for (const [name, is] of Object.entries(when)) {
      if (name === 'says' || name === 'test') continue
      if (Object.hasOwn(this.declaration.relations, name)) this.relatedTerm(`${path}.${name}`, name, is)
      else this.propertyTerm(path, name, is)
    }
    if (typeof when['test'] === 'function' && typeof when['says'] !== 'string') {
      this.faults.error(path, 'a test without words', 'Say beside it, in `says`, what it tests.')
    }
  }

  private propertyTerm(path: string, name: string, is: unknown): void {
    const schema = this.property(path, name, this.own)
    for (const value of Array.isArray(is) ? is : [is]) this.value(`${path}.${name}`, name, value, schema)
  }

  private set(path: string, set: Readonly<Record<string, unknown>> | undefined, type: ResourceType): void {
    for (const [name, value] of Object.entries(set ?? {})) {
      const schema = this.property(path, name, type)
      const isKnown = typeof value !== 'function' && value !== undefined
      if (isKnown) this.value(`${path}.${name}`, name, value, schema)
    }
  }

  private value(path: string, name: string, value: unknown, schema: JsonObject | undefined): void {
    const found = schema && valueFault(schema, value)
    if (found) this.faults.error(path, `${name} ${found.fault}`, `It may be ${found.among.join(', ') || 'another'}.`)
  }

  private time(path: string, name: string): void {
    const schema = this.property(path, name, this.own)
    if (schema && !mayBeNumber(schema))
      this.faults.error(
        path,
        `${name} is never a number, so no time is ever read from it`,
        'Name a property with milliseconds since 1970.',
      )
  }

  private relatedTerm(path: string, name: string, is: unknown): void {
    const relation = this.declaration.relations[name]!
    const type = this.loaded.typeAcross(this.declaration, name)
    if (typeof is !== 'object' || is === null) {
      this.faults.error(path, `${name} is a relation`, 'Name its statuses in a list, or say { exists: true }.')
      return
    }
    const words = Array.isArray(is) ? [] : Object.keys(is)
    if (words.length > 1) {
      const fault = `says ${listWords(words, 'and')} of it at once, and only one of them would be looked at`
      this.faults.error(path, fault, 'Say one of them; the other in a condition of its own, or with `says` and `test`.')
      return
    }
    if ('exists' in is) {
      if (typeof is.exists !== 'boolean')
        this.faults.error(
          `${path}.exists`,
          `${JSON.stringify(is.exists)} is neither true nor false`,
          'Write one of them.',
        )
      return
    }
    const many = isToMany(relation)
    if (Array.isArray(is) === many || (many && words.length === 0)) {
      const how = many ? '{ every: [...] }, { some: [...] } or { none: [...] }' : 'a list of statuses'
      this.faults.error(path, `${name} is a relation to ${many ? 'many' : 'one'}`, `Write ${how}.`)
      return
    }
    const unknown = words.filter((word) => !quantifiers.includes(word))
    for (const word of unknown) this.faults.unknown(`${path}.${word}`, word, 'word here', [...quantifiers, 'exists'])
    if (unknown.length > 0) return
    const statuses = Array.isArray(is) ? is : Object.values(is as Record<string, readonly string[]>).flat()
    for (const status of statuses) this.statusAcross(path, status, type)
    if (!Array.isArray(is)) this.terminalTerm(path, is as Record<string, readonly string[]>, type)
  }

  /** Relations to many hold only what is not terminal: a terminal status there says nothing, or never holds. */
  private terminalTerm(path: string, is: Record<string, readonly string[]>, type: ResourceType | undefined): void {
    if (!type) return
    const kinds = kindsOf(type)
    for (const [word, statuses] of Object.entries(is)) {
      const terminal = statuses.filter((status) => kinds.get(status) === 'terminal')
      if (terminal.length === 0) continue
      const never = word === 'some' && terminal.length === statuses.length
      const fault = `${terminal.join(', ')} is terminal, and a relation to many holds only what is not`
      const suggestion = 'Leave it out, or say { exists: false } for "none is left".'
      if (never) this.faults.error(path, `${fault}: this never holds`, suggestion)
      else this.faults.warning(path, fault, suggestion)
    }
  }

  private answers(path: string, probe: object | undefined, probes: Declaration['probes']): void {
    const asked = Object.entries((probe ?? {}) as Record<string, object>)
    if (asked.length > 1)
      this.faults.error(path, 'asks several probes', 'Ask one probe; give it all the answers you need.')
    for (const [name, landings] of asked) {
      const known = this.probe(path, name) ? [...probes[name]!, 'unknown'] : undefined
      if (!known) continue
      for (const answer of Object.keys(landings)) {
        if (!known.includes(answer))
          this.faults.unknown(`${path}.${name}`, answer, `answer of the probe ${name}`, known)
      }
      for (const answer of known) {
        if (Object.hasOwn(landings, answer)) continue
        this.faults.error(
          `${path}.${name}`,
          `nothing is said for the answer ${answer}`,
          `Say where to land: ${answer}: '...'.`,
        )
      }
    }
  }

  private probe(path: string, name: string): boolean {
    const { probes } = this.declaration
    if (Object.hasOwn(probes, name)) return true
    this.faults.unknown(path, name, `probe of ${this.type}`, Object.keys(probes))
    return false
  }

  private status(path: string, status: unknown, type: ResourceType = this.own): void {
    if (typeof status !== 'string') return
    const kinds = kindsOf(type)
    if (!kinds.has(status)) this.faults.unknown(path, status, `status of ${type.type}`, kinds.keys())
  }

  /** Of the type on the other side; where that is unknown, it is told already. */
  private statusAcross(path: string, status: unknown, type: ResourceType | undefined): void {
    if (type) this.status(path, status, type)
  }

  /** The type on the other side. */
  private relation(path: string, name: string): ResourceType | undefined {
    const { relations } = this.declaration
    if (Object.hasOwn(relations, name)) return this.loaded.typeAcross(this.declaration, name)
    this.faults.unknown(path, name, `relation of ${this.type}`, Object.keys(relations))
    return undefined
  }

  private property(path: string, name: string, type: ResourceType) {
    const known = this.loaded.propertiesOf(type)
    if (known && !known.has(name)) {
      const relations = type === this.own ? Object.keys(this.declaration.relations) : []
      this.faults.unknown(path, name, `property of ${type.type}`, [...known.keys(), ...relations])
    }
    return known?.get(name)
  }

  private durations(path: string, spans: Readonly<Record<string, unknown>>): void {
    for (const [name, span] of Object.entries(spans)) {
      if (span === undefined || isDuration(span)) continue
      this.faults.error(
        `${path}.${name}`,
        `${JSON.stringify(span)} is no duration`,
        "Write a number and ms, s, m, h or d: '30s'.",
      )
    }
  }
}
