// Everything that a batch writes, as columns for statements: one parameter for each column, however many rows there are.
import { Numbers, Texts, textsOf } from './texts.ts'

type Type = 'int8' | 'int4' | 'float8' | 'text'
type Spec = Readonly<Record<string, Type>>

/** Columns by name, with their types. What is stored depends on the statements, not on these: they may change. */
export const specs = {
  steps: {
    no: 'int8',
    was: 'int4',
    epoch: 'int4',
    shape: 'int4',
    revision: 'int4',
    since: 'float8',
    seq: 'int4',
    due: 'float8',
    overdue: 'float8',
    rest: 'text',
  },
  changes: {
    no: 'int8',
    was: 'int4',
    fence: 'int4',
    shape: 'int4',
    revision: 'int4',
    epoch: 'int4',
    since: 'float8',
    seq: 'int4',
    owner: 'int8',
    lane: 'int4',
    due: 'float8',
    overdue: 'float8',
    wake: 'float8',
    settled: 'int4',
    orphans: 'int4',
    run: 'text',
    rest: 'text',
    extra: 'text',
  },
  newStates: {
    no: 'int8',
    shape: 'int4',
    revision: 'int4',
    epoch: 'int4',
    since: 'float8',
    seq: 'int4',
    owner: 'int8',
    lane: 'int4',
    due: 'float8',
    overdue: 'float8',
    wake: 'float8',
    settled: 'int4',
    orphans: 'int4',
    run: 'text',
    rest: 'text',
    extra: 'text',
  },
  newResources: {
    no: 'int8',
    type: 'text',
    id: 'text',
    parent: 'int8',
    terminal: 'int4',
    tenant: 'text',
    name: 'text',
    created: 'float8',
    properties: 'text',
    links: 'text',
  },
  coldChanges: {
    no: 'int8',
    parent: 'int8',
    terminal: 'int4',
    tenant: 'text',
    name: 'text',
    properties: 'text',
    links: 'text',
  },
  linkDeletes: { target: 'int8', name: 'text', source: 'int8' },
  newLinks: { target: 'int8', name: 'text', source: 'int8' },
  keys: { key: 'text', hash: 'text', no: 'int8', begun: 'int4', at: 'float8' },
  late: { no: 'int8', body: 'text' },
  incidents: { no: 'int8', kind: 'text', body: 'text' },
  newRecords: { kind: 'text', key: 'text', value: 'text' },
  recordChanges: { kind: 'text', key: 'text', was: 'int4', value: 'text' },
  recordDeletes: { kind: 'text', key: 'text', was: 'int4' },
  absentRecords: { kind: 'text', key: 'text' },
  journal: { place: 'int8', value: 'text', shown: 'text' },
  events: { place: 'int8', body: 'text' },
  runs: { no: 'int8', begun: 'int4', place: 'int8', body: 'text' },
  revisions: { no: 'int8', revision: 'int4' },
  childMembers: { parent: 'int8', no: 'int8' },
  parents: { no: 'int8' },
  linkMembers: { target: 'int8', name: 'text', source: 'int8' },
  linkTargets: { target: 'int8', name: 'text' },
  absentIds: { id: 'text', type: 'text' },
  absentNos: { no: 'int8', type: 'text' },
} as const satisfies Record<string, Spec>

export type Part = keyof typeof specs

/** `unnest(...) v(...)` of a part, its parameters from the given number on. */
export function rowsOf(part: Part, from = 1): string {
  const spec: Spec = specs[part]
  const columns = Object.values(spec).map((type, i) =>
    type === 'text' ? textsOf(from + i) : `$${from + i}::${type}[]`,
  )
  return `unnest(${columns.join(', ')}) v(${Object.keys(spec).join(', ')})`
}

export const widthOf = (part: Part): number => Object.keys(specs[part]).length

/** One part of a sheet. Texts are never '': what may be is put through `toText`. */
export class Columns {
  private readonly columns: readonly (Numbers | Texts)[]
  count = 0

  constructor(part: Part) {
    this.columns = Object.values(specs[part] as Spec).map((type) => (type === 'text' ? new Texts() : new Numbers()))
  }

  push(...values: readonly (number | string | null)[]): void {
    for (let i = 0; i < values.length; i++) this.columns[i]!.push(values[i] as never)
    this.count++
  }

  get values(): string[] {
    return this.columns.map((column) => column.value)
  }
}

export class Sheet {
  private readonly parts = new Map<Part, Columns>()

  /** For writing. */
  of(part: Part): Columns {
    let columns = this.parts.get(part)
    if (columns === undefined) {
      columns = new Columns(part)
      this.parts.set(part, columns)
    }
    return columns
  }

  /** Null: it has no rows. */
  find(part: Part): Columns | null {
    return this.parts.get(part) ?? null
  }
}
