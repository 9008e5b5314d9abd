// The console in a real Chromium, against a real server with a real engine on SQLite and a local world: every page in both colour
// schemes, and every action. Nothing is mocked; what a page says is what the engine did.
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildConsole } from '../../scripts/build-console.mjs'
import { fill, openScene, type Scene } from './scene.ts'
import { launchBrowser, visit, type Scheme, type Visitor } from './visitor.ts'

let scene: Scene
let browser: Browser
let visitor: Visitor
const patience = 120_000

beforeAll(async () => {
  buildConsole()
  ;[scene, browser] = await Promise.all([openScene(), launchBrowser()])
  await fill(scene)
  visitor = await visit(browser, scene, 'light')
  // The first time a browser may have to be fetched.
}, 400_000)

afterAll(async () => {
  await browser?.close()
  await scene?.close()
}, patience)

/** What has to be there before a page counts as shown. */
const pages: readonly (readonly [name: string, address: string, sees: string | RegExp])[] = [
  ['fleet', '/', 'no space left in pool ssd-2'],
  ['fleet-stuck', '/?type=opensds.volume', 'Needs attention'],
  ['resources', '/resources?type=opensds.volume', /^8 fit/],
  ['resource-stuck', '/resources/opensds.volume/archive', 'stuck: no run is recorded'],
  ['resource-failed', '/resources/opensds.volume/reports?tab=ledger', 'Why it is Error'],
  [
    'resource-under-way',
    '/resources/sahara.cluster/flink-live?tab=relations',
    'It is in step 4 of 7, awaitBoot, attempt 1.',
  ],
  ['runs', '/runs', 'flink-live'],
  ['stuck', '/stuck', 'opensds.volume is Extending and no run is recorded'],
  ['healing', '/healing', /waits for approval/],
  ['orphans', '/orphans', 'Nothing is left behind.'],
  ['workers', '/workers', 'answers here'],
  ['bulk', '/bulk', 'No bulk job yet.'],
  ['events', '/events', 'landed'],
  ['webhooks', '/webhooks', 'No webhook yet.'],
  ['audit', '/audit', /fit their chain of hashes/],
  ['access', '/access', 'Roles'],
  ['lifecycles', '/lifecycles', 'sahara.instance'],
  ['lifecycle', '/lifecycles/opensds.volume', 'When it is stuck there'],
  ['dev', '/dev', 'Break it and watch it heal'],
]

test('nobody is shown anything before signing in; a wrong password is said to be wrong', async () => {
  const { page } = visitor
  await page.goto(scene.url)
  await visitor.sees('Password')
  expect(await visitor.barriers()).toEqual([])
  await visitor.type('Account', 'nobody')
  await visitor.type('Password', 'not the password')
  await visitor.click('Sign in')
  await visitor.sees(/Account or password are not right/)
  // The two refusals, told by the browser itself.
  for (const text of await visitor.complaints(2)) expect(text).toMatch(/40[13].*\/v1\/session/)
})

test('the ticket in the address signs in once, and is gone from the address', async () => {
  const { page } = visitor
  await page.goto('about:blank')
  await page.goto(`${scene.url}/#ticket=${scene.ticket()}`)
  await visitor.sees('Needs attention')
  expect(page.url()).toBe(`${scene.url}/`)
})

describe.each(['light', 'dark'] as Scheme[])('in %s', (scheme) => {
  test.each(pages)(
    '%s is shown at its address and can be used by everybody',
    async (name, address, sees) => {
      await visitor.page.emulateMedia({ colorScheme: scheme })
      await visitor.go(address)
      await visitor.sees(sees)
      // Between the schemes only the colours differ.
      expect(await visitor.barriers(scheme === 'light' ? 'all' : 'colours')).toEqual([])
      await visitor.shot(name, scheme)
    },
    patience,
  )
})

test('from the first page it takes two clicks to read why something is stuck and what happens next', async () => {
  await visitor.go('/')
  await visitor.page.getByRole('link', { name: /archive.*Why\?/ }).click()
  await visitor.sees('No run is recorded for it: it was imported, edited by hand, or there is a bug.')
  await visitor.sees(/Nothing: healing of opensds.volume in Extending waits for approval/)
  await visitor.sees(/Once approved, healing will ask the driver \(realSize\)/)
})

test('the palette finds pages and resources by keyboard', async () => {
  const { page } = visitor
  await page.keyboard.press('Control+k')
  await page.keyboard.type('hadoop')
  await page.getByRole('option', { name: /hadoop-eu/ }).waitFor()
  expect(await visitor.barriers()).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/resources/sahara.cluster/hadoop-eu')
  await visitor.sees('Nothing: it is at rest.')
})

test('a filter is typed into the address, kept as a view, and comes back with a click', async () => {
  const { page } = visitor
  await visitor.go('/resources?type=opensds.volume')
  await visitor.type('Contains', 'ssd-2')
  await page.waitForURL('**/resources?type=opensds.volume&q=ssd-2')
  await visitor.sees('1 fits')
  await visitor.click('Keep this view')
  await visitor.click('Clear')
  await page.waitForURL('**/resources')
  await visitor.click('opensds.volume · ssd-2', 'link')
  await visitor.sees('1 fits')
  expect(await page.getByLabel('Contains').inputValue()).toBe('ssd-2')
  expect(await visitor.barriers()).toEqual([])
})

describe('actions', () => {
  test('an operation is asked for with fields from its schema, and its end is seen live', async () => {
    await visitor.go('/resources/opensds.volume/orders?tab=properties')
    await visitor.click('extend')
    await visitor.type(/^size/, '77')
    expect(await visitor.barriers()).toEqual([])
    await visitor.confirm('extend')
    await visitor.closes()
    await visitor.sees(/extend accepted/)
    await visitor.page.locator('dd', { hasText: /^77$/ }).waitFor()
  })

  test('what the server refuses is said in the dialog, with the reason', async () => {
    await visitor.go('/resources/opensds.volume/orders')
    await visitor.click('extend')
    await visitor.type(/^size/, '1')
    await visitor.confirm('extend')
    await visitor.sees(/the new size is larger/)
    // A refusal is told by the browser too.
    for (const text of await visitor.complaints(1)) expect(text).toMatch(/orders:extend/)
    await visitor.page.keyboard.press('Escape')
    await visitor.closes()
  })

  test('an operation that is not allowed now is grey and says why', async () => {
    await visitor.go('/resources/opensds.volume/orders')
    const button = visitor.page.getByRole('button', { name: /^reset/ })
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    await button.hover()
    await visitor.page.getByRole('tooltip').filter({ visible: true }).waitFor()
  })

  test('a resource is created with fields from its type', async () => {
    await visitor.go('/resources?type=opensds.volume')
    await visitor.click('Create')
    await visitor.type(/^id/, 'fresh')
    await visitor.type(/^properties.size/, '5')
    await visitor.confirm('Create')
    await visitor.page.waitForURL('**/resources/opensds.volume/fresh')
    await visitor.sees('Available')
  })

  test('a delete is done only when the name has been typed', async () => {
    await visitor.go('/resources/opensds.volume/fresh')
    await visitor.click('delete')
    const submit = visitor.page.getByRole('dialog').getByRole('button', { name: 'delete', exact: true })
    expect(await submit.isDisabled()).toBe(true)
    await visitor.confirm('delete', { name: 'fresh' })
    await visitor.closes()
    await visitor.page.locator('.resource-head .status', { hasText: 'Deleted' }).waitFor()
  })

  test('a run is cancelled with a reason: the waterfall and the timeline tell what follows', async () => {
    await visitor.go('/resources/sahara.cluster/flink-live')
    await visitor.click('Whole run', 'link')
    await visitor.sees('awaitBoot')
    await visitor.click('Cancel')
    await visitor.confirm('Cancel the run', { reason: 'the rack is down' })
    await visitor.closes()
    await visitor.page.locator('h1 .tag', { hasText: /cancelled|failed/ }).waitFor()
    await visitor.sees(/the rack is down/)
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot('run-cancelled', 'dark')
  })

  test('healing is approved with a reason, and the resource leaves the list', async () => {
    await visitor.go('/stuck')
    await visitor.click('Heal now ...')
    await visitor.confirm('Heal now', { reason: 'the array is back' })
    await visitor.closes()
    await visitor.page.getByText('opensds.volume is Extending and no run is recorded').waitFor({ state: 'detached' })
    await visitor.go('/resources/opensds.volume/archive')
    await visitor.page.locator('.resource-head .status', { hasText: /Available|ErrorExtending/ }).waitFor()
  })

  test('modes and breakers of healing are changed with a reason; a pass is asked for', async () => {
    await visitor.go('/healing')
    await visitor.choose('Mode for opensds.volume in Extending', 'auto')
    await visitor.confirm('Set to auto', { reason: 'serviced' })
    await visitor.closes()
    await visitor.page.getByRole('button', { name: 'Open ...' }).first().click()
    await visitor.confirm('Open breaker', { reason: 'a drill' })
    await visitor.closes()
    await visitor.click('Close ...')
    await visitor.confirm('Close breaker', { reason: 'the drill is over' })
    await visitor.closes()
    await visitor.page.getByText('open', { exact: true }).waitFor({ state: 'detached' })
    await visitor.click('Run a pass now')
    await visitor.confirm('Run a pass')
    await visitor.closes()
  })

  test('bulk: a preview, a rate and a reason, then every target with what became of it', async () => {
    await visitor.go('/resources?type=opensds.volume&status=Available')
    await visitor.click(/^Bulk over/)
    await visitor.choose('Operation', 'extend')
    await visitor.type(/^size/, '900')
    await visitor.type('Per second', '200')
    await visitor.type(/Reason/, 'all volumes grow')
    await visitor.click('Preview')
    await visitor.sees(/would be asked of \d+ resources/)
    const total = /asked of (\d+)/.exec((await visitor.page.getByText(/would be asked of/).textContent()) ?? '')![1]!
    await visitor.type(/to go on/, total)
    await visitor.click('Start')
    await visitor.page.waitForURL('**/bulk/*')
    await visitor.page.locator('.page-head .tag', { hasText: 'done' }).waitFor()
    await visitor.sees('accepted')
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot('bulk-job', 'dark')
  })

  test('switches of the development mode are set and cleared', async () => {
    await visitor.go('/dev')
    await visitor.choose('A call', 'fail')
    await visitor.choose('of type', 'opensds.volume')
    await visitor.choose('in step', 'createVolume')
    await visitor.type('saying', 'broken on purpose')
    await visitor.click('Break it')
    await visitor.sees('broken on purpose')
    await visitor.click('Clear all')
    await visitor.sees('Nothing is broken.')
  })

  test('what a forced delete leaves behind is listed, and swept with its name typed', async () => {
    await scene.api.call('setFault', {
      body: { does: 'hang', on: { type: 'sahara.cluster', step: 'terminateInstances' } },
    })
    await visitor.go('/resources/sahara.cluster/spark-night')
    await visitor.click('Force delete ...')
    await visitor.confirm('Force delete', { reason: 'the hypervisor is gone', name: 'spark-night' })
    await visitor.closes()
    await visitor.go('/orphans')
    await visitor.click('Sweep ...')
    await scene.api.call('clearFaults', {})
    const { items } = await scene.api.call('listOrphans', {})
    await visitor.confirm('Destroy it', { reason: 'it costs money', name: items[0]!.id })
    await visitor.closes()
    await visitor.sees('Nothing is left behind.')
    await scene.api.call('setFault', {
      body: { does: 'hang', on: { type: 'sahara.cluster', step: 'terminateInstances' } },
    })
    const path = { type: 'sahara.cluster', id: 'hadoop-eu' }
    await scene.api.call('deleteResource', { path, query: { force: 'true', reason: 'a second one' } })
    await visitor.click('Write off ...')
    const left = await scene.api.call('listOrphans', {})
    await visitor.confirm('Write off', { reason: 'looked at it', name: left.items[0]!.id })
    await visitor.closes()
    await visitor.sees('Nothing is left behind.')
    await scene.api.call('clearFaults', {})
  })

  test('tokens, accounts and webhooks are made and ended; secrets are shown once', async () => {
    await visitor.go('/access')
    await visitor.click('New token')
    await visitor.type(/^name/, 'backup')
    await visitor.choose(/^role/, 'viewer')
    await visitor.confirm('Create')
    await visitor.sees(/^hs_/)
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
    await visitor.click('Revoke ...')
    await visitor.confirm('Revoke', { name: 'backup' })
    await visitor.closes()
    await visitor.sees('No token.')
    await visitor.click('New account')
    await visitor.type(/^name/, 'ann')
    await visitor.type(/^password/, 'a long enough password')
    await visitor.choose(/^role/, 'viewer')
    await visitor.confirm('Create')
    await visitor.closes()
    await visitor.sees('ann can sign in.')
    await visitor.go('/webhooks')
    await visitor.click('New webhook')
    await visitor.type(/^url/, `${scene.url}/livez`)
    await visitor.confirm('Create')
    await visitor.sees(/shown this once/)
    await visitor.page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click()
    await visitor.sees('Dealt with up to event')
  })

  test('the audit names who did it and why, and is exported', async () => {
    await visitor.go('/audit')
    await visitor.sees('the rack is down')
    const [download] = await Promise.all([visitor.page.waitForEvent('download'), visitor.click('Export CSV')])
    expect(download.suggestedFilename()).toBe('homeostat-audit.csv')
    expect(readFileSync(await download.path(), 'utf8')).toContain('the rack is down')
  })

  test('a viewer sees everything and is offered nothing he may not do', async () => {
    const viewer = await visit(browser, scene, 'light')
    await viewer.page.goto(scene.url)
    await viewer.type('Account', 'ann')
    await viewer.type('Password', 'a long enough password')
    await viewer.click('Sign in')
    await viewer.sees('Needs attention')
    expect(await viewer.page.getByRole('link', { name: 'Audit' }).count()).toBe(0)
    await viewer.go('/resources/opensds.volume/orders')
    expect(await viewer.page.getByRole('button', { name: /^delete/ }).getAttribute('aria-disabled')).toBe('true')
    await viewer.click('Sign out')
    await viewer.sees('Password')
    await viewer.page.close()
  })
})

test('hidden, the page hears nothing; seen again, it has missed nothing', async () => {
  await visitor.go('/resources/opensds.volume/users?tab=properties')
  await visitor.sees('Why it is so')
  const look = (state: 'hidden' | 'visible') =>
    visitor.page.evaluate(
      `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
       document.dispatchEvent(new Event('visibilitychange'))`,
    )
  await look('hidden')
  await visitor.page.locator('.live', { hasText: 'paused' }).waitFor()
  const { run } = await scene.api.call('operate', {
    path: { type: 'opensds.volume', id: 'users', operation: 'extend' },
    body: { size: 1_234 },
  })
  await scene.api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
  expect(await visitor.page.locator('dd', { hasText: /^1234$/ }).count()).toBe(0)
  await look('visible')
  await visitor.page.locator('dd', { hasText: /^1234$/ }).waitFor()
  await visitor.go('/events')
  await visitor.page.locator('.timeline li', { hasText: 'users' }).filter({ hasText: 'landed' }).first().waitFor()
})

test('on a phone nothing is wider than the screen, and the menu opens', async () => {
  await visitor.page.setViewportSize({ width: 390, height: 844 })
  for (const [name, address] of [
    ['phone-fleet', '/'],
    ['phone-resource', '/resources/opensds.volume/reports'],
  ] as const) {
    await visitor.go(address)
    await visitor.sees('create failed: no space left in pool ssd-2')
    expect(await visitor.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await visitor.shot(name, 'dark')
  }
  await visitor.click('Menu')
  await visitor.page.getByRole('link', { name: 'Healing' }).click()
  await visitor.sees('What healing would do now')
  expect(await visitor.barriers()).toEqual([])
  await visitor.page.setViewportSize({ width: 1440, height: 900 })
})

test('nothing was complained about, and no request left the machine', () => {
  expect(visitor.errors).toEqual([])
  expect(visitor.strangers).toEqual([])
})

test(
  'when the server is killed the page says so; when it is back the run goes on, and the page with it',
  async () => {
    await scene.api.call('setFault', { body: { does: 'hang', on: { type: 'sahara.cluster', step: 'configure' } } })
    await scene.api.call('createResource', {
      path: { type: 'sahara.cluster' },
      body: { id: 'storm', properties: { counts: { worker: 1 } } },
    })
    await visitor.go('/resources/sahara.cluster/storm')
    await visitor.page.locator('.resource-head .status', { hasText: 'Configuring' }).waitFor()
    await scene.kill()
    await visitor.sees(/The server does not answer/)
    await visitor.shot('story-killed', 'dark')
    await scene.start()
    await visitor.page.getByText(/The server does not answer/).waitFor({ state: 'detached' })
    await scene.api.call('clearFaults', {})
    await visitor.page.locator('.resource-head .status', { hasText: 'Active' }).waitFor()
    await visitor.sees(/ended, Starting to Active/)
    await visitor.shot('story-healed', 'dark')
  },
  patience,
)

test('the first page needs at most 250 KB of JavaScript, compressed', () => {
  const html = readFileSync('dist/web/index.html', 'utf8')
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=/)
  const files = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, file]) => file!)
  expect(files.length).toBeGreaterThan(0)
  const bytes = files.reduce((all, file) => all + gzipSync(readFileSync(`dist/web/${file}`)).length, 0)
  expect(bytes).toBeLessThan(250 * 1_024)
})
