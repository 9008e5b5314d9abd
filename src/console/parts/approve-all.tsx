// Heals everything that waits for approval at once, or what is of one cause.
import type { AnswerOf } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { useRefusal } from '../session.tsx'
import { ActButton } from './act.tsx'

/** Where all that waits is listed, it is done only if it is still as many. */
export function ApproveAll(given: {
  readonly of: AnswerOf<'previewHealing'>
  /** Only of this type; in this status, where it is given. */
  readonly only?: { readonly type: string; readonly status?: string }
}) {
  const { only } = given
  const { items, nextPageToken } = given.of
  const refusal = useRefusal('override')
  const waiting = items.filter(
    ({ mode, acts, resource, status }) =>
      mode === 'approve' &&
      acts &&
      (only?.type ?? resource.type) === resource.type &&
      (only?.status ?? status) === status,
  ).length
  if (waiting < 2) return null
  const expected = nextPageToken === null ? waiting : undefined
  return (
    <ActButton
      className="small"
      refusal={refusal}
      act={{
        route: 'approveAllHealing',
        title: `Approve all ${only === undefined ? 'that waits' : `${only.type}${only.status === undefined ? '' : ` in ${only.status}`} that wait`} for approval`,
        does: 'Heal all of them',
        reason: 'needed',
        words: (
          <p>
            {expected === undefined
              ? `These ${waiting} and those that are not listed any more, at most 1,000 at once, are healed now as their rules say.`
              : `These ${waiting} are healed now as their rules say.`}{' '}
            What is held by something else stays as it is. Each has its own entry in the audit.
          </p>
        ),
        given: ({ reason }) => ({ body: { reason, expected, ...only } }),
        cli: ({ reason }) =>
          asCli(
            'healing approve',
            ...(only === undefined ? [] : [word(only.type)]),
            ...(only?.status === undefined ? [] : ['--status', word(only.status)]),
            ...(expected === undefined ? [] : [`--expect ${expected}`]),
            '--reason',
            word(reason),
          ),
        done: ({ total, healed, refused }) =>
          `${healed} of ${total} healed${refused.length === 0 ? '.' : `; ${refused[0]!.resource.id}: ${refused[0]!.message}`}`,
      }}
    >
      Approve all {waiting} ...
    </ActButton>
  )
}
