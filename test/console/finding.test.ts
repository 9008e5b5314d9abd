// Finding one's way: from the first page to why something is stuck, by keyboard, by filters in the address, through the diagrams and
// the feed of events.
import { expect, test } from 'vitest'
import { openStage } from './stage.ts'

const stage = openStage()

/** Somebody who has never seen it: clicks on words he can see, and counts. */
class Newcomer {
  clicks = 0

  async clicksOn(words: string | RegExp): Promise<void> {
    const link = stage.visitor.page.getByRole('link').filter({ hasText: words, visible: true }).first()
    await link.click()
    this.clicks++
  }

  reads(words: string | RegExp): Promise<void> {
    return stage.visitor.sees(words)
  }
}

test.each([
  ['by the badge beside Stuck', [/^\s*Stuck\s*1$/, 'archive']],
  ['by the figure on the first page', [/^Stuck1/, 'archive']],
  ['by what needs attention', [/archive.*Why\?/]],
])(
  'from the first page it takes at most three clicks to read why something is stuck and what happens next: %s',
  async (_, way) => {
    const newcomer = new Newcomer()
    await stage.visitor.page.goto(stage.scene.url)
    for (const words of way) await newcomer.clicksOn(words)
    expect(newcomer.clicks).toBeLessThanOrEqual(3)
    await newcomer.reads('Why it is Extending')
    await newcomer.reads('No run is recorded for it: it was imported, edited by hand, or there is a bug.')
    await newcomer.reads('Next, by itself')
    await newcomer.reads(/Nothing: healing of opensds.volume in Extending waits for approval/)
    await newcomer.reads(/Once approved, healing will ask the driver \(realSize\)/)
    await newcomer.reads('Heal now ...')
  },
)

test('the first page shows failed, stuck and moving ones of every lifecycle; a status in the diagram leads to its resources', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/')
  await visitor.click(/^opensds\.volume/, 'link')
  await page.waitForURL('**/?type=opensds.volume')
  await page.locator('.map .diagram a', { hasText: 'Error' }).first().click()
  await page.waitForURL('**/resources?type=opensds.volume&status=Error')
  await visitor.sees('1 fits')
  await visitor.sees('reports')
})

test('the palette finds pages, resources, lifecycles and pasted runs by keyboard', async () => {
  const { scene, visitor } = stage
  const { page } = visitor
  const find = async (text: string, option: RegExp) => {
    await page.keyboard.press('Control+k')
    await page.keyboard.type(text)
    await page.getByRole('option', { name: option }).first().waitFor()
  }
  await visitor.go('/')
  await find('hadoop', /hadoop-eu/)
  expect(await visitor.barriers()).toEqual([])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/resources/sahara.cluster/hadoop-eu')
  await visitor.sees('Nothing: it is at rest.')
  await find('heal', /Healing/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/healing')
  await find('opensds.snap', /opensds\.snapshot.*its lifecycle/)
  await page.getByRole('option', { name: /its lifecycle/ }).click()
  await page.waitForURL('**/lifecycles/opensds.snapshot')
  const { items } = await scene.api.call('listRuns', { query: { state: 'live', pageSize: 1 } })
  await find(items[0]!.id, /^Run /)
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/runs/${items[0]!.id}`)
  // The slash opens it too, arrows walk through it, Escape leaves everything as it was.
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Find' }).waitFor()
  const chosen = () => page.getByRole('option', { selected: true }).textContent()
  const first = await chosen()
  await page.keyboard.press('ArrowDown')
  await expect.poll(chosen).not.toBe(first)
  await page.keyboard.press('ArrowUp')
  await expect.poll(chosen).toBe(first)
  await page.keyboard.type('nothing is called so')
  await visitor.sees(/^Nothing fits\. Try a part/)
  await page.keyboard.press('Escape')
  await visitor.closes()
  await visitor.click('Find a resource, run or page Ctrl K')
  await page.getByRole('combobox', { name: 'Find' }).waitFor()
  await page.keyboard.press('Escape')
  await visitor.closes()
})

test('every filter of the resources is in the address, and an address brings every filter back', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/resources')
  await visitor.sees(/^1\d in all/)
  await visitor.choose('Type', 'opensds.volume')
  await page.waitForURL('**/resources?type=opensds.volume')
  await visitor.sees('8 fit')
  await visitor.choose('Status', 'Available')
  await page.waitForURL('**&status=Available')
  await visitor.sees('6 fit')
  await visitor.choose('Status', '')
  await visitor.choose('Kind', 'failed')
  await visitor.sees('1 fits')
  await visitor.choose('Kind', '')
  await visitor.type('Contains', 'ssd-2')
  await page.waitForURL('**/resources?type=opensds.volume&q=ssd-2')
  await visitor.sees('1 fits')
  await page.reload()
  await visitor.sees('1 fits')
  expect(await page.getByLabel('Contains').inputValue()).toBe('ssd-2')
  expect(await page.locator('#filter-type').inputValue()).toBe('opensds.volume')
  await visitor.click('Clear')
  await page.waitForURL('**/resources')
  await page.getByLabel('only stuck').check()
  await page.waitForURL('**/resources?stuck=true')
  await visitor.sees('archive')
  await page.locator('.grid-row', { hasText: 'archive' }).getByText('Extending').click()
  await page.waitForURL('**/resources/opensds.volume/archive')
})

test('the runs are filtered by their state', async () => {
  const { visitor } = stage
  await visitor.go('/runs')
  await visitor.sees('orders')
  await visitor.choose('State', 'live')
  await visitor.page.waitForURL('**/runs?state=live')
  await visitor.seesNoMore('orders')
  await visitor.click(/^[0-9a-z]+-\d+$/, 'link')
  await visitor.sees('awaitBoot')
})

test('older runs are read page by page, of all resources and of one', async () => {
  const { visitor, scene } = stage
  const { page } = visitor
  const small = /\/v1\/(runs|resources\/[^/]+\/[^/]+\/runs)\?/
  await page.route(small, (route, request) =>
    route.continue({ url: request.url().replace(/pageSize=\d+/, 'pageSize=1') }),
  )
  // Nothing that was read in larger pages is kept.
  await page.reload()
  const rows = page.locator('tbody tr')
  for (const [path, { items }] of [
    ['/runs', await scene.api.call('listRuns', {})],
    [
      '/resources/opensds.volume/orders?tab=runs',
      await scene.api.call('listRunsOf', { path: { type: 'opensds.volume', id: 'orders' } }),
    ],
  ] as const) {
    expect(items.length).toBeGreaterThan(0)
    await visitor.go(path)
    for (let shown = 1; shown < Math.min(3, items.length); shown++) {
      await expect.poll(() => rows.count()).toBe(shown)
      await visitor.click('Older runs')
    }
    await expect.poll(() => rows.count()).toBe(Math.min(3, items.length))
  }
  await page.unroute(small)
})

test('the feed of events is filtered, held still while it is read, and goes on', async () => {
  const { scene, visitor } = stage
  const { page } = visitor
  const extend = (size: number) =>
    scene.api.call('operate', { path: { type: 'opensds.volume', id: 'users', operation: 'extend' }, body: { size } })
  await visitor.go('/events')
  await visitor.type('Filter the events', 'no event is called so')
  await visitor.sees('No event fits.')
  await visitor.type('Filter the events', 'users')
  const rows = page.locator('.timeline li')
  await rows.first().waitFor()
  await visitor.click('Hold still')
  const held = await rows.count()
  const { run } = await extend(500)
  await scene.api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
  await visitor.sees(/held still/)
  expect(await rows.count()).toBe(held)
  await visitor.click('Go on')
  await expect.poll(() => rows.count()).toBeGreaterThan(held)
  await rows.first().locator('summary').click()
  await visitor.sees(/"subject"|"resource"/)
})

test('a lifecycle leads to its picture, its resources, and to what it is related to', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/lifecycles')
  await visitor.click(/^opensds\.volume/, 'link')
  await visitor.sees('When it is stuck there')
  await visitor.click('opensds.snapshot', 'link')
  await page.waitForURL('**/lifecycles/opensds.snapshot')
  await page.goBack()
  for (const name of ['Picture', 'Mermaid']) {
    const href = await page.getByRole('link', { name, exact: true }).getAttribute('href')
    const answer = await page.request.get(`${stage.scene.url}${href}`)
    expect(answer.ok(), href!).toBe(true)
    expect(await answer.text()).toMatch(/^<svg|stateDiagram/)
  }
  await visitor.click('Its resources', 'link')
  await page.waitForURL('**/resources?type=opensds.volume')
})

test('what was done is said in a note that goes when it is dismissed', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/orders')
  await visitor.stands('Available')
  await visitor.copy('curl', visitor.page.locator('.resource-head'))
  await visitor.sees(/^Copied: curl/)
  await visitor.click('Dismiss')
  await visitor.seesNoMore(/Copied: curl/)
})

test('what stands behind thousands of others is found too, by the filter and by the palette', async () => {
  const { scene, visitor } = stage
  const { page } = visitor
  await scene.api.call('importResources', {
    path: { type: 'archive.tape' },
    query: { reason: 'the whole shelf' },
    body: Array.from({ length: 12_000 }, (_, n) => ({
      id: `tape-${n}`,
      status: 'Idle',
      properties: { shelf: n + 1 },
    })),
  })
  await visitor.go('/resources?type=archive.tape&q=tape-11999')
  await visitor.sees('1 fits')
  await page.locator('.grid-row', { hasText: 'tape-11999' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('tape-11998')
  await page.getByRole('option', { name: /^tape-11998/ }).waitFor()
  // It looks like the name of a run, too; a whole name that exists comes first.
  await page.keyboard.press('Enter')
  await page.waitForURL('**/resources/archive.tape/tape-11998')
  await visitor.stands('Idle')
})

test('who types on and presses Enter before the answer is there does not open what was found before', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/runs')
  await visitor.sees('flink-live')
  await page.keyboard.press('/')
  const box = page.getByRole('combobox', { name: 'Find' })
  const found = page.getByRole('option')
  await box.fill('orders')
  await found.filter({ hasText: 'orders' }).waitFor()
  let letGo = () => {}
  const held = new Promise<void>((done) => (letGo = done))
  await page.route('**/v1/resources?q=users*', async (route) => {
    await held
    await route.continue()
  })
  await box.fill('users')
  await page.keyboard.press('Enter')
  expect(await found.filter({ hasText: 'orders' }).count()).toBe(0)
  expect(new URL(page.url()).pathname).toBe('/runs')
  letGo()
  await found.filter({ hasText: 'users' }).waitFor()
  await page.keyboard.press('Enter')
  await visitor.stands('Available')
  expect(new URL(page.url()).pathname).toBe('/resources/opensds.volume/users')
})
