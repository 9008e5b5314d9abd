// Rows of the contract: lifecycles, resources and their runs.
import { z } from 'zod'
import { diagram } from './diagram-shape.ts'
import { lifecycle } from './lifecycle-shape.ts'
import { flag, pageOf, paging, row } from './route.ts'
import * as shape from './shapes.ts'

const group = 'resources'
const list = (text: string) => text.split(',').filter((one) => one !== '')
const statuses = z
  .string()
  .max(2_000)
  .transform(list)
  .pipe(z.array(z.string()).min(1).max(100))
  .optional()
  .describe('One or several statuses, with commas.')

const listQuery = z.strictObject({
  ...paging,
  status: statuses,
  kind: shape.statusKind.optional(),
  tenant: shape.tenantName.optional(),
  parent: shape.resourceId.optional().describe('Id of the parent.'),
  name: shape.name.optional().describe('Exactly this name.'),
  q: shape.name.optional().describe('A part of id, name, status or description.'),
  stuck: flag.describe('Only what is stuck now.'),
  total: flag.describe('Also count all that fit.'),
})

const reasonQuery = { reason: shape.reasonText.optional() }

const steerBody = z.strictObject({ reason: shape.reasonText })

/** Why an operation of a resource that is there may be refused, whatever its input. */
const operationRefusals = [
  'type_unknown',
  'resource_not_found',
  'operation_unknown',
  'operation_not_allowed',
  'operation_in_progress',
  'related_busy',
  'requirement_not_met',
  'rule_breached',
  'follower_of_pair',
] as const

export const resourceRoutes = {
  listLifecycles: row({
    method: 'GET',
    path: '/v1/lifecycles',
    permission: 'read',
    group: 'lifecycles',
    words: 'All declared lifecycles as data, with the number of resources in each status.',
    answer: z.object({
      items: z.array(
        z.object({
          type: z.string(),
          lifecycle,
          counts: z.record(z.string(), z.number().int()),
        }),
      ),
    }),
  }),
  countResources: row({
    method: 'GET',
    path: '/v1/counts',
    permission: 'read',
    group: 'lifecycles',
    words: 'The number of resources in each status, by type.',
    answer: z.object({
      items: z.array(z.object({ type: z.string(), counts: z.record(z.string(), z.number().int()) })),
    }),
  }),
  getLifecycle: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}',
    permission: 'read',
    group: 'lifecycles',
    words: 'One declaration: statuses with kind and meaning, operations, healing rules in words.',
    answer: lifecycle,
    errors: ['type_unknown'],
  }),
  drawLifecycle: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}/diagram.svg',
    permission: 'read',
    group: 'lifecycles',
    words: 'The lifecycle as a picture.',
    query: z.strictObject({ theme: z.enum(['light', 'dark']).default('light') }),
    form: 'svg',
    errors: ['type_unknown'],
  }),
  placeLifecycle: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}/diagram.json',
    permission: 'read',
    group: 'lifecycles',
    words: 'Where the picture of the lifecycle has its boxes and arrows: for pages that draw live figures into it.',
    answer: diagram,
    errors: ['type_unknown'],
  }),
  drawMermaid: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}/diagram.mmd',
    permission: 'read',
    group: 'lifecycles',
    words: 'The lifecycle as Mermaid text.',
    form: 'text',
    errors: ['type_unknown'],
  }),
  createResource: row({
    method: 'POST',
    path: '/v1/resources/{type}',
    permission: 'operate',
    group,
    words: 'Creates a resource; `Location` names the run.',
    body: z.strictObject({
      id: shape.resourceId.optional(),
      name: shape.name.optional(),
      tenant: shape.tenantName.optional(),
      parent: shape.resourceId.optional().describe('Id of the parent.'),
      links: z.record(z.string().max(200), shape.resourceId).optional().describe('Ids by relation.'),
      properties: shape.jsonObject.default({}),
      input: shape.json.optional(),
      operation: shape.name.optional().describe('Where the lifecycle has another one than `create`.'),
    }),
    status: 202,
    headers: ['Location', 'ETag'],
    answer: shape.accepted,
    errors: [
      'type_unknown',
      'operation_unknown',
      'already_exists',
      'input_invalid',
      'properties_invalid',
      'parent_invalid',
      'link_invalid',
      'requirement_not_met',
      'rule_breached',
      'related_busy',
      'follower_of_pair',
      'declaration_defect',
    ],
  }),
  listAllResources: row({
    method: 'GET',
    path: '/v1/resources',
    permission: 'read',
    group,
    words: 'Resources of all types.',
    query: listQuery,
    answer: pageOf(shape.resource),
    errors: ['status_unknown'],
  }),
  listResources: row({
    method: 'GET',
    path: '/v1/resources/{type}',
    permission: 'read',
    group,
    words: 'Resources of a type.',
    query: listQuery,
    answer: pageOf(shape.resource),
    errors: ['type_unknown', 'resource_not_found', 'status_unknown'],
  }),
  getResource: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}',
    permission: 'read',
    group,
    words: 'One resource with the operations that may be asked for, and for the others the reason why not.',
    answer: shape.resource,
    errors: ['type_unknown', 'resource_not_found'],
    condition: 'ifNoneMatch',
  }),
  setStatus: row({
    method: 'POST',
    path: '/v1/resources/{type}/{id}:setStatus',
    permission: 'repair',
    group,
    words: 'Guarded repair: puts the resource into a status. Raises the epoch first, so that a zombie writes nothing.',
    body: z.strictObject({ status: shape.name.min(1), reason: shape.reasonText }),
    answer: shape.accepted,
    errors: [
      'type_unknown',
      'resource_not_found',
      'status_unknown',
      'operation_not_allowed',
      'revision_conflict',
      'precondition_required',
      'rule_breached',
      'follower_of_pair',
      'related_busy',
    ],
    condition: 'ifMatchDemanded',
  }),
  operate: row({
    method: 'POST',
    path: '/v1/resources/{type}/{id}:{operation}',
    permission: 'operate',
    group,
    words: 'Asks for an operation; the body is its input.',
    body: shape.json.optional(),
    status: 202,
    headers: ['Location', 'ETag'],
    answer: shape.accepted,
    errors: [...operationRefusals, 'input_invalid', 'revision_conflict', 'declaration_defect'],
    condition: 'ifMatch',
  }),
  deleteResource: row({
    method: 'DELETE',
    path: '/v1/resources/{type}/{id}',
    permission: 'operate',
    group,
    words: "The lifecycle's delete; with `force=true` and a reason the forced one, which has its own permission.",
    query: z.strictObject({ force: flag, ...reasonQuery }),
    status: 202,
    headers: ['Location', 'ETag'],
    answer: shape.accepted,
    errors: [
      ...operationRefusals,
      'not_forceable',
      'reason_required',
      'input_invalid',
      'revision_conflict',
      'declaration_defect',
    ],
    condition: 'ifMatch',
  }),
  getHistory: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}/history',
    permission: 'read',
    group,
    words: 'What happened to it, newest first.',
    query: z.strictObject(paging),
    answer: pageOf(shape.event),
    errors: ['type_unknown', 'resource_not_found'],
  }),
  listRunsOf: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}/runs',
    permission: 'read',
    group,
    words: 'Its runs: the one under way first, then the ended ones, newest first.',
    query: z.strictObject(paging),
    answer: pageOf(shape.run),
    errors: ['type_unknown', 'resource_not_found'],
  }),
  explainResource: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}/explain',
    permission: 'read',
    group,
    words: 'Why it stands where it stands, what happens next by itself, and when.',
    answer: shape.explanation,
    errors: ['type_unknown', 'resource_not_found'],
  }),
  getLedger: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}/ledger',
    permission: 'read',
    group,
    words: 'What exists for it, or may exist, in the real world.',
    answer: z.object({ items: z.array(shape.ledgerEntry) }),
    errors: ['type_unknown', 'resource_not_found'],
  }),
  getRelated: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}/related',
    permission: 'read',
    group,
    words: 'Related resources by relation.',
    answer: z.object({ relations: z.record(z.string(), z.array(shape.resource)) }),
    errors: ['type_unknown', 'resource_not_found'],
  }),
  importResources: row({
    method: 'POST',
    path: '/v1/resources/{type}:import',
    permission: 'repair',
    group,
    words:
      'Takes existing objects in with their present status, one per line, also transitional ones: then they are healed.',
    lines: true,
    query: z.strictObject({ reason: shape.reasonText }),
    body: z.strictObject({
      id: shape.resourceId.optional(),
      name: shape.name.optional(),
      tenant: shape.tenantName.optional(),
      parent: shape.resourceId.optional(),
      links: z.record(z.string().max(200), shape.resourceId).optional(),
      status: shape.name.min(1),
      properties: shape.jsonObject.default({}),
      ledger: z
        .array(z.strictObject({ kind: shape.name.min(1), ref: shape.json }))
        .max(1_000)
        .optional(),
    }),
    answer: z.object({
      imported: z.number().int(),
      refused: z.array(z.object({ line: z.number().int(), code: z.string(), message: z.string() })),
    }),
    errors: ['type_unknown', 'resource_not_found'],
  }),

  listRuns: row({
    method: 'GET',
    path: '/v1/runs',
    permission: 'read',
    group: 'runs',
    words: 'Runs of all resources: those under way, then the ended ones, newest first.',
    query: z.strictObject({
      ...paging,
      state: z
        .enum([...shape.runState.options, 'live', 'ended'])
        .optional()
        .describe('Live: those under way. Ended: the others, however they did.'),
      type: shape.typeName.optional(),
    }),
    answer: pageOf(shape.run),
    errors: ['type_unknown'],
  }),
  getRun: row({
    method: 'GET',
    path: '/v1/runs/{run}',
    permission: 'read',
    group: 'runs',
    words:
      'A run with its steps, attempts, results and errors; with `wait` the answer comes when it has ended, or after so many seconds.',
    query: z.strictObject({ wait: z.coerce.number().min(0).max(60).default(0) }),
    answer: shape.run,
    errors: ['run_not_found'],
  }),
  cancelRun: row({
    method: 'POST',
    path: '/v1/runs/{run}:cancel',
    permission: 'steer',
    group: 'runs',
    words: 'Takes the run as failed: the declared answer follows, undo included.',
    body: steerBody,
    answer: shape.accepted,
    errors: ['run_not_found', 'operation_not_allowed'],
  }),
  retryRun: row({
    method: 'POST',
    path: '/v1/runs/{run}:retry',
    permission: 'steer',
    group: 'runs',
    words: 'Goes on at once with a run that is parked or waits.',
    body: z.strictObject({ reason: shape.reasonText.optional() }).optional(),
    answer: shape.accepted,
    errors: ['run_not_found', 'run_not_parked'],
  }),
  skipStep: row({
    method: 'POST',
    path: '/v1/runs/{run}:skip',
    permission: 'steer',
    group: 'runs',
    words: 'A person vouches for the step at hand: the run goes on as if it were done.',
    body: z.strictObject({ reason: shape.reasonText, result: shape.json.optional() }),
    answer: shape.accepted,
    errors: ['run_not_found', 'run_not_parked', 'input_invalid'],
  }),
  completeStep: row({
    method: 'POST',
    path: '/v1/runs/{run}/steps/{step}:complete',
    permission: 'work',
    group: 'runs',
    words: 'A remote driver tells how a step ended that it was asked for, with the key it was given.',
    body: z.strictObject({
      key: z.string().min(1).max(1_000),
      outcome: z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('done'), result: shape.json.default(null) }),
        z.strictObject({
          kind: z.literal('again'),
          afterMs: z.number().int().min(0).max(86_400_000),
        }),
        z.strictObject({
          kind: z.literal('failed'),
          code: shape.name.default('failed'),
          reason: shape.plainText(2_000),
          terminal: z.boolean().default(false),
        }),
      ]),
    }),
    answer: z.object({ run: z.string(), status: z.string() }),
    errors: ['run_not_found', 'step_not_waiting', 'fenced'],
  }),
} as const
