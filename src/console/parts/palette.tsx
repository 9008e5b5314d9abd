// The keyboard palette: pages, lifecycles, and whatever resource or run fits what is typed or pasted.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState, type KeyboardEvent } from 'react'
import { api, useCall, type Resource } from '../api.ts'
import { address, go, toList, toResource } from '../route.tsx'
import { Status, useSettled } from './bits.tsx'
import { Dialog } from './dialog.tsx'
import { Icon } from './icon.tsx'
import type { Item } from './shell.tsx'

interface Found {
  readonly href: string
  readonly label: string
  readonly note: React.ReactNode
  readonly icon: Item['icon']
}

const runPattern = /^[0-9a-z]{4,}-\d+$/

const foundMost = 8

/** One answer looks at a part of all; the next goes on there, until there are some. */
async function findSome(q: string, signal: AbortSignal): Promise<readonly Resource[]> {
  for (let pageToken: string | undefined; ;) {
    const query = { q, pageSize: foundMost, ...(pageToken === undefined ? {} : { pageToken }) }
    const { items, nextPageToken } = await api.call('listAllResources', { query }, { signal })
    if (items.length > 0 || nextPageToken === null) return items
    pageToken = nextPageToken
  }
}

export function Palette({ items, onClose }: { readonly items: readonly Item[]; readonly onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState(0)
  const text = typed.trim()
  const asked = useSettled(text, 150)
  const resources = useQuery({
    queryKey: ['found', asked],
    queryFn: ({ signal }) => findSome(asked, signal),
    enabled: asked.length > 1,
    placeholderData: (before) => before,
  })
  const counts = useCall('countResources', {})
  const fits = (words: string) => words.toLowerCase().includes(text.toLowerCase())
  const resourceOf = (one: Resource): Found => ({
    href: toResource(one),
    label: one.id,
    note: (
      <>
        {one.type} <Status status={one.status} kind={one.kind} />
      </>
    ),
    icon: 'list',
  })
  // Until the answer to what is typed is there, of the one before only what still fits: Enter is not to open another.
  const isAnswered = asked === text && !resources.isPlaceholderData
  const some = (text.length > 1 ? (resources.data ?? []) : []).filter(
    ({ id, name, status, description }) => isAnswered || fits(`${id} ${name ?? ''} ${status} ${description}`),
  )
  const found: Found[] = [
    // Who typed a whole name means it, also where it looks like the name of a run.
    ...some.filter(({ id }) => id === text).map(resourceOf),
    ...(runPattern.test(text)
      ? [{ href: address('runs', text), label: `Run ${text}`, note: 'open', icon: 'run' as const }]
      : []),
    ...some.filter(({ id }) => id !== text).map(resourceOf),
    ...items
      .filter(({ label, words }) => fits(`${label} ${words}`))
      .map(({ href, label, words, icon }) => ({ href, label, note: words, icon })),
    ...(counts.data?.items ?? [])
      .filter(({ type }) => text !== '' && fits(type))
      .flatMap(({ type }) => [
        { href: toList({ type }), label: type, note: 'its resources', icon: 'list' as const },
        { href: address('lifecycles', type), label: type, note: 'its lifecycle', icon: 'shape' as const },
      ]),
  ]
  const at = Math.min(chosen, found.length - 1)
  useEffect(() => {
    document.getElementById(`found-${at}`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const open = (one: Found | undefined) => {
    if (one === undefined) return
    onClose()
    go(one.href)
  }
  const press = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      setChosen((at + move + found.length) % Math.max(1, found.length))
    } else if (event.key === 'Enter') {
      event.preventDefault()
      open(found[at])
    }
  }
  return (
    <Dialog title="" label="Find" onClose={onClose} className="palette">
      <div className="ask">
        <Icon name="search" />
        <input
          // It is what the palette was opened for.
          // oxlint-disable-next-line jsx-a11y/no-autofocus
          autoFocus
          role="combobox"
          aria-label="Find"
          aria-expanded="true"
          aria-controls="palette-found"
          aria-activedescendant={found[at] === undefined ? undefined : `found-${at}`}
          placeholder="Id, name, status, run or page"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setChosen(0)
          }}
          onKeyDown={press}
        />
        <kbd>Esc</kbd>
      </div>
      <ul id="palette-found" role="listbox" aria-label="Found">
        {found.map((one, index) => (
          // Keys are dealt with where the text is typed.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={`${one.href}${one.label}`}
            id={`found-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => open(one)}
          >
            <Icon name={one.icon} /> <span className="mono">{one.label}</span> <span className="quiet">{one.note}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="none quiet">Nothing fits. Try a part of an id, a name or a status.</p>}
    </Dialog>
  )
}
