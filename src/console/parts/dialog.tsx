// A dialog by the browser's own element: it keeps the focus, closes on Escape and gives the focus back.
import { useEffect, useRef, type ReactNode } from 'react'
import { Icon } from './icon.tsx'

export function Dialog(given: {
  readonly title: string
  readonly onClose: () => void
  readonly className?: string
  readonly children: ReactNode
}) {
  const { onClose } = given
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const dialog = element.current!
    if (!dialog.open) dialog.showModal()
    return () => dialog.close()
  }, [])
  return (
    // A click on the dialog itself is one beside its content.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={element}
      className={given.className}
      aria-label={given.title}
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
