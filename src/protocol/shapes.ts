// What goes over the wire, as schemas: the same objects for handlers, OpenAPI, client and command line. Times are ISO text.
import { z } from 'zod'
import type { Json } from '../base/json.ts'
import { permissions, roles } from './permissions.ts'

/** Text without control characters: it is shown to people. */
const plainText = (most: number) =>
  z
    .string()
    .max(most)
    // oxlint-disable-next-line no-control-regex
    .refine((text) => text.isWellFormed() && !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text), {
      message: 'holds control characters',
    })

export const time = z.iso.datetime().describe('A moment, in UTC.')
/** Our own type of it, which is not to be changed once it is made. */
export const json = z.json().describe('Any JSON value.') as unknown as z.ZodType<Json, Json>
export const jsonObject = z.record(z.string(), json).describe('A JSON object.')
export const typeName = plainText(200).min(1).describe('The type of a resource, such as `opensds.volume`.')
export const resourceId = plainText(200).min(1).describe('The id of a resource: unique within its type.')
export const tenantName = plainText(100).min(1).describe('A tenant.')
export const reasonText = plainText(1_000).min(1).describe('Why: kept in the audit.')
export const statusKind = z.enum(['stable', 'transitional', 'failed', 'terminal'])
export const role = z.enum(roles)
export const permission = z.enum(permissions)

export const ref = z.object({ type: z.string(), id: z.string() }).meta({ id: 'Ref', description: 'Names a resource.' })

const refusedOperation = z.object({
  operation: z.string(),
  code: z.string(),
  reason: z.string().describe('Why it may not be asked for now, in words.'),
})

const tried = {
  attempt: z.number().int().describe('Of the present step in this round, from 1; 0 of a run that has ended.'),
  round: z
    .number()
    .int()
    .describe(
      'From 1; one more each time that a step has failed for good and is tried again later. 0 of a run that has ended.',
    ),
}

export const runSummary = z
  .object({
    id: z.string(),
    operation: z.string(),
    kind: z.enum(['operation', 'heal', 'drift']),
    state: z.string().describe('waiting, running or parked; or how it ended.'),
    step: z.string().nullable(),
    ...tried,
    progress: z.string(),
  })
  .meta({ id: 'RunSummary' })

export const resource = z
  .object({
    id: z.string(),
    type: z.string(),
    tenant: z.string(),
    name: z.string().nullable(),
    parent: ref.nullable(),
    links: z.record(z.string(), ref),
    status: z.string(),
    kind: statusKind,
    description: z.string().describe('Why it stands there; empty when all is well.'),
    properties: jsonObject,
    revision: z.number().int(),
    epoch: z.number().int().describe('Ownership fence: goes up whenever ownership moves.'),
    etag: z.string().describe('For If-Match and If-None-Match.'),
    since: time.describe('When the present status was entered.'),
    createdAt: time,
    run: runSummary.nullable(),
    timers: z.record(z.string(), time),
    queued: z.array(z.object({ operation: z.string(), by: z.string(), at: time })),
    orphans: z.number().int().describe('Things left behind in the real world that nobody owns.'),
    allowed: z.array(z.string()).optional().describe('Operations that may be asked for now; with one resource only.'),
    refused: z.array(refusedOperation).optional().describe('The other operations, with the reason why not.'),
  })
  .meta({ id: 'Resource' })

export const step = z
  .object({
    name: z.string(),
    status: z.string().describe('The transitional status it runs in.'),
    state: z.enum(['todo', 'running', 'done', 'skipped', 'failed', 'undoing', 'undone']),
    result: json.optional(),
  })
  .meta({ id: 'Step' })

export const event = z
  .object({
    n: z.number().int().describe('Its number: without gaps in the whole installation.'),
    at: time,
    kind: z.string(),
    resource: ref.nullable(),
    from: z.string(),
    to: z.string(),
    revision: z.number().int(),
    epoch: z.number().int(),
    run: z.string().nullable(),
    by: z.string(),
    detail: json,
  })
  .meta({ id: 'Event' })

export const cloudEvent = z
  .object({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.string(),
    subject: z.string(),
    time,
    datacontenttype: z.literal('application/json'),
    sequence: z.string(),
    tenant: z.string(),
    data: event,
  })
  .meta({ id: 'CloudEvent', description: 'CloudEvents 1.0, structured mode.' })

const endedStates = ['succeeded', 'failed', 'cancelled', 'preempted', 'healed', 'forced'] as const
export const runState = z.enum(['waiting', 'running', 'parked', ...endedStates])

export const run = z
  .object({
    id: z.string(),
    resource: ref,
    operation: z.string(),
    kind: z.enum(['operation', 'heal', 'drift']),
    state: runState,
    isOver: z.boolean(),
    status: z.string().describe('The status of the resource: now, or when the run ended.'),
    by: z.string(),
    acceptedAt: time,
    endedAt: time.nullable(),
    phase: z.string().nullable(),
    steps: z.array(step),
    ...tried,
    input: json.describe('Null also in a list, of a run that has ended.'),
    forced: z.boolean(),
    reasons: z
      .array(z.string())
      .describe('What failed, first to last; in a list, of a run that has ended, the last of them.'),
    progress: z.string(),
    nextCallAt: time.nullable(),
    deadlineAt: time.nullable(),
    parked: z.object({ code: z.string(), reason: z.string(), at: time }).nullable(),
    owner: z.number().int().describe('The worker that carries it out; 0: nobody.'),
    uncertain: z.boolean().describe('A call may have been made whose outcome nobody knows.'),
    events: z.array(event).optional().describe('With one run only: newest first.'),
  })
  .meta({ id: 'Run' })

export const accepted = z
  .object({
    resource,
    run: run.nullable().describe('Null when nothing was begun: `outcome` says why.'),
    outcome: z
      .enum(['begun', 'queued', 'over'])
      .optional()
      .describe('Of creates, operations and deletes. queued: it waits its turn. over: there was nothing left to do.'),
  })
  .meta({ id: 'Accepted' })

/** In which way something is stuck. */
const foundHow = z.enum(['ownerLost', 'overdue', 'unowned', 'drifted'])

export const explanation = z
  .object({
    because: z.array(z.string()),
    next: z.object({ what: z.string(), at: time.nullable() }).nullable(),
    settlesWithinMs: z.number().nullable(),
    allowed: z.array(z.string()),
    stuck: z
      .object({
        found: foundHow,
        rule: z.string(),
        would: z.string().describe('What healing would do now.'),
        held: z.string().nullable().describe('Why it is not healed by itself; null: it is.'),
      })
      .nullable()
      .describe('Null: it is not stuck.'),
  })
  .meta({ id: 'Explanation' })

export const ledgerEntry = z
  .object({
    name: z.string(),
    kind: z.string(),
    state: z.enum(['meant', 'there', 'unknown', 'orphaned', 'sweeping']),
    ref: json,
    step: z.string(),
    since: time,
  })
  .meta({ id: 'LedgerEntry' })

export const orphan = z
  .object({ id: z.string().describe('The name in the ledger.'), resource: ref, tenant: z.string(), entry: ledgerEntry })
  .meta({ id: 'Orphan' })

export const stray = z
  .object({ type: z.string(), kind: z.string(), name: z.string(), firstSeenAt: time })
  .meta({ id: 'Stray', description: 'Exists in the real world, and no ledger names it.' })

export const incident = z
  .object({
    id: z.string(),
    kind: z.string(),
    resource: ref,
    tenant: z.string(),
    at: time,
    status: z.string(),
    text: z.string(),
    evidence: json,
  })
  .meta({ id: 'Incident' })

export const stuck = z
  .object({
    resource,
    found: foundHow,
    rule: z.string().describe('What the declaration says for this status.'),
    held: z.string().nullable().describe('Why it is not healed by itself; null: it is.'),
  })
  .meta({ id: 'Stuck' })

export const healingMode = z.enum(['auto', 'approve', 'off'])

export const healPreview = z
  .object({
    resource: ref,
    status: z.string(),
    found: foundHow,
    rule: z.string(),
    would: z.string(),
    acts: z.boolean(),
    mode: healingMode,
    held: z.string().nullable(),
  })
  .meta({ id: 'HealPreview' })

export const healing = z
  .object({
    lastPassAgeMs: z.number().nullable(),
    passes: z.number().int(),
    healed: z.number().int(),
    modes: z.array(z.object({ type: z.string(), status: z.string(), mode: healingMode, rule: z.string() })),
    breakers: z.array(
      z.object({ type: z.string(), isOpen: z.boolean(), openedAt: time.nullable(), reason: z.string() }),
    ),
    scoreboard: z.array(
      z.object({ type: z.string(), status: z.string(), found: z.string(), count: z.number().int(), lastAt: time }),
    ),
  })
  .meta({ id: 'Healing' })

export const worker = z
  .object({
    no: z.number().int(),
    name: z.string(),
    state: z.enum(['live', 'ended', 'dead', 'expired']),
    startedAt: time,
    beatAt: time,
    leaseUntil: time,
    isHere: z.boolean().describe('The process that answers.'),
  })
  .meta({ id: 'Worker' })

export const filter = z
  .strictObject({
    type: typeName,
    status: z.array(plainText(200)).min(1).max(100).optional(),
    kind: statusKind.optional(),
    tenant: tenantName.optional(),
    parent: resourceId.optional(),
    name: plainText(200).optional(),
    q: plainText(200).optional(),
  })
  .meta({ id: 'Filter' })

export const bulk = z
  .object({
    id: z.string(),
    tenant: z.string().nullable(),
    filter,
    operation: z.string(),
    input: json,
    reason: z.string(),
    by: z.string(),
    state: z.enum(['running', 'paused', 'cancelled', 'done']),
    perSecond: z.number(),
    total: z.number().int().describe('The frozen list of targets.'),
    accepted: z.number().int(),
    refused: z.number().int(),
    left: z.number().int(),
    createdAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'Bulk' })

export const bulkItem = z
  .object({
    index: z.number().int(),
    resource: ref,
    state: z.enum(['waiting', 'accepted', 'refused']),
    run: z.string().nullable(),
    code: z.string().nullable(),
    message: z.string(),
  })
  .meta({ id: 'BulkItem' })

export const webhook = z
  .object({
    id: z.string(),
    tenant: z.string().nullable(),
    url: z.string(),
    types: z.array(z.string()).describe('Types of resources; empty: all.'),
    kinds: z.array(z.string()).describe('Kinds of events; empty: all.'),
    state: z.enum(['active', 'paused']),
    delivered: z.number().int().describe('Number of the last event that was dealt with.'),
    failures: z.number().int().describe('Tries of the present event that failed.'),
    nextTryAt: time.nullable().describe('When it is tried again; null: it does not wait.'),
    lastError: z.string(),
    deadLetters: z.number().int(),
    createdAt: time,
  })
  .meta({ id: 'Webhook' })

export const deadLetter = z
  .object({ n: z.number().int(), at: time, error: z.string(), event: cloudEvent.nullable() })
  .meta({ id: 'DeadLetter' })

export const token = z
  .object({
    id: z.string(),
    name: z.string(),
    role,
    scopes: z.array(permission).describe('Of the permissions of the role only these; empty: all.'),
    tenant: z.string().nullable().describe('Null: all tenants.'),
    createdAt: time,
    createdBy: z.string(),
    expiresAt: time,
  })
  .meta({ id: 'Token' })

export const account = z
  .object({ name: z.string(), role, tenant: z.string().nullable(), createdAt: time })
  .meta({ id: 'Account' })

export const session = z
  .object({
    principal: z.string(),
    role,
    permissions: z.array(permission),
    tenant: z.string().nullable(),
    expiresAt: time.nullable(),
    isDev: z.boolean().describe('The server is in development mode.'),
    version: z.string(),
  })
  .meta({ id: 'Session' })

export const auditEntry = z
  .object({
    n: z.number().int(),
    at: time,
    principal: z.string(),
    address: z.string(),
    tenant: z.string().nullable(),
    action: z.string().describe('The name of the route.'),
    target: z.string(),
    outcome: z
      .enum(['done', 'denied', 'begun', 'failed'])
      .describe('What calls the outside is written down when it is begun, and again when it is done or has failed.'),
    reason: z.string(),
    detail: json,
    hash: z.string().describe('SHA-256 over the hash before it and this entry.'),
  })
  .meta({ id: 'AuditEntry' })

export const problem = z
  .object({
    type: z.string().describe('A page that explains the code.'),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    instance: z.string().describe('The id of the request.'),
    code: z.string(),
    retryable: z.boolean(),
    violations: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    details: json.optional(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details.' })

export const name = plainText(200)
export { plainText }
