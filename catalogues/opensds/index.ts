// OpenSDS: volumes, snapshots, attachments. Declared with the public language alone; carried out on a backend.
import { attachments } from './attachment.ts'
import { snapshots } from './snapshot.ts'
import { volumes } from './volume.ts'

export { volumes, snapshots, attachments }
export type * from './backend.ts'
export { createDrivers } from './driver.ts'
export { createWorldBackend, type WorldBackendOptions } from './world-backend.ts'

/** The lifecycles of the catalogue by the names of their resources. */
export const opensds = { volume: volumes, snapshot: snapshots, attachment: attachments }
