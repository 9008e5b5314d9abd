// Several prepared statements in one round trip and one transaction: a Bind and an Execute for each and a single Sync. The first
// that fails makes the server undo all of them; without BEGIN and COMMIT there is nothing else to send. Statements that this connection
// has not prepared yet are prepared ahead of all others in the same round trip: those the server has said it knows stay known, whatever
// becomes of the transaction.
import type { Connection, Submittable } from 'pg'
import type { Frame, Value } from './frame.ts'

export interface Step {
  /** The name it was prepared under. */
  readonly name: string
  readonly values: readonly Value[]
}

/** Columns as texts. */
export type Row = readonly (string | null)[]

interface Messages {
  readonly stream: { write(bytes: Uint8Array): void }
}

/** What the driver calls, as it calls a query of its own. */
export class Pipeline implements Submittable {
  private readonly frame: Frame
  private readonly steps: readonly Step[]
  private readonly unknown: readonly (readonly [name: string, text: string])[]
  private readonly results: Row[][] = []
  private rows: Row[] = []
  private readonly done: (results: readonly (readonly Row[])[]) => void
  private readonly failed: (error: Error) => void

  /** The frame is this pipeline's until it is done: nothing else may be written into it. */
  constructor(
    frame: Frame,
    steps: readonly Step[],
    unknown: readonly (readonly [name: string, text: string])[],
    done: (results: readonly (readonly Row[])[]) => void,
    failed: (error: Error) => void,
  ) {
    this.frame = frame
    this.steps = steps
    this.unknown = unknown
    this.done = done
    this.failed = failed
  }

  submit(connection: Connection): void {
    const { frame } = this
    frame.begin()
    for (const [name, text] of this.unknown) frame.parse(name, text)
    for (const { name, values } of this.steps) frame.statement(name, values)
    ;(connection as unknown as Messages).stream.write(frame.finished())
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
