// A lifecycle's picture as figures, over the wire.
import { z } from 'zod'
import { statusKind } from './shapes.ts'

export const diagram = z
  .object({
    width: z.number(),
    height: z.number(),
    boxes: z
      .array(
        z.object({
          name: z.string().describe('Of the status; empty where creation begins.'),
          kind: statusKind.nullable(),
          notes: z.array(z.string()),
          x: z.number().describe('The centre.'),
          y: z.number().describe('The upper side.'),
          width: z.number(),
          height: z.number(),
        }),
      )
      .describe('Statuses from creation down.'),
    arrows: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        labels: z.array(z.string()),
        style: z.enum(['way', 'failure', 'drift', 'heal']),
        path: z.string().describe('As in the `d` of an SVG path.'),
        label: z.object({ text: z.string(), x: z.number(), y: z.number() }).nullable(),
      }),
    ),
  })
  .meta({ id: 'Diagram' })
