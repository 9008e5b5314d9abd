// Upstream tells others of some changes by notifications (spec 1.5, 1.6, 1.7). Here every change is in the event feed, without gaps
// and only once it is committed; this says which of upstream's notifications one of its events stands for.

/** An event of the feed, as far as it matters. */
export interface Change {
  readonly from: string
  readonly to: string
}

/** Whom it is about. */
export interface Changed {
  readonly type: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** Null: upstream says nothing of it. */
export function notificationOf({ from, to }: Change, { type, properties }: Changed): string | null {
  if (from === to) return null
  // A creation that is taken back goes from CREATING.
  if (type === 'blazar.lease') return to === 'gone' && from !== 'CREATING' ? 'lease.delete' : null
  if (type !== 'blazar.event') return null
  if (to === 'DONE') return `lease.event.${String(properties['eventType'])}`
  return from === 'DONE' && to === 'UNDONE' ? `event.${String(properties['eventType'])}.stop` : null
}
