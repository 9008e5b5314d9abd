// The check's report and the player: what the page tells is what the server's rehearsal told.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'

const stage = openStage({ isFilled: false })
const address = '/lifecycles/opensds.volume/rehearsal'

test('a lifecycle shows what its check looked at, and leads to the rehearsal', async () => {
  const { visitor } = stage
  await visitor.go('/lifecycles/opensds.volume')
  await visitor.sees(/5 transitional statuses: each has a way out by healing/)
  await visitor.click('What if ...', 'link')
  await visitor.page.waitForURL(`**${address}`)
  await visitor.sees('What if it goes wrong?')
})

test('an operation is walked through by keyboard; the diagram goes along', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go(address)
  await visitor.sees(/Moment 1 of/)
  await visitor.sees('It is not there yet')
  await page.getByRole('button', { name: 'Next' }).focus()
  await page.keyboard.press('ArrowRight')
  await page.locator('.said', { hasText: 'create is accepted, first step createVolume; Creating' }).waitFor()
  await page.locator('.diagram .box.current', { hasText: 'Creating' }).waitFor()
  await visitor.click('Last')
  await page.locator('.diagram .box.current', { hasText: 'Available' }).waitFor()
  expect(await visitor.barriers()).toEqual([])
})

test('a call is broken at its moment: the page shows how it is found out and put right, at an address of its own', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go(`${address}?operation=create`)
  await page.locator('.moments button', { hasText: 'calls createVolume' }).click()
  await visitor.choose(/Break this call/, 'call:1:crash')
  await page.waitForURL('**strike=call%3A1%3Acrash**')
  await page.locator('.moments .fault', { hasText: 'dies while the call is under way' }).waitFor()
  await page.locator('.moments .written', { hasText: 'taken over where it stood (its worker is gone)' }).waitFor()
  await visitor.sees('no promise broken')
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot(`rehearsal-${scheme}`)
  }
  await visitor.click('Play it without')
  await page.locator('.moments .fault').waitFor({ state: 'detached' })
})

test('what is found stuck is healed as declared; input of one’s own is played, and a refusal is told', async () => {
  const { visitor } = stage
  const { page } = visitor
  await visitor.go(address)
  await visitor.choose('What happens', 'stuck Extending')
  await page.locator('.moments .written', { hasText: 'healed' }).first().waitFor()
  await visitor.choose('What happens', 'operation extend')
  await visitor.sees('Input')
  await visitor.type(/^Input/, '{"size":0}')
  await page.keyboard.press('Enter')
  await page.locator('.moments .answered', { hasText: 'refused' }).waitFor()
  // What cannot be read stays where it was typed, to be mended.
  await visitor.type(/^Input/, '{"size":9')
  await page.keyboard.press('Enter')
  await visitor.sees(/'input' cannot be read: it is no JSON/)
  const field = page.locator('#play-input:focus')
  expect(await field.inputValue()).toBe('{"size":9')
  await field.pressSequentially('}')
  await page.keyboard.press('Enter')
  await page.locator('.moments .written', { hasText: 'extend' }).first().waitFor()
  for (const text of await visitor.complaints(1)) expect(text).toMatch(/400.*rehearsal/)
})

test(
  'every fault at every moment is tried, and the ends are counted',
  async () => {
    const { visitor } = stage
    await visitor.go(`${address}?operation=extend`)
    await visitor.click('Try all of extend')
    await visitor.sees(/schedules played/)
    await visitor.page.locator('.everything', { hasText: 'no promise broken' }).waitFor()
    expect(await visitor.page.locator('.ends li').count()).toBeGreaterThan(1)
    expect(await visitor.barriers()).toEqual([])
  },
  patienceMs,
)

test('the player goes to the first moment, back one, and plays it all again', async () => {
  const { visitor } = stage
  const { page } = visitor
  const moment = (n: number | RegExp) =>
    page.locator('h2', { hasText: new RegExp(`^Moment ${String(n)} of`) }).waitFor()
  await visitor.go(`${address}?operation=create`)
  await moment(1)
  await visitor.click('Next')
  await visitor.click('Next')
  await moment(3)
  await visitor.click('Back')
  await moment(2)
  await visitor.click('First')
  await moment(1)
  await visitor.click('Last')
  await visitor.click('Play again')
  await visitor.click('Pause')
  await visitor.click('Play')
  await visitor.click('Pause')
})

test('a promise that is broken would be told as a counter-example that can be played', async () => {
  const { visitor } = stage
  const { page } = visitor
  // The engine keeps its promises: the breach is written into its real answer.
  await page.route('**/rehearsals?*', async (route) => {
    const response = await route.fetch()
    const violation = { promise: 'G3', text: 'went from Creating to Gone', strike: 'call:1:crash' }
    await route.fulfill({ response, json: { ...((await response.json()) as object), violation } })
  })
  await visitor.go(`${address}?operation=create`)
  await visitor.click('Try all of create')
  await visitor.sees('went from Creating to Gone')
  expect(await visitor.barriers()).toEqual([])
  await visitor.click('Play this counter-example')
  await page.waitForURL('**strike=call%3A1%3Acrash**')
  await page.locator('.moments .fault').first().waitFor()
  await page.unroute('**/rehearsals?*')
})

test('on a phone nothing is wider than the screen', async () => {
  const { page } = stage.visitor
  await page.setViewportSize({ width: 390, height: 844 })
  await stage.visitor.go(`${address}?operation=create&strike=call:1:lost`)
  await stage.visitor.sees(/Moment 1 of/)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
})
