// What the store needs of a server, checked when it is opened: a version, a session of its own, and as much durability as was asked for.
import { HomeostatError } from '../../base/errors.ts'
import type { Wire } from './wire.ts'

/**
 * What an acknowledged change survives. none: the death of this process, but not of the server. disk: also of the server's machine.
 * standby: also the loss of that machine, where a synchronous standby takes over.
 */
export type Durability = 'none' | 'disk' | 'standby'
const levels: readonly Durability[] = ['none', 'disk', 'standby']

const oldestVersion = 140_000

const mark = `set_config('homeostat.session', $1, false)`

/** Answers how durable commits are, with these settings of the session. */
export async function mustSuit(wire: Wire, other: Wire, wanted: Durability, isReadonly: boolean): Promise<Durability> {
  const [row] = await wire.query(
    `select current_setting('server_version_num'), current_setting('server_version'), pg_is_in_recovery(),
    current_setting('fsync'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
    current_setting('server_encoding'), ${mark}`,
    ['first'],
  )
  const [number, version, recovery, fsync, commit, standbys, encoding] = row as readonly string[]
  mustBeNewEnough(Number(number), version!)
  if (encoding !== 'UTF8')
    throw new HomeostatError(
      'store_unsuitable',
      `The database is encoded as ${encoding}. Create one with encoding UTF8.`,
    )
  if (recovery === 't' && !isReadonly)
    throw new HomeostatError(
      'store_unsuitable',
      'The server is a standby and takes no changes. Connect to the primary.',
    )
  await mustHaveSessions(wire, other)
  const found = levelOf({ fsync: fsync!, commit: commit!, standbys: standbys! })
  if (!isReadonly && levels.indexOf(found) < levels.indexOf(wanted))
    throw new HomeostatError(
      'store_unsuitable',
      `Commits would survive less than asked for: ${found}, not ${wanted} (fsync ${fsync}, synchronous_commit ${commit}, ` +
        `synchronous_standby_names '${standbys}'). Change the server's settings, or ask for durability '${found}'.`,
      { details: { found, wanted } },
    )
  return found
}

export function mustBeNewEnough(number: number, version: string): void {
  if (number >= oldestVersion) return
  throw new HomeostatError('store_unsuitable', `PostgreSQL ${version} is too old. Use version 14 or newer.`)
}

function levelOf({ fsync, commit, standbys }: { fsync: string; commit: string; standbys: string }): Durability {
  if (fsync !== 'on' || commit === 'off') return 'none'
  return standbys.trim() !== '' && (commit === 'on' || commit === 'remote_apply') ? 'standby' : 'disk'
}

/** A pooler that hands a connection on after each transaction mixes up sessions: locks, statements and listening would go astray. */
async function mustHaveSessions(wire: Wire, other: Wire): Promise<void> {
  await other.query(`select ${mark}`, ['second'])
  const [row] = await wire.query(`select current_setting('homeostat.session', true), pg_backend_pid()`)
  if (row![0] === 'first' && Number(row![1]) === wire.pid) return
  throw new HomeostatError(
    'store_unsuitable',
    'A pooler between here and PostgreSQL hands connections on between transactions. Connect to the server itself, or set the pooler to sessions.',
  )
}
