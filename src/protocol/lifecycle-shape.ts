// A declaration as data, over the wire.
import { z } from 'zod'
import { json, jsonObject, statusKind } from './shapes.ts'

const declared = json.describe('As it was declared; functions are `(computed)`.')
const told = z.object({ words: z.string(), declared })

export const lifecycle = z
  .object({
    type: z.string(),
    properties: jsonObject.nullable().describe('JSON Schema of what a create takes; other names are refused.'),
    statuses: z.array(z.object({ name: z.string(), kind: statusKind, meaning: z.string() })),
    relations: z.record(
      z.string(),
      z.object({
        kind: z.string().nullable(),
        type: z.string().nullable(),
        where: json.optional(),
        as: z.string().optional(),
      }),
    ),
    operations: z.record(
      z.string(),
      z.object({
        meaning: z.string(),
        words: z.array(z.string()).describe('Where it starts, its steps and where they lead.'),
        input: jsonObject.nullable().describe('JSON Schema of its input; null: it takes none.'),
        declared,
      }),
    ),
    heal: z.record(z.string(), told).describe('By status.'),
    drift: z.record(z.string(), told),
    rules: z.record(z.string(), told),
    timers: z.record(z.string(), told),
    probes: json,
    begins: json,
    moves: json,
  })
  .meta({
    id: 'Lifecycle',
    description: 'A declaration as data: statuses with kind and meaning, operations, healing in words.',
  })
