// Tells the door how a driver call ended: again and again, until it is taken or the run has moved on.
import type { Clock } from '../base/clock.ts'
import type { Command, Outcome } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import type { Door } from './door.ts'
import type { Log } from './log.ts'
import type { RunCall } from './owned-run.ts'
import type { RunWatch } from './run-watch.ts'

export interface ReportContext {
  readonly door: Door
  readonly clock: Clock
  readonly log: Log
  readonly by: string
  readonly watch: RunWatch
  /** Its run is still carried out here. */
  readonly isOwned: (call: RunCall) => boolean
  /** No other call is under way or waits. */
  readonly isAlone: () => boolean
  /** The outcome is committed. */
  readonly taken: (call: RunCall) => void
}

const againMs = { first: 1_000, atMost: 60_000 }

export function reportOutcome(context: ReportContext, call: RunCall, outcome: Outcome): void {
  const { no, epoch, owed } = call
  const command: Command = { kind: 'callEnded', no, epoch, call: owed.name, outcome, by: context.by }
  const done = (decision: Decision) => reported(context, call, outcome, decision)
  if (context.isAlone()) context.door.submitAlone(command, done)
  else context.door.submit(command, done)
}

function reported(context: ReportContext, call: RunCall, outcome: Outcome, decision: Decision): void {
  if (call.state !== 'reporting') return
  if (decision.accepted) return context.taken(call)
  if (decision.rejection.code === 'engine_stopped') return
  // Refused: either the run moved on elsewhere, which reading it shows, or it could not be taken now and is told again later.
  const waitMs = Math.min(againMs.atMost, againMs.first * 2 ** call.refusals++)
  void context.watch.refresh(call.owned).then(() => {
    if (call.state !== 'reporting' || !context.isOwned(call)) return
    context.log('warn', 'the outcome of a call was refused; telling it again', { rejection: decision.rejection })
    call.cancelReport = context.clock.after(waitMs, () => reportOutcome(context, call, outcome))
  })
}
