// Answers what decisions ask. What is asked while a question is under way goes together with the next: one round trip, one snapshot.
import { unreachable } from '../../base/assert.ts'
import { numberOfGeneratedId, type EndedRun, type KeyRecord, type No, type Resource } from '../../decision/state.ts'
import type { Ask } from '../../decision/situation.ts'
import { typed } from '../state-row.ts'
import type { Answer } from '../store.ts'
import type { Row, Step } from './pipeline.ts'
import { translated } from './failures.ts'
import type { Shapes } from './shapes.ts'
import { endOfRow, joinState, keyRecordOf, resourcesOf, stateColumns } from './states.ts'
import { fromText, numbersOf, textsFrom, textsOf, toText } from './texts.ts'
import type { Statements } from './wire.ts'
import type { Wires } from './wires.ts'

/** Each names, in the first column or two, which question a row answers. */
export const loadStatements = {
  byNo: `select ${stateColumns} from unnest($1::int8[]) v(no) join resource r on r.no = v.no ${joinState}`,
  byName: `select r.type, ${stateColumns} from unnest(${textsOf(1)}, ${textsOf(2)}) v(id, type)
    join resource r on r.id = v.id and r.type = v.type and r.id is not null ${joinState}`,
  children: `select v.no, ${stateColumns} from unnest($1::int8[]) v(no)
    join resource r on r.parent = v.no and r.parent is not null and not r.terminal ${joinState} order by r.no`,
  linkedBy: `select v.target, v.name, ${stateColumns} from unnest($1::int8[], ${textsOf(2)}) v(target, name)
    join link l on l.target = v.target and l.name = v.name join resource r on r.no = l.source ${joinState} order by r.no`,
  keys: `select v.key, k.hash, k.no, k.begun, k.at from unnest(${textsOf(1)}) v(key) join key k on k.key = v.key`,
  ended: `select v.no, v.begun, (select body from run where run.no = v.no and run.begun = v.begun order by n limit 1)
    from unnest($1::int8[], $2::int4[]) v(no, begun)`,
} as const satisfies Statements

interface Asked {
  readonly asks: readonly Ask[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

export class Loader {
  private readonly wires: Wires
  private readonly shapes: Shapes
  private waiting: Asked[] = []

  constructor(wires: Wires, shapes: Shapes) {
    this.wires = wires
    this.shapes = shapes
  }

  load(asks: readonly Ask[]): Promise<readonly Answer[]> {
    if (asks.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      this.waiting.push({ asks, resolve, reject })
      this.pump()
    })
  }

  private pump(): void {
    if (this.waiting.length === 0 || this.wires.isBusy) return
    const asked = this.waiting
    this.waiting = []
    void this.answer(asked).then(() => this.pump())
  }

  private async answer(asked: readonly Asked[]): Promise<void> {
    try {
      const questions = new Questions()
      for (const { asks } of asked) for (const ask of asks) questions.add(ask)
      const { steps } = questions
      const results = steps.length === 0 ? [] : await this.wires.use((wire) => wire.run(steps))
      const facts = await Facts.of(steps, results, this.shapes)
      for (const { asks, resolve } of asked) resolve(asks.map((ask) => facts.answer(ask)))
    } catch (error) {
      for (const { reject } of asked) reject(translated(error))
    }
  }
}

const pairOf = (a: string | number, b: string | number): string => `${a} ${b}`

class Questions {
  private readonly nos = new Set<No>()
  private readonly names = new Map<string, { readonly id: string; readonly type: string }>()
  private readonly parents = new Set<No>()
  private readonly links = new Map<string, { readonly no: No; readonly link: string }>()
  private readonly keys = new Set<string>()
  private readonly ends = new Map<string, { readonly no: No; readonly begun: number }>()

  add(ask: Ask): void {
    switch (ask.ask) {
      case 'resource':
        this.nos.add(ask.no)
        return
      case 'named': {
        const no = numberOfGeneratedId(ask.id)
        if (no === null) this.names.set(pairOf(ask.type, ask.id), ask)
        else this.nos.add(no)
        return
      }
      case 'children':
        this.parents.add(ask.no)
        return
      case 'linkedBy':
        this.links.set(pairOf(ask.no, ask.link), ask)
        return
      case 'key':
        this.keys.add(ask.key)
        return
      case 'endedRun':
        this.ends.set(pairOf(ask.no, ask.begun), ask)
        return
      default:
        unreachable(ask)
    }
  }

  get steps(): Step[] {
    const steps: Step[] = []
    const add = (name: keyof typeof loadStatements, count: number, values: () => string[]) => {
      if (count > 0) steps.push({ name, values: values() })
    }
    const [names, links, ends] = [[...this.names.values()], [...this.links.values()], [...this.ends.values()]]
    add('byNo', this.nos.size, () => [numbersOf([...this.nos])])
    add('byName', names.length, () => [
      textsFrom(names.map(({ id }) => toText(id))),
      textsFrom(names.map(({ type }) => toText(type))),
    ])
    add('children', this.parents.size, () => [numbersOf([...this.parents])])
    add('linkedBy', links.length, () => [
      numbersOf(links.map(({ no }) => no)),
      textsFrom(links.map(({ link }) => toText(link))),
    ])
    add('keys', this.keys.size, () => [textsFrom([...this.keys].map((key) => toText(key)))])
    add('ended', ends.length, () => [numbersOf(ends.map(({ no }) => no)), numbersOf(ends.map(({ begun }) => begun))])
    return steps
  }
}

class Facts {
  private readonly byNo = new Map<No, Resource>()
  private readonly byName = new Map<string, Resource>()
  private readonly families = new Map<string, Resource[]>()
  private readonly keys = new Map<string, Row>()
  private readonly ends = new Map<string, EndedRun>()

  static async of(steps: readonly Step[], results: readonly (readonly Row[])[], shapes: Shapes): Promise<Facts> {
    const facts = new Facts()
    for (let i = 0; i < steps.length; i++) {
      await facts.take(steps[i]!.name as keyof typeof loadStatements, results[i]!, shapes)
    }
    return facts
  }

  answer(ask: Ask): Answer {
    switch (ask.ask) {
      case 'resource':
        return this.byNo.get(ask.no) ?? null
      case 'named': {
        const no = numberOfGeneratedId(ask.id)
        if (no === null) return this.byName.get(pairOf(ask.type, ask.id)) ?? null
        const found = this.byNo.get(no)
        return found?.type === ask.type && found.id === ask.id ? found : null
      }
      case 'children':
        return this.families.get(`${ask.no}`) ?? []
      case 'linkedBy':
        return this.families.get(pairOf(ask.no, toText(ask.link))) ?? []
      case 'key':
        return this.keyRecord(ask.key)
      case 'endedRun':
        return this.ends.get(pairOf(ask.no, ask.begun)) ?? null
      default:
        return unreachable(ask)
    }
  }

  private keyRecord(key: string): KeyRecord | null {
    const row = this.keys.get(toText(key))
    return row === undefined ? null : keyRecordOf(key, row)
  }

  private async take(name: keyof typeof loadStatements, rows: readonly Row[], shapes: Shapes): Promise<void> {
    switch (name) {
      case 'byNo':
        for (const resource of await resourcesOf(rows, shapes)) this.byNo.set(resource.no, resource)
        return
      case 'byName':
        for (const [i, resource] of (await resourcesOf(rows, shapes, 1)).entries()) {
          const named = typed(resource, fromText(rows[i]![0]!))
          this.byName.set(pairOf(named.type, named.id), named)
        }
        return
      case 'children':
      case 'linkedBy': {
        const lead = name === 'children' ? 1 : 2
        const members = await resourcesOf(rows, shapes, lead)
        for (let i = 0; i < rows.length; i++) {
          const family = rows[i]!.slice(0, lead).join(' ')
          const list = this.families.get(family)
          if (list === undefined) this.families.set(family, [members[i]!])
          else list.push(members[i]!)
        }
        return
      }
      case 'keys':
        for (const row of rows) this.keys.set(row[0]!, row.slice(1))
        return
      case 'ended':
        for (const [no, begun, body] of rows) {
          const run = endOfRow(no!, body ?? null)
          if (run !== null) this.ends.set(pairOf(no!, begun!), run)
        }
        return
      default:
        unreachable(name)
    }
  }
}
