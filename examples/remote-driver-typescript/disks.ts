// disks.ts: the real world of this driver. One file per disk, named by its ledger name; a log of what was really done.
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'

export class Disks {
  readonly #folder: string
  readonly #log: string

  constructor(folder: string) {
    this.#folder = join(folder, 'disks')
    this.#log = join(folder, 'effects.log')
    mkdirSync(this.#folder, { recursive: true })
  }

  #path(name: string): string {
    return join(this.#folder, encodeURIComponent(name))
  }

  isThere(name: string): boolean {
    return existsSync(this.#path(name))
  }

  make(name: string): void {
    if (this.isThere(name)) return
    closeSync(openSync(this.#path(name), 'wx'))
    this.note(`made ${name}`)
  }

  remove(name: string): void {
    if (!this.isThere(name)) return
    rmSync(this.#path(name))
    this.note(`removed ${name}`)
  }

  size(name: string): number {
    return statSync(this.#path(name)).size
  }

  addBlock(name: string): void {
    appendFileSync(this.#path(name), 'x')
  }

  resize(name: string, size: number): void {
    truncateSync(this.#path(name), size)
    this.note(`resized ${name} ${size}`)
  }

  names(): string[] {
    return readdirSync(this.#folder).map(decodeURIComponent).toSorted()
  }

  note(line: string): void {
    appendFileSync(this.#log, `${line}\n`)
  }
}
