-- store.db
CREATE TABLE event (first integer primary key, body text not null, events integer, runs integer, commits integer, writer integer) strict;
CREATE TABLE feed (
  one integer primary key check (one = 1),
  incarnations integer not null) strict;
CREATE TABLE incident (
  id integer primary key,
  no integer not null,
  kind text not null,
  body text not null,
  unique (no, kind)
) strict;
CREATE TABLE journal (n integer primary key, value text not null, hash text not null) strict;
CREATE TABLE key (
  key text primary key,
  hash text not null,
  no integer not null,
  begun integer not null,
  at real not null
) strict, without rowid;
CREATE TABLE late (id integer primary key, no integer not null, body text not null) strict;
CREATE INDEX late_no on late (no);
CREATE TABLE link (
  target integer not null,
  name text not null,
  source integer not null,
  primary key (target, name, source)
) strict, without rowid;
CREATE TABLE live (
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
CREATE TABLE name (
  id text not null,
  type text not null,
  no integer not null,
  primary key (id, type)
) strict, without rowid;
CREATE TABLE record (
  kind text not null,
  key text not null,
  version integer not null,
  value text not null,
  primary key (kind, key)
) strict, without rowid;
CREATE TABLE resource (
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
CREATE INDEX resource_family on resource (parent, terminal) where parent is not null;
CREATE INDEX resource_name on resource (name) where name is not null;
CREATE INDEX resource_tenant on resource (tenant) where tenant <> 'default';
CREATE TABLE run (first integer primary key, body text not null) strict;
CREATE TABLE setting (name text primary key, value text not null) strict, without rowid;
CREATE TABLE settled (
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
CREATE INDEX settled_orphans on settled (orphans) where orphans is not null;
CREATE INDEX settled_shape on settled (shape);
CREATE INDEX settled_wake on settled (wake) where wake is not null;
CREATE TABLE shape (
  id integer primary key,
  type text not null,
  status text not null,
  kind text not null,
  unique (type, status)
) strict;

-- store.db.workers
CREATE TABLE worker (
  no integer primary key,
  name text not null,
  started real not null,
  beat real not null,
  lease real not null,
  state text not null
) strict;
