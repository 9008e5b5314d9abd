// What a process that runs for long must outlive: readers of its output that are gone, and what drivers throw where nobody waits for it.
import { systemClock } from '../base/clock.ts'
import type { Log } from '../engine/log.ts'
import { exits } from './cli-error.ts'

const endWith = ({ code }: NodeJS.ErrnoException) => process.exit(code === 'EPIPE' ? exits.ok : exits.defect)
const goOn = () => {}

/** Of a command that answers. A reader that has seen enough (`| head`) is no error; whoever does not hear complaints gets the answer. */
export function endWithReader(): void {
  process.stdout.on('error', endWith)
  process.stderr.on('error', goOn)
}

/** Of what serves: its work matters, whether somebody reads of it or not. Closed pipes and full disks cost lines, and nothing else. */
export function outliveReader(): void {
  process.stdout.off('error', endWith)
  process.stdout.on('error', goOn)
}

/** So much may wait for a reader; a reader that stands still must not fill the memory. */
const waitingMost = 1_000_000
export const isReaderBehind = (): boolean => process.stderr.writableLength > waitingMost

/** Its last words may wait for a reader that never comes. */
const lastWordsMs = 1_000
export const endSoon = (): void => void systemClock.after(lastWordsMs, () => process.exit())

/**
 * A promise that a driver left alone, or a timer of it that throws, would end the process and cut every call in it. It is told, with its
 * place, and the process goes on: nothing of ours was interrupted. Where our own code threw, nobody knows what is left half done: it ends
 * at once, and what was under way is taken over.
 */
export function outliveDrivers(log: Log): void {
  process.on('unhandledRejection', (reason) =>
    log('error', 'a promise was rejected that nobody waits for', { error: reason ?? String(reason) }),
  )
  process.on('uncaughtException', (error: unknown) => {
    if (!isOurs(error))
      return log('error', 'something was thrown that nobody catches', { error: error ?? String(error) })
    log('error', 'a defect of Homeostat: it ends at once, and what was under way is taken over', { error })
    process.exit(exits.defect)
  })
}

const ownFolder = new URL('../', import.meta.url).href

/** Who threw it: the first line of its trace that names a file. */
function isOurs(error: unknown): boolean {
  try {
    const [place] = /\bfile:\S+/.exec(error instanceof Error ? (error.stack ?? '') : '') ?? []
    return place !== undefined && place.startsWith(ownFolder)
  } catch {
    return false
  }
}
