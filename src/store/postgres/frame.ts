// What is sent to the server, written straight into one buffer: a Parse for each statement that it does not know yet, a Bind and an
// Execute for each, one Sync. Numbers go in their binary form, which costs both sides less than half of what digits cost; texts are
// joined (texts.ts).
import { Defect } from '../../base/assert.ts'

/** A parameter that writes itself in binary form, its length included. */
export interface Parameter {
  writeTo(frame: Frame): void
}

/** A text, null, or what knows its own form. */
export type Value = string | null | Parameter

const startBytes = 1 << 16
/** A buffer that has grown beyond this is not kept for the next use. */
const keptBytes = 1 << 22
const two32 = 2 ** 32

const parse = 0x50
const bind = 0x42
const execute = 0x45
const sync = 0x53
const textForm = 0
const binaryForm = 1

export class Frame {
  #bytes = Buffer.allocUnsafeSlow(startBytes)
  #view = new DataView(this.#bytes.buffer)
  #at = 0
  /** What comes before this was taken to be sent. */
  #taken = 0

  /** Whatever was in it is over. */
  begin(): void {
    this.#at = this.#taken = 0
    if (this.#bytes.length > keptBytes) this.#take(Buffer.allocUnsafeSlow(startBytes))
  }

  /** A statement to be remembered under a name; the types of its parameters are in its text. */
  parse(name: string, text: string): void {
    this.#room(16 + (name.length + text.length) * 3)
    const from = this.#message(parse)
    this.#at += this.#bytes.write(name, this.#at)
    this.#byte(0)
    this.#at += this.#bytes.write(text, this.#at)
    this.#byte(0)
    this.#int16(0)
    this.#end(from)
  }

  /** A statement with its values, and its carrying-out. */
  statement(name: string, values: readonly Value[]): void {
    this.#room(64 + name.length * 3 + values.length * 2)
    const from = this.#message(bind)
    // Without a name: the portal is gone with the next.
    this.#byte(0)
    this.#at += this.#bytes.write(name, this.#at)
    this.#byte(0)
    this.#int16(values.length)
    for (const value of values) this.#int16(value === null || typeof value === 'string' ? textForm : binaryForm)
    this.#int16(values.length)
    for (const value of values) {
      if (value === null) this.nothing()
      else if (typeof value === 'string') this.text(value)
      else value.writeTo(this)
    }
    this.#room(32)
    // The rows come as texts.
    this.#int16(0)
    this.#end(from)
    const executing = this.#message(execute)
    this.#byte(0)
    this.#view.setInt32(this.#at, 0)
    this.#at += 4
    this.#end(executing)
  }

  /** What is to be sent and was not taken yet. It stays as it is until the frame begins anew. */
  take(): Buffer {
    const from = this.#taken
    this.#taken = this.#at
    return this.#bytes.subarray(from, this.#at)
  }

  /** The end of the transaction; what is left to be sent. */
  finish(): Buffer {
    this.#room(8)
    this.#end(this.#message(sync))
    return this.take()
  }

  nothing(): void {
    this.#room(4)
    this.#view.setInt32(this.#at, -1)
    this.#at += 4
  }

  text(text: string): void {
    // No character takes more than three bytes for each of its units.
    this.#room(4 + text.length * 3)
    const length = this.#bytes.write(text, this.#at + 4)
    this.#view.setInt32(this.#at, length)
    this.#at += 4 + length
  }

  /** The head of an array; its elements follow, each with its length. Answers where it begins: `endArray` is told. */
  beginArray(element: number, count: number, hasNull: boolean): number {
    this.#room(24 + count * 12)
    const from = this.#at
    const view = this.#view
    view.setInt32(from + 4, count === 0 ? 0 : 1)
    view.setInt32(from + 8, hasNull ? 1 : 0)
    view.setInt32(from + 12, element)
    this.#at = from + 16
    if (count === 0) return from
    view.setInt32(from + 16, count)
    view.setInt32(from + 20, 1)
    this.#at = from + 24
    return from
  }

  endArray(from: number): void {
    this.#view.setInt32(from, this.#at - from - 4)
  }

  int4(value: number): void {
    this.#room(8)
    this.#at = this.#putInt4(this.#at, value)
  }

  int8(value: number): void {
    this.#room(12)
    this.#at = this.#putInt8(this.#at, value)
  }

  float8(value: number): void {
    this.#room(12)
    this.#at = this.#putFloat8(this.#at, value)
  }

  /** All elements of an array; there is room for them since it was begun. */
  int4s(values: readonly (number | null)[]): void {
    let at = this.#at
    for (const value of values) at = value === null ? this.#putNothing(at) : this.#putInt4(at, value)
    this.#at = at
  }

  int8s(values: readonly (number | null)[]): void {
    let at = this.#at
    for (const value of values) at = value === null ? this.#putNothing(at) : this.#putInt8(at, value)
    this.#at = at
  }

  float8s(values: readonly (number | null)[]): void {
    let at = this.#at
    for (const value of values) at = value === null ? this.#putNothing(at) : this.#putFloat8(at, value)
    this.#at = at
  }

  #putNothing(at: number): number {
    this.#view.setInt32(at, -1)
    return at + 4
  }

  #putInt4(at: number, value: number): number {
    // Said only when it is so: to make a text of every number would cost more than to send it.
    if ((value | 0) !== value) throw new Defect(`${value} is no number of four bytes`)
    this.#view.setInt32(at, 4)
    this.#view.setInt32(at + 4, value)
    return at + 8
  }

  #putInt8(at: number, value: number): number {
    if (!Number.isSafeInteger(value)) throw new Defect(`${value} is no whole number`)
    this.#view.setInt32(at, 8)
    this.#view.setInt32(at + 4, Math.floor(value / two32))
    this.#view.setUint32(at + 8, value >>> 0)
    return at + 12
  }

  #putFloat8(at: number, value: number): number {
    this.#view.setInt32(at, 8)
    this.#view.setFloat64(at + 4, value)
    return at + 12
  }

  #message(kind: number): number {
    this.#byte(kind)
    const from = this.#at
    this.#at += 4
    return from
  }

  #end(from: number): void {
    this.#view.setInt32(from, this.#at - from)
  }

  #byte(value: number): void {
    this.#bytes[this.#at++] = value
  }

  #int16(value: number): void {
    this.#view.setInt16(this.#at, value)
    this.#at += 2
  }

  #room(more: number): void {
    const needed = this.#at + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#take(larger)
  }

  #take(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer)
  }
}
