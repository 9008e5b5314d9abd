// Orphans: what exists in the real world and nobody owns any more. Swept by one sweeper at a time, adopted, or written off.
import { nameOf } from './begin-run.ts'
import type { OrphanEnded, SweepOrphan } from './command.ts'
import { Refusal, type Draft } from './draft.ts'
import { isOrphan } from './ledger.ts'
import { nobody, type LedgerEntry, type Resource } from './state.ts'

function find(draft: Draft, no: number, name: string): { readonly resource: Resource; readonly entry: LedgerEntry } {
  const resource = draft.get(no)
  const entry = resource?.ledger.find((one) => one.name === name)
  if (resource === null || entry === undefined || !isOrphan(entry)) {
    throw new Refusal(
      'orphan_not_found',
      `The ledger has no orphan '${name}': it was swept, adopted or written off, or it never was one.`,
    )
  }
  return { resource, entry }
}

export function sweepOrphan(draft: Draft, command: SweepOrphan): Resource {
  const { resource, entry } = find(draft, command.no, command.name)
  const isAnothers = entry.state === 'sweeping' && entry.sweeper !== command.sweeper
  if (isAnothers && entry.sweeper !== command.gone && entry.since + sweepLeaseMs > draft.now) {
    throw new Refusal('operation_in_progress', `'${command.name}' is being swept already.`)
  }
  const after = draft.change(resource, {
    ledger: replace(resource, { ...entry, state: 'sweeping', sweeper: command.sweeper, since: draft.now }),
  })
  draft.tell(after, 'sweeping', resource.status, { orphan: entry.name })
  return after
}

/** A sweeper that lives and says nothing for so long has hung; what it destroys is destroyed by name, so twice does no harm. */
export const sweepLeaseMs = 600_000

export function orphanEnded(draft: Draft, command: OrphanEnded): Resource {
  const { resource, entry } = find(draft, command.no, command.name)
  const bySweeper = command.how === 'swept' || command.how === 'sweepFailed'
  if (bySweeper && (entry.state !== 'sweeping' || entry.sweeper !== command.sweeper)) {
    throw new Refusal('fenced', `'${command.name}' is not being swept by this sweeper any more.`)
  }
  if (!bySweeper && entry.state === 'sweeping' && entry.since + sweepLeaseMs > draft.now) {
    throw new Refusal('operation_in_progress', `'${command.name}' of ${nameOf(resource)} is being swept. Wait for it.`)
  }
  if (command.how === 'adopted' && draft.isTerminal(resource)) {
    throw new Refusal(
      'operation_not_allowed',
      `${nameOf(resource)} is ${resource.status}: it cannot take '${command.name}' back.`,
    )
  }
  if (command.how === 'writtenOff' && command.reason.trim() === '')
    throw new Refusal('reason_required', `Writing off '${command.name}' needs a reason.`)
  const ledger =
    command.how === 'swept' || command.how === 'writtenOff'
      ? resource.ledger.filter((one) => one !== entry)
      : replace(resource, {
          ...entry,
          state: command.how === 'adopted' ? 'there' : 'orphaned',
          sweeper: nobody,
          since: draft.now,
        })
  const after = draft.change(resource, { ledger })
  const kind = command.how === 'sweepFailed' ? 'orphaned' : command.how
  draft.tell(after, kind, resource.status, {
    orphan: entry.name,
    ...(command.reason === '' ? {} : { reason: command.reason }),
  })
  return after
}

const replace = (resource: Resource, entry: LedgerEntry): readonly LedgerEntry[] =>
  resource.ledger.map((one) => (one.name === entry.name ? entry : one))
