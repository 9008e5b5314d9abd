// The real world of the crash tests: a folder of files that outlives every process, and an append-only log of what drivers did.
// Written by worker processes, counted from outside.
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

export interface Effect {
  /** The process that made the call. */
  readonly pid: number
  readonly function: string
  readonly key: string
  readonly id: string
  readonly attempt: number
  readonly epoch: number
  readonly at: number
}

const fileName = (name: string): string => name.replaceAll('/', ',')

export class World {
  readonly #things: string
  readonly #payments: string
  readonly #gates: string
  readonly #log: string

  constructor(folder: string) {
    this.#things = join(folder, 'things')
    this.#payments = join(folder, 'payments')
    this.#gates = join(folder, 'gates')
    this.#log = join(folder, 'effects.log')
    for (const one of [this.#things, this.#payments, this.#gates]) mkdirSync(one, { recursive: true })
  }

  // Things: one file per name of the ledger.

  make(name: string): void {
    writeFileSync(this.#thing(name), '')
  }

  fill(name: string, size: number): void {
    writeFileSync(this.#thing(name), 'x'.repeat(size))
  }

  /** Not repeatable, on purpose: done twice, the size is wrong. */
  extend(name: string, by: number): void {
    appendFileSync(this.#thing(name), 'x'.repeat(by))
  }

  sizeOf(name: string): number | null {
    const file = this.#thing(name)
    return existsSync(file) ? statSync(file).size : null
  }

  remove(name: string): void {
    rmSync(this.#thing(name), { force: true })
  }

  things(): string[] {
    return readdirSync(this.#things).map((name) => name.replaceAll(',', '/'))
  }

  #thing(name: string): string {
    return join(this.#things, fileName(name))
  }

  // Payments: made at most once per key, checked by whoever takes the money.

  /** True when this call made it, false when it was there. */
  pay(id: string, key: string): boolean {
    try {
      writeFileSync(join(this.#payments, `${id};${fileName(key)}`), '', { flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw error
    }
  }

  refund(id: string): void {
    for (const file of this.paymentsOf(id)) rmSync(join(this.#payments, file), { force: true })
  }

  paymentsOf(id: string): string[] {
    return readdirSync(this.#payments).filter((file) => file.startsWith(`${id};`))
  }

  // Gates: a call that is held waits until its gate is opened from outside.

  /** For every process, or for one alone. */
  open(id: string, pid?: number): void {
    writeFileSync(join(this.#gates, pid === undefined ? id : `${id}@${pid}`), '')
  }

  isOpen(id: string): boolean {
    return existsSync(join(this.#gates, id)) || existsSync(join(this.#gates, `${id}@${process.pid}`))
  }

  // The log: one line per call that began; whole lines, since a short append is one write.

  record(effect: Effect): void {
    appendFileSync(this.#log, `${JSON.stringify(effect)}\n`)
  }

  effects(): Effect[] {
    if (!existsSync(this.#log)) return []
    return readFileSync(this.#log, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Effect)
  }
}
