// From nothing to many: a new installation says on every page what comes next, and a long list is found again where it was left.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'

const stage = openStage({ isFilled: false })

test.each([
  ['/', 'Choose a type under Resources'],
  ['/', /has a tour of five minutes/],
  ['/resources', /^Choose a type above, then Create/],
  ['/resources?type=opensds.volume', 'Create makes the first one.'],
  ['/runs', /Whatever is asked of a resource/],
  ['/stuck', /this page fills by itself/],
  ['/healing', /what gets stuck is listed here by itself/],
  ['/orphans', 'Everything that exists belongs to a resource.'],
  ['/bulk', 'Choose resources'],
  ['/events', /as it happens/],
  ['/lifecycles', '0 resources'],
  ['/webhooks', /^New webhook takes an address/],
  ['/audit', /One entry fits its chain of hashes/],
])(
  'with nothing created, %s says what comes next',
  async (address, sees) => {
    const { visitor } = stage
    await visitor.go(address)
    await visitor.sees(sees)
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot(`nothing${address.replace(/\W+/g, '-')}`)
  },
  patienceMs,
)

test('a filter that nothing fits is not called the beginning, once something is there', async () => {
  const { scene, visitor } = stage
  await scene.api.call('createResource', {
    path: { type: 'opensds.volume' },
    body: { id: 'only', properties: { size: 1 } },
  })
  await visitor.go('/resources?type=opensds.volume')
  await visitor.sees('1 fits')
  await visitor.go('/resources?type=opensds.volume&q=nobody-has-this')
  await visitor.sees('Nothing fits.')
  await visitor.go('/resources')
  await visitor.sees('1 in all')
})

test(
  'who opens a resource far down in a list and goes back is where he was, also while events come in',
  async () => {
    const { scene, visitor } = stage
    const reels = Array.from({ length: 1_000 }, (_, index) => ({
      id: `reel-${String(index).padStart(4, '0')}`,
      status: 'Idle',
      properties: { shelf: index + 1 },
    }))
    await scene.api.call('importResources', {
      path: { type: 'archive.tape' },
      query: { reason: 'the old robot' },
      body: reels,
    })
    await visitor.go('/resources?type=archive.tape')
    await visitor.sees('1,000 fit')
    const rows = visitor.page.locator('.rows')
    const top = () => rows.evaluate((one) => one.scrollTop)
    // Read page by page, as one scrolls.
    for (const to of [6_000, 12_000, 18_000])
      await expect.poll(() => rows.evaluate((one, offset) => ((one.scrollTop = offset), one.scrollTop), to)).toBe(to)
    await visitor.sees('reel-0452')
    await visitor.page.waitForFunction('history.state?.rows === 18000')
    await scene.api.call('operate', {
      path: { type: 'archive.tape', id: 'reel-0001', operation: 'write' },
    })
    await visitor.sees(/^1,000 fit/)
    expect(await top()).toBe(18_000)
    await visitor.page.getByRole('link', { name: 'reel-0452' }).click()
    await visitor.stands('Idle')
    await visitor.page.goBack()
    await expect.poll(top).toBe(18_000)
    await visitor.sees('reel-0452')
    // By another way it begins at its top.
    await visitor.click('Fleet', 'link')
    await visitor.sees('Needs attention')
    await visitor.click('All resources', 'link')
    await visitor.sees(/in all/)
    expect(await top()).toBe(0)
  },
  patienceMs,
)
