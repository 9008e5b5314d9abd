// Where webhooks may go: no spelling of a private address, no name that stands for one, no redirect.
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { checkedUrl, isOpenAddress, post } from './outgoing.ts'

const strict = { privateAddresses: false }

test.each([
  'http://example.com/',
  'ftp://example.com/',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://0/',
  'https://10.0.0.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::7f00:1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fe80::1]/',
  'https://[fd00::1]/',
  'https://[2002:7f00:1::]/',
  'https://localhost/',
  'https://LOCALHOST./',
  'https://db.internal/',
  'https://printer.local/',
  'https://metadata.google.internal/',
  'https://user:secret@example.com/',
  'https://example.com:22/',
  'https://example.com:6379/',
  'https://1.0.0.127.in-addr.arpa.localhost/',
  'https://①②⑦.0.0.1/',
  'javascript:alert(1)',
  'not an address',
])('%s is refused', (url) => {
  expect(() => checkedUrl(url, strict)).toThrow(expect.objectContaining({ code: 'address_refused' }))
})

test('addresses of the open Internet are taken', () => {
  for (const url of [
    'https://example.com/hook',
    'https://example.com:8443/',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
  ])
    expect(checkedUrl(url, strict).protocol).toBe('https:')
  expect(isOpenAddress('93.184.216.34')).toBe(true)
  expect(isOpenAddress('not an address')).toBe(false)
})

test('a redirect is not followed, and an answer without end is cut', async () => {
  let calls = 0
  const server = createServer((request, response) => {
    calls++
    if (request.url === '/away') response.writeHead(302, { location: '/elsewhere' }).end()
    else {
      const more = () => void (response.destroyed || response.write('x'.repeat(10_000), more))
      more()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const send = (path: string) =>
    post({ url: `http://127.0.0.1:${port}${path}`, headers: {}, body: '{}' }, { privateAddresses: true })
  expect(await send('/away')).toBe(302)
  await expect(send('/endless')).rejects.toThrow('more than')
  expect(calls).toBe(2)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
