// Short notes on what was done, read out to those who do not see them.
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { after } from '../time.ts'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly tone: 'good' | 'bad'
  readonly text: string
}

let toasts: readonly Toast[] = []
let next = 1
const listeners = new Set<() => void>()
const set = (to: readonly Toast[]) => {
  toasts = to
  for (const listener of listeners) listener()
}

export function toast(tone: Toast['tone'], text: string): void {
  const id = next++
  set([...toasts, { id, tone, text }].slice(-4))
  after(tone === 'bad' ? 12_000 : 5_000, () => drop(id))
}

const drop = (id: number) => set(toasts.filter((one) => one.id !== id))

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  const box = useRef<HTMLDivElement>(null)
  // Over a dialog that was opened since: put up anew with what is to be read there. Else it stays as it is, so that it is read out.
  useEffect(() => {
    if (document.querySelector('dialog[open]') !== null) box.current?.hidePopover()
    if (box.current?.matches(':popover-open') !== true) box.current?.showPopover()
  }, [shown])
  return (
    <div className="toasts" popover="manual" ref={box} aria-live="polite" role="status">
      {shown.map(({ id, tone, text }) => (
        <div key={id} className={`toast ${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <span>{text}</span>
          <button type="button" className="ghost small" aria-label="Dismiss" onClick={() => drop(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  )
}
