// Columns of the list of resources: which there are, which are chosen (in the address), and the chooser. A type's own properties are
// columns too.
import { useEffect, useRef, type ReactNode } from 'react'
import { attemptWords, isTriedAgain } from '../../protocol/attempt-words.ts'
import type { Resource } from '../api.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { go, usePlace, withQuery } from '../route.tsx'
import { Age, At, ResourceLink, Status, Tag } from './bits.tsx'
import { Icon } from './icon.tsx'

export interface Column {
  readonly key: string
  readonly title: string
  /** How wide it is at least, in rem. */
  readonly least: number
  /** Of the room that is left; none: it stays as it is. */
  readonly share?: number
  readonly quiet?: boolean
  readonly cell: (resource: Resource) => ReactNode
  /** Shown when the cell is cut off. */
  readonly whole?: (resource: Resource) => string
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

const own: readonly Column[] = [
  {
    key: 'id',
    title: 'Id',
    least: 10.7,
    share: 1.4,
    cell: (one) => (
      <>
        <ResourceLink of={one} />
        {one.name !== null && <bdi className="quiet"> {one.name}</bdi>}
      </>
    ),
  },
  { key: 'type', title: 'Type', least: 8.6, share: 1, quiet: true, cell: ({ type }) => type },
  {
    key: 'status',
    title: 'Status',
    least: 8.6,
    share: 0.9,
    cell: ({ status, kind }) => <Status status={status} kind={kind} />,
  },
  { key: 'for', title: 'For', least: 6.4, cell: ({ since }) => <Age since={since} /> },
  { key: 'run', title: 'Run', least: 10, share: 1.2, cell: ({ run }) => run !== null && <RunCell run={run} /> },
  {
    key: 'description',
    title: 'Description',
    least: 8.6,
    share: 1.8,
    quiet: true,
    cell: ({ description }) => description,
    whole: ({ description }) => description,
  },
  { key: 'tenant', title: 'Tenant', least: 6.4, share: 0.7, cell: ({ tenant }) => tenant },
  {
    key: 'parent',
    title: 'Belongs to',
    least: 8.6,
    share: 1,
    cell: ({ parent }) => parent !== null && <ResourceLink of={parent} />,
  },
  { key: 'created', title: 'Created', least: 9.3, cell: ({ createdAt }) => <At time={createdAt} /> },
  {
    key: 'orphans',
    title: 'Left behind',
    least: 6.4,
    cell: ({ orphans }) => (orphans > 0 ? <Tag tone="warn">{orphans}</Tag> : ''),
  },
  {
    key: 'queued',
    title: 'Waiting requests',
    least: 8.6,
    cell: ({ queued }) => (queued.length > 0 ? queued.length : ''),
  },
  {
    key: 'revision',
    title: 'Revision',
    least: 5.7,
    cell: ({ revision }) => <span className="num">{revision}</span>,
  },
]
/** Of one type, its name in every row would say nothing. */
const usualFor = (type: string | null): readonly string[] =>
  type === null ? ['id', 'status', 'type', 'for', 'run', 'description'] : ['id', 'status', 'for', 'run', 'description']

function RunCell({ run }: { readonly run: NonNullable<Resource['run']> }) {
  return (
    <>
      {run.operation} <span className="quiet">{run.step}</span>{' '}
      {run.state === 'parked' ? (
        <Tag tone="warn">parked</Tag>
      ) : (
        isTriedAgain(run) && <Tag tone="warn">{attemptWords(run)}</Tag>
      )}
    </>
  )
}

const ofProperty = (name: string): Column => ({
  key: `properties.${name}`,
  title: name,
  least: 6.4,
  share: 1,
  cell: ({ properties }) => <span className="mono">{text(properties[name])}</span>,
  whole: ({ properties }) => text(properties[name]),
})

const propertiesOf = (lifecycle: Lifecycle | undefined): readonly Column[] =>
  Object.keys(lifecycle?.properties?.properties ?? {}).map(ofProperty)

/** Those that the address names, in its order; else the usual ones. The first leads to the resource and is always there. */
export function useColumns(): readonly Column[] {
  const { query } = usePlace()
  const keys = query.get('columns')?.split(',') ?? usualFor(query.get('type'))
  const found = keys.flatMap((key) => {
    const column = own.find((one) => one.key === key)
    if (column !== undefined) return column
    return key.startsWith('properties.') ? ofProperty(key.slice('properties.'.length)) : []
  })
  return [own[0]!, ...found.filter(({ key }) => key !== 'id')]
}

/** As tracks of a grid, and how wide the grid is at least: with its gaps, its edges and its scroll bar. */
export const gridOf = (columns: readonly Column[]) => ({
  gridTemplateColumns: columns
    .map(({ least, share }) => (share === undefined ? `${least}rem` : `minmax(${least}rem, ${share}fr)`))
    .join(' '),
  minWidth: `calc(${columns.reduce((all, { least }) => all + least, 0)}rem + ${columns.length * 12 + 40}px)`,
})

export function ColumnChooser({
  lifecycle,
  columns,
}: {
  readonly lifecycle: Lifecycle | undefined
  readonly columns: readonly Column[]
}) {
  const chosen = columns.map(({ key }) => key)
  const usual = usualFor(usePlace().query.get('type'))
  const choose = (keys: readonly string[]) =>
    go(withQuery({ columns: keys.join() === usual.join() ? null : keys.join() }), 'replace')
  const box = ({ key, title }: Column) => (
    <label key={key} className="check">
      <input
        type="checkbox"
        checked={chosen.includes(key)}
        disabled={key === 'id'}
        onChange={(event) => choose(event.target.checked ? [...chosen, key] : chosen.filter((one) => one !== key))}
      />{' '}
      {title}
    </label>
  )
  const properties = propertiesOf(lifecycle)
  const sheet = useRef<HTMLDetailsElement>(null)
  // It lies over the list: Escape, and whatever is beside it, fold it up.
  useEffect(() => {
    const fold = (event: Event) => {
      const details = sheet.current
      if (details?.open !== true) return
      if (event instanceof KeyboardEvent) {
        if (event.key !== 'Escape') return
        details.querySelector('summary')!.focus()
      } else if (details.contains(event.target as Node)) return
      details.open = false
    }
    const kinds = ['keydown', 'pointerdown', 'focusin']
    for (const kind of kinds) document.addEventListener(kind, fold)
    return () => {
      for (const kind of kinds) document.removeEventListener(kind, fold)
    }
  }, [])
  return (
    <details className="chooser" ref={sheet}>
      <summary className="button">
        <Icon name="list" /> Columns
      </summary>
      <div className="choices">
        <fieldset>
          <legend>Of every resource</legend>
          {own.map(box)}
        </fieldset>
        <fieldset>
          <legend>Its properties</legend>
          {properties.length === 0 ? (
            <p className="quiet">{lifecycle === undefined ? 'Choose a type to see them.' : 'It has none.'}</p>
          ) : (
            properties.map(box)
          )}
        </fieldset>
        <button type="button" className="small" onClick={() => choose(usual)}>
          The usual ones
        </button>
      </div>
    </details>
  )
}
