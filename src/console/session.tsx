// Who is signed in and what he may do: buttons for the rest are shown grey with the permission they need.
import { createContext, useContext } from 'react'
import type { Permission } from '../protocol/permissions.ts'
import type { Session } from './api.ts'

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
