// Signing in: with an account and its password; a one-time ticket in the address signs in by itself.
import { useState, type FormEvent } from 'react'
import { api, queries, useCall, wordsOf } from '../api.ts'
import { useTitle } from '../parts/bits.tsx'

/** Why the ticket in the address did not let in. */
let ticketFault = ''

const hashedTicket = () => new URLSearchParams(location.hash.slice(1)).get('ticket')

// The address of a ticket given to a page that is open already changes nothing but what stands behind #: no browser loads it by itself.
window.addEventListener('hashchange', () => hashedTicket() !== null && location.reload())

/** The ticket stands behind # so that no server's log has it. */
export async function spendTicket(): Promise<void> {
  const ticket = hashedTicket() ?? new URLSearchParams(location.search).get('ticket')
  if (ticket === null) return
  history.replaceState(null, '', location.pathname)
  await api.call('signIn', { body: { ticket } }).catch((error: unknown) => {
    ticketFault = wordsOf(error)
  })
}

export default function SignIn({ hasEnded }: { readonly hasEnded: boolean }) {
  const [account, setAccount] = useState('')
  const [password, setPassword] = useState('')
  const [fault, setFault] = useState(ticketFault)
  useTitle('Sign in')
  const oidc = useCall('signInWays', {}).data?.oidc ?? null
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    try {
      await api.call('signIn', { body: { account, password } })
      ticketFault = ''
      setPassword('')
      // What was read for somebody else is not shown to this one.
      await queries.resetQueries()
    } catch (error) {
      setFault(wordsOf(error))
    }
  }
  return (
    <main className="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <img src="/mark.svg" alt="" width="40" height="40" />
        <h1>Homeostat</h1>
        {hasEnded && fault === '' && (
          <p role="status">
            <b>Your session has ended.</b> Sign in again, and you are back where you were.
          </p>
        )}
        {oidc !== null && (
          <>
            <a className="button elsewhere" href={oidc.href}>
              Sign in with {oidc.issuer}
            </a>
            <p className="or quiet">or with a local account</p>
          </>
        )}
        <div className="field">
          <label htmlFor="account">Account</label>
          <input
            id="account"
            // There is nothing else to do here.
            // oxlint-disable-next-line jsx-a11y/no-autofocus
            autoFocus
            autoComplete="username"
            required
            value={account}
            onChange={(event) => setAccount(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="password">Password</label>
          <input
            id="password"
            type="password"
            autoComplete="current-password"
            required
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </div>
        {fault !== '' && (
          <p className="problem" role="alert">
            {fault}
          </p>
        )}
        <button type="submit" className="primary">
          Sign in
        </button>
        <p className="quiet">
          No account yet? The server prints an address with a one-time ticket when it starts; an admin can make accounts
          under <i>Access</i>.
        </p>
      </form>
    </main>
  )
}
