// homeostat/client: a typed client for the HTTP API, for Node and browsers.
export { HomeostatError, type ErrorCode } from './base/errors.ts'
export { watchEvents, type CloudEvent, type RemovedEvents, type WatchOptions } from './client/event-source.ts'
export { HttpClient, type ConnectOptions, type Given, type RequestOptions } from './client/http-client.ts'
export {
  createClient,
  type Accepted,
  type ClientOptions,
  type HomeostatClient,
  type Told,
  type TypeClient,
  type WaitOptions,
} from './client/typed-client.ts'
export { routes, type RouteName, type Routes } from './protocol/routes.ts'
