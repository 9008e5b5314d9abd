// Light, dark, or as the machine has it; remembered in this browser.
import { useState } from 'react'

export const schemes = ['auto', 'light', 'dark'] as const
export type Scheme = (typeof schemes)[number]

const key = 'homeostat.scheme'
const isScheme = (text: string | null): text is Scheme => schemes.some((scheme) => scheme === text)

export function applyScheme(): Scheme {
  const kept = localStorage.getItem(key)
  const scheme = isScheme(kept) ? kept : 'auto'
  if (scheme === 'auto') delete document.documentElement.dataset['scheme']
  else document.documentElement.dataset['scheme'] = scheme
  return scheme
}

export function useScheme(): readonly [Scheme, (scheme: Scheme) => void] {
  const [scheme, set] = useState(applyScheme)
  return [
    scheme,
    (next) => {
      localStorage.setItem(key, next)
      set(applyScheme())
    },
  ]
}
