// Where webhooks may go: no spelling of a private address, no name that stands for one, no redirect.
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { AllowList } from './allow-list.ts'
import { checkedUrl, guardedLookup, isOpenAddress, post } from './outgoing.ts'

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
  'https://[::ffff:0:7f00:1]/',
  'https://[64:ff9b:1::7f00:1]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
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

test('an answer that drips is given up when the time is over, however often something arrives', async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('x'), 5)
    response.on('close', () => clearInterval(drip))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const posted = { url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' }
  await expect(post(posted, { privateAddresses: true, timeoutMs: 200 })).rejects.toThrow('did not answer within 200 ms')
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('one that changes to another protocol, and closes nothing, is given up at once', async () => {
  const server = createServer()
  server.on('connection', (socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const posted = { url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}' }
  await expect(post(posted, { privateAddresses: true, timeoutMs: 60_000 })).rejects.toThrow('something else than HTTP')
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Asks as a connection would, through a resolver that answers the nth question with the nth list. */
function askThrough(url: string, privateAddresses: boolean, ...answers: readonly (readonly string[])[]) {
  let questions = 0
  const look = guardedLookup(new URL(url), { privateAddresses }, async () =>
    answers[questions++]!.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
  const asked = new Promise<string>((resolve, reject) => {
    look('name.example', { all: false }, (error, address) => {
      if (error) reject(error)
      else resolve(address as string)
    })
  })
  return { asked, questions: () => questions }
}

test('a name is asked for once, and the connection goes to the address that was looked at: it cannot change its mind', async () => {
  const { asked, questions } = askThrough('https://name.example/', false, ['93.184.216.34'], ['127.0.0.1'])
  expect(await asked).toBe('93.184.216.34')
  expect(questions()).toBe(1)
})

test.each([
  ['https://name.example/', false, ['93.184.216.34', '10.0.0.1']],
  ['https://name.example/', false, ['2606:2800:220:1::1', '::ffff:127.0.0.1']],
  ['https://name.example/', false, ['64:ff9b::a00:1']],
  ['https://name.example/', false, []],
  ['http://name.example/', true, ['93.184.216.34']],
])('%s with private addresses allowed: %s is refused when it stands for %j', async (url, isPrivate, addresses) => {
  await expect(askThrough(url, isPrivate, addresses).asked).rejects.toMatchObject({ code: 'address_refused' })
})

test('plain http is for private addresses only, also where these are allowed', () => {
  const loose = { privateAddresses: true }
  expect(() => checkedUrl('http://93.184.216.34/', loose)).toThrow('only https')
  for (const url of ['http://127.0.0.1:9000/', 'http://[::1]:9000/', 'https://93.184.216.34:9000/'])
    expect(checkedUrl(url, loose).href).toContain('//')
  expect(() => checkedUrl('ftp://127.0.0.1/', loose)).toThrow('only https')
})

test('with a list only what is on it is called: real connections, by address and by name', async () => {
  const server = createServer((_request, response) => void response.end())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const send = (host: string, ...allow: readonly string[]) =>
    post(
      { url: `http://${host}:${port}/`, headers: {}, body: '{}' },
      { privateAddresses: true, allow: new AllowList(allow) },
    )
  const refused = { code: 'address_refused', message: expect.stringContaining('not on the list') }
  expect(await send('127.0.0.1', '127.0.0.1')).toBe(200)
  expect(await send('127.0.0.1', 'hooks.example.com', '127.0.0.0/8')).toBe(200)
  expect(await send('localhost', 'LOCALHOST.')).toBe(200)
  // The name is not on the list, but all that it stands for is.
  expect(await send('localhost', '127.0.0.0/8', '::1')).toBe(200)
  await expect(send('127.0.0.1', 'localhost')).rejects.toMatchObject(refused)
  await expect(send('127.0.0.1', '127.0.0.2', '10.0.0.0/8')).rejects.toMatchObject(refused)
  await expect(send('localhost', '10.0.0.0/8')).rejects.toMatchObject(refused)
  await expect(send('localhost', 'hooks.example.com')).rejects.toMatchObject(refused)
  await expect(send('localhost')).rejects.toMatchObject(refused)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

test('a list only narrows: what is private stays refused', () => {
  const allow = new AllowList(['10.0.0.0/8', 'hooks.example.com', '*.example.org', '2606:2800::/32'])
  const may = (url: string) => checkedUrl(url, { privateAddresses: false, allow }).href
  expect(() => may('https://10.0.0.1/')).toThrow('private')
  expect(() => may('http://hooks.example.com/')).toThrow('only https')
  expect(may('https://hooks.example.com./x')).toContain('hooks.example.com')
  expect(may('https://a.b.example.org/')).toContain('a.b.example.org')
  expect(may('https://[2606:2800:220:1::1]/')).toContain('2606')
  expect(() => may('https://93.184.216.34/')).toThrow('not on the list')
  const named = new AllowList(['hooks.example.com', '*.example.org'])
  for (const url of ['https://example.org/', 'https://xexample.org/', 'https://hooks.example.com.evil.net/'])
    expect(() => checkedUrl(url, { privateAddresses: false, allow: named })).toThrow('not on the list')
})

test.each([
  '',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '10.0.0.0/x',
  'https://example.com',
  'a b',
  '*',
  '*.',
  '10.0.0',
  '1.2.3.4.5',
])("'%s' is refused as an entry of the list", (entry) => {
  expect(() => new AllowList([entry])).toThrow(expect.objectContaining({ code: 'address_refused' }))
})
