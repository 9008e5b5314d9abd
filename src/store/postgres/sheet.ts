// Everything that a batch writes, as columns for statements: one parameter for each column, however many rows there are.
import { arrayOf, Column, type Cell, type ColumnType } from './column.ts'
import type { Value } from './frame.ts'
import type { Step } from './pipeline.ts'

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
/** What a state is, at rest too. */
const resting = {
  shape: 'int4',
  since: 'float8',
  seq: 'int4',
  wake: 'float8',
  orphans: 'int4',
  extra: 'text',
} as const satisfies Spec
const running = {
  owner: 'int8',
  lane: 'int4',
  due: 'float8',
  overdue: 'float8',
  run: 'text',
  rest: 'text',
} as const satisfies Spec
const change = {
  no: 'int8',
  was: 'int4',
  by: 'int4',
  fence: 'int4',
  raised: 'int4',
  ...resting,
} as const satisfies Spec

/**
 * Columns by name, with their types. The first tells rows apart and is never null. What is stored depends on the statements, not on
 * these: they may change.
 */
const specs = {
  steps: step,
  /** A step that also changes what there seldom is. */
  ledgerSteps: { ...step, wake: 'float8', orphans: 'int4', extra: 'text' },
  /** Whatever else changes a state: one that is and stays live, comes to be live, comes to rest (for the first time or again), stays at rest. */
  changes: { ...change, ...running },
  begins: { ...change, ...running },
  firstEnds: change,
  ends: change,
  rests: change,
  newLive: { no: 'int8', revision: 'int4', epoch: 'int4', ...resting, ...running },
  newSettled: { no: 'int8', revision: 'int4', epoch: 'int4', ...resting },
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

/** How the rows of a part come to a statement. */
export interface Form {
  /** What the names of its statements end with. */
  readonly mark: string
  /** The rows of a part as `v`, its parameters from the given number on. */
  readonly rowsOf: (part: Part, from?: number) => string
  /** How many parameters it has. */
  readonly widthOf: (part: Part) => number
}

/** However many rows there are: an array for the first column, two parameters for each other (see column.ts). */
const many: Form = {
  mark: '',
  rowsOf(part, from = 1) {
    const columns = Object.entries(specs[part] as Spec)
    const arrays = columns.map(([, type], i) => arrayOf(type, i === 0 ? from : from + 2 * i - 1))
    const names = columns.map(([name]) => name)
    const values = columns.map(([name, type], i) =>
      i === 0 ? `u.${name}` : `coalesce(u.${name}, $${from + 2 * i}::${type}) as ${name}`,
    )
    // Not `from unnest(...)`: that puts every column into a store of its own first (5 % of what the server does for an operation).
    const lists = names.map((name, i) => `unnest(${arrays[i]}) as ${name}`)
    return `(select ${values.join(', ')} from (select ${lists.join(', ')}) u) v`
  },
  widthOf: (part) => 2 * Object.keys(specs[part]).length - 1,
}

/** A single row: a plain parameter for each column. The server has less to do than with arrays: a step takes 0.33 ms instead of 0.40. */
const one: Form = {
  mark: ' of one',
  rowsOf(part, from = 1) {
    const columns = Object.entries(specs[part] as Spec)
    return `(select ${columns.map(([name, type], i) => `$${from + i}::${type} as ${name}`).join(', ')}) v`
  },
  widthOf: (part) => Object.keys(specs[part]).length,
}

export const forms = { many, one } as const

/** The form for these parts in one statement. */
export const formFor = (...parts: readonly Columns[]): Form => (parts.every(({ count }) => count === 1) ? one : many)

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

  /** The parameters, for a statement of this form. */
  values(form: Form): Value[] {
    if (form === one) return this.columns.map((column) => column.asOne())
    const values: Value[] = []
    for (let i = 0; i < this.columns.length; i++) {
      const column = this.columns[i]!
      if (i === 0) values.push(column.asArray())
      else column.putInto(values)
    }
    return values
  }
}

/** A part as a statement that is carried out, with what comes after its columns. */
export function stepOf(name: string, columns: Columns, ...after: readonly string[]): Step {
  const form = formFor(columns)
  const values = columns.values(form)
  values.push(...after)
  return { name: name + form.mark, values }
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
