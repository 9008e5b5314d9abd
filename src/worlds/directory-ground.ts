// A ground of real things: each has a folder with its record (thing.json), its storage (data, a sparse file of its real size) and
// its links (symbolic links to the folders of others); what runs is a process. What can be seen is believed, not what is recorded:
// the size is the file's, the power is the process's.
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { pause, type Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json.ts'
import type { Random } from '../base/random.ts'
import type { Done, Ground, Kept } from './ground.ts'
import { tryLock, unlock } from './lock-file.ts'
import { endProcess, findProcesses, pauseProcess, resumeProcess, startProcess, stateOf } from './process-table.ts'
import type { ProcessId } from './process-table.ts'
import type { Power, Thing, Truth } from './world.ts'
import { fileName, read, type WorldFolder } from './world-folder.ts'

/** What thing.json holds. */
interface Stored {
  readonly kind: string
  readonly name: string
  readonly resource: string
  readonly properties: JsonObject
  /** Names of the links, in order; those that are there no more or not yet may be among them. */
  readonly links: readonly string[]
  /** `starting`: somebody was about to start it; the process table tells whether it came to be. */
  readonly process: ProcessId | 'starting' | null
  readonly done: readonly Done[]
}

/** So long others are waited for: a machine that is busy may let a holder wait for seconds. */
const busyMs = 30_000

export class DirectoryGround implements Ground {
  readonly #folder: WorldFolder
  readonly #clock: Clock
  readonly #random: Random

  constructor(folder: WorldFolder, clock: Clock, random: Random) {
    this.#folder = folder
    this.#clock = clock
    this.#random = random
  }

  /** Sections do not wait for anything, so only other processes are ever in the way. */
  async exclusively<T>(names: readonly string[], signal: AbortSignal | undefined, section: () => T): Promise<T> {
    const wanted = [...new Set(names)].map((name) => this.#folder.file('locks', name))
    const from = this.#clock.monotonic()
    for (;;) {
      const held: string[] = []
      try {
        if (wanted.every((path) => tryLock(path) && held.push(path) > 0)) return section()
      } finally {
        held.forEach(unlock)
      }
      if (this.#clock.monotonic() - from > busyMs)
        throw Object.assign(new Error(`another process has been busy with ${names.join(', ')} for too long`), {
          code: 'busy',
        })
      await pause(this.#clock, 1 + this.#random.below(5), signal)
      signal?.throwIfAborted()
    }
  }

  epochOf(resource: string): number {
    return Number(read(this.#folder.file('epochs', resource)) ?? 0)
  }

  raiseEpoch(resource: string, epoch: number): void {
    this.#folder.write(this.#folder.file('epochs', resource), `${epoch}`)
  }

  isClosed(name: string): boolean {
    return existsSync(this.#folder.file('closed', name))
  }

  closeName(name: string): void {
    this.#folder.write(this.#folder.file('closed', name), name)
  }

  read(name: string): Kept | null {
    const stored = this.#stored(name)
    return stored === null ? null : { thing: this.#thing(stored), done: stored.done }
  }

  names(below?: string): readonly string[] {
    const start = below === undefined ? '' : `${fileName(below)}+`
    return this.#folder.entries('things').flatMap((entry) => {
      if (!entry.startsWith(start)) return []
      const text = read(join(this.#folder.path, 'things', entry, 'thing.json'))
      return text === null ? [] : [(JSON.parse(text) as Stored).name]
    })
  }

  make({ thing: { kind, name, resource, properties, links, sizeBytes, content }, done }: Kept): void {
    const prepared = this.#folder.halfDone()
    mkdirSync(prepared)
    const stored: Stored = { kind, name, resource, properties, links, process: null, done }
    writeFileSync(join(prepared, 'thing.json'), JSON.stringify(stored))
    if (sizeBytes !== null) {
      writeFileSync(join(prepared, 'data'), `${content}\n`)
      truncateSync(join(prepared, 'data'), sizeBytes)
    }
    if (links.length > 0) mkdirSync(join(prepared, 'links'))
    for (const to of links) symlinkSync(linkText(to), join(prepared, 'links', fileName(to)))
    renameSync(prepared, this.#path(name))
  }

  remove(name: string): void {
    this.setPower(name, 'stopped')
    this.#folder.remove(this.#path(name))
  }

  resize(name: string, sizeBytes: number): void {
    truncateSync(join(this.#path(name), 'data'), sizeBytes)
  }

  setLinks(name: string, links: readonly string[]): void {
    const stored = this.#stored(name)!
    const present = this.#linksOf(stored)
    const folder = join(this.#path(name), 'links')
    mkdirSync(folder, { recursive: true })
    this.#write({ ...stored, links: [...new Set([...links, ...present])] })
    for (const to of links) if (!present.includes(to)) symlinkSync(linkText(to), join(folder, fileName(to)))
    for (const to of present) if (!links.includes(to)) unlinkSync(join(folder, fileName(to)))
  }

  setPower(name: string, power: Power): void {
    const stored = this.#stored(name)!
    const running = stored.process === 'starting' ? null : stored.process
    const isThere = running !== null && stateOf(running) !== 'gone'
    if (power === 'stopped') {
      if (isThere) endProcess(running)
      if (stored.process !== null) this.#write({ ...stored, process: null })
    } else if (isThere) {
      if (power === 'paused') pauseProcess(running)
      else resumeProcess(running)
    } else {
      this.#write({ ...stored, process: 'starting' })
      this.#write({ ...stored, process: startProcess(`${this.#title}${name}`) })
      if (power === 'paused') this.setPower(name, power)
    }
  }

  record(name: string, properties: JsonObject, done: readonly Done[]): void {
    const stored = this.#stored(name)!
    this.#write({ ...stored, properties, links: this.#linksOf(stored), done })
  }

  truth(): readonly Truth[] {
    const unseen = new Map(this.processes().map((one) => [one.id.pid, one]))
    const things = this.names().flatMap((name): Truth[] => {
      const stored = this.#stored(name)
      if (stored === null) return []
      const thing = this.#thing(stored)
      const id = stored.process === 'starting' || thing.power === 'stopped' ? null : stored.process
      if (id !== null) unseen.delete(id.pid)
      return [{ ...thing, pid: id?.pid ?? null, path: this.#path(name) }]
    })
    const strays = [...unseen.values()].map(({ id, name }): Truth => {
      const power = stateOf(id) === 'paused' ? 'paused' : 'running'
      const nothing = { resource: '', properties: {}, sizeBytes: null, content: null, links: [], path: null }
      return { ...nothing, kind: 'process', name: `process/${id.pid}/${name}`, power, pid: id.pid }
    })
    return [...things, ...strays]
  }

  /** The processes of this world, by the names of their things. */
  processes(): readonly { readonly id: ProcessId; readonly name: string }[] {
    return findProcesses(this.#title).map(({ id, rest }) => ({ id, name: rest }))
  }

  get #title(): string {
    return `homeostat-${this.#folder.id} `
  }

  #path(name: string): string {
    return this.#folder.file('things', name)
  }

  #stored(name: string): Stored | null {
    const text = read(join(this.#path(name), 'thing.json'))
    if (text === null) return null
    const stored = JSON.parse(text) as Stored
    if (stored.process !== 'starting') return stored
    return { ...stored, process: this.processes().find((one) => one.name === name)?.id ?? 'starting' }
  }

  #write(stored: Stored): void {
    this.#folder.write(join(this.#path(stored.name), 'thing.json'), JSON.stringify(stored))
  }

  #thing(stored: Stored): Thing {
    const { kind, name, resource, properties } = stored
    const state = stored.process === null || stored.process === 'starting' ? 'gone' : stateOf(stored.process)
    return {
      kind,
      name,
      resource,
      properties,
      ...storageIn(join(this.#path(name), 'data')),
      power: state === 'gone' ? 'stopped' : state,
      links: this.#linksOf(stored),
    }
  }

  #linksOf({ name, links }: Stored): readonly string[] {
    if (links.length === 0) return links
    const present = new Set(entriesOf(join(this.#path(name), 'links')))
    return links.filter((to) => present.has(fileName(to)))
  }
}

const linkText = (to: string): string => join('..', '..', fileName(to))

function entriesOf(path: string): string[] {
  try {
    return readdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Its real size, and the content that its first line names. */
function storageIn(path: string): { readonly sizeBytes: number | null; readonly content: string | null } {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { sizeBytes: null, content: null }
    throw error
  }
  try {
    const start = Buffer.alloc(64)
    const length = readSync(file, start)
    return { sizeBytes: fstatSync(file).size, content: start.toString('utf8', 0, length).split('\n', 1)[0]! }
  } finally {
    closeSync(file)
  }
}
