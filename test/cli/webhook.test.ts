// `homeostat webhook` against a receiver that fails and comes back: what it says, and the hand that a person has on it.
import { createServer, type Server } from 'node:http'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { root, Terminal, type Running } from './terminal.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const terminal = Terminal.clone()
const config = `import base from './homeostat.config.ts'
export default (context) => ({ ...base(context), webhooks: { privateAddresses: true, firstWaitMs: 3_600_000 } })
`
const got: number[] = []
let status = 500
let receiver: Server
let url: string
let running: Running
const serve = `${process.execPath} --conditions=source ${join(root, 'src/bin.ts')} serve --dev --config hooks.ts`

beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume()
    got.push(Number(request.headers['webhook-id']))
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  writeFileSync(join(terminal.folder, 'hooks.ts'), config)
  running = await terminal.start(serve)
})
afterAll(async () => {
  receiver.close()
  await terminal.close()
})

test('what fails says why and when it is tried again; it is gone on with, sent again, paused and removed', async () => {
  expect((await terminal.ask('webhook')).out).toBe('No webhooks.\n')
  const made = await terminal.ask(`webhook create ${url} --type volume --json`)
  const { id } = (JSON.parse(made.out) as { webhook: { id: string } }).webhook
  await terminal.ask('create volume --id v size=1 --wait')
  await expect
    .poll(async () => (await terminal.ask('webhook')).out, { timeout: 60_000 })
    .toMatch(/1 try failed +\d+ of \d+ +0 +in .* it answered 500/)
  expect((await terminal.ask(`webhook get ${id}`)).out).toMatch(/Next try: .*homeostat webhook resume tries at once/)

  status = 200
  const told = await terminal.ask(`webhook resume ${id}`)
  expect(told).toMatchObject({ exit: 0, out: expect.stringContaining('opensds.volume') })
  await expect.poll(() => got.length, { timeout: 60_000 }).toBeGreaterThan(2)
  expect(got.slice(0, 3)).toEqual([got[0], got[0], got[0]! + 1])

  expect((await terminal.ask(`webhook replay ${id}`)).out).toBe('0 dead letters sent again, 0 left.\n')
  expect((await terminal.ask(`webhook pause ${id} --reason moved`)).out).toContain('paused')
  expect((await terminal.ask(`webhook rm ${id}`)).exit).toBe(0)
  expect(await terminal.ask(`webhook rm ${id}`)).toMatchObject({ exit: 4, err: expect.stringContaining(id) })
})

test('a command that goes to the store itself sends nothing', async () => {
  status = 200
  const made = await terminal.homeostat(`webhook create ${url} --json`)
  const { id } = (JSON.parse(made.out) as { webhook: { id: string } }).webhook
  await terminal.homeostat(`webhook pause ${id}`)
  await terminal.homeostat('create volume --id w size=1 --wait')
  running.child.kill('SIGTERM')
  await running.exited
  got.length = 0
  const store = '--store data/homeostat.db --config hooks.ts'
  expect((await terminal.homeostat(`webhook resume ${id} ${store}`)).out).toContain('active')
  expect(await terminal.homeostat(`why w ${store}`)).toMatchObject({ exit: 0 })
  expect(got).toEqual([])
  // Nor does it keep a server from it that comes after.
  await terminal.start(serve)
  await expect.poll(() => got.length, { timeout: 60_000 }).toBeGreaterThan(1)
  await terminal.homeostat(`webhook rm ${id}`)
})

test.each([
  ['--kind laned', 2, /no events of kind 'laned'.*landed/],
  ['--type volme', 4, /Did you mean 'opensds\.volume/],
  ['--after 100000', 5, /There is no event 100000/],
])('create %s is refused', async (flags, code, words) => {
  const { exit, err } = await terminal.ask(`webhook create ${url} ${flags}`)
  expect(err).toMatch(words)
  expect(exit).toBe(code)
})
