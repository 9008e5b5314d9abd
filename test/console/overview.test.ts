// Columns and kept views, figures over time, conditions, attempts and late results, lanes and draining: each on its page, in both
// colour schemes and on a phone.
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { openShop } from '../server/workshop.ts'
import { visit } from './visitor.ts'
import { openStage, patienceMs } from './stage.ts'

const stage = openStage()

/** The page as it is now, in both schemes (the one of the dialogs' tests is light) and at the width of a phone. */
async function looksGood(name: string): Promise<void> {
  const { visitor } = stage
  await visitor.shot(`${name}-light`)
  await visitor.page.emulateMedia({ colorScheme: 'dark' })
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot(`${name}-dark`)
  await visitor.page.emulateMedia({ colorScheme: 'light' })
  await visitor.page.setViewportSize({ width: 390, height: 844 })
  expect(await visitor.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  await visitor.shot(`${name}-phone`)
  await visitor.page.setViewportSize({ width: 1440, height: 900 })
}

test('columns are chosen by keyboard, a property among them, and stand in the address', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/resources?type=opensds.volume')
  await visitor.sees(/^8 fit/)
  await page.locator('summary', { hasText: 'Columns' }).focus()
  await page.keyboard.press('Enter')
  await page.getByLabel('size', { exact: true }).focus()
  await page.keyboard.press('Space')
  await page.getByLabel('Description').uncheck()
  await page.waitForURL('**columns=id%2Cstatus%2Cfor%2Crun%2Cproperties.size')
  await page.getByRole('columnheader', { name: 'size' }).waitFor()
  expect(await page.getByRole('columnheader', { name: 'Description' }).count()).toBe(0)
  await page.getByRole('row', { name: /reports.*80/ }).waitFor()
  await looksGood('columns')
  await visitor.click('The usual ones')
  await page.waitForURL('**/resources?type=opensds.volume')
})

test('a view with its columns is kept on the server, found by somebody else, and forgotten', async () => {
  const { visitor, browser, scene } = stage
  await visitor.go('/resources?type=opensds.volume&q=ssd-2&columns=id%2Cstatus%2Cproperties.size')
  await visitor.sees('1 fits')
  await visitor.click('Keep this view ...')
  await visitor.type(/^name/, 'full pools')
  expect(await visitor.barriers()).toEqual([])
  await visitor.confirm('Keep it')
  await visitor.closes()
  const password = 'a long password for the night'
  await scene.api.call('createAccount', { body: { name: 'ann', password, role: 'viewer' } })
  const other = await visit(browser, scene, 'dark')
  await other.page.goto(`${scene.url}/resources`)
  await other.signIn('ann', password)
  await other.click('full pools', 'link')
  await other.sees('1 fits')
  await other.page.getByRole('columnheader', { name: 'size' }).waitFor()
  // Who may only look forgets nothing for the others.
  expect(await other.page.getByRole('button', { name: 'Forget the view full pools' }).isDisabled()).toBe(true)
  await other.page.close()
  await visitor.click('Forget the view full pools')
  await visitor.confirm('Forget it')
  await visitor.closes()
  await visitor.page.getByRole('link', { name: 'full pools' }).waitFor({ state: 'detached' })
  visitor.hasMade('saveView', 'deleteView')
})

test('the fleet shows ends of runs and the time to stable as the server counted them, and healing of each type', async () => {
  const { visitor, scene } = stage
  await visitor.go('/?type=opensds.volume')
  const { whole } = await scene.api.call('readTrends', {})
  const ends = visitor.page.getByRole('img', { name: /runs ended well/ })
  await ends.waitFor()
  expect(await ends.getAttribute('aria-label')).toContain(`${whole.succeeded} runs ended well, ${whole.failed} failed`)
  await visitor.page.getByRole('img', { name: /^Time to stable: half of the runs within \d/ }).waitFor()
  await visitor.sees('not by itself in Extending (approve)')
  await visitor.click('24 h')
  await visitor.page.waitForURL('**range=1440')
  await looksGood('fleet-over-time')
})

test('a resource says who carries it out, by when, and which conditions hold', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/resources/sahara.cluster/flink-live')
  await page.locator('.ownership', { hasText: 'worker 1' }).waitFor()
  await page.locator('.ownership', { hasText: /deadline in/ }).waitFor()
  await visitor.click('conditions', 'tab')
  await page.getByRole('row', { name: /^Carried out yes by worker 1/ }).waitFor()
  await visitor.go('/resources/opensds.volume/archive?tab=conditions')
  await page.getByRole('row', { name: /^Not stuck no no run is recorded/ }).waitFor()
  await page.getByRole('row', { name: /^Healed by itself no the mode for Extending is approve/ }).waitFor()
  await page.getByRole('row', { name: /^Nothing left behind yes/ }).waitFor()
  await looksGood('conditions')
  await visitor.click('What if it is stuck here?', 'link')
  await page.locator('.moments .written', { hasText: 'healed' }).first().waitFor()
})

test(
  'a run shows every attempt as a table; what a lost owner tells too late is kept and shown',
  async () => {
    const { visitor, scene } = stage
    const path = { type: 'archive.tape', id: 'deaf' }
    const made = await scene.api.call('createResource', {
      path: { type: path.type },
      body: { id: path.id, properties: { shelf: 1 } },
    })
    await scene.api.call('getRun', { path: { run: made.run!.id }, query: { wait: 30 } })
    const { run } = await scene.api.call('operate', { path: { ...path, operation: 'delete' } })
    await visitor.go(`/runs/${run!.id}`)
    await visitor.page.locator('summary', { hasText: 'One attempt as a table' }).click()
    await visitor.page.getByRole('cell', { name: 'eject', exact: true }).waitFor()
    // A person takes it out of the run's hands; only then does the driver end.
    const { etag } = await scene.api.call('getResource', { path })
    const body = { status: 'Doubtful', reason: 'the robot is deaf' }
    await scene.api.call('setStatus', { path, body }, { ifMatch: etag })
    await visitor.page.getByRole('heading', { name: 'Late results' }).waitFor()
    await visitor.page.getByRole('row', { name: /eject, attempt 1/ }).waitFor()
    await looksGood('run-late')
  },
  patienceMs,
)

test('where people sign in elsewhere, the first page offers it before local accounts', async () => {
  const oidc = { issuer: 'https://id.example.test', clientId: 'homeostat', publicUrl: 'https://h.test', roles: {} }
  const shop = await openShop({ server: { oidc, console: resolve('dist/web') } })
  const guest = await visit(stage.browser, { ...stage.scene, url: shop.url }, 'dark')
  await guest.page.goto(shop.url)
  const link = guest.page.getByRole('link', { name: 'Sign in with id.example.test' })
  expect(await link.getAttribute('href')).toBe('/sign-in/oidc')
  expect(await guest.barriers()).toEqual([])
  await guest.shot('sign-in-elsewhere')
  await guest.page.close()
  await shop.close()
})

test('lanes are told, and the last worker is drained only when its name has been typed', async () => {
  const { visitor } = stage
  await visitor.go('/workers')
  await visitor.page.getByRole('row', { name: /^delete .* 16 / }).waitFor()
  await visitor.page.getByRole('img', { name: /1 of 256 calls, 16 kept for this lane/ }).waitFor()
  await looksGood('lanes')
  await visitor.click('Drain ...')
  await visitor.sees(/It is the only worker that works/)
  expect(await visitor.barriers()).toEqual([])
  await stage.scene.api.call('clearFaults', {})
  await visitor.confirm('Drain it', { reason: 'a new kernel', name: 'scene' })
  await visitor.closes()
  await visitor.page.getByRole('row', { name: /drained by local: a new kernel/ }).waitFor()
  await visitor.sees('This process only answers: it carries nothing out, or it was drained.')
  visitor.hasMade('drainWorker')
})
