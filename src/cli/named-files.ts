// Files and folders that somebody names on the command line: made and written, or told plainly why that cannot be.
import { accessSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CliError, exits } from './cli-error.ts'

/** Makes a folder, and those above it that are missing, and makes sure that it can be written to. */
export function makeFolder(folder: string, { mode = 0o777, hint }: { mode?: number; hint: string }): void {
  try {
    makeMissing(folder, mode)
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw cannotWrite(`The folder ${folder}`, error, hint)
  }
}

function makeMissing(folder: string, mode: number): void {
  const missing: string[] = []
  let above = folder
  for (; !isThere(above) && dirname(above) !== above; above = dirname(above)) missing.push(above)
  // Node's own way to make all of them never returns where a system says that there is no such folder to make one in: /proc does.
  for (const one of missing.reverse())
    try {
      mkdirSync(one, { mode })
    } catch (error) {
      // Another process may have been quicker.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  if (!statSync(folder).isDirectory()) throw Object.assign(new Error(`${folder} is a file`), { code: 'ENOTDIR' })
}

function isThere(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** Why a system refused, in words where they are known. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code === undefined ? message : `${words[code] ?? 'the system refuses'}, ${code}`
}

const words: Readonly<Record<string, string>> = {
  EACCES: 'it is not for you',
  EEXIST: 'something of this name is there',
  EISDIR: 'it is a folder',
  ENOENT: 'there is no such place',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of it is a file',
  EPERM: 'it is not allowed',
  EROFS: 'it can only be read',
}

const cannotWrite = (what: string, error: unknown, hint: string): CliError =>
  new CliError(exits.cannotCreate, `${what} cannot be written to (${reasonOf(error)}).`, hint)

/** A text into a file that was named. */
export function writeNamed(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw cannotWrite(file, error, 'Give another file.')
  }
}
