// The state of the process, the contract as documents, and the switches of the development mode.
import { HomeostatError, messageOf } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import { openApi } from '../protocol/openapi.ts'
import { Reply, type Call, type Handlers } from './call.ts'
import type { DevSwitches } from './dev-switches.ts'
import { contractPage, errorsPage } from './docs-page.ts'
import { madeOnce } from './made-once.ts'
import type { Principal } from './principal.ts'
import type { Services } from './services.ts'
import { refuseUnknownTarget } from './unknown-names.ts'

type Names =
  | 'livez'
  | 'readyz'
  | 'metrics'
  | 'openapi'
  | 'docs'
  | 'errorDocs'
  | 'listFaults'
  | 'setFault'
  | 'clearFaults'
  | 'clearFault'
  | 'getTruth'
  | 'strikeWorker'

const html = { 'content-type': 'text/html; charset=utf-8' }

export const processHandlers: Handlers<Names> = {
  livez: () => ({ isAlive: true }),
  async readyz({ services, principal }) {
    const reasons = await reasonsAgainst(services, principal)
    const isReady = reasons.length === 0
    return new Reply({ isReady, reasons }, { status: isReady ? 200 : 503 })
  },
  async metrics({ services }) {
    return new Reply(await services.metrics.text(), {
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
    })
  },
  openapi: ({ services }) => madeOnce(services, 'OpenAPI', () => openApi(optionsOf(services)) as JsonObject),
  docs: ({ services }) =>
    new Reply(
      madeOnce(services, 'contract', () => contractPage(optionsOf(services))),
      { headers: html },
    ),
  errorDocs: ({ services }) => new Reply(madeOnce(services, 'errors', errorsPage), { headers: html }),

  async listFaults(call) {
    return { items: (await dev(call).faults()).map((fault) => ({ ...fault })) }
  },
  async setFault(call) {
    const switches = dev(call)
    refuseUnknownTarget(call.services.engine.plans, call.body.on ?? {})
    const body = call.body as unknown as JsonObject
    // The switches are the backends' own, and not in the store: it is written down that they are about to be set.
    await call.write([], { target: 'faults', detail: body }, {}, 'begun')
    return { ...(await switches.setFault(body)) }
  },
  async clearFaults(call) {
    const switches = dev(call)
    await call.write([], { target: 'faults' }, {}, 'begun')
    await switches.clearFaults()
    return new Reply(undefined)
  },
  async clearFault(call) {
    const switches = dev(call)
    await call.write([], { target: `faults/${call.parameters.fault}` }, {}, 'begun')
    await switches.clearFaults(call.parameters.fault)
    return new Reply(undefined)
  },
  async getTruth(call) {
    return { items: (await dev(call).truth()).map((thing) => ({ ...thing })) }
  },
  async strikeWorker(call) {
    const { operation } = call.parameters
    if (operation !== 'kill' && operation !== 'freeze')
      throw new HomeostatError('operation_unknown', `A worker can be struck with kill or freeze, not ${operation}.`)
    dev(call)
    await call.write([], { target: 'worker', detail: { operation } }, {}, 'begun')
    const { seconds } = call.query
    // After the answer has gone out.
    call.services.clock.after(200, () => void dev(call).strike(operation, seconds))
    return { what: operation === 'kill' ? 'This process ends now.' : `This process stands still for ${seconds} s.` }
  },
}

/** A run that is due and waits so long, while this worker has room for more, says that claims do not move. */
const claimWaitMaxMs = 60_000

/** Why this process is not ready; none: it is. */
async function reasonsAgainst({ engine }: Services, { via }: Principal): Promise<string[]> {
  const { reasons, worker } = engine.health()
  if (reasons.length > 0 || worker === null || worker.owned >= engine.settings.runs) return [...reasons]
  try {
    const waitMs = await engine.oldestWaitMs()
    return waitMs <= claimWaitMaxMs ? [] : [`a run has waited ${Math.round(waitMs / 1_000)} s for a claim`]
  } catch (error) {
    // In what it says stands where it is.
    return [`the store does not answer${via === 'nobody' ? '' : `: ${messageOf(error)}`}`]
  }
}

const optionsOf = ({ version, dev: switches }: Services) => ({ version, dev: switches !== null })

function dev({ services }: Call): DevSwitches {
  if (services.dev !== null) return services.dev
  throw new HomeostatError('route_not_found', 'This server is not in development mode: serve --dev begins it.')
}
