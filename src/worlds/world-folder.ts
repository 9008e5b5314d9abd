// The folder of a local world: where what is kept, names of files, and writes that happen at once or not at all. They survive a
// kill -9 at any moment; nothing is forced to the disk, so they are not promised to survive a power cut.
import { createHash } from 'node:crypto'
import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../base/random.ts'
import { isHolderAlive, ownName } from './lock-file.ts'

const parts = ['things', 'locks', 'epochs', 'closed', 'faults', 'past', 'half-done'] as const

/** Longer parts of names are shortened, so that every name is a file name. */
const readableAtMost = 90

export class WorldFolder {
  readonly path: string
  /** Of this world and no other: its processes carry it. */
  readonly id: string

  constructor(path: string, random: Random) {
    this.path = path
    // Above it is the data folder as a rule, which holds secrets and may not be there yet: it is for its owner alone.
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const strangers = readdirSync(path)
    if (strangers.length > 0 && !strangers.includes('world.json') && !strangers.includes('half-done'))
      throw new Error(`${path} is not empty and no world: choose another folder`)
    for (const part of parts) mkdirSync(join(path, part), { recursive: true })
    this.id = this.#openId(random)
    this.#tidy()
  }

  file(part: (typeof parts)[number], name: string): string {
    return join(this.path, part, fileName(name))
  }

  entries(part: (typeof parts)[number]): string[] {
    return readdirSync(join(this.path, part))
  }

  /** A path at which to prepare what is then moved to its place. */
  halfDone(): string {
    return join(this.path, 'half-done', ownName())
  }

  write(path: string, text: string): void {
    const prepared = this.halfDone()
    writeFileSync(prepared, text)
    renameSync(prepared, path)
  }

  remove(path: string): void {
    const leaving = this.halfDone()
    renameSync(path, leaving)
    rmSync(leaving, { recursive: true })
  }

  /** Who comes first gives the world its id. */
  #openId(random: Random): string {
    const path = join(this.path, 'world.json')
    if (read(path) === null) {
      const prepared = this.halfDone()
      writeFileSync(prepared, JSON.stringify({ id: random.uuid().replaceAll('-', '').slice(-12) }))
      try {
        linkSync(prepared, path)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
      rmSync(prepared)
    }
    return (JSON.parse(read(path)!) as { id: string }).id
  }

  /** What a killed process was preparing or removing. */
  #tidy(): void {
    for (const entry of this.entries('half-done'))
      if (!isHolderAlive(entry)) rmSync(join(this.path, 'half-done', entry), { recursive: true, force: true })
  }
}

/** The text of a file; null when there is none. */
export function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Different for different names; what is part of a name begins with the name's. */
export const fileName = (name: string): string =>
  name
    .split('/')
    .map((part) => {
      const text = encodeURIComponent(part.toWellFormed()).replace(/^\./, '%2E')
      // One that looks as if it were shortened could be that of another name.
      if (text.length <= readableAtMost && part.isWellFormed() && !/~[0-9a-f]{16}$/.test(text)) return text
      return `${text.slice(0, readableAtMost - 17)}~${createHash('sha256').update(part, 'utf16le').digest('hex').slice(0, 16)}`
    })
    .join('+')
