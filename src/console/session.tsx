// Who is signed in and what he may do: buttons for the rest are shown grey with the permission they need. And what he had typed when his
// session ended.
import { createContext, useContext, useEffect, useState } from 'react'
import { HomeostatError } from '../base/errors.ts'
import type { Permission } from '../protocol/permissions.ts'
import { queries, type Session } from './api.ts'

export const SessionContext = createContext<Session | null>(null)

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === null) throw new Error('there is no session')
  return session
}

/** Null: he may; else why not. */
export function useRefusal(permission: Permission): string | null {
  const { permissions, principal } = useSession()
  return permissions.includes(permission) ? null : `${principal} lacks the permission '${permission}'.`
}

/** Whether he sees what is of the whole installation. */
export const useSeesAll = (): boolean => useSession().tenant === null

export const whoIs = ({ principal, tenant }: Session): string => `${principal} of ${tenant ?? ''}`

/** Whether this is what the server says to somebody who is not signed in. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof HomeostatError && error.code === 'unauthenticated'

/** What stood in the forms of pages when the session ended, and whose it was. */
const left = new Map<string, { readonly by: string; readonly typed: unknown }>()

/**
 * As useState, for a form that stands in a page: when the session ends under it, who signs in again goes on with all that he had typed,
 * and somebody else sees nothing of it. Who leaves the page himself leaves what he typed.
 */
export function useTyped<Typed>(form: string, start: Typed): [Typed, (typed: Typed) => void] {
  const by = whoIs(useSession())
  const [typed, setTyped] = useState(() => {
    const found = left.get(form)
    return found?.by === by ? (found.typed as Typed) : start
  })
  useEffect(() => void left.delete(form), [form])
  useEffect(
    () => () => {
      if (isSignedOut(queries.getQueryState(['getSession', {}])?.error)) left.set(form, { by, typed })
    },
    [form, by, typed],
  )
  return [typed, setTyped]
}
