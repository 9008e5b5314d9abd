// One operation over many: begun from a filter with a preview, a rate and a reason; paused, resumed, cancelled.
import { expect, test } from 'vitest'
import { openStage } from './stage.ts'

const stage = openStage()

test('a bulk job: a preview, a rate and a reason, then every target with what became of it', async () => {
  const { visitor } = stage
  await visitor.go('/resources?type=opensds.volume&status=Available')
  await visitor.click(/^Bulk over/)
  await visitor.choose('Operation', 'extend')
  await visitor.type(/^size/, '900')
  await visitor.type('Per second', '200')
  await visitor.type(/Reason/, 'all volumes grow')
  await visitor.click('Preview')
  await visitor.sees(/would be asked of \d+ resources/)
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('bulk-preview')
  const total = /asked of (\d+)/.exec((await visitor.page.getByText(/would be asked of/).textContent()) ?? '')![1]!
  const start = visitor.page.getByRole('dialog').getByRole('button', { name: 'Start' })
  expect(await start.isDisabled()).toBe(true)
  await visitor.type(/to go on/, total)
  await start.click()
  await visitor.page.waitForURL('**/bulk/*')
  await visitor.page.locator('.page-head .tag', { hasText: 'done' }).waitFor()
  await visitor.sees('accepted')
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('bulk-job')
  expect(await visitor.page.getByRole('button', { name: 'Pause' }).getAttribute('title')).toBe('It is over.')
  visitor.hasMade('createBulk')
})

test('a bulk job is found in the list, paused, resumed, and cancelled for good', async () => {
  const { scene, visitor } = stage
  // So slow that nothing of it is over before the test is.
  await scene.api.call('createBulk', {
    body: {
      filter: { type: 'opensds.volume', status: ['Available'] },
      operation: 'extend',
      input: { size: 950 },
      reason: 'step by step',
      perSecond: 0.1,
    },
  })
  await visitor.go('/bulk')
  const row = visitor.page.locator('.rows-of li', { hasText: 'step by step' })
  await row.getByText('running').waitFor()
  await row.getByRole('link').first().click()
  const state = visitor.page.locator('.page-head .tag')
  await visitor.click('Pause')
  await visitor.confirm('Pause')
  await visitor.closes()
  await state.filter({ hasText: 'paused' }).waitFor()
  await visitor.click('Resume')
  await visitor.confirm('Resume')
  await visitor.closes()
  await state.filter({ hasText: 'running' }).waitFor()
  await visitor.click('Cancel')
  await visitor.confirm('Cancel it', { reason: 'enough', name: 'extend' })
  await visitor.closes()
  await state.filter({ hasText: 'cancelled' }).waitFor()
  expect(await visitor.page.getByRole('button', { name: 'Pause' }).isDisabled()).toBe(true)
  visitor.hasMade('pauseBulk', 'resumeBulk', 'cancelBulk')
})
