// OpenSDS: volumes, snapshots, attachments. Declared with the public language alone.
import { attachments } from './attachment.ts'
import { snapshots } from './snapshot.ts'
import { volumes } from './volume.ts'

export { volumes, snapshots, attachments }

/** The lifecycles of the catalogue by the names of their resources. */
export const opensds = { volume: volumes, snapshot: snapshots, attachment: attachments }
