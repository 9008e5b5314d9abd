// Which facts a command will surely need: loaded for the whole batch at once, before anything is decided.
import type { Command, Target } from '../decision/command.ts'
import type { Ask } from '../decision/situation.ts'
import { numberOfGeneratedId } from '../decision/state.ts'
import type { WorkingSet } from './working-set.ts'

/** Commands of a run's own worker name the epoch: if what is cached is stale, they are refused by it. */
export function isOfRun(command: Command): boolean {
  const { kind } = command
  return kind === 'callEnded' || kind === 'deadlinePassed' || kind === 'progressReported' || kind === 'handOver'
}

/** Adds what is not there yet to `asks`. */
export function foresee(command: Command, set: WorkingSet, asks: Ask[]): void {
  if (command.kind === 'requestOperation' || command.kind === 'importResource') {
    if (command.key !== undefined) want(set, asks, { ask: 'key', key: command.key })
    const parent = command.kind === 'importResource' ? command.parent : command.create?.parent
    const no = command.kind === 'requestOperation' ? command.no : undefined
    if (no !== undefined) want(set, asks, { ask: 'resource', no })
    else if (command.id !== undefined) want(set, asks, { ask: 'named', type: command.type, id: command.id })
    if (parent !== undefined) wantTarget(set, asks, parent)
    return
  }
  // The usual way: nothing is made when it is there.
  if (!set.hasResource(command.no)) asks.push({ ask: 'resource', no: command.no })
}

function wantTarget(set: WorkingSet, asks: Ask[], target: Target): void {
  want(
    set,
    asks,
    'no' in target ? { ask: 'resource', no: target.no } : { ask: 'named', type: target.type, id: target.id },
  )
}

function want(set: WorkingSet, asks: Ask[], ask: Ask): void {
  if (set.has(ask)) return
  const no = ask.ask === 'named' ? numberOfGeneratedId(ask.id) : null
  asks.push(no === null ? ask : { ask: 'resource', no })
}
