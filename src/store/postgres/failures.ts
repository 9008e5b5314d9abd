// What went wrong with the server, told apart by what it means: away (try again), not so (a conflict), or unknown (it may have
// happened).
import { HomeostatError } from '../../base/errors.ts'

/** The server's code of an error, '' when it is not the server's. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && 'severity' in error ? error.code : ''

/** The server has said, in the middle of a transaction, that it undid it. Whatever else ends an exchange leaves it unknown. */
export const isUndone = (error: unknown): boolean =>
  codeOf(error) !== '' && (error as unknown as { severity: string }).severity === 'ERROR'

/** Something was not as a batch expected it: a check divided by zero, or a unique key was taken. */
export const isMismatch = (error: unknown): boolean => ['22012', '23505'].includes(codeOf(error))

/** Two transactions waited for each other, and this one was chosen to give way. */
export const isDeadlock = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error))

/** It answers, and refuses for a reason that only somebody who looks after it can mend: by the beginning of its code, the way out. */
const refusals: readonly (readonly [code: string, wayOut: string])[] = [
  ['28', 'Correct user and password in the address of the store, or let the role in (pg_hba.conf of the server).'],
  ['3D000', 'Create the database, or correct its name in the address of the store.'],
  ['42501', 'Use a role that owns the schema; for a new one it needs: grant create on database.'],
  ['25006', 'Connect to a primary, and set default_transaction_read_only off for the database and the role.'],
  [
    '53300',
    'Raise max_connections of the server or the limit of the role, or run fewer processes: each holds up to 12.',
  ],
]

/** Encryption is asked for wherever the way leaves the machine: the server has none, or its certificate does not hold. */
const withoutTls =
  'Elsewhere than on this machine it is spoken to encrypted, with a certificate that holds: NODE_EXTRA_CA_CERTS names an authority of your own, ?sslmode=disable in the address does without.'

function refusalOf(error: unknown): string | undefined {
  const code = codeOf(error)
  if (code !== '') return refusals.find(([beginning]) => code.startsWith(beginning))?.[1]
  return error instanceof Error && /support SSL|certificate/i.test(error.message) ? withoutTls : undefined
}

/** The connection, the server or its resources: what may be better in a while. 42P05 and the like are not among them. */
function isAway(error: unknown): boolean {
  const code = codeOf(error)
  // 08 connection, 53 resources, 57 intervention, 58 system.
  if (code !== '') return /^(08|53|57|58|40|55P03|XX000)/.test(code)
  return error instanceof Error && !('severity' in error) && !(error instanceof TypeError)
}

/** The work, with what goes wrong told as to whoever asked the store. */
export async function translating<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw translated(error)
  }
}

export function translated(error: unknown): unknown {
  if (error instanceof HomeostatError) return error
  const wayOut = refusalOf(error)
  if (wayOut !== undefined) return refused('store_unavailable', error as Error, wayOut)
  if (!isAway(error)) return error
  const says = `PostgreSQL does not answer: ${(error as Error).message}.`
  return new HomeostatError('store_unavailable', says, { cause: error })
}

/** The same for whoever begins: what is set up wrongly does not become better while one waits. */
export async function translatingAtStart<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const wayOut = refusalOf(error)
    // Connections may be had again in a moment.
    throw wayOut === undefined || codeOf(error) === '53300'
      ? translated(error)
      : refused('store_unsuitable', error as Error, wayOut)
  }
}

const refused = (code: 'store_unavailable' | 'store_unsuitable', error: Error, wayOut: string): HomeostatError =>
  new HomeostatError(code, `PostgreSQL refuses: ${error.message}. ${wayOut}`, { cause: error })
