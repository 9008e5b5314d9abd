// An image that machines are made from. Heal rows are named I1..I4 as in spec 4.3.
import { previous } from 'homeostat'
import { beginsEnabled, bin, forgotten, notInBin, reason } from './recycle-bin.ts'
import { account, image, machine } from './resource-types.ts'

const ownAndUnused = [
  { system: false, says: 'it is no image of the system' },
  { machines: { every: ['DELETED'] }, says: 'no machine uses it' },
] as const

const making = {
  // An image with a source is made from that machine: it asks it for a template first.
  takeTemplate: {
    during: 'CREATING',
    when: { source: { exists: true } },
    ask: {
      source: {
        operation: 'createTemplate',
        input: ({ resource }: { readonly resource: { readonly id: string } }) => ({ image: resource.id }),
      },
    },
  },
  createImage: { during: 'CREATING', creates: 'image', undo: 'destroyImage' },
} as const

export const images = image
  .relations({
    account: { parent: account },
    machines: { linkedBy: machine, as: 'image' },
    source: { link: machine },
  })
  .lifecycle({
    timers: { retention: bin, forgotten },
    moves: [{ from: ['*'], to: 'DESTROYED', by: 'account' }],
    operations: {
      model: { from: [], requires: [beginsEnabled], steps: {}, to: 'VIRTUAL', onFailure: 'DESTROYED' },
      build: {
        from: ['VIRTUAL'],
        steps: making,
        to: 'CREATED',
        onFailure: { undo: true, status: 'VIRTUAL', ifUndoFails: 'VIRTUAL' },
      },
      create: {
        from: [],
        requires: [beginsEnabled],
        steps: making,
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
        from: ['CREATED', 'DISABLED', 'DELETED'],
        ifTerminal: 'succeed',
        input: reason,
        requires: ownAndUnused,
        steps: { binImage: { during: 'DELETING', when: notInBin } },
        to: 'DELETED',
        onFailure: previous,
      },
      restore: {
        from: ['DELETED'],
        input: reason,
        steps: { unbinImage: { during: 'RESTORING' } },
        to: [{ when: { enabled: false }, status: 'DISABLED' }, { status: 'CREATED' }],
        onFailure: previous,
      },
      destroy: {
        from: ['VIRTUAL', 'CREATED', 'DISABLED', 'DELETED'],
        ifTerminal: 'succeed',
        input: reason,
        requires: ownAndUnused,
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
