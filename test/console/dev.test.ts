// Development mode: breaking calls, the world's truth, the guided tour, and striking the process that serves the page itself.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'

const stage = openStage({ isFilled: false })

/** What the browser itself says of requests that nobody answered. */
const unanswered = /ERR_|Failed to load resource|Failed to fetch|network/i

async function breakCreation(message: string, times: string): Promise<void> {
  const { visitor } = stage
  await visitor.go('/dev')
  await visitor.choose('A call', 'fail')
  await visitor.choose('of type', 'opensds.volume')
  await visitor.choose('in step', 'createVolume')
  await visitor.type('saying', message)
  await visitor.type('so many times', times)
  await visitor.click('Break it')
  await visitor.page.locator('.rows-of li', { hasText: message }).waitFor()
}

async function createVolume(id: string): Promise<void> {
  const { visitor } = stage
  await visitor.go('/resources?type=opensds.volume')
  await visitor.click('Create')
  await visitor.type(/^id/, id)
  await visitor.type(/^properties.size/, '5')
  await visitor.confirm('Create')
  await visitor.page.waitForURL(`**/resources/opensds.volume/${id}`)
}

test('the tour is followed step by step, and sees by itself what was done', async () => {
  const { visitor } = stage
  const done = () => visitor.page.locator('.tour li.done').count()
  await visitor.go('/dev')
  await visitor.sees('Break it and watch it heal')
  expect(await done()).toBe(0)
  await breakCreation('the array is asleep', '1')
  await expect.poll(done).toBe(1)
  await createVolume('toured')
  await visitor.sees(/the array is asleep/)
  await visitor.go('/dev')
  await expect.poll(done).toBeGreaterThanOrEqual(3)
  await visitor.click('Clear all')
  await visitor.sees('Nothing is broken.')
  await expect.poll(done).toBe(5)
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('tour')
  await visitor.page.locator('.tour').getByRole('link', { name: 'toured' }).click()
  await visitor.stands('Available')
  visitor.hasMade('setFault', 'clearFaults', 'createResource')
})

test('one switch is cleared without the others', async () => {
  const { visitor } = stage
  await breakCreation('the first', '')
  await breakCreation('the second', '')
  await visitor.page
    .locator('.rows-of li', { hasText: 'the first' })
    .getByRole('button', { name: 'Clear', exact: true })
    .click()
  await visitor.page.locator('.rows-of li', { hasText: 'the first' }).waitFor({ state: 'detached' })
  await visitor.page.locator('.rows-of li', { hasText: 'the second' }).waitFor()
  await visitor.click('Clear all')
  await visitor.sees('Nothing is broken.')
  visitor.hasMade('clearFault', 'clearFaults')
})

test("the world's truth stands beside the records", async () => {
  const { visitor } = stage
  await createVolume('true-one')
  await visitor.stands('Available')
  await visitor.go('/dev')
  const row = visitor.page.locator('tr', { hasText: 'true-one' })
  await row.getByText('5 GiB').waitFor()
  await row.getByRole('link', { name: 'true-one' }).click()
  await visitor.page.waitForURL('**/resources/opensds.volume/true-one')
})

test(
  'the process is killed from the page: the page says that nobody answers, and comes back with the next one',
  async () => {
    const { scene, visitor } = stage
    await visitor.go('/dev')
    await visitor.click('Kill it ...')
    await visitor.confirm('kill', { name: 'kill' })
    await visitor.closes()
    visitor.hasMade('strikeWorker')
    await visitor.sees(/The server does not answer/)
    await visitor.page.locator('.live', { hasText: 'no answer' }).waitFor()
    await scene.start()
    await visitor.seesNoMore(/The server does not answer/)
    await visitor.page.locator('.live', { hasText: 'live' }).waitFor()
    await visitor.go('/workers')
    await visitor.page.locator('tr', { hasText: 'answers here' }).getByText('live').waitFor()
    visitor.excuse(unanswered)
  },
  patienceMs,
)

test(
  'the process stands still without saying so: the page notices, and goes on when it wakes up',
  async () => {
    const { scene, visitor } = stage
    await visitor.go('/dev')
    await visitor.click('Freeze it ...')
    await visitor.confirm('freeze', { name: 'freeze' })
    await visitor.closes()
    visitor.hasMade('strikeWorker')
    await visitor.sees(/The server does not answer/)
    scene.wake()
    await visitor.seesNoMore(/The server does not answer/)
    await createVolume('after-the-freeze')
    await visitor.stands('Available')
    visitor.excuse(unanswered)
  },
  patienceMs,
)
