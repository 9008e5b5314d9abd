// `homeostat serve` among others that are not well: readers of its output that are gone or stand still, full disks, and code of drivers that
// throws where nobody waits for it. It goes on, and ends in order.
import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, expect, test, vi } from 'vitest'
import { root, Terminal } from './terminal.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let terminal: Terminal
const started: ChildProcess[] = []
afterEach(async () => {
  for (const child of started.splice(0)) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await terminal.close()
})

const program = [process.execPath, '--conditions=source', join(root, 'src/bin.ts')] as const
const serve = [...program.slice(1), 'serve', '--dev', '--demo', '--config', 'own.ts']

/** What `demo` does in the process of the server, as code of a driver would. */
function clone(demo: string): void {
  terminal = Terminal.clone()
  const config = `import base from './homeostat.config.ts'
export default async (context) => ({ ...(await base(context)), demo: async (_, signal) => { ${demo} } })
`
  writeFileSync(join(terminal.folder, 'own.ts'), config)
}

const works = async (id: string) =>
  expect((await terminal.ask(`create volume --id ${id} size=1 --wait`)).out).toContain(
    `opensds.volume/${id} is Available`,
  )

test('what is thrown in a timer, or rejected where nobody waits, is told with its place, and stops nothing', async () => {
  clone(`void Promise.reject(new Error('left alone'))
    void Promise.reject({ get message() { throw new Error('hands off') }, ring: 1n })
    setTimeout(() => { throw new Error('thrown in a timer') }, 10)
    setTimeout(() => { throw undefined }, 20)`)
  const server = await terminal.start([process.execPath, ...serve].join(' '))
  await server.until(() => /"error":"undefined"/.test(server.output))
  await works('v')
  server.child.kill('SIGTERM')
  expect(await server.exited).toBe(0)
  const told = server.output.split('\n').filter((line) => line.includes('"level":"error"'))
  expect(told.map((line) => (JSON.parse(line) as { message: string }).message).sort()).toEqual([
    'a promise was rejected that nobody waits for',
    'a promise was rejected that nobody waits for',
    'something was thrown that nobody catches',
    'something was thrown that nobody catches',
  ])
  expect(told.join()).toMatch(/left alone\\n +at .*own\.ts/)
})

test('a defect of our own ends it at once: what it left half done is taken over by others', async () => {
  const place = pathToFileURL(join(root, 'src/engine/door.ts')).href
  clone(
    `setTimeout(() => { throw Object.assign(new Error(), { stack: 'Error: ours\\\\n    at Door.x (${place}:1:1)' }) }, 10)`,
  )
  const server = await terminal.start([process.execPath, ...serve].join(' '), {}, /a defect of Homeostat/)
  expect(await server.exited).toBe(70)
})

/** So much that no pipe has room for it. */
const noise = `setInterval(() => {
    console.log('x'.repeat(50_000))
    process.stderr.write('x'.repeat(50_000))
  }, 10).unref()`

// Not every system has a disk that is always full.
const readers = ['gone', 'asleep', ...(existsSync('/dev/full') ? ['full'] : [])]
test.each(readers)('where what it prints has a reader that is %s, it works on and ends in order', async (how) => {
  clone(noise)
  const full = how === 'full' ? openSync('/dev/full', 'w') : null
  const stdio: StdioOptions = full === null ? ['ignore', 'pipe', 'pipe'] : ['ignore', full, full]
  const child = spawn(process.execPath, serve, { cwd: terminal.folder, env: { ...process.env, PORT: '0' }, stdio })
  started.push(child)
  const exited = new Promise((done) => child.on('exit', (code, signal) => done(code ?? signal)))
  if (full !== null) closeSync(full)
  if (how === 'gone') for (const stream of [child.stdout, child.stderr]) stream!.destroy()
  while (!existsSync(join(terminal.folder, 'data/server.json'))) await sleep(20)
  await works('v')
  await works('w')
  child.kill('SIGTERM')
  expect(await exited).toBe(0)
})
