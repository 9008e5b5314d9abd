// A config that names what is elsewhere: a remote driver, and an OIDC issuer to sign in by.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { clientId, clientSecret, Issuer } from '../server/issuer.ts'
import { root, Terminal } from './terminal.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const program = `${process.execPath} --conditions=source ${join(root, 'src/bin.ts')}`

/** A driver that does everything at once. */
async function listen(): Promise<{ readonly url: string; readonly called: string[] }> {
  const called: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      const { kind, function: name } = JSON.parse(body) as { readonly kind: string; readonly function?: string }
      if (kind === 'step') called.push(name!)
      const answer = kind === 'inventory' ? { kind, things: [] } : { kind: 'done', result: { blocks: 1 } }
      response.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, called }
}

test('a config names a remote driver and an issuer: both are used', async () => {
  const terminal = Terminal.clone()
  closing.push(() => terminal.close())
  const issuer = new Issuer()
  await issuer.start()
  closing.push(() => issuer.stop())
  const { url, called } = await listen()
  const oidc = {
    issuer: issuer.url,
    clientId,
    clientSecret,
    publicUrl: 'http://127.0.0.1:1',
    roles: { operators: 'operator' },
    privateAddresses: true,
  }
  const driver = { url, secret: 'secret-of-the-config-0123456789', privateAddresses: true }
  const config = (auth: object) => `import { defineConfig, defineModule } from 'homeostat/config'
import { disks, disksAt } from ${JSON.stringify(join(root, 'examples/remote-disks.ts'))}
export default defineConfig({
  modules: [defineModule({ lifecycles: { disk: disks }, drivers: { disk: disksAt(${JSON.stringify(driver)}) } })],
  auth: ${JSON.stringify(auth)},
})
`
  writeFileSync(join(terminal.folder, 'odd.config.ts'), config({ oidc: { ...oidc, roles: { all: 'worker' }, x: 1 } }))
  const odd = await terminal.homeostat('check --config odd.config.ts')
  expect(odd.err).toMatch(/auth\.oidc/)
  expect(odd.exit).toBe(2)
  writeFileSync(join(terminal.folder, 'remote.config.ts'), config({ oidc }))
  await terminal.start(`${program} serve --config remote.config.ts --port 0`)
  const server = JSON.parse(terminal.read('data/server.json')) as { readonly url: string; readonly token: string }
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ id: 'd-1', properties: { sizeMb: 1 } })
  const created = await fetch(`${server.url}/v1/resources/shop.disk`, { method: 'POST', headers, body })
  expect(created.status).toBe(202)
  const look = async () => (await fetch(`${server.url}/v1/resources/shop.disk/d-1`, { headers })).json()
  await expect.poll(look, { timeout: 30_000 }).toMatchObject({ status: 'Ready' })
  expect(called).toEqual(['makeDisk', 'fillDisk'])
  const sent = await fetch(`${server.url}/sign-in/oidc`, { redirect: 'manual' })
  expect(sent.status).toBe(302)
  expect(sent.headers.get('location')).toContain(`${issuer.url}/authorize?`)
})
