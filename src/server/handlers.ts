// Every row of the contract has its handler: one that is missing does not compile.
import { accessHandlers } from './access-handlers.ts'
import { bulkHandlers } from './bulk-handlers.ts'
import type { Handlers } from './call.ts'
import { consoleHandlers } from './console-handlers.ts'
import { eventHandlers } from './event-handlers.ts'
import { healingHandlers } from './healing-handlers.ts'
import { lifecycleHandlers } from './lifecycle-handlers.ts'
import { processHandlers } from './process-handlers.ts'
import { resourceHandlers } from './resource-handlers.ts'
import { runHandlers } from './run-handlers.ts'

export const handlers: Handlers = {
  ...resourceHandlers,
  ...lifecycleHandlers,
  ...consoleHandlers,
  ...runHandlers,
  ...healingHandlers,
  ...bulkHandlers,
  ...eventHandlers,
  ...accessHandlers,
  ...processHandlers,
}
