// A step that asks an operation of a related resource: the request is sent, and sent again with the same key now and then, as
// the net under a lost message. How the asked run ended comes back as a command of its own.
import { messageOf } from '../base/errors.ts'
import type { RequestOperation } from '../decision/command.ts'
import { View } from '../decision/conditions.ts'
import type { Rejection } from '../decision/decision.ts'
import { Draft } from '../decision/draft.ts'
import { askKey, stepOf } from '../decision/owed.ts'
import { runId, type Resource } from '../decision/state.ts'
import type { Situation } from '../decision/situation.ts'
import type { AskPlan, Plan } from '../lifecycle/plan.ts'
import type { Door } from './door.ts'
import type { Log } from './log.ts'
import type { RunCall } from './owned-run.ts'
import { read } from './read.ts'
import type { StepContext } from './run-step.ts'

interface AskContext extends StepContext {
  readonly door: Door
  readonly log: Log
}

/** A function of the declaration threw: asked again, it would throw again. */
interface Defect {
  readonly defect: unknown
}

const askAgainMs = 30_000

/** `onGone` is called when there is nobody to ask any more: gone counts as done. */
export function askRelated(context: AskContext, call: RunCall, onGone: () => void): void {
  const again = () => {
    if (call.state === 'running')
      call.cancelReport = context.clock.after(askAgainMs, () => askRelated(context, call, onGone))
  }
  if (call.state !== 'running') return
  const { resource, plan } = call.owned
  const asking = (request: RequestOperation | Defect | null) => {
    if (call.state !== 'running') return
    if (request === null) return onGone()
    if ('defect' in request) {
      context.log('error', 'a declaration cannot say what to ask', { error: request.defect, no: call.no })
      return refuse(context, call, `what to ask cannot be told: ${messageOf(request.defect)}`, again)
    }
    context.door.submit(request, (decision) => {
      if (call.state !== 'running') return
      if (decision.accepted || isPassing(decision.rejection)) again()
      else refuse(context, call, decision.rejection.message, again)
    })
  }
  try {
    const reading = read(context, (situation) => {
      try {
        return requestFor(context, situation, plan, resource, call)
      } catch (defect) {
        return { defect }
      }
    })
    if (reading instanceof Promise) {
      reading.then(asking, (error: unknown) => {
        context.log('warn', 'could not ask a related resource; trying again', { error })
        again()
      })
    } else asking(reading)
  } catch (error) {
    context.log('warn', 'could not ask a related resource; trying again', { error })
    again()
  }
}

function requestFor(
  context: AskContext,
  situation: Situation,
  plan: Plan,
  resource: Resource,
  call: RunCall,
): RequestOperation | null {
  const run = resource.run!
  const item = situation.resource(call.owed.item)
  if (item === null || context.plans.kindOf(item.type, item.status) === 'terminal') return null
  const ask = askOf(plan, resource, call)
  const view = new View(new Draft(context.plans, situation, ''), plan, resource).with(item)
  return {
    kind: 'requestOperation',
    type: item.type,
    no: item.no,
    operation: call.owed.function,
    ...(ask?.input ? { input: ask.input(view) } : {}),
    by: `run ${runId({ no: resource.no, begun: run.begun })}`,
    lane: run.lane,
    key: askKey(call.owed.key),
    askedBy: { no: resource.no, begun: run.begun },
    trace: run.trace,
  }
}

function askOf(plan: Plan, resource: Resource, call: RunCall): AskPlan | undefined {
  const run = resource.run!
  const relation = run.items?.find((one) => one.no === call.owed.item)?.relation
  return stepOf(plan, run).asks.find((one) => one.relation === relation)
}

/** Not an answer to what was asked: only the moment was bad. */
function isPassing({ code }: Rejection): boolean {
  return code === 'store_unavailable' || code === 'engine_stopped' || code === 'lease_lost'
}

function refuse(context: AskContext, call: RunCall, reason: string, again: () => void): void {
  const run = call.owned.resource.run!
  context.door.submit(
    {
      kind: 'relatedRunEnded',
      no: call.no,
      begun: run.begun,
      item: { no: call.owed.item, begun: 0 },
      outcome: 'refused',
      reason,
    },
    (told) => {
      if (!told.accepted) again()
    },
  )
}
