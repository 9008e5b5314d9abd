// The keyboard is never left nowhere: when what had the focus vanishes or is switched off (a row that was dealt with, a link of the page
// before), whatever stood around it has it from then on.

/** What may have the focus in place of something within it. */
const heirs = '[role=toolbar], [role=group], [role=rowgroup], section, form, dialog, main'

/** Begins to look after it; the answer ends it. */
export function keepFocus(): () => void {
  /** What had the focus last, and all around it, the nearest first. */
  let chain: readonly Element[] = []
  const remember = ({ target }: FocusEvent) => {
    const found: Element[] = []
    for (let one = target as Element | null; one !== null; one = one.parentElement) found.push(one)
    chain = found
  }
  // Who presses beside everything means it.
  const forget = () => (chain = [])
  const look = () => {
    const [last, ...around] = chain
    const has = document.activeElement
    const isLost = has === null || has === document.body || has.matches(':disabled')
    if (last === undefined || !isLost || (last.isConnected && !last.matches(':disabled'))) return
    const heir = around.find((one) => one.isConnected && one.matches(heirs)) ?? document.querySelector('main')
    if (!(heir instanceof HTMLElement)) return
    if (!heir.hasAttribute('tabindex')) heir.tabIndex = -1
    heir.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(look)
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] })
  document.addEventListener('focusin', remember)
  document.addEventListener('pointerdown', forget)
  return () => {
    observer.disconnect()
    document.removeEventListener('focusin', remember)
    document.removeEventListener('pointerdown', forget)
  }
}
