// What the auditor judges by: the tables of the database as they are, read with plain SQL and understood by its own reading of their
// formats, the client's log, and what the outside world has done.
import { existsSync, readFileSync } from 'node:fs'
import pg from 'pg'
import type { Truth } from 'homeostat/worlds'
import type { Effect } from './cloud.ts'
import type { Acknowledged } from './messages.ts'
import { schema } from './systems.ts'

/** A resource as it is at the end. */
export interface Row {
  readonly no: number
  readonly type: string
  readonly id: string
  readonly status: string
  readonly kind: string
  /** null: nothing is under way. */
  readonly owner: number | null
  readonly isParked: boolean
  readonly hasOrphans: boolean
  readonly ledger: readonly { readonly name: string; readonly state: number }[]
  /** When it is to go on; for telling what it waits for. */
  readonly due: number | null
  readonly run: string | null
  /** What is under way; null: nothing, or it has no run of its own. */
  readonly operation: string | null
}

export interface Told {
  readonly n: number
  readonly no: number
  readonly kind: string
  readonly from: string
  readonly to: string
  readonly epoch: number
  readonly begun: number
  readonly by: string
}

/** What a resource is, from some commit on. */
export interface Cold {
  readonly no: number
  readonly type: string
  readonly id: string
  readonly parent: number | null
  readonly links: Readonly<Record<string, number>>
  readonly properties: Readonly<Record<string, unknown>>
  readonly isTerminal: boolean
}

export interface Commit {
  /** The number before its first event. */
  readonly n: number
  readonly events: readonly Told[]
  readonly cold: readonly Cold[]
}

export interface Evidence {
  readonly acknowledged: readonly Acknowledged[]
  readonly keys: ReadonlyMap<string, { readonly no: number; readonly begun: number }>
  readonly rows: readonly Row[]
  /** In the order of their numbers. */
  readonly commits: readonly Commit[]
  /** How many events the server says it has numbered. */
  readonly numbered: number
  readonly breaches: readonly { readonly promise: string; readonly said: string }[]
  readonly effects: readonly Effect[]
  readonly truth: readonly Truth[]
}

export function acknowledgedIn(file: string): Acknowledged[] {
  if (!existsSync(file)) return []
  return (
    readFileSync(file, 'utf8')
      .split('\n')
      // A last line that was cut was not acknowledged to anybody.
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line) as Acknowledged)
  )
}

/** The kinds of events by the numbers that are stored: read off the feed's format, which never changes. */
export const kinds = [
  'accepted',
  'queued',
  'dropped',
  'stepDone',
  'stepAgain',
  'attemptFailed',
  'outcomeUnknown',
  'probed',
  'itemDone',
  'itemFailed',
  'itemAsked',
  'failed',
  'undone',
  'undoFailed',
  'landed',
  'parked',
  'retried',
  'skipped',
  'progressed',
  'preempted',
  'claimed',
  'handedOver',
  'resumed',
  'healed',
  'moved',
  'added',
  'timerFired',
  'timerRefused',
  'statusSet',
  'imported',
  'observed',
  'orphaned',
  'sweeping',
  'swept',
  'adopted',
  'writtenOff',
] as const

type Shape = { readonly type: string; readonly status: string; readonly kind: string }

/** A database that has lost something may name what it does not have. */
const unknownShape: Shape = { type: '?', status: '?', kind: '?' }

export async function readDatabase(url: string): Promise<Omit<Evidence, 'acknowledged' | 'effects' | 'truth'>> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  try {
    // One snapshot, of numbers and texts as they are.
    await client.query(`begin isolation level repeatable read; set local search_path to ${schema}`)
    const all = async (sql: string) =>
      (
        await client.query<(string | null)[]>({
          text: sql,
          rowMode: 'array',
          types: { getTypeParser: () => (v: string) => v },
        } as never)
      ).rows as unknown as (string | null)[][]
    const shapes = new Map<number, Shape>()
    for (const [id, type, status, kind] of await all('select id, type, status, kind from shape'))
      shapes.set(Number(id), { type: type!, status: status === '\u001b' ? '' : status!, kind: kind! })
    const rows = (
      await all(`select r.no, r.id, s.shape, s.owner, s.due, s.orphans, s.extra, s.rest, s.run
        from resource r join state s on s.no = r.no order by r.no`)
    ).map((row) => rowOf(row, shapes))
    const keys = new Map(
      (await all('select key, no, begun from key')).map(([key, no, begun]) => [
        key!,
        { no: Number(no), begun: Number(begun) },
      ]),
    )
    const breaches = (await all('select promise, said from watch.breach order by id')).map(([promise, said]) => ({
      promise: promise!,
      said: said!,
    }))
    const [[numbered]] = (await all('select events from feed')) as [[string]]
    return { keys, rows, commits: await readCommits(all, shapes), numbered: Number(numbered), breaches }
  } finally {
    await client.end().catch(() => {})
  }
}

type All = (sql: string) => Promise<(string | null)[][]>

async function readCommits(all: All, shapes: ReadonlyMap<number, Shape>): Promise<Commit[]> {
  const cold = new Map<string, Cold[]>()
  for (const [xid, no, type, id, parent, links, properties, terminal] of await all(
    'select xid, no, type, name, parent, links, properties, terminal from watch.cold order by id',
  )) {
    const one: Cold = {
      no: Number(no),
      type: type!,
      id: id ?? `~${Number(no).toString(36)}`,
      parent: parent === null ? null : Number(parent),
      links: links == null ? {} : (JSON.parse(links) as Record<string, number>),
      properties: JSON.parse(properties!) as Record<string, unknown>,
      isTerminal: terminal === 't',
    }
    cold.set(xid!, [...(cold.get(xid!) ?? []), one])
  }
  // A commit without events has the number of the next one, and nothing tells their order: they are taken together.
  const byNumber = new Map<number, Cold[]>()
  for (const [n, xid] of await all('select n, xid from watch.numbered order by n')) {
    const written = byNumber.get(Number(n)) ?? []
    written.push(...(cold.get(xid!) ?? []))
    byNumber.set(Number(n), written)
  }
  const numbered = [...byNumber]
  const events: Told[] = []
  for (const [first, body] of await all('select first, body from event order by first'))
    events.push(...eventsOf(Number(first), body!, shapes))
  const commits: Commit[] = []
  let at = 0
  numbered.forEach(([n, written], index) => {
    const end = numbered[index + 1]?.[0] ?? Infinity
    const from = at
    while (at < events.length && events[at]!.n <= end) at++
    commits.push({ n, events: events.slice(from, at), cold: written })
  })
  return commits
}

type Entry = [number, number, number, number, number, number, number, number, number, number, unknown?]

/** A chunk is `[at, no, [texts], entry, ...]`; an entry is [at, no, prev, kind, from, to, revision, epoch, begun, by, detail]. */
function eventsOf(first: number, body: string, shapes: ReadonlyMap<number, Shape>): Told[] {
  const [, base, texts, ...entries] = JSON.parse(body) as [number, number, string[], ...Entry[]]
  return entries.map(([, no, , kind, from, to, , epoch, begun, by], index) => ({
    n: first + index,
    no: base + no,
    kind: kinds[kind] ?? `kind ${kind}`,
    from: shapes.get(from)?.status ?? '?',
    to: shapes.get(to)?.status ?? '?',
    epoch,
    begun,
    by: texts[by] ?? '',
  }))
}

function rowOf(row: (string | null)[], shapes: ReadonlyMap<number, Shape>): Row {
  const [no, id, shape, owner, due, orphans, extra, rest, run] = row
  const { type, status, kind } = shapes.get(Number(shape)) ?? unknownShape
  const name = id ?? `~${Number(no).toString(36)}`
  const { ledger = [] } = JSON.parse(extra ?? '{}') as { ledger?: [string | [string], string, number][] }
  const unusual = rest === null ? undefined : (JSON.parse(rest!) as unknown[])[4]
  return {
    no: Number(no),
    type,
    id: name,
    status,
    kind,
    owner: owner === null ? null : Number(owner),
    isParked: (unusual as { parked?: unknown } | undefined)?.parked != null,
    hasOrphans: orphans === 't',
    ledger: ledger.map(([last, of, state]) => ({
      name: typeof last === 'string' ? `${type}/${name}/${of}/${last}` : last[0],
      state,
    })),
    due: due == null ? null : Number(due),
    run: run == null ? null : `${run} ${rest}`,
    operation: run == null ? null : ((JSON.parse(run) as unknown[])[2] as string),
  }
}
