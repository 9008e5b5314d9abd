// What healing would do, in words, before anything is done: the same decision that healing will make, made and not committed.
import type { Plans } from '../lifecycle/plan.ts'
import type { Found } from './command.ts'
import { decide } from './decide.ts'
import type { Situation } from './situation.ts'
import type { No, Resource } from './state.ts'

export interface HealPreview {
  readonly no: No
  readonly type: string
  readonly id: string
  readonly status: string
  readonly found: Found
  /** What the declaration says for this status. */
  readonly rule: string
  /** What would happen now. */
  readonly would: string
  /** False: nothing would be done (healed with its owner, parked ...), and `would` says why. */
  readonly acts: boolean
}

export function previewHeal(plans: Plans, situation: Situation, resource: Resource, found: Found): HealPreview {
  const rule = plans.get(resource.type)?.heal.get(resource.status)?.words ?? ''
  const about = { no: resource.no, type: resource.type, id: resource.id, status: resource.status, found, rule }
  const decision = decide(plans, situation, {
    kind: 'heal',
    no: resource.no,
    found,
    revision: resource.revision,
    owner: situation.claimant,
    by: 'preview',
  })
  if (!decision.accepted) return { ...about, acts: false, would: decision.rejection.message }
  const own = decision.changes.writes.find((one) => one.no === resource.no) ?? resource
  const others = decision.changes.writes.filter((one) => one.no !== resource.no)
  // Where healing puts it before anything is attempted again; undefined when it goes on.
  const put = decision.changes.events.find((one) => one.no === resource.no && one.kind === 'healed')?.to
  return { ...about, acts: true, would: [ownWords(plans, resource, own, put), ...otherWords(others)].join('; ') }
}

function ownWords(plans: Plans, before: Resource, after: Resource, put: string | undefined): string {
  const run = after.run
  if (run === null) return `put it to ${after.status}`
  const step = plans.get(after.type)?.operations.get(run.operation)?.steps[run.step]?.name ?? ''
  switch (run.phase) {
    case 'healProbe':
      return `ask the driver (${run.probe}) what is really there, and land by its answer`
    case 'probe':
      return `ask the driver whether ${step} happened, then go on with ${run.operation}`
    case 'undo':
      return `go on undoing ${run.operation}`
    case 'cascade':
      return `move its related resources in chunks, then land`
    case 'step':
      if (run.begun === before.run?.begun) return `go on with ${run.operation} at ${step}`
      return `${put === undefined || put === before.status ? '' : `put it to ${put}, then `}attempt ${run.operation} again (now ${after.status})`
  }
}

const shownAtMost = 5

function otherWords(others: readonly Resource[]): string[] {
  const moved = new Map<string, string[]>()
  for (const one of others) {
    const key = `${one.type} to ${one.status}`
    moved.set(key, [...(moved.get(key) ?? []), one.id])
  }
  return [...moved].map(([key, ids]) => {
    const [type, status] = key.split(' to ')
    const more = ids.length > shownAtMost ? ` and ${ids.length - shownAtMost} more` : ''
    return `${type} ${ids.slice(0, shownAtMost).join(', ')}${more} to ${status}`
  })
}
