// The values of one column of many rows, as a parameter of a statement: an array, or where all are the same, as most are, the value itself.
import { unreachable } from '../../base/assert.ts'
import type { Frame, Parameter, Value } from './frame.ts'
import { textsFrom, textsOf } from './texts.ts'

export type ColumnType = 'int8' | 'int4' | 'float8' | 'text'
export type Cell = number | string | null

/** The numbers that PostgreSQL has given to its types. */
const elements = { int8: 20, int4: 23, float8: 701 } as const

export class Column {
  readonly type: ColumnType
  count = 0
  #first: Cell = null
  /** Null: all are as the first. */
  #all: Cell[] | null = null

  constructor(type: ColumnType) {
    this.type = type
  }

  add(value: Cell): void {
    const n = this.count++
    if (this.#all !== null) this.#all.push(value)
    else if (n === 0) this.#first = value
    else if (value !== this.#first) this.#differ(n, value)
  }

  /** Not all rows have the same. */
  get varies(): boolean {
    return this.#all !== null
  }

  asArray(): Value {
    return arrayFrom(this.type, this.#all ?? Array.from({ length: this.count }, () => this.#first))
  }

  /** What all rows have. */
  asOne(): Value {
    if (this.#first === null || this.type === 'text') return this.#first as string | null
    return new Scalar(this.type, this.#first as number)
  }

  #differ(n: number, value: Cell): void {
    const all: Cell[] = []
    for (let i = 0; i < n; i++) all.push(this.#first)
    all.push(value)
    this.#all = all
  }
}

function arrayFrom(type: ColumnType, values: readonly Cell[]): Value {
  return type === 'text'
    ? textsFrom(values as readonly (string | null)[])
    : new Numbers(type, values as readonly (number | null)[])
}

/** The SQL of the array of a column, as a parameter. */
export const arrayOf = (type: ColumnType, parameter: number): string =>
  type === 'text' ? textsOf(parameter) : `$${parameter}::${type}[]`

type NumberType = Exclude<ColumnType, 'text'>

class Scalar implements Parameter {
  readonly #type: NumberType
  readonly #value: number

  constructor(type: NumberType, value: number) {
    this.#type = type
    this.#value = value
  }

  writeTo(frame: Frame): void {
    frame[this.#type](this.#value)
  }
}

class Numbers implements Parameter {
  readonly #type: NumberType
  readonly #values: readonly (number | null)[]

  constructor(type: NumberType, values: readonly (number | null)[]) {
    this.#type = type
    this.#values = values
  }

  writeTo(frame: Frame): void {
    const values = this.#values
    const from = frame.beginArray(elements[this.#type], values.length, values.includes(null))
    switch (this.#type) {
      case 'int8':
        frame.int8s(values)
        break
      case 'int4':
        frame.int4s(values)
        break
      case 'float8':
        frame.float8s(values)
        break
      default:
        unreachable(this.#type)
    }
    frame.endArray(from)
  }
}
