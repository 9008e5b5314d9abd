// Approves at once what healing proposes and waits with: the same commands as one by one, each with its own entry in the audit.
import { HomeostatError } from '../base/errors.ts'
import type { Proposal } from '../engine/heal-control.ts'
import type { Answer } from '../protocol/route.ts'
import type { Routes } from '../protocol/routes.ts'
import type { Call } from './call.ts'
import { refuseUnknownStatus } from './unknown-names.ts'
import { healPreviewOf } from './wire.ts'

/** So many at the most for one request; who has more asks again. */
const approvedMost = 1_000

export async function approveAll(call: Call<'approveAllHealing'>): Promise<Answer<Routes['approveAllHealing']>> {
  const { heal } = call.services.engine
  const { type, status, reason, expected, dryRun } = call.body
  const { plans } = call.services.engine
  refuseUnknownStatus(type === undefined ? plans.all : [call.plan(type)], status === undefined ? [] : [status])
  const tenant = call.principal.tenant ?? undefined
  const { proposals, hasMore } = await heal.proposals({ limit: approvedMost, tenant, type, status })
  const total = proposals.length
  if (expected !== undefined && (expected !== total || hasMore))
    throw new HomeostatError(
      'bulk_changed',
      `${hasMore ? `More than ${total}` : total} wait for approval, not ${expected}. Look at them again.`,
      { details: { total } },
    )
  const answer = { total, hasMore, proposals: proposals.map(({ row }) => healPreviewOf(row)) }
  if (dryRun) return { ...answer, healed: 0, refused: [] }
  const refused: Answer<Routes['approveAllHealing']>['refused'] = []
  const healed: Proposal[] = []
  const by = call.principal.name
  // One after another: healing an owner may move what it owns, which is then told as changed instead of being healed twice.
  for (const one of proposals) {
    const { resource, found } = one
    const { no, revision } = resource
    try {
      const command = { kind: 'heal', no, found, revision, owner: 0, by, override: true } as const
      await call.submit(command, { reason, detail: { found } })
      healed.push(one)
    } catch (error) {
      if (!(error instanceof HomeostatError)) throw error
      refused.push({ resource: { type: resource.type, id: resource.id }, code: error.code, message: error.message })
    }
  }
  await heal.countApproved(healed)
  return { ...answer, healed: healed.length, refused }
}
