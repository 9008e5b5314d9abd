// Everything that a batch writes, as columns for statements: one parameter for each column, however many rows there are.
import { arrayOf, Column, type Cell, type ColumnType } from './column.ts'
import type { Value } from './frame.ts'

type Spec = Readonly<Record<string, ColumnType>>

/** `was` and `fence`: the revision and epoch that are expected; `by` and `raised`: by how much they grow. */
const step = {
  no: 'int8',
  was: 'int4',
  by: 'int4',
  fence: 'int4',
  shape: 'int4',
  since: 'float8',
  seq: 'int4',
  due: 'float8',
  overdue: 'float8',
  rest: 'text',
} as const satisfies Spec
const change = {
  no: 'int8',
  was: 'int4',
  by: 'int4',
  fence: 'int4',
  raised: 'int4',
  shape: 'int4',
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
} as const satisfies Spec

/**
 * Columns by name, with their types. The first tells rows apart and is never null. What is stored depends on the statements, not on
 * these: they may change.
 */
export const specs = {
  steps: step,
  /** A step that also changes what there seldom is. */
  ledgerSteps: { ...step, wake: 'float8', orphans: 'int4', extra: 'text' },
  /** Whatever else changes a state; apart from it where no run is left: then most columns are the same in all rows. */
  changes: change,
  ends: change,
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
  tally: { shape: 'int4', more: 'int8' },
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

/** The rows of a part as `v`, its parameters from the given number on: one for the first column, two for each other. */
export function rowsOf(part: Part, from = 1): string {
  const columns = Object.entries(specs[part] as Spec)
  const arrays = columns.map(([, type], i) => arrayOf(type, i === 0 ? from : from + 2 * i - 1))
  const names = columns.map(([name]) => name)
  const values = columns.map(([name, type], i) =>
    i === 0 ? `u.${name}` : `coalesce(u.${name}, $${from + 2 * i}::${type}) as ${name}`,
  )
  return `(select ${values.join(', ')} from unnest(${arrays.join(', ')}) u(${names.join(', ')})) v`
}

/** How many parameters it has. */
export const widthOf = (part: Part): number => 2 * Object.keys(specs[part]).length - 1

/** One part of a sheet. Texts are never '': what may be is put through `toText`. */
export class Columns {
  private readonly columns: readonly Column[]

  constructor(part: Part) {
    this.columns = Object.values(specs[part] as Spec).map((type) => new Column(type))
  }

  get count(): number {
    return this.columns[0]!.count
  }

  push(...values: readonly Cell[]): void {
    for (let i = 0; i < values.length; i++) this.columns[i]!.add(values[i]!)
  }

  get values(): Value[] {
    const values: Value[] = []
    for (let i = 0; i < this.columns.length; i++) {
      const column = this.columns[i]!
      if (i === 0) values.push(column.asArray())
      else column.putInto(values)
    }
    return values
  }
}

/** The parameters of a part that has no rows. */
export const noRows = (part: Part): Value[] => new Columns(part).values

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
