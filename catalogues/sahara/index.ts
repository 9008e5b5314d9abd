// Sahara: clusters and their instances. Declared with the public language alone; its drivers stand on a backend.
import { clusters } from './cluster.ts'
import { instances } from './instance.ts'

export { clusters, instances }
export { answerToDelete, answerToRefusal, type Answer, type Deleted, type Refused } from './answers.ts'
export type { Asked, Backend, Cluster, Machine, Plugin, Stage } from './backend.ts'
export { createDrivers, type Drivers } from './driver.ts'
export { multipleNames } from './scaling.ts'
export { createWorldBackend, type Job, type WorldBackendOptions } from './world-backend.ts'

/** The lifecycles of the catalogue by the names of their resources. */
export const sahara = { cluster: clusters, instance: instances }
