// Columns of the list of resources: which there are, which are chosen (in the address), and the chooser. A type's own properties are
// columns too.
import type { ReactNode } from 'react'
import type { Resource } from '../api.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { go, usePlace, withQuery } from '../route.tsx'
import { Age, At, ResourceLink, Status, Tag } from './bits.tsx'
import { Icon } from './icon.tsx'

export interface Column {
  readonly key: string
  readonly title: string
  /** As a track of the grid. */
  readonly width: string
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
    width: 'minmax(150px, 1.4fr)',
    cell: (one) => (
      <>
        <ResourceLink of={one} />
        {one.name !== null && <span className="quiet"> {one.name}</span>}
      </>
    ),
  },
  { key: 'type', title: 'Type', width: 'minmax(120px, 1fr)', quiet: true, cell: ({ type }) => type },
  {
    key: 'status',
    title: 'Status',
    width: 'minmax(120px, 0.9fr)',
    cell: ({ status, kind }) => <Status status={status} kind={kind} />,
  },
  { key: 'for', title: 'For', width: '90px', cell: ({ since }) => <Age since={since} /> },
  { key: 'run', title: 'Run', width: 'minmax(140px, 1.2fr)', cell: ({ run }) => run !== null && <RunCell run={run} /> },
  {
    key: 'description',
    title: 'Description',
    width: 'minmax(120px, 1.8fr)',
    quiet: true,
    cell: ({ description }) => description,
    whole: ({ description }) => description,
  },
  { key: 'tenant', title: 'Tenant', width: 'minmax(90px, 0.7fr)', cell: ({ tenant }) => tenant },
  {
    key: 'parent',
    title: 'Belongs to',
    width: 'minmax(120px, 1fr)',
    cell: ({ parent }) => parent !== null && <ResourceLink of={parent} />,
  },
  { key: 'created', title: 'Created', width: '130px', cell: ({ createdAt }) => <At time={createdAt} /> },
  {
    key: 'orphans',
    title: 'Left behind',
    width: '90px',
    cell: ({ orphans }) => (orphans > 0 ? <Tag tone="warn">{orphans}</Tag> : ''),
  },
  {
    key: 'queued',
    title: 'Waiting requests',
    width: '120px',
    cell: ({ queued }) => (queued.length > 0 ? queued.length : ''),
  },
  {
    key: 'revision',
    title: 'Revision',
    width: '80px',
    cell: ({ revision }) => <span className="num">{revision}</span>,
  },
]
/** Of one type, its name in every row would say nothing. */
const usualFor = (type: string | null): readonly string[] =>
  type === null ? ['id', 'type', 'status', 'for', 'run', 'description'] : ['id', 'status', 'for', 'run', 'description']

function RunCell({ run }: { readonly run: NonNullable<Resource['run']> }) {
  return (
    <>
      {run.operation} <span className="quiet">{run.step}</span>{' '}
      {run.state === 'parked' ? (
        <Tag tone="warn">parked</Tag>
      ) : (
        run.attempt > 1 && <Tag tone="warn">attempt {run.attempt}</Tag>
      )}
    </>
  )
}

const ofProperty = (name: string): Column => ({
  key: `properties.${name}`,
  title: name,
  width: 'minmax(90px, 1fr)',
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
  return (
    <details className="chooser">
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
