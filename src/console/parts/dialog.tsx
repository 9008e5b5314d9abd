// A dialog by the browser's own element: it keeps the focus, closes on Escape and gives the focus back.
import { useLayoutEffect, useRef, type ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** What is to be filled in; else what does it, unless that cannot be taken back. */
const firstOf = (dialog: HTMLElement): HTMLElement | null =>
  dialog.querySelector<HTMLElement>('input:enabled, select:enabled, textarea:enabled') ??
  dialog.querySelector<HTMLElement>('footer [type=submit]:enabled:not(.danger)') ??
  dialog.querySelector<HTMLElement>('footer button:enabled:not(.ghost)')

export function Dialog(given: {
  readonly title: string
  /** Its name where no title is shown. */
  readonly label?: string
  /** Kept with all that was typed, but not shown. */
  readonly isAway?: boolean
  readonly onClose: () => void
  readonly className?: string
  readonly children: ReactNode
}) {
  const { onClose, isAway = false } = given
  const element = useRef<HTMLDialogElement>(null)
  // Before it is taken out of the document: one that is closed only then gives no focus back.
  useLayoutEffect(() => {
    const dialog = element.current!
    if (isAway) return undefined
    if (!dialog.open) dialog.showModal()
    firstOf(dialog)?.focus()
    return () => dialog.close()
  }, [isAway])
  return (
    // A click on the dialog itself is one beside its content.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={element}
      className={given.className}
      aria-label={given.label ?? given.title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div className="sheet">
        {given.title !== '' && (
          <header>
            <h2>{given.title}</h2>
            <button type="button" className="ghost small" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          </header>
        )}
        {given.children}
      </div>
    </dialog>
  )
}
