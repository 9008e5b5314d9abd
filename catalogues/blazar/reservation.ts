// A reservation: moved only by its lease (spec 1.3). The resource monitor writes flags on it, never a status (spec 1.1).
import { previous } from 'homeostat'
import { z } from 'zod'
import { lease, reservation } from './resource-types.ts'

export const reservations = reservation
  .relations({ lease: { parent: lease }, others: { siblings: reservation } })
  .lifecycle({
    begins: ['pending'],
    moves: [
      { from: ['pending'], to: 'active', by: 'lease' },
      { from: ['pending', 'active'], to: 'error', by: 'lease' },
      { from: ['pending', 'active', 'error'], to: 'deleted', by: 'lease' },
      { from: ['*'], to: 'gone', by: 'lease' },
    ],
    operations: {
      report: {
        meaning: 'The resource monitor tells what it sees; the lease is degraded while anything is missing or changed.',
        from: ['pending', 'active', 'error'],
        input: z.object({ missingResources: z.boolean(), resourcesChanged: z.boolean() }),
        steps: {},
        to: {
          status: previous,
          set: {
            missingResources: ({ input }) => input.missingResources,
            resourcesChanged: ({ input }) => input.resourcesChanged,
          },
          move: {
            lease: {
              set: {
                degraded: ({ input, related }) =>
                  input.missingResources ||
                  input.resourcesChanged ||
                  related.others.some(({ properties: p }) => p.missingResources || p.resourcesChanged),
              },
            },
          },
        },
        onFailure: previous,
      },
    },
    heal: {},
  })
