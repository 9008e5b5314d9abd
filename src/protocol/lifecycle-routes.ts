// Rows of the contract about declarations: what their check says, and what would happen when something goes wrong.
import { z } from 'zod'
import { row } from './route.ts'
import * as shape from './shapes.ts'

const group = 'lifecycles'

/** Faults that can be put at a commit, or at a call of a driver. */
export const commitFaults = [
  'crashBefore',
  'crashAfter',
  'vanishBefore',
  'vanishAfter',
  'pauseBefore',
  'pauseAfter',
  'unavailable',
  'delete',
] as const
export const callFaults = [
  'crash',
  'vanish',
  'pause',
  'delete',
  'hangs',
  'hangsAfter',
  'late',
  'lost',
  'cut',
  'failed',
  'failedAfter',
  'terminal',
  'garbage',
  'again',
  'throws',
] as const

const strikeText = /^(commit|call):([1-9]\d{0,3}):(\w+)$/

/** `commit:3:crashAfter`: at the third commit; `call:1:lost`: at the first call of a driver. */
const strike = z
  .string()
  .max(100)
  .refine((text) => {
    const [, at, , fault] = strikeText.exec(text) ?? []
    const faults: readonly string[] = at === 'commit' ? commitFaults : at === 'call' ? callFaults : []
    return faults.includes(fault ?? '')
  }, 'say, for example, commit:3:crashAfter or call:1:lost')
  .describe('What goes wrong, where: `commit:3:crashAfter`, `call:1:lost`.')

const jsonText = z.string().max(4_000).describe('JSON; left out: invented from the schema.')

const rehearsing = {
  operation: shape.name.optional().describe('Left out: it is found stuck in `from`, and nobody carries anything out.'),
  from: shape.name.optional().describe('Where it stands then; left out: the first status that fits.'),
  properties: jsonText.optional(),
  input: jsonText.optional(),
}

const violation = z.object({ promise: z.string(), text: z.string() })

export const moment = z
  .object({
    atMs: z.number().int().describe('Milliseconds after it was asked for. Long times are cut short.'),
    lane: z.string().describe('Which worker; `world` for what drivers act upon.'),
    kind: z.enum(['asked', 'answered', 'written', 'called', 'replied', 'world', 'fault', 'noticed', 'broken']),
    words: z.string(),
    resource: shape.ref.nullable(),
    status: z.string().describe('Where the resource that is rehearsed stands after it; empty: it is not there.'),
    event: z
      .object({
        kind: z.string(),
        from: z.string(),
        to: z.string(),
        epoch: z.number().int(),
        detail: shape.json,
      })
      .nullable(),
    strikes: z.object({ at: z.enum(['commit', 'call']), n: z.number().int() }).nullable(),
  })
  .meta({ id: 'Moment', description: 'One moment of a rehearsal.' })

export const lifecycleRoutes = {
  checkLifecycle: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}/check',
    permission: 'read',
    group,
    words: 'What the check of the declaration looked at, and what it found.',
    answer: z.object({
      findings: z.array(
        z.object({
          severity: z.enum(['error', 'warning']),
          path: z.string(),
          fault: z.string(),
          suggestion: z.string(),
        }),
      ),
      checked: z.array(z.string()).describe('What holds, in sentences.'),
    }),
    errors: ['type_unknown'],
  }),
  rehearse: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}/rehearsal',
    permission: 'read',
    group,
    words:
      'Plays an operation on the real engine in an invented world, with at most one fault, and tells it moment by moment. Touches nothing.',
    query: z.strictObject({ ...rehearsing, strike: strike.optional() }),
    answer: z.object({
      id: z.string(),
      from: z.string(),
      properties: shape.jsonObject,
      input: shape.json,
      status: z.string().describe('Where it stands at the end; empty: it is not there.'),
      moments: z.array(moment),
      violation: violation
        .nullable()
        .describe('A promise that was broken: a defect of the declaration or of Homeostat.'),
    }),
    errors: ['type_unknown', 'operation_unknown', 'status_unknown', 'rehearsal_absent'],
  }),
  rehearseAll: row({
    method: 'GET',
    path: '/v1/lifecycles/{type}/rehearsals',
    permission: 'steer',
    group,
    words:
      'Rehearses an operation once for every fault at every commit and every call, and tells the first that breaks a promise.',
    query: z.strictObject(rehearsing),
    answer: z.object({
      schedules: z.number().int(),
      isCut: z.boolean().describe('Not all were tried: the time was over.'),
      ends: z.record(z.string(), z.number().int()).describe('How often it ended in which status.'),
      violation: violation.extend({ strike: z.string().nullable() }).nullable(),
    }),
    errors: ['type_unknown', 'operation_unknown', 'status_unknown', 'rehearsal_absent'],
  }),
} as const
