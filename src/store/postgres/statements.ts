// The statements of a commit, in the order in which they are sent. Checks are plain SQL that divides by zero: the server then undoes
// everything. Rows come sorted by number, so that two commits which write the same resources lock them in the same order.
import type { Value } from './frame.ts'
import type { Step } from './pipeline.ts'
import { arraysOf, formFor, type Columns, type Form, type Part } from './sheet.ts'

/** Fails unless as many rows were changed as the parameter says. */
const mustBe = (changed: string, count: string) =>
  `with changed as (${changed} returning 1) select 1 / (count(*) = ${count}::int8)::int from changed`

const batchOf = (batch: string) => `case when v.seq is null then s.batch else ${batch}::int8 end`
const lastEvent = (batch: string) => `batch = ${batchOf(batch)}, seq = coalesce(v.seq, s.seq)`

const moved = 'shape = v.shape, revision = v.was + v.by, since = v.since'
const stepped = `${moved}, due = v.due, overdue = v.overdue, rest = v.rest`
const beside = 'wake = v.wake, orphans = (v.orphans = 1), extra = v.extra'
const asWas = 's.no >= v.no and s.no <= v.no and s.revision = v.was and s.epoch = v.fence'

const settledNames = ['batch', 'seq', 'revision', 'epoch', 'shape', 'since', 'wake', 'orphans', 'extra']
const settledColumns = `no, ${settledNames.join(', ')}`
const liveColumns = `${settledColumns}, owner, lane, due, overdue, run, rest`
const restingValues = 'v.shape, v.since, v.wake, v.orphans = 1 as orphans, v.extra'
const runningValues = 'v.owner, v.lane::int2 as lane, v.due, v.overdue, v.run, v.rest'

const resourceColumns = 'no, type, id, parent, terminal, tenant, name, created, properties, links'

/** Parameters: the columns of the part of the same name; where it says so, the batch and the number of rows after them. */
function textsIn({ rowsOf, widthOf }: Form) {
  /** The parameter after those of a part. */
  const after = (part: Part, offset = 1) => `$${widthOf(part) + offset}`
  const allOf = (among: string, part: Part) =>
    `1 / ((select count(*) from ${among}) = ${after(part, 2)}::int8)::int = 1`
  const numbered = (ends: string) =>
    `with f as (update feed set events = events + $1::int8, runs = runs + $2::int8 where one = 1 and judged = $3::int8
      returning events - $1::int8 as events, runs - $2::int8 as runs),
    c as (insert into commit (batch, n) select $4::int8, events from f),
    e as (insert into event (first, body) select f.events + v.place, v.body from f, ${rowsOf('events', 5)})${ends}
    select max(events), 1 / count(*) from f`
  return {
    /** + batch, count */
    steps: () =>
      mustBe(
        `update live s set ${stepped}, ${lastEvent(after('steps'))} from ${rowsOf('steps')} where ${asWas}`,
        after('steps', 2),
      ),
    /** + batch, count */
    ledgerSteps: () =>
      mustBe(
        `update live s set ${stepped}, ${beside}, ${lastEvent(after('ledgerSteps'))} from ${rowsOf('ledgerSteps')} where ${asWas}`,
        after('ledgerSteps', 2),
      ),
    /** + batch, count */
    changes: () =>
      mustBe(
        `update live s set ${stepped}, ${beside}, epoch = v.fence + v.raised, owner = v.owner, lane = v.lane::int2, run = v.run,
      ${lastEvent(after('changes'))} from ${rowsOf('changes')} where ${asWas}`,
        after('changes', 2),
      ),
    /** + batch, count */
    rests: () =>
      mustBe(
        `update settled s set ${moved}, ${beside}, epoch = v.fence + v.raised, ${lastEvent(after('rests'))} from ${rowsOf('rests')}
      where ${asWas} and s.away is null`,
        after('rests', 2),
      ),
    /** + batch, count */
    begins:
      () => `with begun as (update settled s set away = true from ${rowsOf('begins')} where ${asWas} and s.away is null returning v.no,
      ${batchOf(after('begins'))} as batch, coalesce(v.seq, s.seq) as seq, v.was + v.by as revision, v.fence + v.raised as epoch,
      ${restingValues}, ${runningValues})
    insert into live (${liveColumns}) select ${liveColumns} from begun where ${allOf('begun', 'begins')}`,
    /** The end of a first run, with an event: it was never at rest before, and all that it is then is in the columns. + batch, count */
    firstEnds: () => `with gone as (delete from live s using ${rowsOf('firstEnds')} where ${asWas} returning 1)
    insert into settled (${settledColumns}) select v.no, ${after('firstEnds')}::int8, v.seq, v.was + v.by, v.fence + v.raised, ${restingValues}
    from ${rowsOf('firstEnds')} where ${allOf('gone', 'firstEnds')}`,
    /** + batch, count */
    ends: () => `with gone as (delete from live s using ${rowsOf('ends')} where ${asWas} returning v.no,
      ${batchOf(after('ends'))} as batch, coalesce(v.seq, s.seq) as seq, v.was + v.by as revision, v.fence + v.raised as epoch, ${restingValues})
    insert into settled as z (${settledColumns}) select ${settledColumns} from gone where ${allOf('gone', 'ends')}
    on conflict (no) do update set away = null, ${settledNames.map((name) => `${name} = excluded.${name}`).join(', ')}`,
    /** + batch */
    newLive:
      () => `insert into live (${liveColumns}) select no, ${after('newLive')}::int8, seq, revision, epoch, ${restingValues}, ${runningValues}
    from ${rowsOf('newLive')}`,
    /** + batch */
    newSettled:
      () => `insert into settled (${settledColumns}) select no, ${after('newSettled')}::int8, seq, revision, epoch, ${restingValues}
    from ${rowsOf('newSettled')}`,
    newResources:
      () => `insert into resource (${resourceColumns}) select no, type, id, parent, terminal = 1, tenant, name, created, properties,
    links from ${rowsOf('newResources')}`,
    coldChanges:
      () => `update resource r set parent = v.parent, terminal = (v.terminal = 1), tenant = v.tenant, name = v.name,
    properties = v.properties, links = v.links from ${rowsOf('coldChanges')} where r.no = v.no`,
    linkDeletes: () =>
      `delete from link l using ${rowsOf('linkDeletes')} where l.target = v.target and l.name = v.name and l.source = v.source`,
    newLinks: () =>
      `insert into link (target, name, source) select target, name, source from ${rowsOf('newLinks')} on conflict do nothing`,
    keys: () => `insert into key (key, hash, no, begun, at) select key, hash, no, begun, at from ${rowsOf('keys')}`,
    late: () => `insert into late (no, body) select no, body from ${rowsOf('late')}`,
    incidents: () =>
      `insert into incident (no, kind, body) select no, kind, body from ${rowsOf('incidents')} on conflict (no, kind) do nothing`,
    newRecords: () =>
      `insert into record (kind, key, version, value) select kind, key, 1, value from ${rowsOf('newRecords')}`,
    /** + count */
    recordChanges: () =>
      mustBe(
        `update record r set version = r.version + 1, value = v.value from ${rowsOf('recordChanges')}
      where r.kind = v.kind and r.key = v.key and r.version = v.was`,
        after('recordChanges'),
      ),
    /** + count */
    recordDeletes: () =>
      mustBe(
        `delete from record r using ${rowsOf('recordDeletes')} where r.kind = v.kind and r.key = v.key and r.version = v.was`,
        after('recordDeletes'),
      ),

    /**
     * From here on no other commit can be numbered until this one is over: what is checked after this stays so.
     * Parameters: how many events, how many ended runs, how often judged, batch, events.
     */
    number: () => numbered(''),
    /** The same where runs have ended: their columns come last. */
    numberEnds: () =>
      numbered(`,
    r as (insert into run (no, begun, n, body) select v.no, v.begun, f.runs + v.place, v.body
      from f, ${rowsOf('runs', 5 + widthOf('events'))})`),

    tally: () => `insert into tally (shape, count) select shape, more from ${rowsOf('tally')}
    on conflict (shape) do update set count = tally.count + excluded.count`,

    /** Chained by hashes as chain.ts does it. */
    journal: () => `with recursive last as (select n, hash from journal order by n desc limit 1),
    head as materialized (select coalesce((select n from last), 0) as n, coalesce((select hash from last), repeat('0', 64)) as hash),
    v as (select * from ${rowsOf('journal')}),
    chain as (
      select head.n + 1 as n, v.value, encode(sha256(convert_to(head.hash || chr(10) || (head.n + 1) || chr(10) || v.shown, 'UTF8')), 'hex') as hash,
        v.place from head, v where v.place = 1
      union all
      select c.n + 1, v.value, encode(sha256(convert_to(c.hash || chr(10) || (c.n + 1) || chr(10) || v.shown, 'UTF8')), 'hex'), v.place
        from chain c join v on v.place = c.place + 1
    )
    insert into journal (n, value, hash) select n, value, hash from chain`,

    /** + count */
    revisions: () => `select 1 / (count(*) = ${after('revisions')}::int8)::int from ${rowsOf('revisions')}
    join state s on s.no = v.no and s.revision = v.revision`,
    /** + count */
    childMembers: () => `select 1 / (count(*) = ${after('childMembers')}::int8)::int from ${rowsOf('childMembers')}
    join resource r on r.no = v.no and r.parent = v.parent and not r.terminal`,
    /** + count of all their members */
    parents: () => `select 1 / (count(*) = ${after('parents')}::int8)::int from ${rowsOf('parents')}
    join resource r on r.parent = v.no and r.parent is not null and not r.terminal`,
    /** + count */
    linkMembers: () => `select 1 / (count(*) = ${after('linkMembers')}::int8)::int from ${rowsOf('linkMembers')}
    join link l on l.target = v.target and l.name = v.name and l.source = v.source`,
    /** + count of all their members */
    linkTargets: () => `select 1 / (count(*) = ${after('linkTargets')}::int8)::int from ${rowsOf('linkTargets')}
    join link l on l.target = v.target and l.name = v.name`,
    absentIds: () =>
      `select 1 / (count(*) = 0)::int from ${rowsOf('absentIds')} join resource r on r.id = v.id and r.type = v.type and r.id is not null`,
    absentNos: () =>
      `select 1 / (count(*) = 0)::int from ${rowsOf('absentNos')} join resource r on r.no = v.no and r.type = v.type`,
    absentRecords: () =>
      `select 1 / (count(*) = 0)::int from ${rowsOf('absentRecords')} join record r on r.kind = v.kind and r.key = v.key`,
  } as const satisfies Record<string, () => string>
}

type CommitStatement = keyof ReturnType<typeof textsIn>

/** Asked by each connection for each form of a statement that it does not know yet. */
export const commitStatements = { textOf: (name: CommitStatement, form: Form): string => textsIn(form)[name]() }

interface Named {
  readonly name: string
  readonly form: Form
  readonly text: () => string
}
/** As they were needed; told apart by which columns of their parts are arrays, as one number. */
const named = new Map<CommitStatement, Map<number, Named>>()

function namedFor(name: CommitStatement, parts: readonly Columns[]): Named {
  let arrays = 0
  for (const part of parts) arrays = arrays * 2 ** part.all.length + arraysOf(part)
  let forms = named.get(name)
  if (forms === undefined) named.set(name, (forms = new Map()))
  let found = forms.get(arrays)
  if (found === undefined) {
    const form = formFor(...parts)
    found = { name: name + form.mark, form, text: () => commitStatements.textOf(name, form) }
    forms.set(arrays, found)
  }
  return found
}

/** The statement of this name over the rows of these parts, with the parameters that come before them and after. */
function statementOf(
  statement: CommitStatement,
  parts: readonly Columns[],
  before: readonly string[],
  after: readonly string[],
): Step {
  const { name, form, text } = namedFor(statement, parts)
  const values: Value[] = [...before]
  for (const columns of parts) form.putValues(columns, values)
  values.push(...after)
  return { name, text, values }
}

/** A part as a statement that is carried out, with what comes after its columns. */
export const stepOf = (columns: Columns, ...after: readonly string[]): Step =>
  statementOf(columns.part as CommitStatement, [columns], [], after)

/** What numbers a commit; `heads` as the statement says. */
export const numberingOf = (heads: readonly string[], events: Columns, runs: Columns | null): Step =>
  runs === null ? statementOf('number', [events], heads, []) : statementOf('numberEnds', [events, runs], heads, [])

/** Those that change states: they take the batch and the number of rows after their columns. */
export const isOfStates = (part: Part): boolean => (stateParts as readonly Part[]).includes(part)
const stateParts = [
  'steps',
  'ledgerSteps',
  'changes',
  'begins',
  'firstEnds',
  'ends',
  'rests',
] as const satisfies readonly Part[]

/** Before the commit is numbered, in this order: first what is written about resources. */
export const resourceParts = [
  ...stateParts,
  'newResources',
  'newLive',
  'newSettled',
  'coldChanges',
  'linkDeletes',
  'newLinks',
] as const satisfies readonly Part[]

/** Then the rest. */
export const restParts = [
  'keys',
  'late',
  'incidents',
  'newRecords',
  'recordChanges',
  'recordDeletes',
] as const satisfies readonly Part[]

/** After it. */
export const checkingParts = [
  'revisions',
  'childMembers',
  'parents',
  'linkMembers',
  'linkTargets',
  'absentIds',
  'absentNos',
  'absentRecords',
] as const satisfies readonly Part[]

/** Settings of connections that commit. The planner knows nothing about the arrays it is given: without these it reads whole tables. */
export const commitSettings: Readonly<Record<string, string>> = {
  jit: 'off',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_material: 'off',
  enable_bitmapscan: 'off',
  plan_cache_mode: 'force_generic_plan',
  default_transaction_isolation: "'read committed'",
  client_min_messages: 'warning',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: "'60s'",
}
