// What becomes of a machine that is found stuck: rows M1..M5 of spec 4.3, and what the hypervisor's answer means.
import { wasModel } from './recycle-bin.ts'

/** The hypervisor is believed. A machine that is recorded and not there is broken (decision 0.9). */
export const unlessMissing = {
  running: 'RUNNING',
  halted: { status: 'HALTED', set: { verified: true } },
  paused: 'PAUSED',
  missing: 'ERROR',
} as const

const asked = {
  probe: { power: { ...unlessMissing, unknown: { status: 'HALTED', set: { verified: false } } } },
} as const

/** It moves nowhere any more. */
const stays = { target: null } as const
const askedWhere = {
  probe: {
    power: {
      running: { status: 'RUNNING', link: stays },
      halted: { status: 'HALTED', set: { verified: true }, link: stays },
      paused: { status: 'PAUSED', link: stays },
      missing: { status: 'ERROR', link: stays },
      unknown: { status: 'HALTED', set: { verified: false }, link: stays },
    },
  },
} as const

const disksBack = { disks: { from: ['DELETING_ATTACHED_DISK', 'TOBEDELETED'], to: 'ASSIGNED' } } as const

export const healMachine = {
  DEPLOYING: { status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' } }, // M1
  DESTROYING: { status: 'DESTROYED', move: { disks: 'TOBEDESTROYED' } }, // M2
  STOPPING: asked, // M3
  STARTING: { like: 'STOPPING' },
  REBOOTING: { like: 'STOPPING' },
  RESETTING: { like: 'STOPPING' },
  PAUSING: { like: 'STOPPING' },
  RESUMING: { like: 'STOPPING' },
  ADDING_DISK: { like: 'STOPPING' },
  ATTACHING_DISK: { like: 'STOPPING' },
  DETACHING_DISK: { like: 'STOPPING' },
  DELETING_DISK: { like: 'STOPPING' },
  CHANGING_DISK_LIMITS: { like: 'STOPPING' },
  CLONING: { like: 'STOPPING' },
  RESIZING: { like: 'STOPPING' },
  CREATING_TEMPLATE: { like: 'STOPPING' },
  MIGRATING: askedWhere,
  DELETING: [
    { when: wasModel, status: 'VIRTUAL', move: disksBack, attempt: 'delete' }, // G6
    { status: 'HALTED', move: disksBack, attempt: 'delete' },
  ], // M4
  RESTORING: {
    status: 'DELETED',
    move: { disks: { from: ['RESTORING_ATTACHED_DISK', 'ASSIGNED'], to: 'TOBEDELETED' } },
    attempt: 'restore',
  }, // M5
} as const
