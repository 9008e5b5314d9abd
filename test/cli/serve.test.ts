// `homeostat serve` and `work`: what they refuse, how they are signed in to, how they end, and that they share one store.
import { createServer } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { ask } from '../postgres/ask.ts'
import { startPostgres } from '../postgres/server.ts'
import { root, Terminal, type Running } from './terminal.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const opened: Terminal[] = []
const clone = (): Terminal => {
  const terminal = Terminal.clone()
  opened.push(terminal)
  return terminal
}
afterEach(async () => {
  for (const terminal of opened.splice(0)) await terminal.close()
})

const program = `${process.execPath} --conditions=source ${join(root, 'src/bin.ts')}`
const stop = async ({ child, exited }: Running, signal: NodeJS.Signals = 'SIGTERM') => {
  child.kill(signal)
  return exited
}
const serverOf = (terminal: Terminal) => JSON.parse(terminal.read('data/server.json')) as Record<string, string>

test('a port in use is refused before anything is opened', async () => {
  const terminal = clone()
  const taken = createServer()
  const port = await new Promise<number>((done) =>
    taken.listen(0, '127.0.0.1', () => done((taken.address() as { port: number }).port)),
  )
  const { exit, err } = await terminal.homeostat(`serve --port ${port}`)
  taken.close()
  expect(err).toContain(`Port ${port} on 127.0.0.1 is in use.`)
  expect(err).toContain(`--port ${port + 1}`)
  expect(exit).toBe(69)
  expect(() => terminal.read('data/homeostat.db')).toThrow(/ENOENT/)
})

test.each([
  ['a folder that cannot be written to', '--data package.json/x', 73, /cannot be written to \(.*ENOTDIR\)/],
  ['a folder that the system does not make', '--data /proc/xx', 73, /\/proc\/xx cannot be written to/],
  ['an address of another machine', '--host 192.0.2.1 --port 0', 69, /192\.0\.2\.1 is no address of this machine/],
  ['something that is no port', '--port many', 2, /'many' is not a port/],
  ['a config that is not there', '--config no.ts', 2, /no\.ts is not there/],
])('%s is refused', async (_, flags, code, words) => {
  const { exit, err } = await clone().homeostat(`serve ${flags}`)
  expect(err).toMatch(words)
  expect(exit).toBe(code)
})

test('a store of a newer Homeostat is refused', async () => {
  const terminal = clone()
  mkdirSync(join(terminal.folder, 'data'))
  const db = new DatabaseSync(join(terminal.folder, 'data/homeostat.db'))
  db.exec('pragma user_version = 99')
  db.close()
  const { exit, err } = await terminal.homeostat('serve')
  expect(err).toContain('schema 99')
  expect(exit).toBe(78)
})

test('a file of keys without one is refused: another key could not open what is sealed', async () => {
  const terminal = clone()
  mkdirSync(join(terminal.folder, 'data'))
  writeFileSync(join(terminal.folder, 'data/secret.key'), '\n')
  const { exit, err } = await terminal.homeostat('serve')
  expect(err).toContain('data/secret.key has no key in it. Put the one back')
  expect(exit).toBe(78)
})

test('a config that is none is told with all its faults', async () => {
  const terminal = clone()
  writeFileSync(join(terminal.folder, 'odd.ts'), 'export default { modules: [], port: -1, colour: 1 }\n')
  const { exit, err } = await terminal.homeostat('check --config odd.ts')
  expect(err).toMatch(/modules: .*\n.*port: .*\n.*colour/)
  expect(exit).toBe(2)
})

test.each([
  ['export default 5 +', /odd\.ts cannot be loaded: [^\n]+\n +file:[^\n]+odd\.ts:1\n$/],
  ['throw new Error("no password")', /odd\.ts cannot be loaded: no password\n +file:[^\n]+odd\.ts:1[:\d]*\n$/],
  ['import "./gone.ts"', /odd\.ts cannot be loaded: Cannot find module [^\n]+gone\.ts[^\n]+\n$/],
])('a config that breaks is told in its own words: %s', async (content, words) => {
  const terminal = clone()
  writeFileSync(join(terminal.folder, 'odd.ts'), `${content}\n`)
  const { exit, err } = await terminal.homeostat('check --config odd.ts')
  expect(err).toMatch(words)
  expect(exit).toBe(2)
})

test('settings of the engine that there are not, or that cannot be, are refused', async () => {
  const terminal = clone()
  const config = `import base from './homeostat.config.ts'
export default (context) => ({ ...base(context), engine: { leaseMss: 5, healEveryMs: 'often', pollMs: 0 } })
`
  writeFileSync(join(terminal.folder, 'odd.ts'), config)
  const { exit, err } = await terminal.homeostat('check --config odd.ts')
  for (const name of ['leaseMss', 'engine.healEveryMs', 'engine.pollMs']) expect(err).toContain(name)
  expect(exit).toBe(2)
})

test('a second server on a data folder is refused, and the first one is still found', async () => {
  const terminal = clone()
  const server = await terminal.start(`${program} serve`)
  const { exit, err } = await terminal.homeostat('serve')
  expect(err).toContain(`already: process ${server.child.pid}`)
  expect(exit).toBe(69)
  expect(await terminal.homeostat('ls')).toMatchObject({ exit: 0 })
  expect(await stop(server)).toBe(0)
})

test('SIGTERM that comes twice, as to a whole group of processes, ends it in order', async () => {
  const terminal = clone()
  const config = `import base from './homeostat.config.ts'
export default (context) => ({ ...base(context), engine: { stopPatienceMs: 2_000 } })
`
  writeFileSync(join(terminal.folder, 'patient.ts'), config)
  const server = await terminal.start(`${program} serve --dev --config patient.ts`)
  await terminal.ask('fault set hang --type volume')
  await terminal.ask('create volume --id v size=1')
  server.child.kill('SIGTERM')
  await server.until(() => server.output.includes('Stopping'))
  expect(await stop(server)).toBe(0)
  expect(server.output).toContain('Stopped.')
})

test('one that is told to stop before it has said that it runs ends in order too', async () => {
  const terminal = clone()
  const config = `import base from './homeostat.config.ts'
export default (context) => ({ ...base(context), demo: async () => void process.kill(process.pid, 'SIGTERM') })
`
  writeFileSync(join(terminal.folder, 'short.ts'), config)
  const { exit, err } = await terminal.homeostat('serve --dev --demo --config short.ts')
  expect(err).toContain('Stopped.')
  expect(exit).toBe(0)
})

test('the address that is printed signs in once; pages and files are for their owner alone', async () => {
  const terminal = clone()
  const server = await terminal.start(`${program} serve --dev`)
  const [, url, ticket] = /Open (http:\S+)\/#ticket=(\S+)/.exec(server.output)!
  const signIn = () =>
    fetch(`${url}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-homeostat': '1' },
      body: JSON.stringify({ ticket }),
    })
  expect(await (await signIn()).json()).toMatchObject({ role: 'admin' })
  expect((await signIn()).status).toBe(401)
  const page = await fetch(`${url}/`)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain('Homeostat')
  expect((await fetch(`${url}/v1/lifecycles`)).status).toBe(401)
  expect(statSync(join(terminal.folder, 'data/server.json')).mode & 0o077).toBe(0)
  expect(statSync(join(terminal.folder, 'data')).mode & 0o077).toBe(0)
  expect(await stop(server)).toBe(0)
  expect(server.output).toContain('Stopped.')
  expect((await terminal.homeostat('ls')).err).toContain('No server runs')
})

test('with an admin token of its own, no other one is written down', async () => {
  const terminal = clone()
  const token = 'a-token-of-more-than-32-characters'
  const server = await terminal.start(`${program} serve`, { HOMEOSTAT_ADMIN_TOKEN: token })
  expect(serverOf(terminal)['token']).toBeUndefined()
  expect((await terminal.homeostat('ls')).exit).toBe(77)
  expect((await terminal.homeostat('ls', { HOMEOSTAT_ADMIN_TOKEN: token })).exit).toBe(0)
  expect(await stop(server)).toBe(0)
})

test('a second Ctrl-C ends it at once, also while a call hangs', async () => {
  const terminal = clone()
  const server = await terminal.start(`${program} serve --dev`)
  await terminal.ask('fault set hang --type volume')
  await terminal.ask('create volume --id v size=1')
  server.child.kill('SIGINT')
  await server.until(() => server.output.includes('Stopping'))
  expect(await stop(server, 'SIGINT')).toBe(130)
})

test('a worker alone carries out what a process without one takes; a store is asked without a server', async () => {
  const terminal = clone()
  const server = await terminal.start(`${program} serve --no-worker`)
  const accepted = await terminal.ask('create volume --id v size=1')
  expect(accepted.out).toContain('create accepted')
  expect((await terminal.ask('get v')).out).toContain('Creating')
  const worker = await terminal.start(`${program} work`)
  expect((await terminal.ask('wait v --timeout 60')).out).toContain('opensds.volume/v is Available')
  expect(await stop(server)).toBe(0)
  expect(await stop(worker)).toBe(0)
  const { exit, out } = await terminal.homeostat('ls volume --store')
  expect(out).toMatch(/opensds\.volume +v +Available/)
  expect(exit).toBe(0)
})

test('a back-up is restored under a new system epoch: what was done since is fenced, and it goes on from there', async () => {
  const terminal = clone()
  const first = await terminal.start(`${program} serve --dev`)
  await terminal.ask('create volume --id v size=1 --wait')
  expect((await terminal.homeostat('backup kept.db')).out).toMatch(
    /kept\.db: 1 resource, up to event \d+; looked through/,
  )
  expect((await terminal.homeostat('backup kept.db')).exit).toBe(73)
  await terminal.ask('do v extend size=2 --wait')
  expect((await terminal.homeostat('restore kept.db --replace')).err).toContain('Stop it first')
  expect(await stop(first)).toBe(0)
  const worker = await terminal.start(`${program} work`)
  expect((await terminal.homeostat('restore kept.db --replace')).err).toMatch(
    /in use by another process \(worker \d+\)/,
  )
  expect(await stop(worker)).toBe(0)
  expect((await terminal.homeostat('restore kept.db')).err).toContain('is there already')
  const restored = await terminal.homeostat('restore kept.db --replace --json')
  expect(JSON.parse(restored.out)).toMatchObject({ resources: 1, systemEpoch: 1 })

  const second = await terminal.start(`${program} serve --dev`)
  const volume = JSON.parse((await terminal.ask('get v --json')).out) as Record<string, unknown>
  expect(volume).toMatchObject({ properties: { size: 1 } })
  expect(volume['epoch']).toBeGreaterThan(1_000_000)
  // The world has seen the epochs after the back-up: without the leap it would refuse this call.
  expect((await terminal.ask('do v extend size=3 --wait')).out).toContain('extend succeeded')
  expect(await stop(second)).toBe(0)
})

test('a store that cannot be used is told with the way out, and the doctor does not advise to restore a back-up', async () => {
  const postgres = await startPostgres({ durable: true })
  const terminal = clone()
  const wrong = postgres.url.replace('postgres@', 'nobody:secret@')
  const refused = await terminal.homeostat(`work --store ${wrong}`)
  expect([refused.exit, refused.err]).toEqual([
    78,
    expect.stringMatching(/^homeostat: PostgreSQL refuses: .*Correct user/),
  ])
  const doctor = await terminal.homeostat(`doctor --store ${wrong}`)
  expect(doctor.out).toMatch(/✘ store +PostgreSQL refuses/)
  expect(doctor.out).not.toMatch(/Restore|secret/)
  const away = await terminal.homeostat('doctor --store postgres://postgres@127.0.0.1:1/postgres')
  expect(away.out).toMatch(/✘ store +PostgreSQL does not answer/)
  expect(away.out).not.toContain('Restore')
  for (const store of ['postgres:/shop', 'mysql://here/shop']) {
    const mistyped = await terminal.homeostat(`serve --store ${store}`)
    expect([2, 78]).toContain(mistyped.exit)
    expect(mistyped.err).toContain('postgres://user@host:5432/database')
  }

  const config = (store: string) =>
    writeFileSync(
      join(terminal.folder, 'own.config.ts'),
      `import ours from './homeostat.config.ts'\nexport default async (context) => ({ ...(await ours(context)), store: ${store} })\n`,
    )
  config(`{ url: '${postgres.url}', schema: 'mine', durability: 'standby' }`)
  const less = await terminal.homeostat('serve --config own.config.ts')
  expect([less.exit, less.err]).toEqual([78, expect.stringContaining('disk, not standby')])
  expect((await terminal.homeostat('doctor --config own.config.ts')).out).toContain('schema mine has no tables yet')
  config(`{ url: '${postgres.url}', schema: 'mine', durability: 'disk' }`)
  const server = await terminal.start(`${program} serve --config own.config.ts --json`)
  const lines = server.output.trim().split('\n')
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(told).toContainEqual(expect.objectContaining({ lifecycles: 15, store: `${postgres.url}, schema mine` }))
  expect(await ask(postgres, `select count(*) from mine.schema_version`)).toEqual(['1'])
  expect(await stop(server)).toBe(0)
  await postgres.remove()
})

test('on PostgreSQL: one process takes requests, another works, and the doctor is content with the store', async () => {
  const postgres = await startPostgres({ durable: true })
  const terminal = clone()
  const before = await terminal.homeostat(`doctor --store ${postgres.url}`)
  expect(before.out).toContain('has no tables yet')
  expect(await ask(postgres, `select 1 from pg_namespace where nspname = 'homeostat'`)).toEqual([])
  const api = await terminal.start(`${program} serve --no-worker --store ${postgres.url}`)
  const worker = await terminal.start(`${program} work --store ${postgres.url}`)
  expect((await terminal.ask('create volume --id v size=1 --wait')).out).toContain('opensds.volume/v is Available')
  expect((await terminal.homeostat(`doctor --store ${postgres.url}`)).out).toContain('PostgreSQL answers')
  expect((await terminal.homeostat(`backup --store ${postgres.url}`)).err).toContain('with its own tools')
  expect((await terminal.homeostat(`restore --store ${postgres.url}`)).err).toContain('lives on this database')
  expect(await stop(api)).toBe(0)
  expect(await stop(worker)).toBe(0)
  expect((await terminal.homeostat(`restore v.dump --store ${postgres.url}`)).err).toContain('with its own tools first')
  const restored = await terminal.homeostat(`restore --store ${postgres.url} --json`)
  expect(JSON.parse(restored.out)).toMatchObject({ resources: 1, systemEpoch: 1 })
  const again = await terminal.start(`${program} serve --dev --store ${postgres.url}`)
  const volume = JSON.parse((await terminal.ask('get v --json')).out) as Record<string, unknown>
  expect(volume['epoch']).toBeGreaterThan(1_000_000)
  expect((await terminal.ask('do v extend size=3 --wait')).out).toContain('extend succeeded')
  expect(await stop(again)).toBe(0)
  await postgres.remove()
})
