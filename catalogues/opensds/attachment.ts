// An attachment: the use of a volume by a host (spec 3.2 to 3.4).
import { attachment, volume } from './resource-types.ts'

export const attachments = attachment
  .relations({ volume: { parent: volume }, others: { siblings: attachment } })
  .lifecycle({
    operations: {
      create: {
        from: [],
        requires: [
          { volume: ['Available', 'InUse'] },
          {
            says: 'a volume in use is shared only if it allows it',
            test: ({ related: { volume } }) => volume?.status !== 'InUse' || volume.properties.multiAttach,
          },
        ],
        steps: {
          attach: { during: { status: 'Attaching', move: { volume: 'Attaching' } }, creates: 'link', deadline: '2m' },
        },
        to: { status: 'Attached', move: { volume: 'InUse' } },
        onFailure: [
          {
            when: { others: { some: ['Attached', 'ErrorDetaching'] } },
            status: 'ErrorAttaching',
            move: { volume: 'InUse' },
          },
          { status: 'ErrorAttaching', move: { volume: 'Available' } },
        ],
      },
      delete: {
        from: ['Attached', 'ErrorAttaching', 'ErrorDetaching'],
        requires: [{ volume: ['Available', 'InUse'] }],
        steps: {
          detach: {
            during: { status: 'Detaching', move: { volume: { from: ['InUse'], to: 'Detaching' } } },
            destroys: 'link',
            deadline: '2m',
          },
        },
        to: [
          {
            when: { others: { some: ['Attached', 'ErrorDetaching'] } },
            status: 'Detached',
            move: { volume: { from: ['Detaching'], to: 'InUse' } },
          },
          { status: 'Detached', move: { volume: { from: ['Detaching'], to: 'Available' } } },
        ],
        onFailure: { status: 'ErrorDetaching', move: { volume: { from: ['Detaching'], to: 'InUse' } } },
      },
    },
    heal: {
      Attaching: {
        resume: true,
        unowned: [
          {
            when: { others: { some: ['Attached', 'ErrorDetaching'] } },
            status: 'ErrorAttaching',
            move: { volume: { from: ['Attaching'], to: 'InUse' } },
          },
          { status: 'ErrorAttaching', move: { volume: { from: ['Attaching'], to: 'Available' } } },
        ],
      },
      Detaching: {
        resume: true,
        unowned: {
          status: 'ErrorDetaching',
          move: { volume: { from: ['Detaching'], to: 'InUse' } },
          attempt: 'delete',
        },
      },
    },
  })
