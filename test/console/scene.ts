// Starts, kills and fills the scene: a child process with engine, server and console.
import { fork } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openLocalWorld } from '../../src/worlds.ts'
import { HttpClient } from '../../src/client.ts'

export interface Scene {
  readonly url: string
  readonly adminToken: string
  readonly api: HttpClient
  /** Lets in once. */
  ticket(): string
  isRunning(): boolean
  /** With SIGKILL: nothing is said goodbye to. */
  kill(): Promise<void>
  /** Stands still, as a machine does that swaps or sleeps; until it is woken. */
  freeze(): void
  wake(): void
  /** Again, on the same port and the same files; as after a new version that declares no tapes, when it is told so. */
  start(change?: { readonly withoutTapes: boolean }): Promise<void>
  /** Ends everything and removes its files. */
  close(): Promise<void>
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { readonly port: number }
  await new Promise((done) => server.close(done))
  return port
}

/** Another test file may be putting a newer build in its place just now: then it is copied once more. */
function copyPages(to: string): void {
  for (let tries = 1; ; tries++) {
    try {
      return cpSync(resolve('dist/web'), to, { recursive: true })
    } catch (error) {
      if (tries === 5) throw error
      rmSync(to, { recursive: true, force: true })
    }
  }
}

export async function openScene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-console-'))
  // A copy: what is built meanwhile does not take the pages of this scene away.
  const pages = join(folder, 'web')
  copyPages(pages)
  const adminToken = 'admin-token-of-the-console-tests-1234'
  const settings = { folder, port: await freePort(), console: pages, adminToken }
  const url = `http://127.0.0.1:${settings.port}`
  let ticket = ''
  let isRunning = false
  let kill = async () => {}
  let signal: (name: 'SIGSTOP' | 'SIGCONT') => void = () => {}
  const start = async (change: { readonly withoutTapes?: boolean } = {}) => {
    const child = fork(new URL('./scene-process.ts', import.meta.url), [JSON.stringify({ ...settings, ...change })], {
      execArgv: ['--conditions=source'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ended = new Promise<void>((done) => child.once('exit', () => done()))
    ticket = await new Promise<string>((done, fail) => {
      child.once('message', (message: { readonly ticket: string }) => done(message.ticket))
      child.once('exit', (code) => fail(new Error(`the scene ended with ${code}`)))
    })
    isRunning = true
    void ended.then(() => (isRunning = false))
    signal = (name) => void child.kill(name)
    kill = async () => {
      child.kill('SIGKILL')
      await ended
    }
  }
  await start()
  return {
    url,
    adminToken,
    api: new HttpClient({ url, token: adminToken }),
    ticket: () => ticket,
    isRunning: () => isRunning,
    kill: () => kill(),
    freeze: () => signal('SIGSTOP'),
    wake: () => signal('SIGCONT'),
    start,
    async close() {
      await kill()
      await openLocalWorld({ directory: `${folder}/world` }).destroyEverything()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A small installation with something of everything: at rest, failed, under way, and one that waits in vain. */
export async function fill({ api }: Scene): Promise<void> {
  const create = (type: string, id: string, properties: object, more: object = {}) =>
    api.call('createResource', { path: { type }, body: { id, properties: properties as never, ...more } })
  const ended = async (run: { readonly id: string } | null) =>
    run === null ? null : api.call('getRun', { path: { run: run.id }, query: { wait: 30 } })
  const first = await Promise.all([
    create('sahara.cluster', 'hadoop-eu', { counts: { master: 1, worker: 2 } }),
    create('sahara.cluster', 'spark-night', { counts: { master: 1, worker: 1 } }),
    ...['orders', 'users', 'carts', 'photos', 'mail', 'search'].map((name, index) =>
      create('opensds.volume', name, { size: 10 + index * 10, zone: index % 2 === 0 ? 'eu-1' : 'eu-2' }),
    ),
  ])
  await Promise.all(first.map(({ run }) => ended(run)))
  await api.call('setFault', {
    body: {
      does: 'fail',
      on: { type: 'opensds.volume', step: 'createVolume' },
      message: 'no space left in pool ssd-2',
      terminal: true,
    },
  })
  await ended((await create('opensds.volume', 'reports', { size: 80, zone: 'eu-2' })).run)
  await api.call('clearFaults', {})
  // Nobody carries it out, and healing may not touch it without approval.
  await api.call('setHealingMode', {
    path: { type: 'opensds.volume', status: 'Extending' },
    body: { mode: 'approve', reason: 'the array is being serviced' },
  })
  await api.call('importResources', {
    path: { type: 'opensds.volume' },
    query: { reason: 'taken over from the old control plane' },
    body: [{ id: 'archive', status: 'Extending', properties: { size: 500, zone: 'eu-1' } }],
  })
  await api.call('setFault', { body: { does: 'hang', on: { type: 'sahara.cluster', step: 'awaitBoot' } } })
  await create('sahara.cluster', 'flink-live', { counts: { master: 1, worker: 2 } })
}
