// Rows of the contract that the console needs beside what programs ask for: kept views, figures over time, lanes, ways to sign in.
import { z } from 'zod'
import { row } from './route.ts'
import * as shape from './shapes.ts'

export const view = z
  .object({
    id: z.string(),
    name: z.string(),
    search: z.string().describe('The query of the page, columns included.'),
    by: z.string(),
    at: shape.time,
  })
  .meta({ id: 'View', description: 'A filter of resources that a tenant keeps.' })

const trendPoint = z.object({
  at: shape.time.describe('Where the slice begins.'),
  changes: z.number().int().describe('Changes of status.'),
  succeeded: z.number().int(),
  failed: z.number().int(),
  healed: z.number().int(),
  retried: z.number().int().describe('Attempts of steps that failed.'),
  p50Ms: z.number().nullable().describe('Time from acceptance to a stable status: half of the runs took less.'),
  p95Ms: z.number().nullable(),
})

export const consoleRoutes = {
  listViews: row({
    method: 'GET',
    path: '/v1/views',
    permission: 'read',
    group: 'views',
    words: 'Filters of resources that were kept, for everybody of the tenant.',
    answer: z.object({ items: z.array(view) }),
  }),
  saveView: row({
    method: 'POST',
    path: '/v1/views',
    permission: 'operate',
    group: 'views',
    words: 'Keeps a filter under a name, for everybody of the tenant. One of the same name is replaced.',
    body: z.strictObject({ name: shape.plainText(80).min(1), search: shape.plainText(2_000) }),
    status: 201,
    answer: view,
  }),
  deleteView: row({
    method: 'DELETE',
    path: '/v1/views/{view}',
    permission: 'operate',
    group: 'views',
    words: 'Forgets a kept filter, for everybody of the tenant.',
    errors: ['view_not_found'],
  }),
  readTrends: row({
    method: 'GET',
    path: '/v1/trends',
    permission: 'read',
    reach: 'installation',
    group: 'process',
    words: 'Changes and time to stable, in slices of the last minutes, from the events of the whole installation.',
    query: z.strictObject({
      minutes: z.coerce.number().int().min(10).max(1_440).default(60),
      type: shape.typeName.optional(),
    }),
    answer: z.object({
      sliceMs: z.number().int(),
      since: shape.time.describe('Figures are whole from here on.'),
      points: z.array(trendPoint),
      whole: trendPoint.omit({ at: true }).describe('All slices together.'),
    }),
    errors: ['type_unknown'],
  }),
  readLanes: row({
    method: 'GET',
    path: '/v1/lanes',
    permission: 'read',
    reach: 'installation',
    group: 'workers',
    words: 'Lanes of the process that answers: calls under way and waiting, and the room that no other lane can take.',
    answer: z.object({
      worker: z.number().int().describe('Its incarnation.'),
      hasWorker: z.boolean().describe('It carries runs out; false: it only answers, or was drained.'),
      capacity: z.number().int().describe('Calls at a time.'),
      owned: z.number().int().describe('Runs that it carries out.'),
      runsMost: z.number().int(),
      oldestWaitMs: z.number().describe('How long the run that waits longest for any worker has waited.'),
      lanes: z.array(
        z.object({
          lane: z.string(),
          running: z.number().int(),
          waiting: z.number().int(),
          floor: z.number().int(),
        }),
      ),
      drains: z.array(
        z.object({ worker: z.number().int(), by: z.string(), at: shape.time, reason: z.string(), isDone: z.boolean() }),
      ),
    }),
  }),
  drainWorker: row({
    method: 'POST',
    path: '/v1/workers/{worker}:drain',
    permission: 'steer',
    reach: 'installation',
    group: 'workers',
    words:
      'The worker takes on nothing more, finishes its calls under way and hands its runs over; its process still answers.',
    body: z.strictObject({ reason: shape.reasonText }),
    status: 202,
    answer: z.object({ worker: z.number().int(), isHere: z.boolean() }),
    errors: ['worker_not_found'],
  }),
  signInWays: row({
    method: 'GET',
    path: '/v1/session/ways',
    permission: null,
    group: 'sign-in',
    words: 'How people can sign in here.',
    answer: z.object({
      oidc: z.object({ href: z.string(), issuer: z.string().describe('The host of the issuer.') }).nullable(),
    }),
  }),
  listLateResults: row({
    method: 'GET',
    path: '/v1/resources/{type}/{id}/lateResults',
    permission: 'read',
    group: 'resources',
    words: 'What drivers told after their run had moved on: it changed nothing, and is kept as evidence.',
    answer: z.object({
      items: z.array(
        z.object({
          call: z.string().describe('What was called: phase, number of the step, item, attempt.'),
          epoch: z.number().int().describe('Of the owner that called.'),
          at: shape.time,
          outcome: shape.json,
        }),
      ),
    }),
    errors: ['type_unknown', 'resource_not_found'],
  }),
} as const
