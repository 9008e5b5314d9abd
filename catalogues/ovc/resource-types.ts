// What there is in OpenvCloud (docs/systems.md 4.1): the types, their properties and their statuses, in the seed's own spelling.
import { resourceType } from 'homeostat'
import { z } from 'zod'

/** The id of one of them; the console offers those that there are. */
export const idOf = (type: string) => z.string().meta({ resource: type })

export const account = resourceType('ovc.account', {
  properties: z.object({ enabled: z.boolean().default(true), name: z.string().default('') }),
  statuses: {
    stable: { CONFIRMED: 'Open.', DISABLED: 'Closed by an operator.', DELETED: 'In the recycle bin.' },
    transitional: {
      DISABLING: 'Being disabled.',
      ENABLING: 'Being enabled.',
      DELETING: 'Moving to the bin.',
      RESTORING: 'Coming back from the bin.',
      DESTROYING: 'Being destroyed.',
      UPDATING: 'Being updated.',
    },
    terminal: { DESTROYED: 'Gone for good.' },
  },
})

export const cloudspace = resourceType('ovc.cloudspace', {
  properties: z.object({ enabled: z.boolean().default(true), name: z.string().default('') }),
  statuses: {
    stable: {
      VIRTUAL: 'Only a model.',
      DEPLOYED: 'Works.',
      DISABLED: 'Closed by an operator.',
      PAUSED: 'Its firewall is stopped.',
      DELETED: 'In the recycle bin.',
    },
    transitional: {
      DEPLOYING: 'Being deployed.',
      DISABLING: 'Being disabled.',
      ENABLING: 'Being enabled.',
      DELETING: 'Moving to the bin.',
      DESTROYING: 'Being destroyed.',
      RESTORING: 'Coming back from the bin.',
      PAUSING: 'The firewall stops.',
      RESUMING: 'The firewall starts.',
      RESETTING: 'The firewall is made anew.',
      UPDATING: 'Being updated.',
      MIGRATING: 'The firewall moves.',
    },
    terminal: { DESTROYED: 'Gone for good.' },
  },
})

export const machine = resourceType('ovc.machine', {
  properties: z.object({
    /** False: nobody could be asked whether it is really off (M3). It may not be started then. */
    verified: z.boolean().default(true),
    /** In MB. */
    memory: z.number().int().positive(),
    /** Stopped by the maintenance of its node: to be started again with it. */
    restart: z.boolean().default(false),
  }),
  statuses: {
    stable: {
      VIRTUAL: 'Only a model.',
      RUNNING: 'Runs.',
      PAUSED: 'Paused.',
      HALTED: 'Off.',
      DELETED: 'In the recycle bin.',
    },
    transitional: {
      DEPLOYING: 'Being deployed.',
      STOPPING: 'Being stopped.',
      STARTING: 'Being started.',
      REBOOTING: 'Being rebooted.',
      RESETTING: 'Being reset.',
      PAUSING: 'Being paused.',
      RESUMING: 'Being resumed.',
      ADDING_DISK: 'A disk is added.',
      ATTACHING_DISK: 'A disk is attached.',
      DETACHING_DISK: 'A disk is detached.',
      DELETING_DISK: 'A disk is deleted.',
      CHANGING_DISK_LIMITS: 'Disk limits change.',
      CLONING: 'Being cloned.',
      RESIZING: 'Being resized.',
      CREATING_TEMPLATE: 'A template is made.',
      DELETING: 'Moving to the bin.',
      RESTORING: 'Coming back from the bin.',
      DESTROYING: 'Being destroyed.',
      MIGRATING: 'Moves to another node.',
    },
    failed: { ERROR: 'Broken.' },
    terminal: { DESTROYED: 'Gone for good.' },
  },
})

export const disk = resourceType('ovc.disk', {
  properties: z.object({
    /** In GB. */
    size: z.number().positive(),
    /** 0: not limited. */
    iops: z.number().nonnegative().default(0),
    /** Something with it was cut or failed: nobody knows whether it is plugged in as recorded, nor its size. */
    loose: z.boolean().default(false),
  }),
  statuses: {
    stable: {
      MODELED: 'Only a model.',
      CREATED: 'Detached.',
      ASSIGNED: 'Attached.',
      DELETED: 'Detached, in the bin.',
      TOBEDELETED: 'Attached, in the bin.',
      TOBEDESTROYED: 'Waits for the destroyer.',
    },
    transitional: {
      CREATING: 'Being created.',
      ASSIGNING: 'Being created on a machine.',
      ATTACHING: 'Being attached.',
      DETACHING: 'Being detached.',
      RESIZING: 'Being resized.',
      DELETING_ATTACHED_DISK: 'Moving to the bin with its machine.',
      DELETING_DETACHED_DISK: 'Moving to the bin.',
      DESTROYING_ATTACHED_DISK: 'Being destroyed with its machine.',
      DESTROYING_DETACHED_DISK: 'Being destroyed.',
      RESTORING_ATTACHED_DISK: 'Coming back with its machine.',
      RESTORING_DETACHED_DISK: 'Coming back from the bin.',
    },
    terminal: { DESTROYED: 'Gone for good.' },
  },
})

export const image = resourceType('ovc.image', {
  properties: z.object({ enabled: z.boolean().default(true), system: z.boolean().default(false) }),
  statuses: {
    stable: {
      VIRTUAL: 'Only a model.',
      CREATED: 'Ready.',
      DISABLED: 'Not offered.',
      DELETED: 'In the recycle bin.',
    },
    transitional: {
      CREATING: 'Being created.',
      DELETING: 'Moving to the bin.',
      RESTORING: 'Coming back from the bin.',
      DESTROYING: 'Being destroyed.',
      DISABLING: 'Being disabled.',
      ENABLING: 'Being enabled.',
    },
    terminal: { DESTROYED: 'Gone for good.' },
  },
})

const nodeStatuses = {
  stable: { ENABLED: 'Takes machines.', MAINTENANCE: 'Out of service.' },
  transitional: {
    DEACTIVATING: 'Going into maintenance.',
    ENABLING: 'Coming back.',
    DECOMMISSIONING: 'Being taken away.',
    UPDATING: 'Being updated.',
  },
  failed: { ERROR: 'Broken.' },
  terminal: { DECOMMISSIONED: 'Taken away.' },
} as const

export const node = resourceType('ovc.node', { properties: z.object({}), statuses: nodeStatuses })

export const stack = resourceType('ovc.stack', { properties: z.object({}), statuses: nodeStatuses })
