// Looks at an installation as a careful colleague would: the machine, the folder, the store, the declarations, and the running server.
import { existsSync, statfsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { HomeostatError } from '../base/errors.ts'
import { checkLifecycles } from '../lifecycle/check-lifecycle.ts'
import type { Durability } from '../store/postgres/suitability.ts'
import { loadConfig, togetherOf, type Config } from './config.ts'
import { reach, type ReachOptions } from './connect.ts'
import { isPostgres, shownPlace, storeOf, type Place, type PostgresPlace } from './open-store.ts'
import { firstOf } from './paging.ts'
import { counted, lasting } from './print.ts'
import { readServerFile } from './server-file.ts'
import { tellingOf } from './cli-error.ts'

export interface Finding {
  readonly verdict: 'well' | 'doubtful' | 'bad'
  readonly what: string
  readonly says: string
  readonly advice: string
}

const well = (what: string, says: string): Finding => ({ verdict: 'well', what, says, advice: '' })
const doubtful = (what: string, says: string, advice: string): Finding => ({ verdict: 'doubtful', what, says, advice })
const bad = (what: string, says: string, advice: string): Finding => ({ verdict: 'bad', what, says, advice })

const roomLeast = 1024 ** 3
const tokenLeast = 32
const countedMost = 500

export async function examine(options: ReachOptions): Promise<readonly Finding[]> {
  const data = resolve(options.data ?? 'data')
  const findings: Finding[] = [node(), user(), token(), ...folder(data)]
  const config = await loadConfig(options.config, { data, isDev: false }).catch((error: unknown) => {
    const { text, hint } = tellingOf(error)
    findings.push(bad('config', text.split('\n')[0]!, hint.split('\n')[0] ?? ''))
    return null
  })
  if (config !== null) findings.push(declarations(config), listening(config))
  const named = typeof options.store === 'string' ? options.store : config?.store
  findings.push(await store(() => storeOf(data, named)))
  findings.push(...(await server(data, options)))
  for (const world of config?.worlds ?? []) await world.close()
  return findings
}

function node(): Finding {
  const [major = 0] = process.versions.node.split('.').map(Number)
  return major >= 24 ? well('node', process.version) : bad('node', process.version, 'Homeostat needs Node 24 or newer.')
}

function user(): Finding {
  return process.getuid?.() === 0
    ? doubtful('user', 'runs as root', 'Give it a user of its own: see deploy/homeostat.service.')
    : well('user', `runs as uid ${process.getuid?.() ?? 'unknown'}`)
}

function token(): Finding {
  const given = process.env['HOMEOSTAT_ADMIN_TOKEN'] ?? ''
  if (given === '') return well('admin token', 'none is set: one is made up at each first start')
  return given.length >= tokenLeast
    ? well('admin token', 'set')
    : bad('admin token', `only ${given.length} characters long`, 'Make one with: openssl rand -base64 32')
}

function folder(data: string): Finding[] {
  if (!existsSync(data)) return [doubtful('data folder', `${data} is not there yet`, 'It is made at the first start.')]
  const isOpen = (statSync(data).mode & 0o077) !== 0
  const { bavail, bsize } = statfsSync(data)
  const room = bavail * bsize
  const gib = `${(room / 1024 ** 3).toFixed(1)} GiB free`
  return [
    isOpen
      ? doubtful('data folder', `${data} can be read by others`, `chmod 700 ${data}`)
      : well('data folder', `${data}, for its owner alone`),
    room < roomLeast ? bad('room', gib, 'A full disk stops everything: make room.') : well('room', gib),
  ]
}

function declarations(config: Config): Finding {
  const { lifecycles } = togetherOf(config)
  const faults = checkLifecycles(lifecycles)
  const errors = faults.filter(({ severity }) => severity === 'error').length
  const words = `${counted(lifecycles.length, 'lifecycle')}, ${counted(errors, 'error')}, ${counted(faults.length - errors, 'warning')}`
  return errors === 0 ? well('declarations', words) : bad('declarations', words, 'homeostat check tells them.')
}

function listening({ host = '127.0.0.1', auth = {} }: Config): Finding {
  const isHere = host === 'localhost' || host === '::1' || host.startsWith('127.')
  const { access = 'closed', secure = false } = auth
  const says = `${host}, ${access === 'open' ? 'without authentication' : 'with authentication'}`
  if (isHere) return well('listens on', says)
  if (access === 'open') return bad('listens on', says, 'It will refuse: leave access: open out.')
  return secure
    ? well('listens on', `${says}, behind TLS`)
    : doubtful('listens on', `${says}, without TLS`, 'Put a proxy with TLS before it, and say secure: true.')
}

async function store(placeOf: () => Place): Promise<Finding> {
  try {
    const place = placeOf()
    if (isPostgres(place)) return await database(place)
    const { file } = place
    const { lookThrough, mustNotBeHalfRestored } = await import('../store/sqlite/back-up.ts')
    mustNotBeHalfRestored(file)
    if (!existsSync(file)) return doubtful('store', `${file} is not there yet`, 'It is made at the first start.')
    const { resources, events, systemEpoch } = lookThrough(file)
    return well(
      'store',
      `${file} is sound: ${counted(resources, 'resource')}, ${counted(events, 'event')}, system epoch ${systemEpoch}`,
    )
  } catch (error) {
    const { text, hint } = tellingOf(error)
    const isDamaged = error instanceof HomeostatError && error.code === 'store_corrupt'
    return bad('store', text, isDamaged ? 'Restore a back-up: homeostat restore <file> --replace' : hint)
  }
}

/** Only looked at: whoever asks how it is does not change its tables. */
async function database(place: PostgresPlace): Promise<Finding> {
  const { openPostgresStore } = await import('../store/postgres/postgres-store.ts')
  const where = await shownPlace(place)
  try {
    const found = await openPostgresStore({ ...place, readonly: true })
    await found.close()
    const says = `PostgreSQL answers at ${where}; commits survive: ${found.durability}`
    const { durability = 'disk' } = place
    return isLess(found.durability, durability)
      ? bad('store', says, `It will not start: ${durability} is asked for. Look at fsync and the synchronous standbys.`)
      : well('store', says)
  } catch (error) {
    const { found, known } = ((error as HomeostatError).details ?? {}) as { found?: number; known?: number }
    if (found === undefined || known === undefined || found > known) throw error
    return found === 0
      ? doubtful('store', `${where} has no tables yet`, 'They are made at the first start.')
      : doubtful(
          'store',
          `${where} has tables of version ${found}`,
          `The next start brings them to version ${known}: take a back-up first.`,
        )
  }
}

const levels: readonly Durability[] = ['none', 'disk', 'standby']
const isLess = (found: Durability, wanted: Durability): boolean => levels.indexOf(found) < levels.indexOf(wanted)

/** What should not be there; the command that lists it has the same name. */
function unwanted(
  what: string,
  { items, isAll }: { readonly items: readonly unknown[]; readonly isAll: boolean },
): Finding {
  if (items.length === 0) return well(what, 'none')
  return doubtful(what, `${items.length}${isAll ? '' : ' and more'}`, `homeostat ${what}`)
}

async function server(data: string, options: ReachOptions): Promise<Finding[]> {
  const isNamed = options.url !== undefined || (process.env['HOMEOSTAT_URL'] ?? '') !== ''
  if (!isNamed && readServerFile(data) === null)
    return [doubtful('server', `none runs on ${data}`, 'Start one: homeostat serve')]
  try {
    const { api, where, close } = await reach({ ...options, data })
    const ready = await api.call('readyz', {}).catch((error: unknown) => {
      // Nobody is there: the others need not be asked.
      if ((error as { details?: { unreached?: string } }).details?.unreached !== undefined) throw error
      return null
    })
    const healing = await api.call('getHealing', {})
    const stuck = await firstOf(countedMost, (query) => api.call('listStuck', { query }))
    const incidents = await firstOf(countedMost, (query) => api.call('listIncidents', { query }))
    const orphans = await firstOf(countedMost, (query) => api.call('listOrphans', { query }))
    const audit = await api.call('verifyAudit', {})
    await close()
    const open = healing.breakers.filter(({ isOpen }) => isOpen)
    const age = healing.lastPassAgeMs
    return [
      ready?.isReady
        ? well('server', `${where} is ready`)
        : bad('server', `${where} is not ready`, 'GET /readyz says why.'),
      age === null
        ? doubtful('healing', 'no pass here', 'Is there a worker?')
        : well('healing', `last pass ${lasting(age)} ago`),
      open.length === 0
        ? well('breakers', 'all closed')
        : bad(
            'breakers',
            `open for ${open.map(({ type }) => type).join(', ')}`,
            'homeostat healing tells why; homeostat healing breaker <type> close lets it go on.',
          ),
      unwanted('stuck', stuck),
      unwanted('incidents', incidents),
      unwanted('orphans', orphans),
      audit.isSound
        ? well('audit', `${counted(audit.entries, 'entry', 'entries')}, the chain is whole`)
        : bad('audit', `broken at entry ${audit.brokenAt}`, 'Somebody changed the store by hand.'),
    ]
  } catch (error) {
    return [bad('server', tellingOf(error).text, tellingOf(error).hint)]
  }
}
