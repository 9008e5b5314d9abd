// What the auditor lays down in the database before the workers come: triggers that see every write at the moment it is committed, on
// whichever server, and know nothing of the engine.
import { schema } from './systems.ts'

/** A state goes only forward; a worker that is gone is never renewed. What breaks this is kept, not refused: the engine must not be helped. */
export const watch = `
create schema watch;
create table watch.breach (id bigint primary key generated always as identity, promise text not null, said text not null);
create table watch.cold (id bigint primary key generated always as identity, xid bigint not null, no bigint not null, type text not null,
  name text, parent bigint, links text, properties text not null, terminal boolean not null);
create table watch.numbered (n bigint not null, batch bigint not null, xid bigint not null);

-- Where each state stood last, whichever table it is in: it goes from one to the other and back.
create table watch.stood (no bigint primary key, epoch integer not null, revision integer not null);
create function watch.state_written() returns trigger language plpgsql as $$
declare was watch.stood;
begin
  select * into was from watch.stood where no = new.no;
  if new.epoch < was.epoch then
    insert into watch.breach (promise, said) values ('G4', format('resource %s went from epoch %s back to %s', new.no, was.epoch, new.epoch));
  end if;
  if new.revision < was.revision then
    insert into watch.breach (promise, said) values ('G4', format('resource %s went from revision %s back to %s', new.no, was.revision, new.revision));
  end if;
  insert into watch.stood values (new.no, new.epoch, new.revision)
    on conflict (no) do update set epoch = excluded.epoch, revision = excluded.revision;
  return null;
end $$;
-- Looked at when the transaction is whole: a state is in exactly one of the two; what is away does not count.
create function watch.state_moved() returns trigger language plpgsql as $$
declare
  moved bigint := coalesce(new.no, old.no);
  states bigint := (select count(*) from ${schema}.live where no = moved) + (select count(*) from ${schema}.settled where no = moved and away is null);
begin
  if states <> 1 then insert into watch.breach (promise, said) values ('G4', format('resource %s has %s states', moved, states)); end if;
  return null;
end $$;
${[
  ['live', 'insert or delete'],
  ['settled', 'insert or update or delete'],
]
  .map(
    ([
      table,
      moves,
    ]) => `create trigger watched after insert or update on ${schema}.${table} for each row execute function watch.state_written();
create constraint trigger moved after ${moves} on ${schema}.${table} deferrable initially deferred for each row
  execute function watch.state_moved();`,
  )
  .join('\n')}

create function watch.worker_changed() returns trigger language plpgsql as $$
begin
  insert into watch.breach (promise, said) values ('G4', format('incarnation %s was %s and is renewed', old.no, old.state));
  return null;
end $$;
create trigger watched after update on ${schema}.worker for each row
  when (old.state <> 'live' and (new.state = 'live' or new.beat > old.beat or new.lease > old.lease)) execute function watch.worker_changed();

create function watch.resource_written() returns trigger language plpgsql as $$
begin
  insert into watch.cold (xid, no, type, name, parent, links, properties, terminal)
    values (pg_current_xact_id()::text::bigint, new.no, new.type, new.id, new.parent, new.links, new.properties, new.terminal);
  return null;
end $$;
create trigger watched after insert or update on ${schema}.resource for each row execute function watch.resource_written();

create function watch.commit_written() returns trigger language plpgsql as $$
begin
  insert into watch.numbered (n, batch, xid) values (new.n, new.batch, pg_current_xact_id()::text::bigint);
  return null;
end $$;
create trigger watched after insert on ${schema}.commit for each row when (new.n is not null) execute function watch.commit_written();
`
