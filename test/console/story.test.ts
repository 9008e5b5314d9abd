// The story that the README shows: a cluster is created, a step is broken, the rollback is seen, the engine is killed and comes back,
// healing is seen live, and the why panel explains it. The test checks it on every run; `npm run story` also writes the pictures anew.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'
import type { Scheme } from './visitor.ts'

const stage = openStage()

/** Where the documents show them; left out, they are artefacts like the others. */
const folder = process.env['HOMEOSTAT_PICTURES'] ?? 'test/console/shots'

async function picture(name: string, scheme: Scheme = 'light'): Promise<void> {
  const { page } = stage.visitor
  mkdirSync(folder, { recursive: true })
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
  // Notes that come and go are not part of the picture.
  await page.evaluate(`document.querySelector('.toasts').style.visibility = 'hidden'`)
  await page.screenshot({ path: join(folder, `${name}.png`) })
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
}

async function createCluster(id: string, counts: object): Promise<void> {
  const { visitor } = stage
  await visitor.go('/resources?type=sahara.cluster')
  await visitor.click('Create')
  await visitor.type(/^id/, id)
  await visitor.type(/^properties.counts/, JSON.stringify(counts))
  await visitor.confirm('Create')
  await visitor.page.waitForURL(`**/resources/sahara.cluster/${id}`)
}

async function breakStep(does: string, message: string): Promise<void> {
  const { visitor } = stage
  await visitor.go('/dev')
  await visitor.choose('A call', does)
  await visitor.choose('of type', 'sahara.cluster')
  await visitor.choose('in step', 'configure')
  await visitor.type('saying', message)
  if (does === 'fail') await visitor.page.getByLabel(/for good/).check()
  await visitor.click('Break it')
  await visitor.page.locator('.rows-of li', { hasText: 'configure' }).waitFor()
}

afterAll(() => {
  // What the browser says of requests to a server that was killed.
  stage.visitor?.excuse(/./)
})

test('what the first page and a stuck volume look like', async () => {
  const { scene, visitor } = stage
  await visitor.page.setViewportSize({ width: 1280, height: 780 })
  for (const scheme of ['light', 'dark'] as const) {
    await visitor.go('/')
    await visitor.sees('no space left in pool ssd-2')
    await visitor.page.locator('.map .diagram').waitFor()
    await picture(`fleet-${scheme}`, scheme)
    await visitor.go('/resources/opensds.volume/archive')
    await visitor.sees('stuck: no run is recorded')
    await visitor.sees(/Once approved, healing will/)
    await picture(`stuck-${scheme}`, scheme)
  }
  await scene.api.call('clearFaults', {})
})

test(
  'a cluster is created, a step is broken and rolled back, the engine is killed and returns, healing goes on, and why is explained',
  async () => {
    const { scene, visitor } = stage
    await visitor.page.setViewportSize({ width: 1200, height: 720 })

    await createCluster('web', { master: 1, worker: 3 })
    await visitor.stands('Active')
    await visitor.sees(/create has ended/)
    await visitor.click('relations', 'tab')
    await visitor.page.locator('.tree .node').nth(3).waitFor()
    await visitor.page.evaluate('scrollTo(0, 0)')
    await picture('story-1-created')

    await breakStep('fail', 'no more addresses')
    await picture('story-2-broken')

    await createCluster('doomed', { worker: 2 })
    await visitor.stands('Error')
    await visitor.sees(/no more addresses/)
    await visitor.click('runs', 'tab')
    await visitor.page.locator('[role=tabpanel] a.mono').first().click()
    await visitor.page.locator('.track.undo', { hasText: 'undo spawn' }).waitFor()
    await visitor.page.locator('h1 .tag', { hasText: 'failed' }).waitFor()
    await picture('story-3-rolled-back')
    const truth = await scene.api.call('getTruth', {})
    expect(JSON.stringify(truth)).not.toContain('doomed')

    await visitor.go('/dev')
    await visitor.click('Clear all')
    await visitor.sees('Nothing is broken.')
    await breakStep('hang', 'the switch does not answer')
    await createCluster('big', { master: 1, worker: 2 })
    await visitor.stands('Configuring')
    await visitor.sees(/Worker 1 is carrying it out/)

    await scene.kill()
    await visitor.sees(/The server does not answer/)
    await visitor.page.locator('.live', { hasText: 'no answer' }).waitFor()
    await picture('story-4-killed')

    await scene.start()
    await visitor.seesNoMore(/The server does not answer/)
    await visitor.sees(/Found in Configuring: its worker was lost\. Healed: goes on with create\./)
    await visitor.sees(/Worker 2 is carrying it out/)
    await picture('story-5-why')

    await visitor.sees(/taken over where it stood \(its worker is gone\)/)
    await scene.api.call('clearFaults', {})
    await visitor.stands('Active')
    await visitor.sees(/create has ended; Starting to Active/)
    await visitor.page.locator('.tabs').scrollIntoViewIfNeeded()
    await picture('story-6-healed')

    await visitor.go('/healing')
    await visitor.page.locator('.panel', { hasText: 'What was healed' }).getByText('its worker is gone').waitFor()
    await visitor.page.evaluate('scrollTo(0, 0)')
    await picture('story-7-scoreboard')
    visitor.excuse(/ERR_|Failed to load resource|network/i)
    visitor.hasMade('createResource', 'setFault', 'clearFaults')
  },
  patienceMs,
)

test('on a phone', async () => {
  const { visitor } = stage
  await visitor.page.setViewportSize({ width: 390, height: 844 })
  await visitor.go('/')
  await visitor.sees('no space left in pool ssd-2')
  await picture('phone-dark', 'dark')
  await visitor.page.setViewportSize({ width: 1200, height: 720 })
})
