// A run as those see it who ask for it: the same, whether it is under way or has ended.
import { nobody, runId, type EndedRun, type No, type Resource, type Run } from '../decision/state.ts'

export interface RunView {
  readonly id: string
  readonly no: No
  readonly begun: number
  readonly operation: string
  readonly kind: 'operation' | 'heal' | 'drift'
  readonly state: 'waiting' | 'running' | 'parked' | EndedRun['outcome']
  readonly isOver: boolean
  readonly status: string
  readonly by: string
  readonly acceptedAt: number
  readonly endedAt: number | null
  readonly live: Resource['run']
}

/** Of a run under way. */
export const liveStateOf = (run: Run): 'waiting' | 'running' | 'parked' =>
  run.parked !== null ? 'parked' : run.owner === nobody ? 'waiting' : 'running'

export function liveRunView(resource: Resource): RunView {
  const run = resource.run!
  const { begun, operation, kind, by, acceptedAt } = run
  return {
    id: runId({ no: resource.no, begun }),
    no: resource.no,
    begun,
    operation,
    kind,
    state: liveStateOf(run),
    isOver: false,
    status: resource.status,
    by,
    acceptedAt,
    endedAt: null,
    live: run,
  }
}

export function endedRunView(run: EndedRun): RunView {
  const { no, begun, operation, kind, outcome, status, by, acceptedAt, endedAt } = run
  return {
    id: runId({ no, begun }),
    no,
    begun,
    operation,
    kind,
    state: outcome,
    isOver: true,
    status,
    by,
    acceptedAt,
    endedAt,
    live: null,
  }
}
