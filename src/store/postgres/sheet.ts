// Everything that a batch writes, as columns for statements: one parameter for each column, however many rows there are. A statement has a
// form for each choice of columns that differ from row to row: to unpack what is the same in all would cost the server as much as the rest.
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

/** Which columns of its parts a statement takes as arrays, as bits in the order of the columns. */
type Varying = Readonly<Partial<Record<Part, number>>>

/** How the rows of parts come to a statement: some columns as arrays, and what is the same in all rows as it is. */
export class Form {
  /** What the names of its statements end with. */
  readonly mark: string
  private readonly varying: Varying

  constructor(varying: Varying) {
    this.varying = varying
    this.mark = Object.values(varying)
      .map((bits) => ` ${bits.toString(36)}`)
      .join('')
  }

  /** The rows of a part as `v`, its parameters from the given number on. */
  readonly rowsOf = (part: Part, from = 1): string => {
    const columns = Object.entries(specs[part] as Spec)
    const isArray = (i: number) => (((this.varying[part] ?? 0) >> i) & 1) === 1
    const values = columns.map(([name, type], i) => (isArray(i) ? `u.${name}` : `$${from + i}::${type} as ${name}`))
    // Not `from unnest(...)`: that puts every column into a store of its own first (5 % of what the server does for an operation).
    const lists = columns.flatMap(([name, type], i) =>
      isArray(i) ? [`unnest(${arrayOf(type, from + i)}) as ${name}`] : [],
    )
    return `(select ${values.join(', ')}${lists.length === 0 ? '' : ` from (select ${lists.join(', ')}) u`}) v`
  }

  /** How many parameters it has. */
  readonly widthOf = (part: Part): number => Object.keys(specs[part]).length

  /** Puts the parameters of a part behind those that are there. */
  putValues({ part, all }: Columns, into: Value[]): void {
    const bits = this.varying[part] ?? 0
    for (let i = 0; i < all.length; i++) into.push(((bits >> i) & 1) === 1 ? all[i]!.asArray() : all[i]!.asOne())
  }
}

/** Each connection keeps what it was told of: a part has so many forms at most. */
const formsMost = 16
/** Those of each part that were needed, the one for a single row among them. */
const known = new Map<Part, readonly number[]>()

/** The form for these parts in one statement. */
export const formFor = (...parts: readonly Columns[]): Form =>
  new Form(Object.fromEntries(parts.map((columns) => [columns.part, arraysOf(columns)])))

/** Where there are enough forms already, another does it too, with arrays of what need not be one. */
export function arraysOf({ part, varying, all }: Pick<Columns, 'part' | 'varying' | 'all'>): number {
  const forms = known.get(part) ?? [0]
  if (forms.includes(varying)) return varying
  if (forms.length < formsMost) {
    known.set(part, [...forms, varying])
    return varying
  }
  let fewest = 2 ** all.length - 1
  for (const bits of forms) if ((bits & varying) === varying && onesIn(bits) < onesIn(fewest)) fewest = bits
  return fewest
}

function onesIn(bits: number): number {
  let ones = 0
  for (let left = bits; left > 0; left &= left - 1) ones++
  return ones
}

/** One part of a sheet. Texts are never '': what may be is put through `toText`. */
export class Columns {
  readonly part: Part
  readonly all: readonly Column[]

  constructor(part: Part) {
    this.part = part
    this.all = Object.values(specs[part] as Spec).map((type) => new Column(type))
  }

  get count(): number {
    return this.all[0]!.count
  }

  push(...values: readonly Cell[]): void {
    for (let i = 0; i < values.length; i++) this.all[i]!.add(values[i]!)
  }

  /** Which columns differ from row to row, as bits. The first tells how many rows there are. */
  get varying(): number {
    if (this.count === 1) return 0
    let bits = 1
    for (let i = 1; i < this.all.length; i++) if (this.all[i]!.varies) bits |= 1 << i
    return bits
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
