// A lock between processes that nobody can leave behind: a symbolic link, made at once with its holder as its text. One whose
// holder is dead is removed by whoever holds the right to do so, which is a lock of its own.
import { readlinkSync, symlinkSync, unlinkSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { processId, stateOf } from './process-table.ts'

let taken = 0
let me: string | null = null

/** This process, as its files name it. */
function holderText(): string {
  if (me === null) {
    const { pid, began } = processId(process.pid)!
    me = `${pid}.${began}`
  }
  return me
}

/** Whether the process that a text names is still there. */
export function isHolderAlive(text: string): boolean {
  const [pid, began] = text.split('.')
  return stateOf({ pid: Number(pid), began: began ?? '' }) !== 'gone'
}

/** A name that no other file of any process has. */
export const ownName = (): string => `${holderText()}.${threadId}.${++taken}`

/** Takes it if nobody who is alive has it. */
export function tryLock(path: string): boolean {
  for (;;) {
    if (made(path)) return true
    const holder = holderOf(path)
    if (holder === null) continue
    if (isHolderAlive(holder)) return false
    // Every taking of a lock has another text. So this very one is removed once, and never the lock of whoever came after it.
    const right = `${path}!${holder}`
    if (!tryLock(right)) return false
    if (holderOf(path) === holder) unlock(path)
    unlock(right)
  }
}

export const unlock = (path: string): void => unlinkSync(path)

function made(path: string): boolean {
  try {
    symlinkSync(ownName(), path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function holderOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
