// Where the command line finds the server of this machine: a file in the data folder, for its owner alone, while the server runs.
// Beside it `pid`, for `kill`. What a killed server left is recognised: its process is gone.
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { textOf } from '../client/answer.ts'

export interface ServerFile {
  readonly url: string
  readonly pid: number
  /** Made up at the start; left out when the installation has an admin token of its own. */
  readonly token?: string | undefined
}

const fileIn = (data: string): string => join(data, 'server.json')

export function writeServerFile(data: string, content: ServerFile): void {
  removeServerFile(data)
  writeFileSync(fileIn(data), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
  writeFileSync(join(data, 'pid'), `${content.pid}\n`)
}

/** That of this process, when it ends: another one may have come after it. */
export function removeOwnServerFile(data: string): void {
  if (read(data)?.pid === process.pid) removeServerFile(data)
}

function removeServerFile(data: string): void {
  for (const file of [fileIn(data), join(data, 'pid')]) rmSync(file, { force: true })
}

/** Of a server that runs; null: none does. */
export function readServerFile(data: string): ServerFile | null {
  const found = read(data)
  return found !== null && isAlive(found.pid) ? found : null
}

/**
 * Of a server of another process that runs, by its own word: a number may belong to somebody else after a restart of the machine, and
 * so may an address. Who takes the call and says nothing may be it, at a standstill: then it runs too.
 */
export async function runningServer(
  data: string,
  answerMs = 2_000,
): Promise<(ServerFile & { readonly isSilent: boolean }) | null> {
  const found = readServerFile(data)
  if (found === null || found.pid === process.pid) return null
  const late = AbortSignal.timeout(answerMs)
  try {
    const text = await textOf(await fetch(`${found.url}/livez`, { signal: late }), 2 * answerMs)
    const { isAlive } = JSON.parse(text) as { readonly isAlive?: unknown }
    return isAlive === true ? { ...found, isSilent: false } : null
  } catch {
    // Not reached, or somebody else is there.
    return late.aborted ? { ...found, isSilent: true } : null
  }
}

/** The token that a killed server made up: whoever waits for its return need not ask again. */
export const lastToken = (data: string): string | undefined => read(data)?.token

function read(data: string): ServerFile | null {
  try {
    return JSON.parse(readFileSync(fileIn(data), 'utf8')) as ServerFile
  } catch {
    return null
  }
}

/**
 * The nearest data folder with a server's file, in this folder or one above it. Whoever may write to a folder above, such as /tmp, could
 * lay one there and be sent tokens: only one of who asks, or of root, counts; root himself looks after others.
 */
export function findData(from: string, me = process.getuid?.() ?? 0): string | null {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const owner = ownerOf(fileIn(join(folder, 'data')))
    if (owner !== null && (me === 0 || owner === me || owner === 0)) return join(folder, 'data')
    if (dirname(folder) === folder) return null
  }
}

/** Null: there is none, or it is not for us to see. */
function ownerOf(file: string): number | null {
  try {
    return statSync(file).uid
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
