// Whether the files that were opened still lie where they were. A file that is removed or replaced while it is open goes on for whoever
// has it open: everything would be acknowledged, and gone with the process; and beside a replaced one two installations would act on
// one world.
import { statSync } from 'node:fs'
import { systemClock } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'

/** Looking costs some microseconds: not in every commit. */
const everyMs = 1_000

/** What it is, whatever its name; as SQLite itself tells files apart. */
const identityOf = (file: string): bigint | undefined => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino

export class OwnFiles {
  /** Of one store: they stay for as long as a connection is open. */
  private readonly identities: ReadonlyMap<string, bigint | undefined>
  private lookedAt = systemClock.monotonic()

  /** To be made when a connection is open and has read. */
  constructor(file: string) {
    this.identities = new Map([file, `${file}-wal`, `${file}-shm`].map((one) => [one, identityOf(one)]))
  }

  /** Throws when one is gone or another one. Where it is put back, all is well again. */
  mustBeThere(): void {
    const now = systemClock.monotonic()
    if (now - this.lookedAt < everyMs) return
    for (const [file, identity] of this.identities) {
      const found = identityOf(file)
      if (found === identity) continue
      throw new HomeostatError(
        'store_unavailable',
        `${file} was ${found === undefined ? 'removed' : 'replaced'} while it was in use: what is written to it now would be lost. Put it back as it was, or stop all processes, restore a back-up and start them again.`,
      )
    }
    this.lookedAt = now
  }
}
