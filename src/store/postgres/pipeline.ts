// Several prepared statements in one round trip and one transaction: a Bind and an Execute for each and a single Sync. The first
// that fails makes the server undo all of them; without BEGIN and COMMIT there is nothing else to send. A statement that this connection
// has not prepared yet is prepared ahead of its first use: those the server has said it knows stay known, whatever becomes of the
// transaction. Statements may be made while others are sent: the server is then at work on the first of them meanwhile. Nor does a
// pipeline wait for the answer to the one before: each is a transaction of its own, and answered in its turn.
import type { Submittable } from 'pg'
import type { Frame, Value } from './frame.ts'

export interface Step {
  /** The name it was prepared under. */
  readonly name: string
  /** What it says, where the connection does not know it by its name. */
  readonly text?: () => string
  readonly values: readonly Value[]
}

/** Among steps: what was made until here is sent. */
export const sendNow = Symbol('send now')

/** Columns as texts. */
export type Row = readonly (string | null)[]

/** Making the steps failed on the way. The server has undone what it was sent. */
export class Abandoned extends Error {}

/** What it is sent by. */
export interface Messages {
  readonly stream: { write(bytes: Uint8Array): void }
}

export interface PipelineParts {
  /** This pipeline's until it is done: nothing else may be written into it. */
  readonly frame: Frame
  readonly steps: Iterable<Step | typeof sendNow>
  /** The text of a statement that is to be prepared, for it is not yet known; else null. */
  readonly unknown: (step: Step) => string | null
  readonly done: (results: readonly (readonly Row[])[]) => void
  readonly failed: (error: Error) => void
}

/** No statement has it: to carry it out fails. */
const nameOfNone = 'abandoned'

/** Sent by its wire; the driver then calls it with the answers, as it calls a query of its own. */
export class Pipeline implements Submittable {
  private readonly parts: PipelineParts
  private readonly results: Row[][] = []
  private rows: Row[] = []
  private abandoned: Abandoned | null = null

  constructor(parts: PipelineParts) {
    this.parts = parts
  }

  /** Its turn has come, in which it is answered: it was sent before. */
  submit(): void {}

  /** Now, whether or not the server has answered what was sent before. */
  send({ stream }: Messages): void {
    const { frame } = this.parts
    frame.begin()
    try {
      for (const step of this.parts.steps) {
        if (step === sendNow) stream.write(frame.take())
        else this.put(step)
      }
    } catch (error) {
      // The end of the exchange would commit what was sent.
      this.abandoned = new Abandoned('The steps could not be made.', { cause: error })
      frame.statement(nameOfNone, [])
    }
    stream.write(frame.finish())
  }

  private put(step: Step): void {
    const { frame, unknown } = this.parts
    const text = unknown(step)
    if (text !== null) frame.parse(step.name, text)
    frame.statement(step.name, step.values)
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
    this.parts.failed(this.abandoned ?? error)
  }

  handleReadyForQuery(): void {
    this.parts.done(this.results)
  }
}
