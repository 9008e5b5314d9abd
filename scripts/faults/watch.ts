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

create function watch.state_changed() returns trigger language plpgsql as $$
begin
  if new.epoch < old.epoch then
    insert into watch.breach (promise, said) values ('G4', format('resource %s went from epoch %s back to %s', old.no, old.epoch, new.epoch));
  end if;
  if new.revision <> old.revision and new.revision < old.revision then
    insert into watch.breach (promise, said) values ('G4', format('resource %s went from revision %s back to %s', old.no, old.revision, new.revision));
  end if;
  return null;
end $$;
create trigger watched after update on ${schema}.state for each row when (new.epoch < old.epoch or new.revision < old.revision)
  execute function watch.state_changed();

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
