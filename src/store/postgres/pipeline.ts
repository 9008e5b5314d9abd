// Several prepared statements in one round trip and one transaction: a Bind and an Execute for each and a single Sync. The first
// that fails makes the server undo all of them; without BEGIN and COMMIT there is nothing else to send.
import type { Connection, Submittable } from 'pg'

export interface Step {
  /** The name it was prepared under. */
  readonly name: string
  /** As texts: the server knows the types. */
  readonly values: readonly (string | null)[]
}

/** Columns as texts. */
export type Row = readonly (string | null)[]

interface Messages {
  bind(config: { statement: string; values: readonly (string | null)[] }): void
  execute(config: object): void
  sync(): void
  readonly stream: { cork(): void; uncork(): void }
}

/** What the driver calls, as it calls a query of its own. */
export class Pipeline implements Submittable {
  private readonly steps: readonly Step[]
  private readonly results: Row[][] = []
  private rows: Row[] = []
  private readonly done: (results: readonly (readonly Row[])[]) => void
  private readonly failed: (error: Error) => void

  constructor(
    steps: readonly Step[],
    done: (results: readonly (readonly Row[])[]) => void,
    failed: (error: Error) => void,
  ) {
    this.steps = steps
    this.done = done
    this.failed = failed
  }

  submit(connection: Connection): void {
    const messages = connection as unknown as Messages
    messages.stream.cork()
    try {
      for (const { name, values } of this.steps) {
        messages.bind({ statement: name, values })
        messages.execute({})
      }
      messages.sync()
    } finally {
      messages.stream.uncork()
    }
  }

  handleDataRow({ fields }: { fields: Row }): void {
    this.rows.push(fields)
  }

  handleCommandComplete(): void {
    this.results.push(this.rows)
    this.rows = []
  }

  handleRowDescription(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  handleError(error: Error): void {
    this.failed(error)
  }

  handleReadyForQuery(): void {
    this.done(this.results)
  }
}
