// homeostat/server: serve an engine over HTTP.
import { createServer as createBareServer, type HomeostatServer, type ServerOptions } from './server/http-server.ts'

/** Serves an engine that has been started. The invented world of rehearsals is loaded when it is first asked for. */
export const createServer = (options: ServerOptions): HomeostatServer =>
  createBareServer({
    rehearser: async (lifecycles) => new (await import('./testing/rehearsal.ts')).Rehearsal(lifecycles),
    ...options,
  })

export { switchesOf, type DevSwitches } from './server/dev-switches.ts'
export type { HomeostatServer, Page, ServerOptions } from './server/http-server.ts'
export type { OidcOptions } from './server/oidc.ts'
export { openApi } from './protocol/openapi.ts'
export { routes, type RouteName, type Routes } from './protocol/routes.ts'
export { signatureOf } from './server/webhook-sender.ts'
