// An image that machines are made from. Heal rows are named I1..I4 as in spec 4.3.
import { previous } from 'homeostat'
import { bin, reason } from './recycle-bin.ts'
import { account, image } from './resource-types.ts'

export const images = image.relations({ account: { parent: account } }).lifecycle({
  timers: { retention: bin },
  moves: [{ from: ['*'], to: 'DESTROYED', by: 'account' }],
  operations: {
    create: {
      from: [],
      steps: { createImage: { during: 'CREATING', creates: 'image', undo: 'destroyImage' } },
      to: 'CREATED',
      onFailure: { undo: true, status: 'DESTROYED', ifUndoFails: 'DESTROYED' },
    },
    disable: {
      from: ['CREATED'],
      steps: { hideImage: { during: 'DISABLING' } },
      to: { status: 'DISABLED', set: { enabled: false } },
      onFailure: previous,
    },
    enable: {
      from: ['DISABLED'],
      steps: { showImage: { during: 'ENABLING' } },
      to: { status: 'CREATED', set: { enabled: true } },
      onFailure: previous,
    },
    delete: {
      from: ['CREATED', 'DISABLED'],
      input: reason,
      requires: [{ system: false }],
      steps: { binImage: { during: 'DELETING' } },
      to: 'DELETED',
      onFailure: previous,
    },
    restore: {
      from: ['DELETED'],
      input: reason,
      steps: { unbinImage: { during: 'RESTORING' } },
      to: 'CREATED',
      onFailure: previous,
    },
    destroy: {
      from: ['CREATED', 'DISABLED', 'DELETED'],
      input: reason,
      requires: [{ system: false }],
      steps: { destroyImage: { during: 'DESTROYING', destroys: 'image' } },
      to: 'DESTROYED',
      onFailure: previous,
    },
  },
  heal: {
    CREATING: { status: 'DESTROYED' }, // I1
    RESTORING: { status: 'DELETED', attempt: 'restore' }, // I2
    DELETING: [
      { when: { enabled: false }, status: 'DISABLED', attempt: 'delete' },
      { status: 'CREATED', attempt: 'delete' },
    ], // I3
    DESTROYING: { status: 'DESTROYED' }, // I4
    DISABLING: [{ when: { enabled: true }, status: 'CREATED' }, { status: 'DISABLED' }],
    ENABLING: { like: 'DISABLING' },
  },
})
