// Where a form asks for another resource, those that fit are offered: found on the server, by keyboard and on a phone, of the tenant that
// may use them. What is typed or pasted is taken all the same.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'
import { visit } from './visitor.ts'

const stage = openStage()
const { page, press } = {
  page: () => stage.visitor.page,
  press: async (...keys: readonly string[]) => {
    for (const key of keys) await stage.visitor.page.keyboard.press(key)
  },
}

const field = (name: string) => page().locator(`[id="field-${name}"]`)
const options = (of = page()) => of.locator('.found [role=option]')
const offered = async () => (await options().allTextContents()).map((text) => text.trim())
const active = () => page().locator('[role=option][aria-selected=true] .mono').textContent()
const note = (name: string) => page().locator(`[id="field-${name}-note"]`)

async function create(type: string): Promise<void> {
  await stage.visitor.go(`/resources?type=${type}`)
  await stage.visitor.click('Create')
}

test('a parent is chosen by keyboard: those in the required status first, the others marked; Enter chooses, Escape folds up', async () => {
  const { scene, visitor } = stage
  await create('opensds.snapshot')
  await visitor.type(/^id/, 'by-keys')
  await press('Tab')
  expect(await field('parent').getAttribute('aria-expanded')).toBe('false')
  await press('ArrowDown')
  await options().first().waitFor()
  expect(await offered()).toEqual([
    ...['orders', 'users', 'carts', 'photos', 'mail', 'search'].map((id) => `${id}Available`),
    'reportsdoes not fitError',
    'archivedoes not fitExtending',
  ])
  expect(await field('parent').getAttribute('aria-expanded')).toBe('true')
  expect(await active()).toBe('orders')
  expect(await visitor.barriers()).toEqual([])
  await press('ArrowUp')
  expect(await active()).toBe('archive')
  await press('ArrowDown', 'ArrowDown')
  expect(await active()).toBe('users')
  // Only the list: the form stays as it was.
  await press('Escape')
  await options().first().waitFor({ state: 'detached' })
  expect(await field('id').inputValue()).toBe('by-keys')
  await page().keyboard.type('pho')
  await expect.poll(offered).toEqual(['photosAvailable'])
  await press('Enter')
  await expect.poll(() => field('parent').inputValue()).toBe('photos')
  await note('parent').getByText('Available').waitFor()
  await visitor.shot('chosen')
  await press('Enter')
  await visitor.closes()
  const made = await scene.api.call('getResource', { path: { type: 'opensds.snapshot', id: 'by-keys' } })
  expect(made.parent?.id).toBe('photos')
  visitor.hasMade('createResource')
})

test('what was pasted is taken without a list; what does not fit, is gone or is not there says so at its field', async () => {
  const { scene, visitor } = stage
  const gone = await scene.api.call('createResource', {
    path: { type: 'opensds.volume' },
    body: { id: 'bygone', properties: { size: 1, zone: 'eu-1' } },
  })
  await scene.api.call('getRun', { path: { run: gone.run!.id }, query: { wait: 30 } })
  const { run } = await scene.api.call('deleteResource', { path: { type: 'opensds.volume', id: 'bygone' } })
  await scene.api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
  await create('opensds.snapshot')
  for (const [typed, says] of [
    ['search', /^Available\s*$/],
    ['archive', /Extending.*But create needs it to be Available or InUse\./],
    ['bygone', /Deleted.*Nothing leads out of that\./],
    ['no-such', /No opensds\.volume that is still there has 'no-such' in its id/],
    [' users ', /^Available\s*$/],
  ] as const) {
    await field('parent').fill(typed)
    await expect.poll(() => note('parent').textContent()).toMatch(says)
    expect(await options().count()).toBe(0)
  }
  // A part of an id is none: it is not sent by mistake for what it looks like.
  await field('parent').fill('mai')
  await expect.poll(offered).toEqual(['mailAvailable'])
  await press('Tab')
  await expect
    .poll(() => note('parent').textContent())
    .toBe('No opensds.volume has the id mai: choose one, or type a whole id.')
  await field('parent').click()
  await options().first().click()
  expect(await field('parent').inputValue()).toBe('mail')
  await page().locator('[id="field-parent"]:focus').waitFor()
  await press('Escape')
  await visitor.closes()
})

test('an input that is said to be the id of a resource is chosen, too; on a phone the whole list is on the screen', async () => {
  const { scene, visitor } = stage
  const path = { type: 'archive.tape', id: 'copy' }
  await scene.api.call('createResource', { path, body: { id: 'copy', properties: { shelf: 1 } } })
  await page().setViewportSize({ width: 360, height: 640 })
  await visitor.go('/resources/archive.tape/copy')
  await visitor.stands('Idle')
  await visitor.click('copyFrom')
  expect(await field('besides').evaluate((one) => one.tagName)).toBe('TEXTAREA')
  await field('volume').click()
  await options().first().waitFor()
  const { x, y, width, height } = (await page().locator('.found').filter({ visible: true }).boundingBox())!
  expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(360)
  expect(y + height).toBeLessThanOrEqual(640)
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('choosing-phone')
  await options().filter({ hasText: 'carts' }).click()
  await visitor.confirm('copyFrom')
  await visitor.closes()
  const { items } = await scene.api.call('listRunsOf', { path })
  const run = await scene.api.call('getRun', { path: { run: items[0]!.id } })
  expect(run).toMatchObject({ operation: 'copyFrom', input: { volume: 'carts' } })
  await page().setViewportSize({ width: 1440, height: 900 })
  visitor.hasMade('operate')
})

test(
  'of very many only some are read, and who has exactly the id that was typed is found at once',
  async () => {
    const { scene } = stage
    const body = Array.from({ length: 12_000 }, (_, n) => ({
      id: `bulk-${n}`,
      status: 'Available',
      properties: { size: 1, zone: 'eu-1' },
    }))
    await scene.api.call('importResources', { path: { type: 'opensds.volume' }, query: { reason: 'many' }, body })
    const asked: string[] = []
    page().on('request', (request) => void asked.push(request.url()))
    const isChoice = (url: string) => url.includes('/v1/resources/opensds.volume?status=')
    await create('opensds.snapshot')
    await field('parent').click()
    await expect.poll(async () => (await offered()).length).toBe(8)
    await stage.visitor.sees('There are more: type to find one.')
    asked.splice(0)
    await field('parent').fill('bulk-11999')
    await note('parent').getByText('Available').waitFor()
    expect(asked.filter((url) => isChoice(url) && url.includes('pageToken'))).toEqual([])
    // Beyond what one answer looks through.
    await field('parent').fill('lk-11998')
    await expect.poll(offered).toEqual(['bulk-11998Available'])
    expect(asked.filter((url) => isChoice(url) && !url.includes('pageSize=8'))).toEqual([])
    await press('Escape', 'Escape')
    await stage.visitor.closes()
  },
  patienceMs,
)

test('to a tenant only its own are offered; to who sees all, a link is offered in the tenant of the parent', async () => {
  const { browser, scene, visitor } = stage
  const snapshot = async (id: string, tenant: string) => {
    const volume = { id: `${id}-of`, tenant, properties: { size: 1, zone: 'eu-1' } }
    for (const [type, body] of [
      ['opensds.volume', volume],
      ['opensds.snapshot', { id, tenant, parent: `${id}-of` }],
    ] as const) {
      const { run } = await scene.api.call('createResource', { path: { type }, body })
      await scene.api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
    }
  }
  await snapshot('red-shot', 'red')
  await snapshot('blue-shot', 'blue')
  const password = 'a long enough password'
  await scene.api.call('createAccount', { body: { name: 'ruth', password, role: 'operator', tenant: 'red' } })
  const ruth = await visit(browser, scene, 'light')
  await ruth.page.goto(`${scene.url}/resources?type=opensds.volume`)
  await ruth.signIn('ruth', password)
  await ruth.click('Create')
  await ruth.page.locator('[id="field-links.source"]').click()
  await options(ruth.page).first().waitFor()
  expect(await options(ruth.page).allTextContents()).toEqual(['red-shotAvailable'])
  await ruth.page.locator('[id="field-links.source"]').fill('blue-shot')
  await ruth.sees("No opensds.snapshot in tenant red that is still there has 'blue-shot'")
  await ruth.page.close()
  // By whoever sees all, volumes are made in the usual tenant: its own snapshot comes first, and alone.
  await create('opensds.volume')
  await field('links.source').click()
  await expect.poll(offered).toEqual(['by-keysAvailable'])
  await field('links.source').fill('red-shot')
  await expect.poll(() => note('links.source').textContent()).toMatch(/Available.*tenant red/)
  await press('Escape')
  await visitor.closes()
})
