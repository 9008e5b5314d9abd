// The disk is full while a process works: nothing that was acknowledged is lost, what is wrong is said, and everything goes on when there
// is room again. By a limit on the size of files (EFBIG) and on a small file system in a namespace of its own (ENOSPC).
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Orders } from './full-disk-process.ts'
import { temporaryForServers } from '../postgres/server.ts'

const folder = mkdtempSync(join(temporaryForServers(), 'homeostat-full-'))
// The server may run as somebody else.
chmodSync(folder, 0o755)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const workers: Worker[] = []
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.vanish()
})

/** A namespace in which a file system may be mounted. PostgreSQL refuses root: others keep their own number, and that of their group. */
const itself = [`--map-user=${process.getuid!()}`, `--map-group=${process.getgid!()}`]
const apart = ['--mount', ...(process.getuid!() === 0 ? [] : ['--user', ...itself, '--keep-caps'])]
const tried = `mount -t tmpfs tmpfs ${folder} && touch ${join(folder, 'tried')}`
const mayMount = spawnSync('unshare', [...apart, 'sh', '-c', tried]).status === 0
const mayLimit = spawnSync('prlimit', ['--fsize', 'true']).status === 0

interface Line {
  readonly ready?: true
  readonly log?: string
  readonly acknowledged?: string
  readonly refused?: string
  readonly message?: string
  readonly error?: string
}

class Worker {
  readonly acknowledged: string[] = []
  readonly faults: string[] = []
  isReady = false
  log = ''
  isOver = false
  errors = ''
  readonly #child

  constructor(orders: Orders, command: readonly string[]) {
    const file = join(import.meta.dirname, 'full-disk-process.ts')
    const run = [process.execPath, '--conditions=source', file, JSON.stringify(orders)]
    const [first, ...rest] = [...command, ...run]
    this.#child = spawn(first!, rest)
    workers.push(this)
    // It may be gone before it is told.
    this.#child.stdin.on('error', () => {})
    this.#child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()))
    this.#child.on('close', () => (this.isOver = true))
    createInterface(this.#child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as Line
      if (line.ready) this.isReady = true
      if (line.log !== undefined) this.log += line.log
      if (line.acknowledged !== undefined) this.acknowledged.push(line.acknowledged)
      if (line.error || line.refused) this.faults.push(`${line.refused ?? ''} ${line.message} ${line.error ?? ''}`)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  tell(line: 'room' | 'end'): void {
    this.#child.stdin.write(`${line}\n`)
  }

  /** However it went. */
  async vanish(): Promise<void> {
    this.#child.stdin.end()
    for (let tries = 0; !this.isOver && tries < 200; tries++) await new Promise((resolve) => setTimeout(resolve, 50))
    if (!this.isOver) this.#child.kill('SIGKILL')
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    for (let tries = 0; !holds(); tries++) {
      if (this.isOver || tries > 1_200)
        throw new Error(`never: ${what}; ${this.faults.slice(-3).join('; ')} ${this.errors}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Works until the disk is full. */
  async fill(said: RegExp): Promise<void> {
    await this.until('it works', () => this.isReady && this.acknowledged.length >= 30)
    await this.until('the disk is full', () => this.faults.some((fault) => said.test(fault)))
  }

  async goOn(): Promise<void> {
    const before = this.acknowledged.length
    await this.until('it goes on', () => this.acknowledged.length > before + 20)
    this.tell('end')
    for (let tries = 0; !this.isOver && tries < 600; tries++) await new Promise((resolve) => setTimeout(resolve, 50))
    if (!this.isOver) throw new Error(`it does not end; ${this.errors}`)
  }
}

async function idsInSqlite(file: string): Promise<Set<string>> {
  const store = openSqliteStore({ file })
  const ids = new Set<string>()
  for (let after = 0; ;) {
    const found = await store.list({ limit: 1_000, after })
    for (const { id } of found) ids.add(id)
    if (found.length === 0) break
    after = found.at(-1)!.no
  }
  const events = await store.events(0, 1_000_000)
  expect(events.map(({ n }) => n)).toEqual(events.map((_, index) => index + 1))
  await store.close()
  return ids
}

const lostOf = (acknowledged: readonly string[], ids: ReadonlySet<string>) => acknowledged.filter((id) => !ids.has(id))

/** On a small file system that only the process sees. */
const onSmallDisk = (disk: string, size: string) => {
  mkdirSync(disk)
  return ['unshare', ...apart, 'sh', '-c', `mount -t tmpfs -o size=${size} tmpfs ${disk} && exec "$@"`, 'sh']
}

test.runIf(mayLimit)('SQLite: files may not grow any more', { timeout: 120_000 }, async () => {
  const copy = join(folder, 'limited-copy.db')
  const disk = join(folder, 'limited')
  mkdirSync(disk)
  const worker = new Worker({ store: 'sqlite', folder: disk, roomBytes: null, copy }, [
    'prlimit',
    '--fsize=1000000:unlimited',
  ])
  await worker.fill(/store_unavailable|does not answer/)
  spawnSync('prlimit', ['--pid', String(worker.pid), '--fsize=unlimited'])
  await worker.goOn()
  expect(lostOf(worker.acknowledged, await idsInSqlite(copy))).toEqual([])
})

test.runIf(mayMount)('SQLite: the disk is full', { timeout: 120_000 }, async () => {
  const copy = join(folder, 'small-copy.db')
  const disk = join(folder, 'small')
  const orders = { store: 'sqlite', folder: disk, roomBytes: 1_000_000, copy } as const
  const worker = new Worker(orders, onSmallDisk(disk, '8m'))
  await worker.fill(/full/)
  worker.tell('room')
  await worker.goOn()
  expect(lostOf(worker.acknowledged, await idsInSqlite(copy))).toEqual([])
})

test.runIf(mayMount)('PostgreSQL: there is no room for its log', { timeout: 180_000 }, async () => {
  const copy = join(folder, 'ids.json')
  const disk = join(folder, 'server')
  const orders = { store: 'postgres', folder: disk, roomBytes: 6_000_000, copy } as const
  const worker = new Worker(orders, onSmallDisk(disk, '170m'))
  await worker.fill(/store_unavailable|PostgreSQL/)
  const panic = /PANIC: .*No space left on device/
  await worker.until('the server finds no room for its log', () => panic.test(worker.log))
  worker.tell('room')
  await worker.goOn()
  expect(worker.log).toMatch(panic)
  expect(lostOf(worker.acknowledged, new Set(JSON.parse(readFileSync(copy, 'utf8')) as string[]))).toEqual([])
})
