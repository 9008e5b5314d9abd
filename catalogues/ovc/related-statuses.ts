// Statuses that cascades look at. What is busy is waited for (`awaitRest`), so that a cascade does not pass over something that
// comes back to life afterwards: also after a crash, when parents are healed before their children (G5).

export const busyCloudspaces = [
  'DEPLOYING',
  'DISABLING',
  'ENABLING',
  'DELETING',
  'DESTROYING',
  'RESTORING',
  'PAUSING',
  'RESUMING',
  'RESETTING',
  'UPDATING',
  'MIGRATING',
] as const

/** Not in the bin. */
export const liveCloudspaces = ['VIRTUAL', 'DEPLOYED', 'DISABLED', 'PAUSED'] as const

export const busyMachines = [
  'DEPLOYING',
  'STOPPING',
  'STARTING',
  'REBOOTING',
  'RESETTING',
  'PAUSING',
  'RESUMING',
  'ADDING_DISK',
  'ATTACHING_DISK',
  'DETACHING_DISK',
  'DELETING_DISK',
  'CHANGING_DISK_LIMITS',
  'CLONING',
  'RESIZING',
  'CREATING_TEMPLATE',
  'DELETING',
  'RESTORING',
  'DESTROYING',
  'MIGRATING',
] as const

/** Not in the bin, nor broken: what is broken can only be destroyed. */
export const liveMachines = ['VIRTUAL', 'RUNNING', 'PAUSED', 'HALTED'] as const

export const busyImages = ['CREATING', 'DELETING', 'RESTORING', 'DESTROYING', 'DISABLING', 'ENABLING'] as const

/** Of disks that go their own way: an attached one moves with its machine. */
export const busyDisks = [
  'CREATING',
  'ASSIGNING',
  'ATTACHING',
  'DETACHING',
  'RESIZING',
  'DELETING_DETACHED_DISK',
  'RESTORING_DETACHED_DISK',
] as const

export const isOneOf = (statuses: readonly string[], related: readonly { readonly status: string }[]): boolean =>
  related.some(({ status }) => statuses.includes(status))
