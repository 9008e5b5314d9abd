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

/** The connection, the server or its resources: what may be better in a while. 42P05 and the like are not among them. */
function isAway(error: unknown): boolean {
  const code = codeOf(error)
  // 08 connection, 53 resources, 57 intervention, 58 system, 25006 a standby, 3D000 and 28 may be mended by an operator.
  if (code !== '') return /^(08|53|57|58|25006|40|55P03|XX000)/.test(code)
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
  if (error instanceof HomeostatError || !isAway(error)) return error
  return new HomeostatError('store_unavailable', `PostgreSQL does not answer: ${(error as Error).message}.`, {
    cause: error,
  })
}
