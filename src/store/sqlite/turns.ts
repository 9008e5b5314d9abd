// One writing transaction after another: the turn at the file, where the feed stands in it, and a commit that is either kept or undone.
import type { StatementSync } from 'node:sqlite'
import { HomeostatError } from '../../base/errors.ts'
import { translated, type Connection } from './connection.ts'

/** The numbers of the latest event and ended run, and how often was committed. */
export interface Heads {
  readonly events: number
  readonly runs: number
  readonly commits: number
}

/** What the latest events say of the feed; `writer` is who wrote last. */
export interface Feed extends Heads {
  readonly writer: number
}

export const sameHeads = (a: Heads, b: Heads): boolean =>
  a.commits === b.commits && a.events === b.events && a.runs === b.runs

/** The row that says where the feed stands. */
export const latestEvents = 'from event where first = (select max(first) from event)'

export class Turns {
  readonly connection: Connection
  private readonly writer: number
  private readonly readFeed: StatementSync
  private readonly writeFeed: StatementSync
  private broken: unknown = null

  /** `writer` is a number that the connections of one handle share, and nobody else has. */
  constructor(connection: Connection, writer: number) {
    this.connection = connection
    this.writer = writer
    this.readFeed = connection.prepare(`select events, runs, commits, writer ${latestEvents}`)
    this.writeFeed = connection.prepare(
      'update event set events = ?, runs = ?, commits = ?, writer = ? where first = (select max(first) from event)',
    )
  }

  feed(): Feed {
    const [events, runs, commits, writer] = this.readFeed.get() as unknown as [number, number, number, number]
    return { events, runs, commits, writer }
  }

  begin(): void {
    if (this.broken !== null) throw this.told(this.broken)
    try {
      this.connection.begin()
    } catch (error) {
      this.connection.rollback()
      throw this.told(error)
    }
  }

  /** Where the feed will stand, led there by us. */
  ledTo(heads: Heads): Feed {
    return { events: heads.events, runs: heads.runs, commits: heads.commits, writer: this.writer }
  }

  /** `isTold`: what was written in this turn has events, and the last of them says where the feed stands now. */
  commit(heads: Heads, isTold: boolean): void {
    try {
      if (!isTold) this.writeFeed.run(heads.events, heads.runs, heads.commits, this.writer)
    } catch (error) {
      this.undo()
      throw this.told(error)
    }
    try {
      this.connection.commit()
    } catch (error) {
      this.connection.rollback()
      this.bury(error)
      throw this.told(error)
    }
  }

  undo(): void {
    this.connection.rollback()
  }

  told(error: unknown): unknown {
    return translated(error, this.connection.file)
  }

  /**
   * A commit that failed while it was being made safe may have left its frames in the log, and a recovery could bring them
   * back to life. A further commit overwrites them. Where that fails too, nothing may be said about the batch: this
   * connection is of no more use, and the process should end.
   */
  private bury(cause: unknown): void {
    try {
      this.connection.writing(() => {
        const { events, runs, commits, writer } = this.feed()
        this.writeFeed.run(events, runs, commits, writer)
      })
    } catch {
      this.broken = new HomeostatError(
        'store_unavailable',
        `${this.connection.file} could not be written safely; the last batch may or may not be kept. Restart the process.`,
        { cause },
      )
    }
  }
}
