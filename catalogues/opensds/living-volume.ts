// The statuses of a volume whose row is there: a deleted one is known only to the history.

const busyVolume = ['Creating', 'Extending', 'Attaching', 'Deleting'] as const

export const livingVolume = [
  ...busyVolume,
  ...(['Available', 'InUse', 'Detaching', 'Error', 'ErrorExtending', 'ErrorDeleting'] as const),
] as const

/** Nothing happens to the volume that a detaching could disturb; or its row is gone, and nothing can. */
export const letsDetach = (volume: { readonly status: string } | undefined): boolean =>
  volume === undefined || !busyVolume.some((status) => status === volume.status)
