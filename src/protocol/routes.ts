// The contract: one table of everything that can be asked over HTTP. Handlers are typed by it, OpenAPI, client, command line and
// the tests of security are made from it.
import { consoleRoutes } from './console-routes.ts'
import { lifecycleRoutes } from './lifecycle-routes.ts'
import { operationsRoutes } from './operations-routes.ts'
import { resourceRoutes } from './resource-routes.ts'
import type { Route } from './route.ts'
import { systemRoutes } from './system-routes.ts'

export const routes = { ...resourceRoutes, ...lifecycleRoutes, ...operationsRoutes, ...consoleRoutes, ...systemRoutes }

export type Routes = typeof routes
export type RouteName = keyof Routes

export const routeNames = Object.keys(routes) as readonly RouteName[]

/** A row without the exact types of its schemas. */
export const routeOf = (name: RouteName): Route => routes[name] as unknown as Route
