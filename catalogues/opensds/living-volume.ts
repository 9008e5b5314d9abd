// The statuses of a volume whose row is there: a deleted one is known only to the history.

const settledVolume = ['Available', 'InUse', 'Error', 'ErrorExtending', 'ErrorDeleting'] as const
const movingVolume = ['Creating', 'Extending', 'Attaching', 'Detaching', 'Deleting'] as const

export const livingVolume = [...settledVolume, ...movingVolume] as const

/** Nothing happens to the volume; or its row is gone, and nothing can. */
export const isAtRest = (volume: { readonly status: string } | undefined): boolean =>
  volume === undefined || !movingVolume.some((status) => status === volume.status)
