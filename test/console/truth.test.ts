// What is shown is so: figures of different pages agree, what could not be read is not called nothing, ages are by the server's clock, and
// what is only a part says so and leads to the rest.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'
import { visit } from './visitor.ts'

const stage = openStage()
const type = 'opensds.volume'
const password = 'a long enough password'

/** Somebody else in front of a page of his own. */
async function another(name: string) {
  const { browser, scene } = stage
  await scene.api.call('createAccount', { body: { name, password, role: 'admin' } })
  return visit(browser, scene, 'light')
}

test('with more stuck than are read at once, every page says at least so many, and leads to all of them', async () => {
  const { scene, visitor } = stage
  const body = Array.from({ length: 520 }, (_, index) => ({
    id: `limbo-${index}`,
    status: 'Extending',
    properties: { size: 5 },
  }))
  await scene.api.call('importResources', { path: { type }, query: { reason: 'the old array' }, body })
  await visitor.go('/')
  await visitor.page.locator('nav .pill', { hasText: /^100\+$/ }).waitFor()
  await visitor.page.locator('.figure', { hasText: 'Stuck' }).getByText('500+', { exact: true }).waitFor()
  await visitor.page.locator('.types .tag', { hasText: /^500\+ stuck$/ }).waitFor()
  expect(await visitor.page.locator('.box.is-stuck title').first().textContent()).toContain('500 or more stuck')
  // One stands for all that are alike: what failed besides is in sight, too.
  const rows = visitor.page.locator('.attention li')
  await rows.filter({ hasText: 'and 499+ more like it' }).waitFor()
  await rows.filter({ hasText: 'no space left in pool ssd-2' }).waitFor()
  expect(await rows.filter({ hasText: 'Extending' }).count()).toBe(1)
  await visitor.go('/stuck')
  const group = visitor.page.locator('.panel', { hasText: `${type} is Extending and no run is recorded` })
  await group.getByText('500+', { exact: true }).waitFor()
  expect(await group.locator('tbody tr').count()).toBe(3)
  await visitor.click('Show 47 more')
  await expect.poll(() => group.locator('tbody tr').count()).toBe(50)
  await visitor.go('/')
  await visitor.click('and 499+ more like it', 'link')
  await visitor.page.waitForURL('**/resources?*stuck=true')
  await visitor.sees(/^limbo-/)
  await visitor.go('/stuck')
  await group.getByRole('link', { name: `List all Extending of ${type}` }).click()
  await visitor.sees('200 found so far; more as you scroll')
})

test('what could not be read is not called nothing', async () => {
  const { scene } = stage
  const other = await another('ina')
  await other.page.route('**/v1/resources?kind=failed*', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'internal', detail: 'The disk is full.' }),
    }),
  )
  // Nothing else is wrong: it is the failed ones alone that are not known.
  for (const path of ['**/v1/stuck*', '**/v1/resources?kind=transitional*'])
    await other.page.route(path, (route) => route.fulfill({ json: { items: [], nextPageToken: null, total: 0 } }))
  await other.page.goto(`${scene.url}/stuck`)
  await other.signIn('ina', password)
  await other.sees(/The disk is full\./)
  expect(await other.page.getByText('Nothing is stuck').count()).toBe(0)
  await other.go('/')
  const figure = (name: string) => other.page.locator('.figure', { hasText: name }).locator('b').textContent()
  await expect.poll(() => figure('In transition')).toBe('0')
  expect(await figure('Failed')).toBe('...')
  await other.page
    .locator('.panel', { hasText: 'Needs attention' })
    .getByText(/The disk is full\./)
    .waitFor()
  expect(await other.page.getByText('Nothing is stuck').count()).toBe(0)
  await other.page.close()
})

test.each([
  ['fast', 3_600_000],
  ['slow', -3_600_000],
])('on a device whose clock is an hour %s, ages and clocks are by the server, and it is said', async (word, by) => {
  const { scene } = stage
  const other = await another(`uhr-${word}`)
  await other.page.addInitScript(`{
    const Real = Date
    globalThis.Date = class extends Real {
      constructor(...given) { if (given.length === 0) super(Real.now() + ${by}); else super(...given) }
      static now() { return Real.now() + ${by} }
    }
  }`)
  await other.page.goto(`${scene.url}/workers`)
  await other.signIn(`uhr-${word}`, password)
  await other.page.locator('td', { hasText: /^(in \d s|now) / }).waitFor()
  await other.sees(new RegExp(`that of this device is (59 min|1 h).* ${word}`))
  const { run } = await scene.api.call('createResource', {
    path: { type },
    body: { id: `new-${word}`, properties: { size: 1 } },
  })
  await scene.api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
  await other.go(`/resources/${type}/new-${word}`)
  await other.page.locator('.since', { hasText: /^for \d+ s$/ }).waitFor()
  await other.page.close()
})

test('a bulk job over what the address filters by tenant is over that tenant alone', async () => {
  const { scene, visitor } = stage
  for (const id of ['north-1', 'north-2'])
    await scene.api.call('createResource', { path: { type }, body: { id, tenant: 'north', properties: { size: 1 } } })
  await visitor.go(`/resources?type=${type}&tenant=north`)
  await visitor.sees('2 fit, of tenant north')
  await visitor.click('Bulk over 2 ...')
  await visitor.choose('Operation', 'delete')
  await visitor.type(/Reason/, 'north is given up')
  await visitor.click('Preview')
  await visitor.sees(/delete would be asked of 2 resources/)
})

test(
  'a history of more events than are read at once is read to its beginning',
  async () => {
    const { scene, visitor } = stage
    const path = { type: 'archive.tape', id: 'worn' }
    await scene.api.call('createResource', { path, body: { id: 'worn', properties: { shelf: 1 } } })
    for (let times = 0; times < 110; times++) {
      await expect
        .poll(async () => (await scene.api.call('getResource', { path })).status, { interval: 5 })
        .toBe('Idle')
      await scene.api.call('operate', { path: { ...path, operation: 'removeNotes' } })
    }
    await visitor.go('/resources/archive.tape/worn')
    const lines = visitor.page.locator('.timeline li')
    await expect.poll(() => lines.count()).toBe(200)
    await visitor.click('Older events')
    await visitor.sees(/^create is accepted/)
    expect(await visitor.page.getByRole('button', { name: 'Older events' }).count()).toBe(0)
    // What happens now still comes first.
    await scene.api.call('operate', { path: { ...path, operation: 'write' } })
    await lines
      .first()
      .getByText(/^write is accepted|^load failed/)
      .waitFor()
  },
  patienceMs,
)

test('an address that was cut off in the middle of a letter is a page like any other', async () => {
  const { visitor } = stage
  await visitor.go(`/resources/${type}/100%`)
  await visitor.sees(`There is no ${type} 100%.`)
  visitor.excuse(/404/)
})

test.each([
  ['/runs/1z141z7-99', 'There is no run 1z141z7-99.', 'Runs that are'],
  ['/bulk/nobody', 'There is no bulk operation nobody.', 'Bulk jobs that are'],
])(
  '%s is not there any more: it is said, is not asked for again and again, and leads on',
  async (address, words, on) => {
    const { visitor } = stage
    await visitor.go(address)
    await visitor.sees(words)
    await visitor.sees(/is kept no longer/)
    expect(await visitor.barriers()).toEqual([])
    const link = visitor.page.getByRole('link', { name: on })
    expect(await link.getAttribute('href')).toBe(address.slice(0, 5))
    visitor.excuse(/404/)
  },
)

test('who opens the address of a page that is not for him reads why, and nothing is asked in vain', async () => {
  const { scene, browser } = stage
  await scene.api.call('createAccount', { body: { name: 'vic', password, role: 'viewer' } })
  await scene.api.call('createAccount', { body: { name: 'tina', password, role: 'admin', tenant: 'north' } })
  const asked: string[] = []
  for (const [name, pages, words] of [
    ['vic', ['audit', 'access', 'webhooks', 'dev'], /vic lacks the permission '(administer|develop)'\./],
    ['tina', ['healing', 'workers', 'audit'], 'tina works in tenant north only'],
  ] as const) {
    const other = await visit(browser, scene, 'light')
    other.page.on('response', (response) => response.status() === 403 && asked.push(response.url()))
    await other.page.goto(`${scene.url}/${pages[0]}`)
    await other.signIn(name, password)
    for (const page of pages) {
      await other.go(`/${page}`)
      await other.sees('This page is not for you.')
      await other.sees(words)
    }
    expect(await other.barriers()).toEqual([])
    await other.page.close()
  }
  expect(asked).toEqual([])
})

test('on paper there is the page alone, in light colours, whatever was chosen', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/resources/opensds.volume/archive')
  await visitor.sees('Why it is Extending')
  await page.evaluate('document.documentElement.dataset.scheme = "dark"')
  await page.emulateMedia({ media: 'print' })
  expect(await page.locator('aside, .bar, .operations').filter({ visible: true }).count()).toBe(0)
  await visitor.sees('Why it is Extending')
  expect(await page.evaluate('getComputedStyle(document.documentElement).colorScheme')).toBe('light')
  await page.emulateMedia({ media: 'screen' })
  await page.evaluate('delete document.documentElement.dataset.scheme')
})
