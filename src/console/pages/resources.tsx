// All resources, page by page from the server and only those in sight in the document; every filter is in the address.
import './resources.css'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef, useState } from 'react'
import { api, isMissing, useCall, useLooksFurther, type Resource } from '../api.ts'
import { useLifecycle } from '../lifecycle.ts'
import { Empty, Loading, PageHead, Problem, useSettled, useTitle } from '../parts/bits.tsx'
import { ApproveAll } from '../parts/approve-all.tsx'
import { ColumnChooser, gridOf, useColumns, type Column } from '../parts/columns.tsx'
import { CreateButton, whyNotCreated } from '../parts/create.tsx'
import { BulkButton } from '../parts/bulk-dialog.tsx'
import { Views } from '../parts/views.tsx'
import { go, Link, toList, toResource, usePlace, withQuery } from '../route.tsx'

/** Of a row, in rem: it grows with the text. */
const rowRem = 2.857
const kinds = ['stable', 'transitional', 'failed', 'terminal'] as const

export default function Resources() {
  useTitle('Resources')
  const { query } = usePlace()
  const type = query.get('type') ?? ''
  const status = query.get('status') ?? ''
  const kind = kinds.find((one) => one === query.get('kind'))
  const stuck = query.get('stuck') === 'true'
  const tenant = query.get('tenant') ?? ''
  const q = query.get('q') ?? ''
  const asked = {
    ...(status === '' ? {} : { status }),
    ...(kind === undefined ? {} : { kind }),
    ...(tenant === '' ? {} : { tenant }),
    ...(q === '' ? {} : { q }),
    ...(stuck ? { stuck: 'true' as const } : {}),
  }
  const ask = (page: { pageSize: number; total?: 'true'; pageToken?: string }, signal: AbortSignal) =>
    type === ''
      ? api.call('listAllResources', { query: { ...asked, ...page } }, { signal })
      : api.call('listResources', { path: { type }, query: { ...asked, ...page } }, { signal })
  const list = useInfiniteQuery({
    queryKey: ['listResources', { path: { type } }, asked],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      ask(
        {
          pageSize: 200,
          ...(pageParam !== '' ? { pageToken: pageParam } : q === '' ? { total: 'true' as const } : {}),
        },
        signal,
      ),
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    refetchInterval: 10_000,
  })
  // What contains a text is counted by looking at everything: what was found first is shown before that.
  const counted = useQuery({
    queryKey: ['countFound', type, asked],
    queryFn: ({ signal }) => ask({ pageSize: 1, total: 'true' }, signal),
    enabled: q !== '',
    refetchInterval: 10_000,
  })
  const lifecycle = useLifecycle(type)
  const columns = useColumns()
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  const total = q === '' ? list.data?.pages[0]?.total : counted.data?.total
  const looksFurther = useLooksFurther(list, items.length)
  return (
    <>
      <PageHead
        title="Resources"
        lead={
          list.error !== null && list.data === undefined
            ? 'They could not be read.'
            : `${countWords(
                total,
                list.data === undefined ? null : items.length,
                list.hasNextPage,
                type !== '' || Object.keys(asked).length > 0,
              )}${tenant === '' ? '' : `, of tenant ${tenant}`}`
        }
      >
        <ColumnChooser lifecycle={type === '' ? undefined : lifecycle} columns={columns} />
        {/* What is approved knows no other filter. */}
        {stuck && type !== '' && Object.keys(asked).every((one) => ['stuck', 'status', 'kind'].includes(one)) && (
          <ApproveListed type={type} status={status} />
        )}
        {type !== '' && (
          <BulkButton
            filter={{
              type,
              ...(status === '' ? {} : { status: status.split(',') }),
              ...(kind === undefined ? {} : { kind }),
              ...(tenant === '' ? {} : { tenant }),
              ...(q === '' ? {} : { q }),
            }}
            total={total ?? 0}
            disabled={stuck}
          />
        )}
        <CreateButton type={type} />
      </PageHead>
      <Views search={query.toString()} />
      <Filters />
      {isMissing(list.error) ? (
        <Empty title={`There is no lifecycle ${type}.`}>{list.error.message} Choose another type above.</Empty>
      ) : list.error !== null && list.data === undefined ? (
        <Problem error={list.error} />
      ) : list.data === undefined || looksFurther ? (
        <Loading />
      ) : items.length === 0 ? (
        <Nothing type={type} />
      ) : (
        <Rows
          items={items}
          hasMore={list.hasNextPage}
          isReading={list.isFetchingNextPage}
          onMore={() => void list.fetchNextPage()}
          total={total ?? (list.hasNextPage ? null : items.length)}
          columns={columns}
        />
      )}
    </>
  )
}

function ApproveListed({ type, status }: { readonly type: string; readonly status: string }) {
  const preview = useCall('previewHealing', { query: { pageSize: 500 } }, { everyMs: 5_000 }).data
  if (preview === undefined || status.includes(',')) return null
  return <ApproveAll of={preview} only={{ type, ...(status === '' ? {} : { status }) }} />
}

/** Nothing was found: because there is nothing yet, or because of the filters. */
function Nothing({ type }: { readonly type: string }) {
  const counts = useCall('countResources', {}).data?.items ?? []
  const notCreated = whyNotCreated(useLifecycle(type))
  const all = (of: string) =>
    counts
      .filter((one) => of === '' || one.type === of)
      .flatMap((one) => Object.values(one.counts))
      .reduce((some, count) => some + count, 0)
  if (all(type) > 0) return <Empty title="Nothing fits.">Take a filter away, or look in another type.</Empty>
  if (type !== '')
    return <Empty title={`There is no ${type} yet.`}>{notCreated ?? 'Create makes the first one.'}</Empty>
  return (
    <Empty title="Nothing has been created yet.">
      {counts.length === 1 ? (
        <>
          <Link href={toList({ type: counts[0]!.type })}>Choose {counts[0]!.type}</Link>, then Create.
        </>
      ) : (
        'Choose a type above, then Create.'
      )}
    </Empty>
  )
}

/** Of what is too much to be counted at once: what was found so far. */
function countWords(known: number | undefined, found: number | null, hasMore: boolean, isFiltered: boolean): string {
  // What was read to its end is counted by that.
  const total = known ?? (hasMore ? undefined : (found ?? undefined))
  if (total !== undefined && !isFiltered) return `${total.toLocaleString('en')} in all`
  if (total !== undefined) return `${total.toLocaleString('en')} ${total === 1 ? 'fits' : 'fit'}`
  if (found === null) return 'Counting ...'
  return `${found.toLocaleString('en')} found so far; more as you scroll`
}

/** What is chosen is shown as chosen, also before the list has come, and where it has none of it. */
const withChosen = (names: readonly string[], chosen: string): readonly string[] =>
  chosen === '' || names.includes(chosen) ? names : [...names, chosen]

function Filters() {
  const { query } = usePlace()
  const counts = useCall('countResources', {})
  const type = query.get('type') ?? ''
  const status = query.get('status') ?? ''
  const lifecycle = useLifecycle(type)
  const [text, setText] = useState(query.get('q') ?? '')
  const settled = useSettled(text)
  const set = (changes: Readonly<Record<string, string | null>>) => go(withQuery(changes), 'replace')
  const asked = query.get('q') ?? ''
  const [known, setKnown] = useState(asked)
  // A view that was chosen brings its own text along; what is being typed goes into the address only when it rests.
  if (asked !== known) {
    setKnown(asked)
    setText(asked)
  }
  useEffect(() => {
    if (settled === text && settled !== (new URLSearchParams(location.search).get('q') ?? '')) set({ q: settled })
  }, [settled])
  const some = counts.data?.items.find((one) => one.type === type)?.counts ?? {}
  return (
    <div className="filters" role="search">
      <div className="field">
        <label htmlFor="filter-type">Type</label>
        <select id="filter-type" value={type} onChange={(event) => set({ type: event.target.value, status: null })}>
          <option value="">all types</option>
          {withChosen(
            (counts.data?.items ?? []).map((one) => one.type),
            type,
          ).map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="filter-status">Status</label>
        <select
          id="filter-status"
          value={status}
          disabled={type === ''}
          onChange={(event) => set({ status: event.target.value })}
        >
          <option value="">{type === '' ? 'choose a type first' : 'all statuses'}</option>
          {withChosen(
            (lifecycle?.statuses ?? []).map(({ name }) => name),
            status,
          ).map((name) => (
            <option key={name} value={name}>
              {name} ({(some[name] ?? 0).toLocaleString('en')})
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="filter-kind">Kind</label>
        <select
          id="filter-kind"
          value={query.get('kind') ?? ''}
          onChange={(event) => set({ kind: event.target.value })}
        >
          <option value="">all kinds</option>
          {kinds.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </div>
      <div className="field grow">
        <label htmlFor="filter-text">Contains</label>
        <input
          id="filter-text"
          type="search"
          placeholder="a part of id, name, status or description"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={query.get('stuck') === 'true'}
          onChange={(event) => set({ stuck: event.target.checked ? 'true' : null })}
        />{' '}
        only stuck
      </label>
      {[...query.keys()].some((name) => name !== 'columns') && (
        <button
          type="button"
          className="small"
          onClick={() => {
            setText('')
            const columns = query.get('columns')
            go(columns === null ? '/resources' : `/resources?${new URLSearchParams({ columns }).toString()}`, 'replace')
          }}
        >
          Clear
        </button>
      )}
    </div>
  )
}

function Rows(given: {
  readonly items: readonly Resource[]
  readonly hasMore: boolean
  readonly isReading: boolean
  readonly onMore: () => void
  /** Null: it is not known yet. */
  readonly total: number | null
  readonly columns: readonly Column[]
}) {
  const { items, hasMore, isReading, onMore, columns } = given
  const { gridTemplateColumns, minWidth } = gridOf(columns)
  const rowHeight = Math.round(rowRem * parseFloat(getComputedStyle(document.documentElement).fontSize))
  const box = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    // Who comes back finds the list where he left it.
    initialOffset: () => (history.state as { readonly rows?: number } | null)?.rows ?? 0,
  })
  const seen = rows.getVirtualItems()
  const lastSeen = seen.at(-1)?.index ?? 0
  useEffect(() => {
    if (hasMore && !isReading && lastSeen > items.length - 60) onMore()
  }, [lastSeen, items.length, hasMore, isReading])
  return (
    <div className="panel flush">
      <div className="grid-table" role="table" aria-label="Resources" aria-rowcount={given.total ?? -1}>
        <div className="grid-row head" role="row" style={{ gridTemplateColumns, minWidth }}>
          {columns.map(({ key, title }) => (
            <span key={key} role="columnheader">
              {title}
            </span>
          ))}
        </div>
        {/* It scrolls by itself: reachable by keyboard too. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <div
          className="rows"
          style={{ height: `min(62vh, ${items.length * rowHeight}px)`, minWidth }}
          ref={box}
          onScrollEnd={() => history.replaceState({ rows: box.current?.scrollTop ?? 0 }, '')}
          tabIndex={0}
          role="rowgroup"
          aria-label="Rows"
        >
          <div className="all" style={{ height: rows.getTotalSize() }} role="presentation">
            {seen.map(({ index, start }) => {
              const one = items[index]!
              return (
                // The link in the first cell does the same by keyboard.
                // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
                <div
                  key={`${one.type}/${one.id}`}
                  className="grid-row"
                  role="row"
                  aria-rowindex={index + 1}
                  style={{ transform: `translateY(${start}px)`, gridTemplateColumns }}
                  onClick={(event) => (event.target as HTMLElement).closest('a') === null && go(toResource(one))}
                >
                  {columns.map(({ key, quiet = false, cell, whole }) => (
                    <span key={key} role="cell" className={quiet ? 'quiet' : undefined} title={whole?.(one)}>
                      {cell(one)}
                    </span>
                  ))}
                </div>
              )
            })}
          </div>
        </div>
      </div>
      <p className="more quiet" role="status">
        {items.length.toLocaleString('en')}
        {given.total === null ? '' : ` of ${given.total.toLocaleString('en')}`} read
        {hasMore ? '; more as you scroll' : ''}
      </p>
    </div>
  )
}
