// A field for the id of another resource: what fits is looked for on the server while one types. An id that is typed or pasted is taken
// as it is; what is known of it is said below.
import { useQuery } from '@tanstack/react-query'
import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react'
import { api, wordsOf, type Resource } from '../api.ts'
import { useLifecycle } from '../lifecycle.ts'
import { Status, useSettled } from './bits.tsx'

export interface Sought {
  readonly type: string
  /** Of this one, unless there is none; undefined: of all that whoever asks may see. */
  readonly tenant: string | undefined
  /** What is asked for, and the statuses that it requires of what is chosen. */
  readonly operation: string
  readonly statuses: readonly string[] | undefined
}

interface Found {
  readonly fitting: readonly Resource[]
  /** There, but not in a status that is required. */
  readonly others: readonly Resource[]
  /** Has this id, and has ended. */
  readonly gone: Resource | undefined
  readonly hasMore: boolean
}

const foundMost = 8

/** Some of those in these statuses. One answer looks at a part of all; the next goes on there, until there are some. */
async function findSome({ type, tenant }: Sought, status: readonly string[], q: string, signal: AbortSignal) {
  if (status.length === 0) return { items: [], hasMore: false }
  for (let pageToken: string | undefined; ;) {
    const query = {
      status: status.join(','),
      pageSize: foundMost,
      ...(tenant === undefined ? {} : { tenant }),
      ...(q === '' ? {} : { q }),
      ...(pageToken === undefined ? {} : { pageToken }),
    }
    const { items, nextPageToken } = await api.call('listResources', { path: { type }, query }, { signal })
    if (items.length > 0 || nextPageToken === null) return { items, hasMore: nextPageToken !== null }
    pageToken = nextPageToken
  }
}

async function find(
  sought: Sought,
  kinds: readonly (readonly string[])[],
  q: string,
  signal: AbortSignal,
): Promise<Found> {
  const [good = [], bad = [], ended = []] = kinds
  const [fitting, others] = await Promise.all([findSome(sought, good, q, signal), findSome(sought, bad, q, signal)])
  const isNone = fitting.items.length + others.items.length === 0
  const [gone] = isNone && q !== '' ? (await findSome(sought, ended, q, signal)).items : []
  if (isNone && gone?.id !== q && sought.tenant !== undefined)
    // What is of all, such as a node, may be elsewhere.
    return find({ ...sought, tenant: undefined }, kinds, q, signal)
  return {
    fitting: fitting.items,
    others: others.items.slice(0, foundMost - fitting.items.length),
    gone: gone?.id === q ? gone : undefined,
    hasMore: fitting.hasMore || others.hasMore,
  }
}

function useFound(sought: Sought, q: string, isWanted: boolean) {
  const { type, statuses } = sought
  const lifecycle = useLifecycle(type)
  return useQuery<Found>({
    queryKey: ['chooser', sought, q],
    queryFn: ({ signal }) => {
      const kinds: [string[], string[], string[]] = [[], [], []]
      for (const { name, kind } of lifecycle!.statuses)
        kinds[kind === 'terminal' ? 2 : (statuses?.includes(name) ?? true) ? 0 : 1].push(name)
      return find(sought, kinds, q, signal)
    },
    enabled: isWanted && lifecycle !== undefined,
    placeholderData: (before) => before,
  })
}

/** Below the field, or above it where there is more room: over everything, so that no frame cuts it off. */
function place(list: HTMLElement, field: HTMLElement): void {
  const seen = visualViewport
  const top = seen?.offsetTop ?? 0
  const bottom = top + (seen?.height ?? innerHeight)
  const box = field.getBoundingClientRect()
  const below = bottom - box.bottom
  const isBelow = below > 260 || below > box.top - top
  list.style.left = `${box.left}px`
  list.style.width = `${box.width}px`
  list.style.maxHeight = `${Math.max(90, Math.min(340, (isBelow ? below : box.top - top) - 12))}px`
  list.style.top = isBelow ? `${box.bottom + 4}px` : 'auto'
  list.style.bottom = isBelow ? 'auto' : `${innerHeight - box.top + 4}px`
}

const either = new Intl.ListFormat('en-GB', { type: 'disjunction' })

export function Chooser(given: {
  readonly id: string
  readonly sought: Sought
  readonly value: string
  readonly isInvalid: boolean
  /** What else is said of the field. */
  readonly describedBy: string | undefined
  readonly onType: (text: string) => void
  /** The resource that has the id that was typed. */
  readonly onFound: (resource: Resource | undefined) => void
}) {
  const { id, sought, value, onType, onFound } = given
  const { type, tenant, operation, statuses } = sought
  const [opened, setOpened] = useState<'no' | 'typing' | 'asked'>('no')
  const [at, setAt] = useState(-1)
  /** What stood there when Enter was pressed before the answer to it had come. */
  const [pressed, setPressed] = useState<string | null>(null)
  const [isTouched, setTouched] = useState(value !== '')
  const field = useRef<HTMLInputElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const text = value.trim()
  const asked = useSettled(text, 150)
  const found = useFound(sought, asked, isTouched)
  const isAnswered = asked === text && found.data !== undefined && !found.isPlaceholderData
  const fits = ({ id: one, name, status }: Resource) =>
    isAnswered || `${one} ${name ?? ''} ${status}`.toLowerCase().includes(text.toLowerCase())
  // Until the answer to what is typed is there, of the one before only what still fits.
  const fitting = (found.data?.fitting ?? []).filter(fits)
  const options = [...fitting, ...(found.data?.others ?? []).filter(fits)]
  const gone = isAnswered ? found.data.gone : undefined
  const exact = [...options, ...(gone === undefined ? [] : [gone])].find((one) => one.id === text)
  const isOpen = options.length > 0 && (opened === 'asked' || (opened === 'typing' && exact === undefined))
  const active = isOpen ? Math.min(at, options.length - 1) : -1
  const areOfSeveral =
    new Set([...(tenant === undefined ? [] : [tenant]), ...options.map((one) => one.tenant)]).size > 1
  const needs = statuses === undefined ? '' : `${operation} needs it to be ${either.format(statuses)}`
  const isGood = (one: Resource) => statuses?.includes(one.status) ?? true

  useEffect(() => {
    onFound(exact)
  }, [exact?.type, exact?.id, exact?.tenant])
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const [shown, box] = [list.current!, field.current!]
    const move = () => place(shown, box)
    shown.showPopover()
    move()
    addEventListener('scroll', move, true)
    addEventListener('resize', move)
    visualViewport?.addEventListener('resize', move)
    return () => {
      removeEventListener('scroll', move, true)
      removeEventListener('resize', move)
      visualViewport?.removeEventListener('resize', move)
      shown.hidePopover()
    }
  }, [isOpen])
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, active])

  const choose = (one: Resource) => {
    onType(one.id)
    setOpened('no')
  }
  useEffect(() => {
    if (!isAnswered || pressed === null) return
    setPressed(null)
    if (pressed === text && active >= 0) choose(options[active]!)
  }, [isAnswered, pressed])
  const press = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      setTouched(true)
      setOpened('asked')
      const from = active >= 0 ? active : move > 0 ? -1 : options.length
      setAt(isOpen ? (from + move + options.length) % options.length : 0)
    } else if (event.key === 'Enter' && active >= 0) {
      // Chosen, not sent; but only when it is known what fits.
      event.preventDefault()
      if (isAnswered) choose(options[active]!)
      else setPressed(text)
    } else if (event.key === 'Escape' && isOpen) {
      // Only the list: what was filled in stays.
      event.preventDefault()
      event.stopPropagation()
      setOpened('no')
    }
  }
  return (
    <>
      <input
        ref={field}
        id={id}
        role="combobox"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={given.isInvalid}
        aria-describedby={[given.describedBy, `${id}-note`].filter(Boolean).join(' ')}
        placeholder="Find one by id, name or status"
        value={value}
        onFocus={() => setTouched(true)}
        onClick={() => {
          setOpened('asked')
          setAt(-1)
        }}
        onBlur={() => setOpened('no')}
        onChange={(event) => {
          onType(event.target.value)
          setOpened('typing')
          setAt(0)
        }}
        onKeyDown={press}
      />
      {/* The field keeps the focus. */}
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div ref={list} popover="manual" className="found" onMouseDown={(event) => event.preventDefault()}>
        {isOpen && fitting.length === 0 && needs !== '' && <p className="late">None that fits: {needs}.</p>}
        <ul id={`${id}-list`} role="listbox" aria-label={type}>
          {isOpen &&
            options.map((one, index) => (
              // Keys are dealt with where the text is typed.
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
              <li
                key={one.id}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active}
                onClick={() => choose(one)}
              >
                <span className="mono">{one.id}</span>
                {one.name !== null && <span>{one.name}</span>}
                {areOfSeveral && <span className="quiet">tenant {one.tenant}</span>}
                <span className="spring" />
                {!isGood(one) && <span className="late">does not fit</span>}
                <Status status={one.status} kind={one.kind} />
              </li>
            ))}
        </ul>
        {isOpen && found.data?.hasMore === true && <p className="quiet">There are more: type to find one.</p>}
      </div>
      <small id={`${id}-note`} role="status" className="note">
        {noteOn()}
      </small>
    </>
  )

  function noteOn(): ReactNode {
    const where = tenant === undefined ? '' : ` in tenant ${tenant}`
    if (found.error !== null)
      return `What there is could not be read: ${wordsOf(found.error)} An id can be typed all the same.`
    if (exact !== undefined)
      return (
        <>
          <Status status={exact.status} kind={exact.kind} /> {exact.name}{' '}
          {areOfSeveral && <span className="quiet">tenant {exact.tenant} </span>}
          {exact === gone && <span className="late">Nothing leads out of that.</span>}
          {exact !== gone && !isGood(exact) && <span className="late">But {needs}.</span>}
        </>
      )
    if (isOpen) return <span className="hidden">{options.length} to choose from</span>
    if (!isTouched || (text === '' && opened === 'no' && options.length > 0)) return null
    if (!isAnswered) return opened === 'no' && text === '' ? null : <span className="quiet">Looking ...</span>
    if (text === '') return options.length > 0 ? null : `There is no ${type}${where} to choose from.`
    if (options.length > 0) return `No ${type}${where} has the id ${text}: choose one, or type a whole id.`
    return `No ${type}${where} that is still there has '${text}' in its id, name, status or description.`
  }
}
