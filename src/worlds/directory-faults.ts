// Fault switches in the folder of a local world, so that one process can set them for another. A fault that is set for some calls
// only has one small file for each: whoever removes it has used it.
import { existsSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { pause, type Clock, type Millis } from '../base/clock.ts'
import type { FaultStore, Past, SetFault } from './fault.ts'
import { ownName } from './lock-file.ts'
import { read, type WorldFolder } from './world-folder.ts'

const lookAgainMs = 20

export class DirectoryFaults implements FaultStore {
  readonly #folder: WorldFolder
  readonly #clock: Clock

  constructor(folder: WorldFolder, clock: Clock) {
    this.#folder = folder
    this.#clock = clock
  }

  all(): readonly SetFault[] {
    const entries = this.#folder.entries('faults')
    return entries
      .flatMap((entry) => {
        const text = entry.endsWith('.json') ? read(this.#folder.file('faults', entry)) : null
        if (text === null) return []
        const fault = JSON.parse(text) as SetFault
        const left = fault.left === null ? null : entries.filter((one) => one.startsWith(`${fault.id}.use-`)).length
        return [{ ...fault, left }]
      })
      .sort((a, b) => a.setAt - b.setAt || (a.id < b.id ? -1 : 1))
  }

  add(fault: SetFault): void {
    for (let use = 0; use < (fault.left ?? 0); use++) writeFileSync(this.#useFile(fault.id, use), '')
    this.#folder.write(this.#file(fault.id), JSON.stringify(fault))
  }

  remove(id: string): void {
    rmSync(this.#file(id), { force: true })
    for (const entry of this.#folder.entries('faults'))
      if (entry.startsWith(`${id}.use-`)) rmSync(this.#folder.file('faults', entry), { force: true })
  }

  use({ id, left, times = 0 }: SetFault): boolean {
    if (left === null) return true
    for (let use = 0; use < times; use++) if (isRemoved(this.#useFile(id, use))) return true
    return false
  }

  async untilCleared(id: string, signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted && existsSync(this.#file(id))) await pause(this.#clock, lookAgainMs, signal)
  }

  remember(past: Past): void {
    // Sorted by name, they are in the order in which they happened.
    const name = `${sortable(past.at, 15)}-${sortable(++remembered, 9)}-${ownName()}`
    this.#folder.write(this.#folder.file('past', name), JSON.stringify(past))
  }

  past(): readonly Past[] {
    const entries = this.#folder.entries('past').sort().reverse()
    return entries.flatMap((entry) => {
      const text = read(this.#folder.file('past', entry))
      return text === null ? [] : [JSON.parse(text) as Past]
    })
  }

  forgetPast(at: Millis): void {
    for (const entry of this.#folder.entries('past'))
      if (Number.parseInt(entry, 10) <= at) rmSync(this.#folder.file('past', entry), { force: true })
  }

  #file(id: string): string {
    return this.#folder.file('faults', `${id}.json`)
  }

  #useFile(id: string, use: number): string {
    return this.#folder.file('faults', `${id}.use-${use}`)
  }
}

let remembered = 0

const sortable = (figure: number, digits: number): string => figure.toString().padStart(digits, '0')

/** Whether this call removed it: one of all who try does. */
function isRemoved(path: string): boolean {
  try {
    unlinkSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
