// homeostat/server: serve an engine over HTTP.
export { switchesOf, type DevSwitches } from './server/dev-switches.ts'
export { createServer, type HomeostatServer, type Page, type ServerOptions } from './server/http-server.ts'
export type { OidcOptions } from './server/oidc.ts'
export { openApi } from './protocol/openapi.ts'
export { routes, type RouteName, type Routes } from './protocol/routes.ts'
export { signatureOf } from './server/webhook-sender.ts'
