// The tables, as numbered changes, and the runner that brings a file to the newest of them in one transaction.
// Never change a migration that was released: add another.
import type { DatabaseSync } from 'node:sqlite'
import { HomeostatError } from '../../base/errors.ts'

/**
 * Why the tables look as they do: an operation must touch few pages, also among a million resources.
 * - What a resource is (`resource`) is kept apart from where it stands (`settled`), which is narrow, and from what is under
 *   way (`live`), which stays small. Beginning inserts into `live`, a step updates it, landing moves on to `settled`, at once or later
 *   with others (lingering.ts). A row of `live` rules over the row in `settled`: whoever asks where a resource stands must look at both.
 * - No index on a column that a step changes.
 * - Events and ended runs are appended in chunks of a JSON text: one row for many. Numbers have no gaps, so that the chunk
 *   that holds number n is the last one that starts at n or before. They are chained backwards per resource.
 * - Type and status are one small number, explained by `shape`, which also remembers how the status was judged.
 * - Columns of `settled` and `live` are not declared `not null`: rows of these are put in place many at a time by an insert that
 *   turns into an update, and if that could fail half-way, SQLite would copy every page it touches first (2.4 us a row, not 0.7).
 * - Times are real: SQLite keeps whole ones as integers, and a fraction of a millisecond is no reason to refuse a commit.
 */
const initial = `
create table shape (
  id integer primary key,
  type text not null,
  status text not null,
  kind text not null,
  unique (type, status)
) strict;

create table feed (
  one integer primary key check (one = 1),
  events integer not null,
  runs integer not null,
  commits integer not null,
  incarnations integer not null,
  writer integer not null  -- who committed last: a number of its own for every handle
) strict;
insert into feed values (1, 0, 0, 0, 0, 0);

create table resource (
  no integer primary key,
  id text,                 -- null: made from the number
  parent integer,
  terminal integer not null,
  tenant text not null,
  name text,
  created real not null,
  properties text not null,
  links text               -- null: none
) strict;
create index resource_family on resource (parent, terminal) where parent is not null;
create index resource_tenant on resource (tenant) where tenant <> '';
create index resource_name on resource (name) where name is not null;

create table settled (
  no integer primary key,
  shape integer,
  revision integer,
  epoch integer,
  since real,
  last integer,   -- number of its latest event
  ended integer,  -- number of its latest ended run
  wake real,               -- when its earliest timer is due
  orphans integer,         -- 1: its ledger has some; else null
  more text                -- description, queue, ledger, timers, heals, where there are any
) strict;
create index settled_shape on settled (shape);
create index settled_wake on settled (wake) where wake is not null;
create index settled_orphans on settled (orphans) where orphans is not null;

create table live (
  no integer primary key,
  shape integer,
  revision integer,
  epoch integer,
  since real,
  last integer,
  ended integer,
  owner integer,           -- null: no run
  due real,                -- null: no run, or parked
  overdue real,            -- null: no run, or no deadline
  run text,                -- what a run never changes, as a list: codec.ts
  rest text,               -- what it does: step, attempt, steps, results, and all else that is not as usual
  extra text               -- as settled.more, with holder, wake and orphans
) strict;

create table name (
  id text not null,
  type text not null,
  no integer not null,
  primary key (id, type)
) strict, without rowid;

create table link (
  target integer not null,
  name text not null,
  source integer not null,
  primary key (target, name, source)
) strict, without rowid;

create table event (first integer primary key, body text not null) strict;
create table run (first integer primary key, body text not null) strict;

create table key (
  key text primary key,
  hash text not null,
  no integer not null,
  begun integer not null,
  at real not null
) strict, without rowid;

create table late (id integer primary key, no integer not null, body text not null) strict;
create index late_no on late (no);

create table incident (
  id integer primary key,
  no integer not null,
  kind text not null,
  body text not null,
  unique (no, kind)
) strict;

create table setting (name text primary key, value text not null) strict, without rowid;
`

/** Small facts beside resources, and the journal, whose entries are chained by their hashes. */
const records = `
create table record (
  kind text not null,
  key text not null,
  version integer not null,
  value text not null,
  primary key (kind, key)
) strict, without rowid;

create table journal (n integer primary key, value text not null, hash text not null) strict;
`

/**
 * Where the feed stands is written with the latest events: a row of its own was a page more in every commit. Of a commit that has no
 * events it is written to the events before; so there is always a row of them, if need be an empty one.
 */
const headsWithEvents = `
alter table event add column events integer;   -- these four only in the latest row
alter table event add column runs integer;
alter table event add column commits integer;
alter table event add column writer integer;   -- who committed last: a number of its own for every handle
insert into event (first, body) select 0, '[0,0,[]]' where not exists (select 1 from event);
update event set (events, runs, commits, writer) = (select events, runs, commits, writer from feed)
  where first = (select max(first) from event);
alter table feed drop column events;
alter table feed drop column runs;
alter table feed drop column commits;
alter table feed drop column writer;
`

/** Where there is one tenant, all are of it: the index was one more entry for each, and told nothing. */
const otherTenants = `
drop index resource_tenant;
create index resource_tenant on resource (tenant) where tenant <> 'default';
`

const workers = `
create table worker (
  no integer primary key,
  name text not null,
  started real not null,
  beat real not null,
  lease real not null,
  state text not null
) strict;
`

export interface Schema {
  readonly what: string
  readonly migrations: readonly string[]
}

export const storeSchema: Schema = { what: 'store', migrations: [initial, records, headsWithEvents, otherTenants] }
/** Heartbeats have a file of their own: they neither wait for commits nor make readers think that something was written. */
export const workersSchema: Schema = { what: 'file of workers', migrations: [workers] }

export function versionOf(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()!['user_version'])
}

/** Inside a transaction that the caller began and ends. */
export function migrate(db: DatabaseSync, schema: Schema): void {
  const version = versionOf(db)
  mustNotBeNewer(version, schema)
  for (const migration of schema.migrations.slice(version)) db.exec(migration)
  if (version < schema.migrations.length) db.exec(`pragma user_version = ${schema.migrations.length}`)
}

export function mustNotBeNewer(version: number, schema: Schema): void {
  const known = schema.migrations.length
  if (version <= known) return
  throw new HomeostatError(
    'schema_newer',
    `The ${schema.what} has schema ${version}; this Homeostat knows schemas up to ${known}. Run the newer Homeostat that wrote it, or restore a back-up from before the upgrade.`,
    { details: { found: version, known } },
  )
}
