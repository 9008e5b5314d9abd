// What is stuck, what was left behind, and healing itself: everything a person can do about it, each with its reason.
import { expect, test } from 'vitest'
import { openStage } from './stage.ts'

const stage = openStage()

test('healing is approved with a reason, and the resource leaves the list of what is stuck', async () => {
  const { visitor } = stage
  await visitor.go('/stuck')
  await visitor.click('Heal now ...')
  await visitor.confirm('Heal now', { reason: 'the array is back' })
  await visitor.closes()
  await visitor.page.getByText('opensds.volume is Extending and no run is recorded').waitFor({ state: 'detached' })
  await visitor.go('/resources/opensds.volume/archive')
  await visitor.stands(/Available|ErrorExtending/)
  visitor.hasMade('approveHealing')
})

test('what no crash explains is an incident with its evidence; it is copied as a report, and closed', async () => {
  const { visitor } = stage
  await visitor.go('/stuck')
  await visitor.page.locator('.incident summary', { hasText: 'archive' }).click()
  await visitor.sees(/stood in Extending with no run/)
  const report = await visitor.copy('Copy as a report')
  expect(JSON.parse(report.slice(report.indexOf('{')))).toMatchObject({ kind: 'unowned', status: 'Extending' })
  expect(await visitor.barriers()).toEqual([])
  await visitor.click('Close ...')
  await visitor.confirm('Close', { reason: 'the import was ours' })
  await visitor.closes()
  await visitor.sees('No incident is open.')
  visitor.hasMade('closeIncident')
})

test('the mode of a rule is changed with a reason; the rules are filtered', async () => {
  const { scene, visitor } = stage
  await visitor.go('/healing')
  await visitor.type('Filter the rules', 'volume extending')
  expect(await visitor.page.getByLabel(/^Mode for/).count()).toBe(1)
  for (const mode of ['off', 'auto']) {
    await visitor.choose('Mode for opensds.volume in Extending', mode)
    await visitor.confirm(`Set to ${mode}`, { reason: 'serviced' })
    await visitor.closes()
    await expect.poll(() => visitor.page.getByLabel('Mode for opensds.volume in Extending').inputValue()).toBe(mode)
  }
  const { modes } = await scene.api.call('getHealing', {})
  expect(modes.find(({ type, status }) => type === 'opensds.volume' && status === 'Extending')).toMatchObject({
    mode: 'auto',
  })
  visitor.hasMade('setHealingMode')
})

test('a breaker is opened and closed with a reason; a pass is asked for', async () => {
  const { visitor } = stage
  await visitor.go('/healing')
  await visitor.click('Open ...')
  await visitor.confirm('Open breaker', { reason: 'a drill' })
  await visitor.closes()
  await visitor.page.getByText('open', { exact: true }).waitFor()
  await visitor.go('/')
  await visitor.sees(/^breaker open:/)
  await visitor.go('/healing')
  await visitor.click('Close ...')
  await visitor.confirm('Close breaker', { reason: 'the drill is over' })
  await visitor.closes()
  await visitor.page.getByText('open', { exact: true }).waitFor({ state: 'detached' })
  await visitor.click('Run a pass now')
  await visitor.confirm('Run a pass')
  await visitor.closes()
  await visitor.sees('A healing pass was asked for.')
  visitor.hasMade('setBreaker', 'runHealing')
})

/** Stands in Extending, and nobody is at it. */
const importStuck = (...ids: string[]) =>
  stage.scene.api.call('importResources', {
    path: { type: 'opensds.volume' },
    query: { reason: 'more of them' },
    body: ids.map((id) => ({ id, status: 'Extending', properties: { size: 10, zone: 'eu-1' } })),
  })

test('what waits for approval is approved on the page of healing; what does not is healed by itself and counted there', async () => {
  const { scene, visitor } = stage
  const rule = { type: 'opensds.volume', status: 'Extending' }
  await scene.api.call('setHealingMode', { path: rule, body: { mode: 'approve', reason: 'serviced again' } })
  await importStuck('ledgers')
  await visitor.go('/healing')
  await visitor.sees('ledgers')
  await visitor.click('Heal now ...')
  await visitor.confirm('Heal now', { reason: 'looked at it' })
  await visitor.closes()
  await visitor.sees('Nothing is to be healed.')
  // On a phone the rules are read to their end without scrolling sideways.
  const { page } = visitor
  const size = page.viewportSize()!
  await page.setViewportSize({ width: 390, height: 844 })
  const wide = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.stacks').parentElement)`
  await expect.poll(() => page.evaluate(wide)).toBe(0)
  await page.setViewportSize(size)
  await scene.api.call('setHealingMode', { path: rule, body: { mode: 'auto', reason: 'done' } })
  await importStuck('invoices')
  await visitor.page
    .locator('.panel', { hasText: 'What was healed' })
    .getByRole('cell', { name: 'Extending' })
    .waitFor()
  await visitor.go('/resources/opensds.volume/invoices')
  await visitor.stands(/Available|ErrorExtending/)
  visitor.hasMade('approveHealing')
})

test('all that waits for approval is approved at once, and how many are named first', async () => {
  const { scene, visitor } = stage
  const rule = { type: 'opensds.volume', status: 'Extending' }
  await scene.api.call('setHealingMode', { path: rule, body: { mode: 'approve', reason: 'serviced again' } })
  await importStuck('reel-a', 'reel-b', 'reel-c')
  await visitor.go('/healing')
  await visitor.click('Approve all 3 ...')
  await visitor.sees(/These 3 are healed now as their rules say/)
  await visitor.confirm('Heal all of them', { reason: 'looked at them' })
  await visitor.closes()
  await visitor.sees('3 of 3 healed.')
  await visitor.sees('Nothing is to be healed.')
  visitor.hasMade('approveAllHealing')
})

test('what is of one cause is folded up, and approved alone: what waits for another reason goes on waiting', async () => {
  const { scene, visitor } = stage
  const modes = async (mode: 'approve' | 'auto') => {
    for (const status of ['Extending', 'Deleting'])
      await scene.api.call('setHealingMode', {
        path: { type: 'opensds.volume', status },
        body: { mode, reason: 'a test' },
      })
  }
  await modes('approve')
  await importStuck(...Array.from({ length: 7 }, (_, index) => `heap-${index}`))
  await scene.api.call('importResources', {
    path: { type: 'opensds.volume' },
    query: { reason: 'for the test' },
    body: ['other-a', 'other-b'].map((id) => ({ id, status: 'Deleting', properties: { size: 1, zone: 'eu-1' } })),
  })
  await visitor.go('/healing')
  const heap = visitor.page.locator('.rows-of > li', { hasText: /^7 opensds\.volume are Extending/ })
  await heap.getByText('Healing would ask the driver').waitFor()
  expect(await visitor.page.getByText('heap-3').filter({ visible: true }).count()).toBe(0)
  await heap.locator('summary').focus()
  await visitor.page.keyboard.press('Enter')
  await heap.getByRole('link', { name: 'heap-3' }).waitFor()
  await visitor.page.getByRole('button', { name: 'Approve all 9 ...' }).waitFor()
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('healing-folded')
  // Where the first page leads: they are approved there, too, and not changed in bulk.
  await visitor.go('/resources?type=opensds.volume&status=Extending&stuck=true')
  await visitor.page.getByRole('button', { name: 'Approve all 7 ...' }).waitFor()
  await visitor.page.getByRole('button', { name: 'Bulk ...' }).focus()
  await visitor.page.keyboard.press('Enter')
  await visitor.sees('What is stuck is healed, not changed in bulk.')
  await visitor.go('/resources?type=opensds.volume&status=Extending&stuck=true&q=heap-1')
  await visitor.sees('1 fits')
  expect(await visitor.page.getByRole('button', { name: /^Approve all/ }).count()).toBe(0)
  await visitor.go('/stuck')
  const cause = visitor.page.locator('.panel', { hasText: 'opensds.volume is Extending and no run is recorded' })
  await cause.getByRole('button', { name: 'Approve all 7 ...' }).click()
  await visitor.sees(/Approve all opensds\.volume in Extending that wait for approval/)
  await visitor.confirm('Heal all of them', { reason: 'looked at these' })
  await visitor.closes()
  await visitor.sees('7 of 7 healed.')
  const { items } = await scene.api.call('listStuck', {})
  expect(items.map(({ resource }) => resource.id).toSorted()).toEqual(['other-a', 'other-b'])
  await modes('auto')
  await expect.poll(async () => (await scene.api.call('listStuck', {})).items).toEqual([])
  visitor.hasMade('approveAllHealing')
})

test('incidents are read page by page; an old one is told by its resource too', async () => {
  const { scene, visitor } = stage
  const rule = { type: 'opensds.volume', status: 'Extending' }
  await scene.api.call('setHealingMode', { path: rule, body: { mode: 'auto', reason: 'done' } })
  await importStuck(...Array.from({ length: 101 }, (_, index) => `tape-${index}`))
  const open = async () => (await scene.api.call('listIncidents', { query: { pageSize: 500 } })).items
  await expect
    .poll(async () => (await open()).filter(({ resource }) => resource.id.startsWith('tape-')).length)
    .toBe(101)
  const oldest = (await open()).at(-1)!.resource
  await visitor.go('/stuck')
  for (let seen = 20; seen < 101; seen += 20) {
    await expect.poll(() => visitor.page.locator('.incident').count()).toBe(seen)
    await visitor.click('Older incidents')
  }
  await visitor.page.locator('.incident', { hasText: oldest.id }).waitFor()
  expect(await visitor.page.getByRole('button', { name: 'Older incidents' }).count()).toBe(0)
  await visitor.go(`/resources/${oldest.type}/${oldest.id}?tab=conditions`)
  await visitor.sees(/stood in Extending with no run/)
})

/** A cluster is deleted by force while its backend does not answer: its machines are left behind. */
async function leftBehind(id: string, by: 'hand' | 'api'): Promise<string> {
  const { scene, visitor } = stage
  await scene.api.call('setFault', {
    body: { does: 'hang', on: { type: 'sahara.cluster', step: 'terminateInstances' } },
  })
  if (by === 'api') {
    const path = { type: 'sahara.cluster', id }
    await scene.api.call('deleteResource', { path, query: { force: 'true', reason: 'the hypervisor is gone' } })
  } else {
    await visitor.go(`/resources/sahara.cluster/${id}`)
    await visitor.click('Force delete ...')
    await visitor.confirm('Force delete', { reason: 'the hypervisor is gone', name: id })
    await visitor.closes()
  }
  const orphan = async () =>
    (await scene.api.call('listOrphans', {})).items.find(({ resource }) => resource.id === id)?.id
  await expect.poll(orphan).toBeDefined()
  await visitor.go('/orphans')
  await visitor.sees((await orphan())!)
  await scene.api.call('clearFaults', {})
  return (await orphan())!
}

test('what a forced delete leaves behind is listed, and swept with its name typed', async () => {
  const { visitor } = stage
  const orphan = await leftBehind('spark-night', 'hand')
  expect(await visitor.barriers()).toEqual([])
  await visitor.click('Sweep ...')
  await visitor.confirm('Destroy it', { reason: 'it costs money', name: orphan })
  await visitor.closes()
  await visitor.sees('Nothing is left behind.')
  visitor.hasMade('deleteResource', 'sweepOrphan')
})

test('what is left behind is written off by somebody who vouches; of what is gone nothing is adopted', async () => {
  const { visitor } = stage
  const orphan = await leftBehind('hadoop-eu', 'api')
  await visitor.click('Adopt ...')
  await visitor.confirm('Adopt', { reason: 'it is still of use' })
  await visitor.page.getByRole('dialog').getByRole('alert').waitFor()
  for (const text of await visitor.complaints(1)) expect(text).toMatch(/409.*:adopt/)
  await visitor.page.keyboard.press('Escape')
  await visitor.closes()
  await visitor.click('Write off ...')
  await visitor.confirm('Write off', { reason: 'looked at it', name: orphan })
  await visitor.closes()
  await visitor.sees('Nothing is left behind.')
  visitor.hasMade('writeOffOrphan')
})

test('what an undo could not take back is given back to its resource', async () => {
  const { scene, visitor } = stage
  const type = 'sahara.cluster'
  for (const step of ['configure', 'terminateInstances'])
    await scene.api.call('setFault', { body: { does: 'fail', terminal: true, on: { type, step } } })
  await scene.api.call('createResource', {
    path: { type },
    body: { id: 'storm', properties: { counts: { worker: 1 } } },
  })
  await visitor.go('/resources/sahara.cluster/storm')
  await visitor.stands('Error')
  await visitor.sees('1 left behind')
  await scene.api.call('clearFaults', {})
  await visitor.go('/orphans')
  await visitor.click('Adopt ...')
  await visitor.confirm('Adopt', { reason: 'the machines are wanted' })
  await visitor.closes()
  await visitor.sees('Nothing is left behind.')
  await visitor.go('/resources/sahara.cluster/storm?tab=ledger')
  await visitor.page.getByRole('cell', { name: 'there', exact: true }).waitFor()
  visitor.hasMade('adoptOrphan')
})

test('who carries runs out is listed with its lease, and the figures of this process', async () => {
  const { visitor } = stage
  await visitor.go('/workers')
  await visitor.page.locator('tr', { hasText: 'answers here' }).getByText('live').waitFor()
  await visitor.sees('Event loop lag, 99th percentile')
})
