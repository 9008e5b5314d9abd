// Every change that the console makes goes through this dialog: what will happen in words, its input, a reason, for what cannot be
// taken back the name typed once more, and the same request for curl.
import { createContext, useCallback, useContext, useMemo, useState, type FormEvent, type ReactNode } from 'react'
import type { Given, RequestOptions } from '../../client/http-client.ts'
import type { RouteName } from '../../protocol/routes.ts'
import { api, queries, type AnswerOf } from '../api.ts'
import { asCurl } from '../copies.ts'
import type { Schema } from '../lifecycle.ts'
import { AskButton, Copy } from './bits.tsx'
import { Dialog } from './dialog.tsx'
import { Fields, faultsOf, focusFault, inputOf, typedDefaults, type Faults, type Typed } from './fields.tsx'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

export interface Filled {
  readonly reason: string
  readonly input: Record<string, unknown>
}

export interface Act<Name extends RouteName = RouteName> {
  readonly route: Name
  readonly title: string
  /** What will happen. */
  readonly words: ReactNode
  /** The word on the button. */
  readonly does: string
  /** The word on the button that does nothing, where 'Cancel' would be taken for what is to be done. */
  readonly leaves?: string
  readonly given: (filled: Filled) => Given<Name>
  readonly schema?: Schema | null
  readonly start?: Typed
  readonly reason?: 'needed' | 'none'
  /** To be typed once more before it is done. */
  readonly confirm?: string
  readonly danger?: boolean
  readonly options?: RequestOptions
  readonly done?: (answer: AnswerOf<Name>) => string | void
  /** What the answer holds and is shown only once. */
  readonly show?: (answer: AnswerOf<Name>) => ReactNode
  /** The same for the command line, where there is one. */
  readonly cli?: (filled: Filled) => string
}

export interface Shown {
  readonly isAway: boolean
  readonly onClose: () => void
}
type Opened = (shown: Shown) => ReactNode

const OpenContext = createContext<(dialog: Opened) => void>(() => {})

/** Opens a dialog that is kept with all that was typed when the session ends. */
export const useOpen = (): ((dialog: Opened) => void) => useContext(OpenContext)

/** Opens the dialog of an action. */
export function useAct(): <Name extends RouteName>(act: Act<Name>) => void {
  const open = useOpen()
  return useCallback((act) => open((shown) => <ActDialog act={act as unknown as Act} {...shown} />), [open])
}

/** Opens the dialog when it is pressed. To whoever may not, it says why not instead. */
export function ActButton<Name extends RouteName>(given: {
  readonly act: Act<Name>
  readonly className?: string
  readonly refusal?: string | null
  readonly children: ReactNode
}) {
  const act = useAct()
  return (
    <AskButton className={given.className} refusal={given.refusal ?? null} onClick={() => act(given.act)}>
      {given.children}
    </AskButton>
  )
}

/**
 * Holds the dialog that is open, for whoever is signed in. While nobody is, it waits out of sight: who signs in again goes on where he
 * was with all that he had typed, and somebody else sees nothing of it.
 */
export function Acts({ who, children }: { readonly who: string | null; readonly children: ReactNode }) {
  const [opened, setOpened] = useState<{ readonly dialog: Opened; readonly by: string | null } | null>(null)
  const open = useMemo(() => (dialog: Opened) => setOpened({ dialog, by: who }), [who])
  if (opened !== null && who !== null && opened.by !== who) setOpened(null)
  return (
    <OpenContext value={open}>
      {children}
      {opened?.dialog({ isAway: who === null, onClose: () => setOpened(null) })}
    </OpenContext>
  )
}

function ActDialog({ act, isAway, onClose }: Shown & { readonly act: Act }) {
  const [typed, setTyped] = useState<Typed>(() => ({ ...typedDefaults(act.schema ?? null), ...act.start }))
  const [reason, setReason] = useState('')
  const [confirmed, setConfirmed] = useState('')
  const [faults, setFaults] = useState<Faults>({})
  const [isBusy, setBusy] = useState(false)
  const [shown, setShown] = useState<ReactNode>(null)
  const read = inputOf(act.schema ?? null, typed)
  const filled = 'input' in read ? { reason: reason.trim(), input: read.input } : null
  const isReady =
    (act.reason !== 'needed' || reason.trim() !== '') && (act.confirm === undefined || confirmed === act.confirm)

  const refuse = (found: Faults) => {
    setFaults(found)
    focusFault(found)
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if ('faults' in read) return refuse(read.faults)
    if (!isReady || isBusy || filled === null) return
    setBusy(true)
    try {
      const answer = await api.call(act.route, act.given(filled), act.options)
      void queries.invalidateQueries()
      toast('good', act.done?.(answer as never) ?? `${act.title}: done.`)
      if (act.show === undefined) onClose()
      else setShown(act.show(answer as never))
    } catch (error) {
      refuse(faultsOf(error, act.schema ?? null))
    } finally {
      setBusy(false)
    }
  }
  if (shown !== null) {
    return (
      <Dialog title={act.title} isAway={isAway} onClose={onClose}>
        <div className="body">{shown}</div>
        <footer>
          <button type="button" className="primary" onClick={onClose}>
            Close
          </button>
        </footer>
      </Dialog>
    )
  }
  return (
    <Dialog title={act.title} isAway={isAway} onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <div className="body">
          <div className="words">{act.words}</div>
          {act.schema?.properties !== undefined && (
            <Fields
              schema={act.schema}
              typed={typed}
              faults={faults}
              onType={(now, name) => {
                setTyped(now)
                setFaults(({ [name]: _mended, ...others }) => others)
              }}
            />
          )}
          {act.reason === 'needed' && (
            <div className="field">
              <label htmlFor="act-reason">
                Reason <span className="quiet">kept in the audit</span>
              </label>
              <input
                id="act-reason"
                value={reason}
                maxLength={1_000}
                onChange={(event) => setReason(event.target.value)}
              />
            </div>
          )}
          {act.confirm !== undefined && (
            <div className="field">
              <label htmlFor="act-confirm">
                This cannot be taken back. Type <b className="mono">{act.confirm}</b> to go on
              </label>
              <input
                id="act-confirm"
                autoComplete="off"
                spellCheck={false}
                value={confirmed}
                onChange={(event) => setConfirmed(event.target.value)}
              />
            </div>
          )}
          {faults[''] !== undefined && (
            <div className="problem" role="alert">
              <Icon name="alert" />
              <div>{faults['']}</div>
            </div>
          )}
        </div>
        <footer>
          {filled !== null && (
            <Copy text={asCurl(act.route, { ...act.given(filled), ifMatch: act.options?.ifMatch })} label="curl" />
          )}
          {filled !== null && act.cli !== undefined && <Copy text={act.cli(filled)} label="CLI" />}
          <span className="spring" />
          <button type="button" onClick={onClose}>
            {act.leaves ?? 'Cancel'}
          </button>
          <button
            type="submit"
            className={act.danger === true ? 'danger' : 'primary'}
            disabled={!isReady}
            aria-busy={isBusy}
          >
            {act.does}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
