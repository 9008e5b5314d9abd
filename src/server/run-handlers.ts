// Runs over HTTP: looked at, waited for, steered by people, completed by remote drivers.
import { HomeostatError } from '../base/errors.ts'
import type { RunsFrom, RunsPage } from '../engine/engine-reads.ts'
import type { RunView } from '../engine/run-view.ts'
import type { Call, Handlers } from './call.ts'
import { noToken, tokenNumber } from './reach.ts'
import type { WireRun } from './wire.ts'

type Names = 'listRuns' | 'getRun' | 'cancelRun' | 'retryRun' | 'skipStep' | 'completeStep'

/** Runs that are looked through for one page of a filtered list. */
const lookedThrough = 5_000

export const runHandlers: Handlers<Names> = {
  async listRuns(call) {
    const { services, principal, query } = call
    const { state, type, pageSize, pageToken } = query
    if (type !== undefined) call.plan(type)
    const tenant = principal.tenant ?? undefined
    const items: WireRun[] = []
    let from: RunsFrom | null = pageToken === undefined ? beginning(state) : fromToken(pageToken)
    for (let looked = 0; from !== null && items.length < pageSize && looked < lookedThrough;) {
      const page: RunsPage = await services.engine.runs({ limit: pageSize - items.length, tenant, from })
      const runs = await services.wire.runs(principal, page.runs.filter(isIn(state)))
      items.push(...runs.filter((run) => type === undefined || run.resource.type === type))
      looked += page.runs.length
      // Whoever asks for runs under way has them all where the ended ones begin.
      from = page.next !== null && 'endedBefore' in page.next && isOfLive(state) ? null : page.next
    }
    return { items, nextPageToken: from === null ? null : tokenOf(from) }
  },
  async getRun(call) {
    const { engine, wire } = call.services
    const id = call.parameters.run
    // Whether it may be seen is asked first: nobody waits for what is not his.
    await call.runOf(id)
    const waitMs = call.query.wait * 1_000
    const view = waitMs === 0 ? await engine.run(id) : await waitFor(call, waitMs)
    const run = await wire.run(call.principal, view)
    if (run === null) throw new HomeostatError('run_not_found', `There is no run ${id}.`)
    return run
  },
  async cancelRun(call) {
    const { resource, begun } = await steered(call)
    const { reason } = call.body
    const command = { kind: 'cancelRun', no: resource.no, begun, by: call.principal.name, reason } as const
    return call.accepted(await ofRun(call.submit(command, { reason }), begun))
  },
  async retryRun(call) {
    const { resource, begun } = await steered(call)
    const command = { kind: 'retryRun', no: resource.no, begun, by: call.principal.name } as const
    return call.accepted(await ofRun(call.submit(command, { reason: call.body?.reason }), begun))
  },
  async skipStep(call) {
    const { resource, begun } = await steered(call)
    const { reason, result } = call.body
    const command = { kind: 'skipStep', no: resource.no, begun, by: call.principal.name, reason, result } as const
    return call.accepted(await ofRun(call.submit(command, { reason }), begun))
  },
  async completeStep(call) {
    const { key, outcome } = call.body
    const { step, name: by } = call.principal
    if (step !== undefined && step.key !== key) throw notOfToken(key)
    const { resource, begun } = await call.runOf(call.parameters.run)
    if (step !== undefined && step.type !== resource.type) throw notOfToken(key)
    const done = await call.submit({ kind: 'completeStep', no: resource.no, key, outcome, by }, { detail: { begun } })
    return { run: call.parameters.run, status: done.resource.status }
  },
}

const notOfToken = (key: string) =>
  new HomeostatError('forbidden', `The token was given for another step than ${key.slice(0, 200)}.`)

const steered = (call: Call<'cancelRun' | 'retryRun' | 'skipStep'>) => call.runOf(call.parameters.run)

/** The answer shows the run that was steered, which may have ended by that. */
async function ofRun<Done extends { readonly begun: number }>(doing: Promise<Done>, begun: number) {
  return { ...(await doing), begun }
}

const liveStates: ReadonlySet<string | undefined> = new Set(['live', 'waiting', 'running', 'parked'])
const isOfLive = (state: string | undefined): boolean => liveStates.has(state)

const beginning = (state: string | undefined): RunsFrom =>
  state === undefined || isOfLive(state) ? { liveAfter: 0 } : { endedBefore: Number.MAX_SAFE_INTEGER }

const tokenOf = (from: RunsFrom): string => ('liveAfter' in from ? `l${from.liveAfter}` : `e${from.endedBefore}`)

function fromToken(token: string): RunsFrom {
  const [kind] = token
  if (kind === 'l') return { liveAfter: tokenNumber(token.slice(1)) }
  if (kind === 'e') return { endedBefore: tokenNumber(token.slice(1)) }
  throw noToken(token)
}

function isIn(state: string | undefined): (view: RunView) => boolean {
  if (state === undefined) return () => true
  if (state === 'live' || state === 'ended') return (view) => view.isOver === (state === 'ended')
  return (view) => view.state === state
}

/** Until it has ended, the time is over, the client has gone, or the server stops. */
async function waitFor(call: Call<'getRun'>, waitMs: number): Promise<RunView> {
  const { engine, stopping } = call.services
  const { signal } = call.asked
  let giveUp = () => {}
  const over = new Promise<null>((resolve) => (giveUp = () => resolve(null)))
  if (signal.aborted || stopping.aborted) giveUp()
  signal.addEventListener('abort', giveUp, { once: true })
  stopping.addEventListener('abort', giveUp, { once: true })
  const waiting = engine.waitForRun(call.parameters.run, { timeoutMs: waitMs })
  const view = await Promise.race([waiting, over]).finally(() => stopping.removeEventListener('abort', giveUp))
  return view ?? engine.run(call.parameters.run)
}
