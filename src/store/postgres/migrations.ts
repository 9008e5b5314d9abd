// The tables, as numbered changes, and the runner that brings a schema to the newest of them: in one transaction, under a lock that
// lets one process do it while others wait. Never change a migration that was released: add another.
import { sleep, systemClock } from '../../base/clock.ts'
import { HomeostatError, messageOf } from '../../base/errors.ts'
import { codeOf } from './failures.ts'
import type { Wire } from './wire.ts'

/**
 * Why the tables look as they do: a step must write little and touch no index, and nobody may wait for another's flush but at the end.
 * - What a resource is (`resource`) is kept apart from where it stands (`state`), which is narrow and has room in its pages: an
 *   update of columns that are in no index stays on its page and writes no index (HOT). A step changes only such columns. `settled` is
 *   the shape while nothing is under way, `owner` is set while something is (-1: without a run): these two are indexed, and change
 *   only when a run begins or ends.
 * - Events are appended in chunks of a JSON text, numbered in the last statement of a commit under the lock of the `feed` row: a number
 *   that is visible means that all smaller ones are. The guards of a batch are checked after that, in a statement of its own, so that
 *   its snapshot has every commit that was numbered before.
 * - `event` is partitioned by number, so that old history can be dropped whole; `event_rest` takes what nobody made a partition for.
 * - `state` names the commit of its latest event and the place in it; `commit` knows the number. A commit's row is also what tells, after
 *   a lost connection, whether it happened.
 * - Texts are compared by their bytes. Times are float8: a fraction of a millisecond is no reason to refuse a commit.
 */
const initial = `
create table shape (
  id integer primary key generated always as identity,
  type text collate "C" not null,
  status text collate "C" not null,
  kind text not null,
  unique (type, status)
);

create table feed (
  one integer primary key check (one = 1),
  events bigint not null,
  runs bigint not null,
  judged bigint not null
) with (fillfactor = 10);
insert into feed values (1, 0, 0, 0);

create table counter (name text primary key, value bigint not null);
insert into counter values ('handle', 0), ('incarnation', 0);

create table commit (
  batch bigint primary key,
  n bigint,                -- number of the event before its first; null: it did not happen, and never will
  at timestamptz not null default clock_timestamp()
);
create index commit_at on commit using brin (at);

create table resource (
  no bigint primary key,
  type text collate "C" not null,
  id text collate "C",     -- null: made from the number
  parent bigint,
  terminal boolean not null,
  tenant text collate "C" not null,
  name text collate "C",
  created float8 not null,
  properties text not null,
  links text               -- null: none
);
create unique index resource_id on resource (id, type) where id is not null;
create index resource_family on resource (parent, no) where parent is not null;
create index resource_tenant on resource (tenant, no) where tenant <> 'default';
create index resource_name on resource (name, no) where name is not null;

-- What a step leaves alone comes first: an update then logs only what follows.
create table state (
  no bigint primary key,
  owner bigint,            -- null: nothing is under way; -1: something, without a run; 0: a run that waits for a worker
  wake float8,             -- when its earliest timer is due
  offered float8,          -- a run that waits: until when it is one worker's to claim
  epoch integer not null,
  settled integer,         -- the shape, while nothing is under way
  lane smallint,           -- of its run
  orphans boolean,         -- true: its ledger has some; else null
  run text,                -- what a run never changes
  extra text,              -- description, queue, ledger, timers, heals, holder, where there are any
  revision integer not null,
  shape integer not null,
  batch bigint not null,   -- the commit of its latest event
  seq integer not null,    -- and the place of the event in that commit
  since float8 not null,
  due float8,              -- null: no run, or parked
  overdue float8,          -- null: no run, or no deadline
  rest text                -- what a run does: step, attempt, steps, results
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
create index state_live on state (owner, no) where owner is not null;
create index state_waiting on state (lane, no) where owner = 0;
create index state_settled on state (settled, no) where settled is not null;
create index state_wake on state (wake, no) where wake is not null;
create index state_orphans on state (no) where orphans;

create table link (
  target bigint not null,
  name text collate "C" not null,
  source bigint not null,
  primary key (target, name, source)
);

create table event (first bigint primary key, body text not null) partition by range (first);
create table event_from_0 partition of event for values from (0) to (4000000);
create table event_rest partition of event default;

create table run (
  no bigint not null,
  begun integer not null,
  n bigint not null,
  body text not null,
  primary key (no, begun, n)
);
create index run_n on run using brin (n) with (autosummarize = on);

create table key (
  key text collate "C" primary key,
  hash text not null,
  no bigint not null,
  begun integer not null,
  at float8 not null
);

create table late (
  id bigint primary key generated always as identity,
  no bigint not null,
  body text not null
);
create index late_no on late (no);

create table incident (
  id bigint primary key generated always as identity,
  no bigint not null,
  kind text not null,
  body text not null,
  unique (no, kind)
);

create table setting (name text collate "C" primary key, value text not null);

create table record (
  kind text collate "C" not null,
  key text collate "C" not null,
  version integer not null,
  value text not null,
  primary key (kind, key)
);

create table journal (n bigint primary key, value text not null, hash text not null);

create table worker (
  no bigint primary key,
  name text not null,
  started float8 not null,
  beat float8 not null,
  lease float8 not null,
  state text not null,
  lock bigint not null     -- held by its process for as long as it lives: an advisory lock of a session
) with (fillfactor = 20);
`

/** How many states have each shape: written by every commit that changes it, under the lock of the feed. */
const tally = `
create table tally (shape integer primary key, count bigint not null) with (fillfactor = 10);
insert into tally select shape, count(*) from state group by shape;
`

/**
 * More room in the pages of states that are filled from now on: with a thousand runs of four steps in flight one step in eight found none
 * on its page and wrote all indexes; now one in fifty does, in about as much space, since what moved had taken it elsewhere.
 */
const roomForSteps = 'alter table state set (fillfactor = 30);'

/** An older program would take the 0 for the detail itself: it must refuse a schema with such chunks. */
const repeatedDetails = `comment on table event is 'chunks; a detail of 0 is that of the event before it in its chunk';`

/**
 * What is under way (`live`) apart from what is at rest (`settled`). A step finds its row among few, in pages that are used again and again;
 * at rest a state takes a quarter of the space.
 * - A resource whose run was not its first keeps its row in `settled` meanwhile, as it was, marked as `away`: what has a million neighbours
 *   is written on its own page twice, and in no index unless it comes to rest in another status. `state` shows each resource once.
 * - Nothing that a step changes is in an index, and pages have room: an update stays on its page and writes no index (HOT).
 */
const liveApart = `
create table live (
  no bigint primary key,
  owner bigint not null,   -- -1: no run; 0: a run that waits for a worker
  wake float8,             -- when its earliest timer is due
  offered float8,          -- a run that waits: until when it is one worker's to claim
  epoch integer not null,
  lane smallint,           -- of its run
  orphans boolean,         -- true: its ledger has some; else null
  run text,                -- what a run never changes
  extra text,              -- description, queue, ledger, timers, heals, holder, where there are any
  revision integer not null,
  shape integer not null,
  batch bigint not null,   -- the commit of its latest event
  seq integer not null,    -- and the place of the event in that commit
  since float8 not null,
  due float8,              -- null: no run, or parked
  overdue float8,          -- null: no run, or no deadline
  rest text                -- what a run does: step, attempt, steps, results
) with (fillfactor = 30, vacuum_truncate = off, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0,
  autovacuum_analyze_threshold = 10000, autovacuum_analyze_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
create index live_waiting on live (lane, no) where owner = 0;
create index live_owner on live (owner, no);
create index live_wake on live (wake, no) where wake is not null;
create index live_orphans on live (no) where orphans;

create table settled (
  no bigint primary key,
  wake float8,
  epoch integer not null,
  orphans boolean,
  extra text,
  revision integer not null,
  shape integer not null,
  batch bigint not null,
  seq integer not null,
  since float8 not null,
  away boolean             -- true: it is under way, and this is how it stood before; else null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);

insert into live (no, owner, wake, offered, epoch, lane, orphans, run, extra, revision, shape, batch, seq, since, due, overdue, rest)
  select no, owner, wake, offered, epoch, lane, orphans, run, extra, revision, shape, batch, seq, since, due, overdue, rest
  from state where owner is not null;
insert into settled (no, wake, epoch, orphans, extra, revision, shape, batch, seq, since)
  select no, wake, epoch, orphans, extra, revision, shape, batch, seq, since from state where owner is null order by no;
create index settled_shape on settled (shape, no);
create index settled_wake on settled (wake, no) where wake is not null;
create index settled_orphans on settled (no) where orphans;
drop table state;
create view state as
  select no, owner, wake, epoch, orphans, run, extra, revision, shape, batch, seq, since, due, overdue, rest from (
    select no, owner, wake, epoch, orphans, run, extra, revision, shape, batch, seq, since, due, overdue, rest, null::boolean as away from live
    union all
    select no, null, wake, epoch, orphans, null, extra, revision, shape, batch, seq, since, null, null, null, away from settled
  ) s where away is null;
`

/**
 * The number in the index by owner is an expression, so that a commit, which names rows by number, can only take the primary key. PostgreSQL 18
 * also finds a number in an index that begins with another column, by looking under each owner that it expects: it took that one with some
 * statistics, and each step then came to three looks instead of one. Who reads by owner says `no + 0` too (`having` in states.ts).
 */
const numberBesideOwner = 'drop index live_owner; create index live_owner on live (owner, (no + 0));'

/** The server reads a check anew for each statement that writes the row, which every commit does: 5 us of one that is alone. */
const uncheckedFeed = 'alter table feed drop constraint feed_one_check'

export const migrations: readonly string[] = [
  initial,
  tally,
  roomForSteps,
  repeatedDetails,
  liveApart,
  numberBesideOwner,
  uncheckedFeed,
]

/** Whole numbers that every Homeostat asks for the same lock. */
const migrationLock = 0x486f6d65

/** Whoever waits this long for another process is told so, and again each time. */
const tellEveryMs = 5_000

export interface MigrateOptions {
  readonly isReadonly: boolean
  /** What is waited for. */
  readonly tell?: ((line: string) => void) | undefined
}

/** Brings the schema to the newest version, or refuses one that is newer. */
export async function migrate(wire: Wire, schema: string, options: MigrateOptions): Promise<void> {
  const { isReadonly, tell = () => {} } = options
  const found = await versionAtOnce(wire, schema)
  mustNotBeNewer(found, schema)
  if (found === migrations.length) return
  if (isReadonly && found === 0)
    throw new HomeostatError(
      'store_unsuitable',
      `This database has no schema ${schema} that Homeostat made. Name the right database, or restore it first.`,
      { details: { found, known: migrations.length } },
    )
  if (isReadonly)
    throw new HomeostatError(
      'store_unsuitable',
      `The schema ${schema} is at version ${found}, and this one only looks. Open it once for writing, which migrates it.`,
      { details: { found, known: migrations.length } },
    )
  await wire.query('begin')
  try {
    await lockMigrations(wire, schema, tell)
    const version = await versionOf(wire, schema)
    mustNotBeNewer(version, schema)
    if (version === 0 && !(await hasSchema(wire, schema))) await wire.query(`create schema ${quoted(schema)}`)
    await wire.query(
      'create table if not exists schema_version (one integer primary key check (one = 1), version integer not null)',
    )
    for (const migration of migrations.slice(version)) await wire.patiently(() => wire.query(migration))
    await wire.query(
      `insert into schema_version values (1, ${migrations.length}) on conflict (one) do update set version = excluded.version`,
    )
    await wire.query('commit')
  } catch (error) {
    if (wire.isOpen) await wire.query('rollback').catch(() => {})
    // What a migration makes is there already: a table, or a column of one.
    if (codeOf(error) === '42P07' || codeOf(error) === '42701')
      throw damagedVersion(schema, `is older than the tables are (${messageOf(error)})`)
    throw error
  }
}

/** Asks again and again instead of waiting in the server: so that who holds it can be told meanwhile. */
async function lockMigrations(wire: Wire, schema: string, tell: (line: string) => void): Promise<void> {
  for (let toldAt = systemClock.monotonic(); ;) {
    const [row] = await wire.query(`select pg_try_advisory_xact_lock(${migrationLock}, hashtext($1))`, [schema])
    if (row![0] === 't') return
    await sleep(askAgainMs)
    if (systemClock.monotonic() - toldAt < tellEveryMs) continue
    toldAt = systemClock.monotonic()
    const [holder] = await wire.query(holderOfLock, [schema])
    tell(
      `waits for another process that makes or changes the tables of schema ${schema}` +
        (holder === undefined ? '' : `: backend ${holder[0]} of PostgreSQL, ${holder[1]} since ${holder[2]}`),
    )
  }
}

const askAgainMs = 100
const holderOfLock = `select a.pid, coalesce(nullif(a.application_name, ''), 'unnamed') || coalesce(' at ' || host(a.client_addr), ''),
  to_char(a.xact_start at time zone 'utc', 'HH24:MI:SS') || ' UTC'
  from pg_locks l join pg_stat_activity a using (pid)
  where l.locktype = 'advisory' and l.granted and l.classid = ${migrationLock} and l.objid::bigint = hashtext($1)::bigint & 4294967295`

async function hasSchema(wire: Wire, schema: string): Promise<boolean> {
  return (await wire.query('select 1 from pg_namespace where nspname = $1', [schema])).length > 0
}

/** The same outside a transaction, where a table that is not there may be asked: usually it is. */
async function versionAtOnce(wire: Wire, schema: string): Promise<number> {
  try {
    const [row] = await wire.query(`select version from ${quoted(schema)}.schema_version`)
    return Number(row?.[0] ?? 0)
  } catch (error) {
    // No such table, or no such schema.
    if (codeOf(error) === '42P01' || codeOf(error) === '3F000') return 0
    throw error
  }
}

/** 0: there is nothing yet. */
async function versionOf(wire: Wire, schema: string): Promise<number> {
  // Asked of the tables of the catalogue: a look by name may be answered from what this session remembers.
  const there = `select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $1 and c.relname = 'schema_version'`
  if ((await wire.query(there, [schema])).length === 0) return 0
  const [row] = await wire.query(`select version from ${quoted(schema)}.schema_version`)
  if (row === undefined) throw damagedVersion(schema, 'is not there')
  return Number(row[0])
}

const damagedVersion = (schema: string, how: string): HomeostatError =>
  new HomeostatError(
    'store_corrupt',
    `The schema ${schema} is damaged: its version, in the table schema_version, ${how}. Restore a back-up, or write down there the version that the tables have.`,
  )

function mustNotBeNewer(version: number, schema: string): void {
  const known = migrations.length
  if (version <= known) return
  throw new HomeostatError(
    'schema_newer',
    `The schema ${schema} has version ${version}; this Homeostat knows versions up to ${known}. Run the newer Homeostat that wrote it, or restore a back-up from before the upgrade.`,
    { details: { found: version, known } },
  )
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
