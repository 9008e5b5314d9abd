// Which of the answers that are shown a round of events may have changed.
import type { CloudEvent } from '../client/event-source.ts'

/** Read anew after every round: what any event may change. */
const summaries = new Set([
  'countResources',
  'listStuck',
  'listRuns',
  'listAllResources',
  'previewHealing',
  'getHealing',
  'listOrphans',
  'listIncidents',
  'listBulk',
  'getBulk',
  'listBulkItems',
  'getRelated',
  'getTruth',
])

/** Of a list that was scrolled far, every page would be asked for again with every round: it is left to its own rhythm. */
const pagesMost = 3

interface Asked {
  readonly queryKey: readonly unknown[]
  readonly state: { readonly data?: unknown }
}

export function touchedBy(events: readonly CloudEvent[]): (asked: Asked) => boolean {
  const subjects = new Set(events.map(({ subject }) => subject))
  const types = new Set(events.map(({ data }) => data.resource?.type ?? ''))
  const runs = new Set(events.map(({ data }) => data.run))
  return ({ queryKey, state }) => {
    const [name, given] = queryKey as [string, { path?: { type?: string; id?: string; run?: string } } | undefined]
    const pages = (state.data as { readonly pages?: readonly unknown[] } | undefined)?.pages
    if (pages !== undefined && pages.length > pagesMost) return false
    if (summaries.has(name)) return true
    const { type, id, run } = given?.path ?? {}
    if (run !== undefined) return runs.has(run)
    if (id !== undefined) return subjects.has(`${type}/${id}`)
    return name === 'listResources' && types.has(type ?? '')
  }
}
