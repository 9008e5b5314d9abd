// Who may come in, who is told, and who did what: signing in and out, tokens, accounts, webhooks and the audit.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { HttpClient } from '../../src/client.ts'
import { openStage, patienceMs } from './stage.ts'
import { visit } from './visitor.ts'

const stage = openStage({ isSignedIn: false })

test('nobody is shown anything before signing in; a wrong password is said to be wrong', async () => {
  const { scene, visitor } = stage
  for (const scheme of ['light', 'dark'] as const) {
    await visitor.page.emulateMedia({ colorScheme: scheme })
    await visitor.page.goto(`${scene.url}/resources`)
    await visitor.sees('Password')
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot(`sign-in-${scheme}`)
  }
  await visitor.signIn('nobody', 'not the password')
  await visitor.sees(/Account or password are not right/)
  // The refusals, told by the browser itself.
  for (const text of await visitor.complaints(3)) expect(text).toMatch(/40[13].*\/v1\/session/)
})

test('the ticket in the address signs in once, and is gone from the address', async () => {
  const { scene, visitor } = stage
  // Given to a tab that shows the sign-in at the same address: the browser loads nothing by itself.
  await visitor.page.goto(`${scene.url}/`)
  await visitor.sees('Password')
  await visitor.complaints(1)
  await visitor.enter(scene.ticket())
  await visitor.sees('Needs attention')
  expect(visitor.page.url()).toBe(`${scene.url}/`)
  const second = await visit(stage.browser, scene, 'light')
  await second.page.goto(`${scene.url}/#ticket=${scene.ticket()}`)
  await second.sees('Password')
  await second.page.close()
  visitor.hasMade('signIn')
})

test('a token is shown once, works, and is refused once it is revoked', async () => {
  const { scene, visitor } = stage
  await visitor.go('/access')
  await visitor.click('New token')
  await visitor.type(/^name/, 'backup')
  await visitor.choose(/^role/, 'viewer')
  await visitor.confirm('Create')
  await visitor.sees(/^hs_/)
  const dialog = visitor.page.getByRole('dialog')
  const token = await visitor.copy('Copy', dialog)
  expect(token).toBe(await dialog.locator('.secret').textContent())
  const api = new HttpClient({ url: scene.url, token })
  expect((await api.call('getSession', {})).role).toBe('viewer')
  await dialog.locator('footer').getByRole('button', { name: 'Close', exact: true }).click()
  await visitor.click('Revoke ...')
  await visitor.confirm('Revoke', { name: 'backup' })
  await visitor.closes()
  await visitor.sees('No token.')
  await expect(api.call('getSession', {})).rejects.toMatchObject({ code: 'unauthenticated' })
  visitor.hasMade('createToken', 'revokeToken')
})

const [account, firstPassword, secondPassword] = ['ann', 'a long enough password', 'another long password']

test('an account is made, and its owner signs in: a viewer sees everything and is offered nothing he may not do', async () => {
  const { browser, scene, visitor } = stage
  await visitor.go('/access')
  await visitor.click('New account')
  await visitor.type(/^name/, account)
  await visitor.type(/^password/, firstPassword)
  expect(await visitor.page.getByLabel(/^password/).getAttribute('type')).toBe('password')
  await visitor.choose(/^role/, 'viewer')
  await visitor.confirm('Create')
  await visitor.closes()
  await visitor.sees('ann can sign in.')
  const viewer = await visit(browser, scene, 'light')
  await viewer.page.goto(scene.url)
  await viewer.signIn(account, firstPassword)
  await viewer.sees('Needs attention')
  expect(await viewer.page.getByRole('link', { name: 'Audit' }).count()).toBe(0)
  await viewer.go('/resources/opensds.volume/orders')
  await viewer.sees('Why it is so')
  for (const name of [/^delete/, /^extend/])
    expect(await viewer.page.getByRole('button', { name }).getAttribute('aria-disabled')).toBe('true')
  for (const name of ['Set status ...']) expect(await viewer.page.getByRole('button', { name }).isDisabled()).toBe(true)
  expect(await viewer.barriers()).toEqual([])
  await viewer.go('/healing')
  await viewer.sees('What healing would do now')
  expect(await viewer.page.getByRole('button', { name: 'Run a pass now' }).isDisabled()).toBe(true)
  await viewer.page.close()
  visitor.hasMade('createAccount')
})

test('a new password ends the sessions of the old one; a deleted account cannot come in', async () => {
  const { browser, scene, visitor } = stage
  const ann = await visit(browser, scene, 'light')
  await ann.page.goto(scene.url)
  await ann.signIn(account, firstPassword)
  await ann.sees('Needs attention')
  await visitor.go('/access')
  await visitor.click('Password ...')
  await visitor.type(/^password/, secondPassword)
  await visitor.confirm('Set')
  await visitor.closes()
  await ann.sees('Your session has ended')
  await ann.signIn(account, firstPassword)
  await ann.sees(/Account or password are not right/)
  await ann.signIn(account, secondPassword)
  await ann.sees('Needs attention')
  await visitor.click('Delete ...')
  await visitor.confirm('Delete', { name: account })
  await visitor.closes()
  await visitor.sees('No account.')
  await ann.sees('Your session has ended')
  await ann.signIn(account, secondPassword)
  await ann.sees(/Account or password are not right/)
  await ann.page.close()
  visitor.hasMade('setPassword', 'deleteAccount')
})

/** Somebody who listens to a webhook, and refuses as long as he is told to. */
async function listen() {
  const state = {
    refuses: true,
    heard: [] as { readonly signature: string; readonly event: { readonly data: { readonly n: number } } }[],
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      if (!state.refuses)
        state.heard.push({ signature: String(request.headers['webhook-signature']), event: JSON.parse(body) as never })
      response.writeHead(state.refuses ? 410 : 200).end()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return { state, url: `http://127.0.0.1:${port}/hook`, close: () => new Promise((done) => server.close(done)) }
}

test(
  'a webhook whose listener refuses keeps dead letters; they are sent again, its secret is changed, and it is deleted',
  async () => {
    const { scene, visitor } = stage
    const listener = await listen()
    try {
      await visitor.go('/webhooks')
      await visitor.click('New webhook')
      await visitor.type(/^url/, listener.url)
      await visitor.type(/^types/, '["opensds.volume"]')
      await visitor.confirm('Create')
      await visitor.sees(/shown this once/)
      const dialog = visitor.page.getByRole('dialog')
      await dialog.locator('footer').getByRole('button', { name: 'Close', exact: true }).click()
      await visitor.sees('Dealt with up to event')
      const path = { type: 'opensds.volume', id: 'orders', operation: 'extend' }
      await scene.api.call('operate', { path, body: { size: 99 } })
      await visitor.page
        .locator('.rows-of li', { hasText: /^Event \d+/ })
        .first()
        .waitFor()
      expect(await visitor.barriers()).toEqual([])
      await visitor.shot('webhook-dead-letters')
      listener.state.refuses = false
      await visitor.click('Send again ...')
      await visitor.confirm('Send again')
      await visitor.closes()
      await expect.poll(() => listener.state.heard.length).toBeGreaterThan(0)
      await expect.poll(async () => (await scene.api.call('listWebhooks', {})).items[0]!.deadLetters).toBe(0)
      await visitor.click('Pause ...')
      await visitor.confirm('Pause', { reason: 'it is being moved' })
      await visitor.closes()
      await visitor.sees('paused')
      await visitor.click('Go on ...')
      await visitor.confirm('Go on', { reason: 'it was moved' })
      await visitor.closes()
      await visitor.sees('active')
      await visitor.click('New secret ...')
      await visitor.confirm('Make a new secret')
      await visitor.sees('The new secret. It is shown this once.')
      await dialog.locator('footer').getByRole('button', { name: 'Close', exact: true }).click()
      const { items } = await scene.api.call('listWebhooks', {})
      await visitor.click('Delete ...')
      await visitor.confirm('Delete', { name: items[0]!.id })
      await visitor.closes()
      await visitor.sees('No webhook yet.')
    } finally {
      await listener.close()
    }
    visitor.hasMade('createWebhook', 'replayWebhook', 'pauseWebhook', 'resumeWebhook', 'rotateWebhook', 'deleteWebhook')
  },
  patienceMs,
)

test('a ticket that was spent says so, and what else lets in', async () => {
  const { browser, scene } = stage
  const late = await visit(browser, scene, 'light')
  await late.page.goto(`${scene.url}/#ticket=${scene.ticket()}`)
  await late.sees('The ticket is not valid: it was used already, or it is too old.')
  expect(await late.barriers()).toEqual([])
  await late.page.close()
})

test('a browser that lets no page copy: the text is shown to be taken by hand', async () => {
  const { visitor } = stage
  await visitor.page.evaluate('Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })')
  await visitor.go('/resources/opensds.volume/orders')
  await visitor.page.locator('.title').getByRole('button', { name: 'CLI' }).click()
  await visitor.sees(/does not let the page copy\. Take it from here: homeostat why opensds\.volume\/orders/)
  await visitor.page.reload()
})

test('the audit names who did what and why, is filtered, and exported whole in both forms', async () => {
  const { visitor } = stage
  await visitor.go('/audit')
  await visitor.sees('the array is being serviced')
  await visitor.type('Filter the audit', 'setHealingMode')
  await visitor.seesNoMore('importResources')
  await visitor.sees('the array is being serviced')
  await visitor.type('Filter the audit', 'nothing is called so')
  await visitor.sees('Nothing fits.')
  const saved = async (button: string) => {
    const [download] = await Promise.all([visitor.page.waitForEvent('download'), visitor.click(button)])
    return {
      name: download.suggestedFilename(),
      lines: readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\n'),
    }
  }
  const csv = await saved('Export CSV')
  expect(csv.name).toBe('homeostat-audit.csv')
  expect(csv.lines.filter((line) => line.includes('the array is being serviced'))).toHaveLength(1)
  const jsonl = await saved('Export JSONL')
  expect(jsonl.name).toBe('homeostat-audit.jsonl')
  const entries = jsonl.lines.map((line) => JSON.parse(line) as { readonly n: number })
  expect(entries.map(({ n }) => n)).toEqual(entries.map((_, index) => index + 1))
})

test(
  'however long the audit is, the newest entries are listed, older ones on demand, and the filter finds the oldest, too',
  async () => {
    const { scene, visitor } = stage
    await Promise.all(Array.from({ length: 520 }, () => scene.api.call('clearFaults', {})))
    await scene.api.call('setHealingMode', {
      path: { type: 'opensds.volume', status: 'Creating' },
      body: { mode: 'auto', reason: 'the last word' },
    })
    // Anew: what a test before has filtered by is not to hold it back, and the chain is not that of before.
    await visitor.page.goto(`${scene.url}/audit`)
    await visitor.sees('the last word')
    expect(await visitor.page.locator('tbody tr').first().textContent()).toContain('the last word')
    await scene.api.call('setHealingMode', {
      path: { type: 'opensds.volume', status: 'Creating' },
      body: { mode: 'auto', reason: 'one more' },
    })
    await visitor.sees('one more')
    await visitor.seesNoMore('the array is being serviced')
    await visitor.click('Older entries')
    await visitor.sees('the array is being serviced')
    await visitor.page.goto(`${scene.url}/audit`)
    await visitor.sees('one more')
    await visitor.type('Filter the audit', 'THE ARRAY is being')
    await visitor.sees('the array is being serviced')
    await visitor.seesNoMore('one more')
  },
  patienceMs,
)

test('an export that cannot be read says so, and saves nothing', async () => {
  const { visitor } = stage
  await visitor.go('/audit')
  await visitor.sees(/chain of hashes/)
  await visitor.page.route('**/v1/audit?*', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'internal', detail: 'The disk is full.' }),
    }),
  )
  await visitor.click('Export CSV')
  await visitor.sees('Nothing was saved, the audit could not be read: The disk is full.')
  await visitor.page.unrouteAll({ behavior: 'ignoreErrors' })
  visitor.excuse(/500.*\/v1\/audit/)
})

test('after signing out nothing is shown', async () => {
  const { visitor } = stage
  await visitor.click('Sign out')
  await visitor.sees('Password')
  await visitor.page.goBack()
  await visitor.sees('Password')
  visitor.excuse(/401.*\/v1\//)
  visitor.hasMade('signOut')
})
