// The console without a mouse: every page can be walked through with the focus in sight, dialogs begin where something is to be filled in
// and give the focus back, and what vanishes does not take it along.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'
import { visit } from './visitor.ts'

const stage = openStage()

/** What has the focus: its tag, with the words on it or around it. */
const focused = () =>
  stage.visitor.page.evaluate<string>(`(() => {
    const one = document.activeElement
    return one.tagName + ' ' + (one.id || one.getAttribute('aria-label') || one.textContent.trim().slice(0, 60))
  })()`)

const press = async (...keys: readonly string[]) => {
  for (const key of keys) await stage.visitor.page.keyboard.press(key)
}

/** Where the next Tab leads: a name for it, and whether a person sees that it is there. */
interface Stop {
  readonly name: string
  readonly isSeen: boolean
}

const stop = () =>
  stage.visitor.page.evaluate<Stop | null>(`(() => {
    const one = document.activeElement
    if (one === null || one === document.body) return null
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    const { top, bottom, left, right } = one.getBoundingClientRect()
    const isInSight = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth
    return { name: one.outerHTML.slice(0, 120), isSeen: isInSight && outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 }
  })()`)

test.each([
  ['/', 'Needs attention'],
  ['/resources', 'flink-live'],
  ['/resources/sahara.cluster/flink-live', 'Whole run'],
  ['/stuck', 'Heal now ...'],
  ['/healing', 'Run a pass now'],
  ['/workers', 'Drain ...'],
  ['/access', 'New token'],
  ['/lifecycles/opensds.volume/rehearsal', 'Play'],
  ['/dev', 'Break it'],
])(
  '%s is walked through with Tab: the focus is always in sight, and nothing holds it',
  async (address, sees) => {
    const { visitor } = stage
    await visitor.go(address)
    await visitor.sees(sees)
    await visitor.page.locator('.skip').focus()
    const stops: Stop[] = []
    // At the end of the page the browser has it.
    for (let count = 0; count < 250; count++) {
      await press('Tab')
      const here = await stop()
      if (here === null) break
      stops.push(here)
    }
    expect(stops.length).toBeGreaterThan(15)
    expect(stops.length).toBeLessThan(250)
    expect(stops.filter(({ isSeen }) => !isSeen)).toEqual([])
  },
  patienceMs,
)

test('a dialog begins with what is to be filled in; closed, the focus is where it was, and Ctrl K waits for it', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/orders')
  const extend = visitor.page.getByRole('button', { name: 'extend', exact: true })
  await extend.focus()
  await press('Enter')
  await expect.poll(focused).toBe('INPUT field-size')
  await press('Control+k')
  expect(await visitor.page.getByRole('dialog').count()).toBe(1)
  await press('Escape')
  await visitor.closes()
  await expect.poll(focused).toBe('BUTTON extend')
  // Where nothing is to be filled in: what does it; but not what cannot be taken back.
  await visitor.go('/healing')
  await visitor.page.getByRole('button', { name: 'Run a pass now' }).focus()
  await press('Enter')
  await expect.poll(focused).toBe('BUTTON Run a pass')
  await press('Enter')
  await visitor.closes()
  await expect.poll(focused).toBe('BUTTON Run a pass now')
  visitor.hasMade('runHealing')
})

test('what vanishes hands the focus to what stood around it: a row that was dealt with, the link to another page', async () => {
  const { scene, visitor } = stage
  await scene.api.call('createToken', { body: { name: 'short-lived', role: 'viewer', days: 1 } })
  await visitor.go('/access')
  await visitor.page
    .getByRole('row', { name: /short-lived/ })
    .getByRole('button', { name: 'Revoke ...' })
    .focus()
  await press('Enter')
  await visitor.page.keyboard.type('short-lived')
  await press('Enter')
  await visitor.closes()
  await visitor.sees('No token.')
  const panel = () =>
    visitor.page.evaluate('document.activeElement.closest("section")?.querySelector("h2").textContent')
  await expect.poll(panel).toBe('Tokens')
  await visitor.go('/stuck')
  await visitor.page.getByRole('link', { name: 'archive' }).first().focus()
  await press('Enter')
  await visitor.stands('Extending')
  await expect.poll(focused).toBe('MAIN main')
  visitor.hasMade('revokeToken')
})

test('tabs are walked with arrows; the last moment of a rehearsal leaves the focus on its button', async () => {
  const { visitor } = stage
  await visitor.go('/resources/opensds.volume/orders')
  await visitor.page.getByRole('tab', { name: 'timeline' }).focus()
  await press('ArrowRight', 'ArrowRight')
  await visitor.page.waitForURL('**?tab=relations')
  expect(await focused()).toBe('BUTTON tab-relations')
  await press('End')
  await visitor.page.waitForURL('**?tab=raw')
  await press('ArrowRight')
  expect(await focused()).toBe('BUTTON tab-timeline')
  await visitor.go('/lifecycles/opensds.volume/rehearsal')
  await visitor.sees(/Moment 1 of/)
  await visitor.page.getByRole('button', { name: 'Last' }).focus()
  await press('Enter')
  await visitor.page.locator('.moments li:last-child button[aria-current]').waitFor()
  expect(await focused()).toBe('BUTTON Last')
})

test('what is chosen in the palette is in sight, however long the list', async () => {
  const { visitor } = stage
  await visitor.page.setViewportSize({ width: 1024, height: 500 })
  await visitor.go('/runs')
  await press('/')
  await visitor.page.getByRole('dialog', { name: 'Find' }).waitFor()
  await press('ArrowUp')
  const isSeen = () =>
    visitor.page.evaluate<boolean>(`(() => {
      const one = document.querySelector('#palette-found [aria-selected=true]')
      const [row, list] = [one.getBoundingClientRect(), one.parentElement.getBoundingClientRect()]
      return one.nextElementSibling === null && row.top >= list.top && row.bottom <= list.bottom + 1
    })()`)
  await expect.poll(isSeen).toBe(true)
  await press('Escape')
  await visitor.closes()
  await visitor.page.setViewportSize({ width: 1440, height: 900 })
})

test('on a phone the menu takes the focus, gives it back on Escape, and closes behind what was chosen', async () => {
  const { visitor } = stage
  await visitor.page.setViewportSize({ width: 390, height: 844 })
  await visitor.go('/runs')
  const menu = visitor.page.getByRole('button', { name: 'Menu' })
  await menu.focus()
  await press('Enter')
  await expect.poll(focused).toBe('A Fleet')
  await press('Escape')
  await expect.poll(focused).toBe('BUTTON Menu')
  expect(await menu.getAttribute('aria-expanded')).toBe('false')
  await press('Enter', 'Tab', 'Tab')
  expect(await focused()).toBe('A Runs')
  // It leads where one is already.
  await press('Enter')
  await expect.poll(focused).toBe('MAIN main')
  expect(await menu.getAttribute('aria-expanded')).toBe('false')
  await visitor.page.setViewportSize({ width: 1440, height: 900 })
})

test('the chooser of columns is folded up by Escape and by whatever is beside it, and is whole on a phone', async () => {
  const { visitor } = stage
  await visitor.page.setViewportSize({ width: 360, height: 844 })
  await visitor.go('/resources?type=opensds.volume')
  const sheet = visitor.page.locator('.choices')
  const summary = visitor.page.locator('.chooser > summary')
  await summary.focus()
  await press('Enter')
  await sheet.waitFor()
  const { x, width } = (await sheet.boundingBox())!
  expect(x).toBeGreaterThanOrEqual(0)
  expect(x + width).toBeLessThanOrEqual(360)
  await press('Tab', 'Escape')
  await sheet.waitFor({ state: 'hidden' })
  expect(await focused()).toContain('Columns')
  await press('Enter')
  await sheet.waitFor()
  await visitor.page.getByRole('heading', { name: 'Resources' }).click()
  await sheet.waitFor({ state: 'hidden' })
  await visitor.page.setViewportSize({ width: 1440, height: 900 })
})

test('to whoever may not, a button says why not when it is pressed: titles need a mouse', async () => {
  const { browser, scene } = stage
  const password = 'a long enough password'
  await scene.api.call('createAccount', { body: { name: 'vera', password, role: 'viewer' } })
  const vera = await visit(browser, scene, 'dark')
  await vera.page.goto(`${scene.url}/healing`)
  // Nothing else is to be done on the first page.
  await vera.page.locator('#account:focus').waitFor()
  await vera.page.keyboard.type('vera')
  await vera.type('Password', password)
  await vera.page.keyboard.press('Enter')
  await vera.page.getByRole('button', { name: 'Run a pass now' }).focus()
  await vera.page.keyboard.press('Enter')
  await vera.sees("vera lacks the permission 'steer'.")
  expect(await vera.barriers()).toEqual([])
  await vera.page.close()
})
