// A snapshot of a volume (spec 3.2 to 3.4).
import { snapshot, volume } from './resource-types.ts'

export const snapshots = snapshot.relations({ volume: { parent: volume } }).lifecycle({
  operations: {
    create: {
      from: [],
      requires: [{ volume: ['Available', 'InUse'] }],
      steps: { takeSnapshot: { during: 'Creating', creates: 'snapshot' } },
      to: 'Available',
      onFailure: 'Error',
    },
    delete: {
      from: ['Available', 'Error', 'ErrorDeleting'],
      steps: { deleteSnapshot: { during: 'Deleting', when: { volume: { exists: true } }, destroys: 'snapshot' } },
      to: 'Deleted',
      onFailure: 'ErrorDeleting',
    },
  },
  heal: {
    Creating: { resume: true, unowned: { status: 'Error' } },
    Deleting: { resume: true, unowned: { status: 'ErrorDeleting', attempt: 'delete' } },
  },
})
