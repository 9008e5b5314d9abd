// A snapshot of a volume (spec 3.2 to 3.4).
import { snapshot, volume } from './resource-types.ts'
import { livingVolume } from './living-volume.ts'

export const snapshots = snapshot
  .relations({ volume: { parent: volume }, copies: { linkedBy: volume, as: 'source' } })
  .lifecycle({
    probes: { snapshotExists: ['yes', 'no'], snapshotGone: ['yes', 'no'] },
    operations: {
      create: {
        from: [],
        requires: [{ volume: ['Available', 'InUse'] }],
        steps: {
          takeSnapshot: {
            during: {
              status: 'Creating',
              set: { size: ({ related: { volume }, resource }) => volume?.properties.size ?? resource.properties.size },
            },
            creates: 'snapshot',
            probe: 'snapshotExists',
            deadline: '10m',
          },
        },
        to: 'Available',
        onFailure: 'Error',
      },
      delete: {
        from: ['Available', 'Error', 'ErrorDeleting'],
        requires: [{ copies: { none: ['Creating'] } }],
        steps: {
          // Without its volume the row is dropped at once, and what is left of it is swept.
          deleteSnapshot: {
            during: 'Deleting',
            when: { volume: livingVolume },
            destroys: 'snapshot',
            probe: 'snapshotGone',
            deadline: '10m',
          },
        },
        to: 'Deleted',
        onFailure: 'ErrorDeleting',
      },
    },
    heal: {
      Creating: { resume: true, unowned: { status: 'Error' } },
      Deleting: { resume: true, unowned: { status: 'ErrorDeleting', attempt: 'delete' } },
    },
  })
