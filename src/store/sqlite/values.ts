// Rows of one kind, one after another, as plain numbers and texts: a busy store writes hundreds of thousands of values a second,
// and a list of mixed values would make an object of nearly every number.
import type { SQLInputValue } from 'node:sqlite'
import { assert } from '../../base/assert.ts'

const noNumbers = new Float64Array(0)
const firstRoom = 256
/** More room than this is not kept for the next batch. */
const keptRoom = 65_536
const text = 't'
export const again = -1

export class Values {
  readonly width: number
  /** Where in a row texts are. */
  readonly textPlaces: readonly number[]
  /** A number, or how long a text is; NaN: null; `again`: the text that was last written so that it may be repeated. */
  numbers = noNumbers
  /** Those that are not null, in their order. */
  texts: string[] = []
  /** Of values, not of rows. */
  length = 0
  private readonly isText: readonly boolean[]
  private repeated: string | null = null

  /** What a row is made of, a letter for each value: n is a number, t a text. */
  constructor(columns: string) {
    this.width = columns.length
    this.isText = Array.from(columns, (column) => column === text)
    this.textPlaces = this.isText.flatMap((isText, place) => (isText ? [place] : []))
  }

  get rows(): number {
    return this.length / this.width
  }

  clear(): void {
    this.length = 0
    this.repeated = null
    if (this.texts.length > 0) this.texts = []
    if (this.numbers.length > keptRoom) this.numbers = noNumbers
  }

  /** Comes before the values of a row. */
  row(): void {
    if (this.length + this.width > this.numbers.length) this.grow()
  }

  number(value: number): void {
    this.numbers[this.length++] = value
  }

  numberOrNull(value: number | null): void {
    this.numbers[this.length++] = value === null ? Number.NaN : value
  }

  text(value: string): void {
    this.numbers[this.length++] = value.length
    this.texts.push(value)
  }

  /** For a text that is mostly the one of the row before. Only one column of a list may be so, and it is never null. */
  repeatable(value: string): void {
    if (value === this.repeated) this.numbers[this.length++] = again
    else {
      this.repeated = value
      this.text(value)
    }
  }

  textOrNull(value: string | null): void {
    if (value === null) this.numbers[this.length++] = Number.NaN
    else this.text(value)
  }

  reader(): ValuesReader {
    assert(this.length % this.width === 0, 'a row is not whole')
    return new ValuesReader(this, this.isText)
  }

  private grow(): void {
    const wider = new Float64Array(Math.max(firstRoom, 2 * this.numbers.length, this.length + this.width))
    wider.set(this.numbers)
    this.numbers = wider
  }
}

/** Goes through the rows once, from the first to the last. */
export class ValuesReader {
  /** Rows that are not read yet. */
  left: number
  private readonly values: Values
  private readonly isText: readonly boolean[]
  private at = 0
  private textAt = 0

  constructor(values: Values, isText: readonly boolean[]) {
    this.values = values
    this.isText = isText
    this.left = values.rows
  }

  /** The values of the next rows, in one list. */
  take(rows: number): SQLInputValue[] {
    const { numbers, texts, width } = this.values
    const { isText } = this
    const taken = Array<SQLInputValue>(rows * width)
    let { at, textAt } = this
    for (let row = 0, next = 0; row < rows; row++) {
      for (let place = 0; place < width; place++, at++) {
        const number = numbers[at]!
        taken[next++] = number !== number ? null : isText[place] ? texts[textAt++]! : number
      }
    }
    this.at = at
    this.textAt = textAt
    this.left -= rows
    return taken
  }
}
