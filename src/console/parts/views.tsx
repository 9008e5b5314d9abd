// Filters that somebody comes back to, kept in this browser under the words of the filter itself.
import { useState } from 'react'
import { go, Link } from '../route.tsx'
import { Icon } from './icon.tsx'

const key = 'homeostat.views'

function readViews(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one): one is string => typeof one === 'string') : []
  } catch {
    return []
  }
}

const nameOf = (search: string): string =>
  [...new URLSearchParams(search)].map(([name, value]) => (name === 'stuck' ? 'stuck' : value)).join(' · ')

export function Views({ search }: { readonly search: string }) {
  const [views, setViews] = useState(readViews)
  const keep = (next: readonly string[]) => {
    localStorage.setItem(key, JSON.stringify(next))
    setViews(next)
  }
  if (views.length === 0 && search === '') return null
  return (
    <div className="views">
      {views.map((view) => (
        <span key={view} className="view">
          <Link
            href={`/resources?${view}`}
            aria-current={view === search ? 'true' : undefined}
            onClick={(event) => (event.preventDefault(), go(`/resources?${view}`))}
          >
            {nameOf(view)}
          </Link>
          <button
            type="button"
            className="ghost small"
            aria-label={`Forget the view ${nameOf(view)}`}
            onClick={() => keep(views.filter((one) => one !== view))}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      {search !== '' && !views.includes(search) && (
        <button type="button" className="small" onClick={() => keep([...views, search])}>
          Keep this view
        </button>
      )}
    </div>
  )
}
