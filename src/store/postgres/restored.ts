// A database that PostgreSQL's own tools have restored: raised to a new system epoch before anybody works on it, so that nobody who
// worked on the database as it was can write to it or to the real world any more.
import { HomeostatError } from '../../base/errors.ts'
import { epochLeap, type BackedUp } from '../back-up.ts'
import { addressOf, type AddressOptions } from './address.ts'
import { openMs } from './connections.ts'
import { translatingAtStart } from './failures.ts'
import { migrate, quoted } from './migrations.ts'
import { Wire } from './wire.ts'
import { workerStatements } from './workers.ts'

export interface RestoredOptions extends AddressOptions {
  readonly schema?: string | undefined
}

/** Refused while a worker lives on it. */
export function raisePostgresEpochs(options: RestoredOptions): Promise<BackedUp> {
  return translatingAtStart(() => raiseEpochs(options))
}

async function raiseEpochs({ schema = 'homeostat', ...address }: RestoredOptions): Promise<BackedUp> {
  const settings = { search_path: quoted(schema), synchronous_commit: 'on' }
  const wire = await Wire.open({ address: addressOf(address), openMs, settings, statements: {} })
  try {
    // Only looks at the version: what is to be restored was made by somebody.
    await migrate(wire, schema, { isReadonly: true })
    await mustBeUnused(wire)
    return await raise(wire)
  } finally {
    await wire.close()
  }
}

async function mustBeUnused(wire: Wire): Promise<void> {
  const workers = await wire.query(workerStatements.workers, [null])
  const live = workers.find((row) => row[5] === 'live')
  if (live === undefined) return
  throw new HomeostatError(
    'store_unavailable',
    `Worker ${live[0]} (${live[1]}) lives on this database. Stop every process that uses it, then ask again.`,
  )
}

function raise(wire: Wire): Promise<BackedUp> {
  return wire.transaction(async () => {
    for (const table of ['live', 'settled']) await wire.query(`update ${table} set epoch = epoch + ${epochLeap}`)
    await wire.query(`update counter set value = value + ${epochLeap}`)
    const [row] = await wire.query(`insert into setting as s (name, value) values ('systemEpoch', '1')
      on conflict (name) do update set value = (s.value::integer + 1)::text returning value`)
    const [sizes] = await wire.query('select (select count(*) from resource), (select events from feed)')
    return { resources: Number(sizes![0]), events: Number(sizes![1]), systemEpoch: Number(row![0]) }
  })
}
