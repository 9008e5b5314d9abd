// Things that are made in the steps that are asked for: for tests of declarations whose steps were changed.
import { z } from 'zod'
import { resourceType } from '../lifecycle/lifecycle.ts'

export const thingsWith = (steps: readonly string[]) =>
  resourceType('steps.thing', {
    properties: z.object({}),
    statuses: {
      stable: { Ready: 'Works.' },
      transitional: { Making: 'Being made.' },
      failed: { Bad: 'Not made.' },
      terminal: { Gone: 'Removed.' },
    },
  }).lifecycle({
    operations: {
      create: {
        from: [],
        steps: Object.fromEntries(steps.map((name) => [name, { during: 'Making' as const }])),
        to: 'Ready',
        onFailure: 'Bad',
      },
      delete: { from: ['*'], ifBusy: 'preempt', steps: {}, to: 'Gone', onFailure: 'Bad' },
    },
    heal: { Making: { resume: true, unowned: { status: 'Bad' } } },
  })
