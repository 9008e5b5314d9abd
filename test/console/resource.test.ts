// The pages of resources and runs: everything that can be asked of a resource, and every hand on a run that is under way.
import { expect, test } from 'vitest'
import { openStage } from './stage.ts'

const stage = openStage()

test('an operation is asked for with fields from its schema, and its end is seen live', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/orders?tab=properties')
  await visitor.click('extend')
  await visitor.type(/^size/, '77')
  expect(await visitor.barriers()).toEqual([])
  await visitor.confirm('extend')
  await visitor.closes()
  await visitor.sees(/extend accepted/)
  await visitor.page.locator('dd', { hasText: /^77$/ }).waitFor()
  visitor.hasMade('operate')
})

test('what the server refuses is said in the dialog, with the reason', async () => {
  const { visitor } = stage
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

test('what cannot be sent is said before it is sent, and Cancel sends nothing', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/orders')
  await visitor.click('extend')
  await visitor.confirm('extend')
  await visitor.sees('size is needed.')
  const size = visitor.page.locator('#field-size:focus[aria-invalid=true][aria-describedby=field-size-fault]')
  await size.fill('1')
  await visitor.page.locator('#field-size[aria-invalid=false]').waitFor()
  expect(await visitor.page.locator('#field-size-fault').count()).toBe(0)
  await visitor.page.getByRole('dialog').getByRole('button', { name: 'Cancel', exact: true }).click()
  await visitor.closes()
})

test('an operation that is not allowed now is grey and says why', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/orders')
  const button = visitor.page.getByRole('button', { name: /^reset/ })
  expect(await button.getAttribute('aria-disabled')).toBe('true')
  await button.hover()
  await visitor.page.getByRole('tooltip').filter({ visible: true }).waitFor()
})

test('many operations that are not allowed now are folded up beside those that are, and each says why', async () => {
  const { scene, visitor } = stage
  const path = { type: 'archive.tape', id: 'spent' }
  await scene.api.call('createResource', { path, body: { id: 'spent', properties: { shelf: 1 } } })
  await visitor.go('/resources/archive.tape/spent')
  await visitor.stands('Idle')
  // One is refused: it is beside the others.
  await visitor.page.getByRole('button', { name: /^scrap/ }).waitFor()
  const { run } = await scene.api.call('deleteResource', { path })
  await scene.api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
  await visitor.stands('Ejected')
  await visitor.page.getByRole('button', { name: '8 not now ...' }).focus()
  expect(await visitor.page.locator('.operations [aria-disabled=true]:not(.ghost)').count()).toBe(0)
  expect(await visitor.barriers()).toEqual([])
  await visitor.page.keyboard.press('Enter')
  await visitor.page.getByRole('button', { name: /^rewind/ }).waitFor()
  expect(await visitor.page.locator('.operations [aria-disabled=true]:not(.ghost)').count()).toBe(8)
  await visitor.page.keyboard.press('Enter')
  await visitor.page.getByRole('button', { name: /^rewind/ }).waitFor({ state: 'detached' })
})

test('a lease is created with what its operation takes besides, and with dates as dates', async () => {
  const { scene, visitor } = stage
  await visitor.go('/resources?type=blazar.lease')
  await visitor.click('Create')
  await visitor.type(/^id/, 'lab')
  await visitor.type(/^properties.startDate/, '2031-05-01T10:00')
  await visitor.type(/^properties.endDate/, '2031-05-01T12:00')
  const reservations = visitor.page.getByLabel(/^input.reservations/)
  expect(await reservations.getAttribute('placeholder')).toBe('[{"resourceType":"...","amount":1}]')
  await visitor.confirm('Create')
  await visitor.sees('input.reservations is needed.')
  await reservations.fill('[{"resourceType": "host", "amount": 2}]')
  expect(await visitor.barriers()).toEqual([])
  await visitor.confirm('Create')
  await visitor.page.waitForURL('**/resources/blazar.lease/lab')
  await visitor.stands('PENDING')
  const { properties } = await scene.api.call('getResource', { path: { type: 'blazar.lease', id: 'lab' } })
  expect(properties['startDate']).toBe(await visitor.page.evaluate('new Date("2031-05-01T10:00").getTime()'))
  await visitor.go('/resources/blazar.lease/lab?tab=properties')
  await visitor.sees(/1 May 2031/)
  visitor.hasMade('createResource')
})

test.each([
  ['sahara.instance', 'No sahara.instance is created by itself: it comes with its sahara.cluster.'],
  ['blazar.reservation', 'No blazar.reservation is created by itself: it comes with its blazar.lease.'],
])('%s only comes with another: nobody is told to create one', async (type, words) => {
  const { scene, visitor } = stage
  await visitor.go(`/resources?type=${type}&q=nobody-has-this`)
  await visitor.page
    .getByRole('button', { name: 'Create', exact: true })
    .and(visitor.page.locator(`[aria-disabled=true][title="${words}"]`))
    .press('Enter')
  await visitor.page.locator('.toast', { hasText: words }).waitFor()
  // What does nothing is not blue.
  const [blue, grey] = await visitor.page.evaluate<string[]>(`['false', 'true'].map((is) => {
    const button = document.querySelector('button.primary')
    button.setAttribute('aria-disabled', is)
    return getComputedStyle(button).backgroundColor
  })`)
  expect(grey).not.toBe(blue)
  await expect(scene.api.call('createResource', { path: { type }, body: {} })).rejects.toThrow(words)
})

test('what ends a resource for good is red and wants its name, whatever it is called', async () => {
  const { scene, visitor } = stage
  await scene.api.call('importResources', {
    path: { type: 'archive.tape' },
    query: { reason: 'the old robot' },
    body: [{ id: 'worn', status: 'Doubtful', properties: { shelf: 1 } }],
  })
  await visitor.go('/resources/archive.tape/worn')
  const button = visitor.page.getByRole('button', { name: 'scrap', exact: true })
  await button.and(visitor.page.locator('.danger-outline')).click()
  await visitor.confirm('scrap', { name: 'worn' })
  await visitor.stands('Ejected')
})

test('what the server finds wrong is said at the fields that it names, the first of them in focus', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go('/resources?type=opensds.volume')
  await visitor.click('Create')
  await visitor.type(/^properties.name/, 'a b')
  await visitor.type(/^properties.size/, '0')
  await visitor.type(/^links.source/, 'nobody')
  await visitor.confirm('Create')
  await page.locator('[id="field-properties.name-fault"]', { hasText: 'only letters, digits, _ and -' }).waitFor()
  await page.locator('[id="field-properties.name"]:focus').waitFor()
  await page.locator('[id="field-properties.size-fault"]', { hasText: '>0' }).waitFor()
  expect(await page.locator('dialog .problem').count()).toBe(0)
  expect(await visitor.barriers()).toEqual([])
  await visitor.type(/^properties.name/, '')
  await visitor.type(/^properties.size/, '5')
  await visitor.confirm('Create')
  await page.locator('[id="field-links.source-fault"]', { hasText: 'there is no opensds.snapshot nobody' }).waitFor()
  for (const text of await visitor.complaints(2)) expect(text).toMatch(/400.*opensds.volume/)
  await page.keyboard.press('Escape')
  await visitor.closes()
  await visitor.go('/resources?type=opensds.snapshot')
  await visitor.click('Create')
  await visitor.type(/^parent/, 'nobody')
  await visitor.confirm('Create')
  await page.locator('#field-parent-fault', { hasText: 'There is no opensds.volume nobody' }).waitFor()
  for (const text of await visitor.complaints(1)) expect(text).toMatch(/400.*opensds.snapshot/)
  await page.keyboard.press('Escape')
  await visitor.closes()
})

test('an address without the id leads to its type; one whose list cannot be read counts nothing', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume')
  await visitor.page.waitForURL('**/resources?type=opensds.volume')
  await visitor.go('/resources?type=opensds.volume&status=Nowhere')
  await visitor.sees('They could not be read.')
  await visitor.complaints(1)
  await visitor.go('/resources')
  await visitor.page.getByRole('button', { name: 'Create', exact: true }).press('Enter')
  await visitor.page.locator('.toast', { hasText: 'Choose a type first' }).waitFor()
})

test('a resource is created with fields from its type', async () => {
  const { visitor } = stage
  await visitor.go('/resources?type=opensds.volume')
  await visitor.click('Create')
  await visitor.type(/^id/, 'fresh')
  await visitor.type(/^properties.size/, '5')
  await visitor.confirm('Create')
  await visitor.page.waitForURL('**/resources/opensds.volume/fresh')
  await visitor.stands('Available')
  visitor.hasMade('createResource')
})

test('a delete is done only when the name has been typed', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/fresh')
  await visitor.click('delete')
  const submit = visitor.page.getByRole('dialog').getByRole('button', { name: 'delete', exact: true })
  expect(await submit.isDisabled()).toBe(true)
  await visitor.confirm('delete', { name: 'fresh' })
  await visitor.closes()
  await visitor.stands('Deleted')
  visitor.hasMade('operate')
})

test('a status is set by hand with a reason and the name typed, and the timeline tells who and why', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/search')
  await visitor.click('Set status ...')
  await visitor.choose(/^status/, 'Error')
  const submit = visitor.page.getByRole('dialog').getByRole('button', { name: 'Set status', exact: true })
  await visitor.type(/Reason/, 'the array lost it')
  expect(await submit.isDisabled()).toBe(true)
  await visitor.confirm('Set status', { name: 'search' })
  await visitor.closes()
  await visitor.stands('Error')
  await visitor.sees(/It says: Set to Error by .*: the array lost it/)
  await visitor.sees(/status set by hand: the array lost it; Available to Error/)
  // It is no failure.
  expect(await visitor.page.getByText('Last failure').count()).toBe(0)
  visitor.hasMade('setStatus')
})

/** How large a name of the diagram is on the screen, whether the status is in sight, and how wide the picture is in its frame. */
const drawn = `(() => {
  const svg = document.querySelector('.of-one-frame .diagram')
  const frame = svg.parentElement.getBoundingClientRect()
  const { top, bottom, left, right } = svg.querySelector('.box.current').getBoundingClientRect()
  const { width } = svg.getBoundingClientRect()
  return {
    namePx: 12 * (width / svg.viewBox.baseVal.width),
    isInSight: top >= frame.top && bottom <= frame.bottom && left >= frame.left && right <= frame.right,
    isFitted: width <= frame.width,
    left: svg.parentElement.scrollLeft,
  }
})()`
interface Drawn {
  readonly namePx: number
  readonly isInSight: boolean
  readonly isFitted: boolean
  readonly left: number
}

test.each([1_440, 768, 390])(
  'on a screen of %i px the diagram can be read around where the resource stands',
  async (width) => {
    const { page } = stage.visitor
    const look = () => page.evaluate<Drawn>(drawn)
    await page.setViewportSize({ width, height: 844 })
    await stage.visitor.go('/resources/sahara.cluster/flink-live')
    await page.locator('.of-one-frame .box.current').waitFor()
    await expect.poll(async () => (await look()).isInSight).toBe(true)
    const close = await look()
    expect(Math.round(close.namePx)).toBeGreaterThanOrEqual(12)
    expect(close.isFitted).toBe(false)
    // By keys, and pulled.
    await page.getByRole('group', { name: 'Diagram', exact: true }).focus()
    await page.keyboard.press('ArrowLeft')
    await expect.poll(async () => (await look()).left).toBeLessThan(close.left)
    const { x, y } = (await page.locator('.of-one-frame').boundingBox())!
    await page.mouse.move(x + 200, y + 80)
    await page.mouse.down()
    await page.mouse.move(x + 20, y + 80, { steps: 5 })
    await page.mouse.up()
    await expect.poll(async () => (await look()).left).toBeGreaterThan(close.left)
    await stage.visitor.click('Fit the width')
    await expect.poll(async () => (await look()).isFitted).toBe(true)
    await stage.visitor.click('Closer')
    await expect.poll(async () => (await look()).isInSight).toBe(true)
    await page.setViewportSize({ width: 1440, height: 900 })
  },
)

test('every tab of a resource is a click away and in the address', async () => {
  const { visitor } = stage
  await visitor.go('/resources/sahara.cluster/hadoop-eu')
  for (const [tab, sees] of [
    ['relations', 'instances'],
    ['ledger', 'Made by step'],
    ['runs', 'succeeded'],
    ['properties', 'revision, epoch'],
    ['raw', /"createdAt"/],
  ] as const) {
    await visitor.click(tab, 'tab')
    await visitor.sees(sees)
    expect(visitor.page.url()).toContain(`?tab=${tab}`)
  }
  await visitor.click('relations', 'tab')
  await visitor.page.getByText('what belongs to it').first().click()
  await visitor.page.locator('.tree .tree').first().waitFor()
  await visitor.click('timeline', 'tab')
  await visitor.sees(/create has ended/)
})

test('a run is cancelled with a reason: the waterfall and the timeline tell what follows', async () => {
  const { visitor } = stage
  await visitor.go('/resources/sahara.cluster/flink-live')
  await visitor.click('Whole run', 'link')
  await visitor.sees('awaitBoot')
  await visitor.click('Cancel')
  // Beside it no other button is called so.
  await visitor.page.getByRole('dialog').getByRole('button', { name: 'Let it go on' }).waitFor()
  await visitor.confirm('Cancel the run', { reason: 'the rack is down', name: 'flink-live' })
  await visitor.closes()
  await visitor.page.locator('h1 .tag', { hasText: /cancelled|failed/ }).waitFor()
  await visitor.sees(/the rack is down/)
  await visitor.page.locator('.track.undo', { hasText: 'undo spawn' }).waitFor()
  // Its own events do not lead to where one is.
  await visitor.sees(/asked by admin token at/)
  expect(await visitor.page.locator('.timeline > li').count()).toBeGreaterThan(3)
  expect(await visitor.page.locator('.timeline a').count()).toBe(0)
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('run-cancelled')
  visitor.hasMade('cancelRun')
})

/** A tape that is being written: its first call has failed, and the next is in ten minutes. */
async function writing(id: string): Promise<string> {
  const { api } = stage.scene
  await api.call('createResource', { path: { type: 'archive.tape' }, body: { id, properties: { shelf: 7 } } })
  await expect
    .poll(async () => (await api.call('getResource', { path: { type: 'archive.tape', id } })).status)
    .toBe('Idle')
  const { run } = await api.call('operate', { path: { type: 'archive.tape', id, operation: 'write' } })
  await expect.poll(async () => (await api.call('getRun', { path: { run: run!.id } })).nextCallAt).not.toBe(null)
  return run!.id
}

test('a run that waits for its next try is tried now; parked, it is resumed, and ends well', async () => {
  const { visitor } = stage
  const run = await writing('monday')
  await visitor.go('/resources/archive.tape/monday')
  await visitor.sees(/the tape is not in the drive/)
  await visitor.sees(/^Next, by itself, in /)
  await visitor.page.locator('.track:has(.bar.waiting)', { hasText: 'waits' }).waitFor()
  await visitor.go(`/runs/${run}`)
  await visitor.sees('Next call')
  await visitor.click('Retry now')
  await visitor.confirm('Retry now')
  await visitor.closes()
  await visitor.sees(/nobody knows whether it happened/)
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('run-parked')
  await visitor.click('Resume')
  await visitor.confirm('Resume')
  await visitor.closes()
  await visitor.page.locator('h1 .tag', { hasText: 'succeeded' }).waitFor()
  visitor.hasMade('retryRun')
})

test('the step of a parked run is skipped by somebody who vouches for it', async () => {
  const { scene, visitor } = stage
  const run = await writing('tuesday')
  await visitor.go(`/runs/${run}`)
  await visitor.sees('Next call')
  expect(await visitor.page.getByRole('button', { name: 'Skip step' }).getAttribute('title')).toMatch(
    /Only a parked run/,
  )
  await scene.api.call('retryRun', { path: { run } })
  await visitor.sees(/nobody knows whether it happened/)
  await visitor.click('Skip step')
  await visitor.confirm('Skip step', { reason: 'read it back: it is on the tape', name: 'tuesday' })
  await visitor.closes()
  await visitor.page.locator('h1 .tag', { hasText: 'succeeded' }).waitFor()
  await visitor.sees(/it is on the tape/)
  visitor.hasMade('skipStep')
})
