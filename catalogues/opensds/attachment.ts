// An attachment: the use of a volume by a host. It and its volume move together, in one commit (spec 3.2 to 3.4).
import { letsDetach, livingVolume } from './living-volume.ts'
import { attachment, volume } from './resource-types.ts'

const using = { others: { some: ['Attached', 'ErrorDetaching'] } } as const
/** Others are on the way with the volume: the last of them says where it goes. */
const notLast = { others: { some: ['Attaching', 'Detaching'] }, volume: ['Attaching', 'Detaching'] } as const

/** Not attached: the volume is in use if another attachment uses it, else free. */
const notAttached = [
  { when: notLast, status: 'ErrorAttaching' },
  { when: using, status: 'ErrorAttaching', move: { volume: { from: ['Attaching', 'Detaching'], to: 'InUse' } } },
  { status: 'ErrorAttaching', move: { volume: { from: ['Attaching', 'Detaching', 'InUse'], to: 'Available' } } },
] as const

export const attachments = attachment
  .relations({ volume: { parent: volume }, others: { siblings: attachment } })
  .lifecycle({
    // The first answer of each means that the step it belongs to has happened.
    probes: { isAttached: ['yes', 'no'], isDetached: ['yes', 'no'] },
    operations: {
      create: {
        meaning: 'Attaches the volume to a host.',
        from: [],
        requires: [
          { volume: ['Available', 'InUse'] },
          {
            says: 'a volume in use is shared only if it allows it',
            test: ({ related: { volume } }) => volume?.status !== 'InUse' || volume.properties.multiAttach,
          },
          {
            says: "the host's zones include the volume's",
            test: ({ resource: { properties }, related: { volume } }) =>
              properties.hostZones === undefined ||
              volume === undefined ||
              properties.hostZones.includes(volume.properties.zone),
          },
        ],
        steps: {
          attach: {
            during: { status: 'Attaching', move: { volume: 'Attaching' } },
            creates: 'link',
            probe: 'isAttached',
            deadline: '2m',
          },
        },
        to: { status: 'Attached', move: { volume: { from: ['Attaching'], to: 'InUse' } } },
        onFailure: notAttached,
      },
      delete: {
        meaning: 'Detaches the volume, or clears away what a failed attaching left.',
        from: ['Attached', 'ErrorAttaching', 'ErrorDetaching'],
        requires: [
          {
            says: 'nothing but detaching happens to its volume',
            test: ({ related: { volume } }) => letsDetach(volume),
          },
        ],
        steps: {
          // Without its volume the row is dropped at once, and what is left of it is swept. A volume in an error status keeps it.
          detach: {
            during: { status: 'Detaching', move: { volume: { from: ['Available', 'InUse'], to: 'Detaching' } } },
            when: { volume: livingVolume },
            destroys: 'link',
            probe: 'isDetached',
            deadline: '2m',
          },
        },
        to: [
          { when: notLast, status: 'Detached' },
          { when: using, status: 'Detached', move: { volume: { from: ['Detaching'], to: 'InUse' } } },
          { status: 'Detached', move: { volume: { from: ['Detaching'], to: 'Available' } } },
        ],
        onFailure: [
          { when: notLast, status: 'ErrorDetaching' },
          { status: 'ErrorDetaching', move: { volume: { from: ['Detaching'], to: 'InUse' } } },
        ],
      },
    },
    heal: {
      Attaching: { resume: true, unowned: notAttached },
      Detaching: {
        resume: true,
        unowned: [
          { when: notLast, status: 'ErrorDetaching', attempt: 'delete' },
          {
            status: 'ErrorDetaching',
            move: { volume: { from: ['Available', 'Attaching', 'Detaching'], to: 'InUse' } },
            attempt: 'delete',
          },
        ],
      },
    },
  })
