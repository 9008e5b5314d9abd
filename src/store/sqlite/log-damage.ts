// Damage of the log that SQLite does not tell of. A frame of the log that does not fit its checksum ends the log for SQLite, as what a
// power cut has torn does; had the disk changed it, everything that was committed after it would be gone without a word.
//
// What is torn is never more than one transaction: the next one is written only after the former is on the disk. So a log in which the
// ends of two transactions stand in a row behind the place where SQLite stopped had been whole, and has been damaged since.
// The format: sqlite.org/walformat.html.
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { endianness } from 'node:os'
import { HomeostatError } from '../../base/errors.ts'
import { Connection } from './connection.ts'

const headBytes = 32
const frameHeadBytes = 24
/** SQLite's sums are over words as this machine has them. */
const word = endianness() === 'LE' ? 'readUInt32LE' : 'readUInt32BE'

/**
 * To be asked before the store is opened for writing. The connection that looks only reads: one that may write would, when it is closed
 * as the last, remove the log and so what tells of the damage.
 */
export function mustHaveWholeLog(file: string): void {
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) <= headBytes || !existsSync(file)) return
  const connection = new Connection({ file, readonly: true, synchronous: 'full', patienceMs: 5_000 })
  try {
    // SQLite looks through the log when somebody reads.
    connection.reading(() => connection.prepare('pragma user_version').get())
    mustBeReadToTheEnd(connection)
  } finally {
    connection.close()
  }
}

/** Nothing of this connection may be under way. */
export function mustBeReadToTheEnd(connection: Pick<Connection, 'file' | 'prepare'>): void {
  const [pageBytes] = connection.prepare('pragma page_size').get() as unknown as [number]
  for (;;) {
    const frames = framesKnown(connection)
    const lost = commitsBehind({ log: `${connection.file}-wal`, frames, pageBytes })
    if (lost < 2) return
    // Others may have written meanwhile what was looked at.
    if (framesKnown(connection) !== frames) continue
    throw new HomeostatError(
      'store_corrupt',
      `${connection.file}-wal is damaged: frame ${frames + 1} cannot be read, and ${lost} commits from there on are lost with it. Stop all processes and restore a back-up. ` +
        'To go on without those commits instead, take a back-up of what can be read (homeostat backup) and restore that.',
    )
  }
}

/** How far SQLite reads the log. */
function framesKnown(connection: Pick<Connection, 'prepare'>): number {
  const [, frames] = connection.prepare('pragma wal_checkpoint(noop)').get() as unknown as [
    busy: number,
    frames: number,
  ]
  return Math.max(0, frames)
}

/** How many ends of transactions follow each other, as they were written, behind a frame that cannot be read. */
function commitsBehind({ log, frames, pageBytes }: { log: string; frames: number; pageBytes: number }): number {
  const file = openSync(log, 'r')
  try {
    const head = read(file, 0, headBytes)
    if (head.length < headBytes) return 0
    const headSum = sumFrom([0, 0], head.subarray(0, 24))
    const isHeadSound = isSame(headSum, storedSum(head.subarray(8)))
    const frameBytes = frameHeadBytes + pageBytes
    const from = headBytes + frames * frameBytes
    const isOfThisLog = (frame: Buffer) => frame.length >= frameHeadBytes && frame.compare(head, 16, 24, 8, 16) === 0
    // Usually what follows is of an older log, or nothing. The damage may have hit this very mark of a frame, so the next one is asked, too.
    const next = [0, 1].map((n) => read(file, from + n * frameBytes, frameHeadBytes))
    if (isHeadSound && !next.some(isOfThisLog)) return 0
    const last = frames === 0 ? head.subarray(8) : read(file, from - frameBytes, frameHeadBytes)
    // It was cut short under those who use it: there is nothing behind.
    if (last.length < frameHeadBytes) return 0
    const lastSum = storedSum(last)
    return longestRow(read(file, from, fstatSync(file).size - from), {
      frameBytes,
      lastSums: isHeadSound ? [lastSum] : [lastSum, headSum],
      isHeadSound,
      isOfThisLog,
    })
  } finally {
    // Unlike the store and its index, the log itself carries no locks that would be lost.
    closeSync(file)
  }
}

/** Two words; those of a frame go on from those of the frame before. */
type Sum = readonly [number, number]

function longestRow(
  rest: Buffer,
  given: {
    readonly frameBytes: number
    readonly lastSums: readonly Sum[]
    readonly isHeadSound: boolean
    readonly isOfThisLog: (frame: Buffer) => boolean
  },
): number {
  const { frameBytes, isOfThisLog } = given
  let isSound = given.isHeadSound
  let longest = 0
  let row = 0
  // Of what is damaged the sum that stands in it may be what is wrong, or all else.
  let sums = given.lastSums
  for (let at = 0; at + frameBytes <= rest.length; at += frameBytes) {
    const frame = rest.subarray(at, at + frameBytes)
    const stored = storedSum(frame)
    const fitting = sums.map((sum) => sumFrom(sum, frame))
    const isNext = fitting.some((sum) => isSame(sum, stored))
    const isEnd = frame.readUInt32BE(4) !== 0
    if (!isNext || !isOfThisLog(frame)) isSound = false
    // SQLite could read this transaction and does not want to: it is being written just now, or the log is about to begin anew.
    if (isSound && isEnd) return 0
    if (!isNext) row = 0
    if (!isSound && isEnd && (isNext || isOfThisLog(frame))) longest = Math.max(longest, ++row)
    sums = isNext ? [stored] : [stored, fitting[0]!]
  }
  return longest
}

const isSame = (one: Sum, other: Sum): boolean => one[0] === other[0] && one[1] === other[1]

/** At the same distance from the end of a frame's head as of the log's. */
const storedSum = (head: Buffer): Sum => [head.readUInt32BE(16), head.readUInt32BE(20)]

/** Over the head of a log; of a frame over its page, its number and size, not over the rest of its head. */
function sumFrom([one, two]: Sum, bytes: Buffer): Sum {
  let first = one
  let second = two
  const add = (from: number, to: number) => {
    for (let at = from; at < to; at += 8) {
      first = (first + bytes[word](at) + second) >>> 0
      second = (second + bytes[word](at + 4) + first) >>> 0
    }
  }
  if (bytes.length === frameHeadBytes) add(0, frameHeadBytes)
  else {
    add(0, 8)
    add(frameHeadBytes, bytes.length)
  }
  return [first, second]
}

function read(file: number, from: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, bytes))
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, from))
}
