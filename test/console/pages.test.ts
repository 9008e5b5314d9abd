// Every page of the console at its address, in both colour schemes: what it shows is there, everybody can use it (all rules of axe), the
// browser has nothing to complain about, nothing leaves the machine; and with HOMEOSTAT_SHOTS=1 its picture is kept in test/console/shots.
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'
import type { Scheme } from './visitor.ts'

const stage = openStage()

/** The page's file, its address, and what has to be there before it counts as shown. */
const pages: readonly (readonly [file: string, name: string, address: string, sees: string | RegExp])[] = [
  ['fleet', 'fleet', '/', 'no space left in pool ssd-2'],
  ['fleet', 'fleet-type', '/?type=opensds.volume', 'Needs attention'],
  ['resources', 'resources', '/resources?type=opensds.volume', /^8 fit/],
  ['resources', 'resources-none', '/resources?q=nobody-has-this', 'Nothing fits.'],
  ['resource', 'resource-stuck', '/resources/opensds.volume/archive', 'stuck: no run is recorded'],
  ['resource', 'resource-failed', '/resources/opensds.volume/reports?tab=ledger', 'Why it is Error'],
  ['resource', 'resource-under-way', '/resources/sahara.cluster/flink-live?tab=relations', /^It is in step 4 of 7/],
  ['resource', 'resource-runs', '/resources/opensds.volume/orders?tab=runs', 'succeeded'],
  ['resource', 'resource-properties', '/resources/opensds.volume/orders?tab=properties', 'revision, epoch'],
  ['resource', 'resource-raw', '/resources/opensds.volume/orders?tab=raw', /"createdAt"/],
  ['resource', 'resource-missing', '/resources/opensds.volume/nobody', 'There is no opensds.volume nobody.'],
  ['runs', 'runs', '/runs', 'flink-live'],
  ['run', 'run', '/runs/{run}', 'awaitBoot'],
  ['stuck', 'stuck', '/stuck', 'opensds.volume is Extending and no run is recorded'],
  ['healing', 'healing', '/healing', /waits for approval/],
  ['orphans', 'orphans', '/orphans', 'Nothing is left behind.'],
  ['workers', 'workers', '/workers', 'answers here'],
  ['bulk', 'bulk', '/bulk', 'No bulk job yet.'],
  ['events', 'events', '/events', 'landed'],
  ['webhooks', 'webhooks', '/webhooks', 'No webhook yet.'],
  ['audit', 'audit', '/audit', /fit their chain of hashes/],
  ['access', 'access', '/access', 'Roles'],
  ['lifecycles', 'lifecycles', '/lifecycles', 'sahara.instance'],
  ['lifecycle', 'lifecycle', '/lifecycles/opensds.volume', 'When it is stuck there'],
  ['rehearsal', 'rehearsal', '/lifecycles/opensds.volume/rehearsal', /Moment 1 of/],
  ['dev', 'dev', '/dev', 'Break it and watch it heal'],
  ['', 'no-such-page', '/nowhere', 'There is no such page.'],
]

/** What the browser itself says of a page whose resource does not exist. */
const isMissing = /404.*\/v1\/resources\/opensds\.volume\/nobody/

test('there is a row for every page, but the one for signing in, which access.test.ts looks at', () => {
  const files = readdirSync('src/console/pages').flatMap((name) => /^(.+)\.tsx$/.exec(name)?.[1] ?? [])
  expect(files.length).toBeGreaterThan(15)
  const covered = new Set([...pages.map(([file]) => file), 'sign-in'])
  expect(files.filter((name) => !covered.has(name))).toEqual([])
})

describe.each(['light', 'dark'] as Scheme[])('in %s', (scheme) => {
  test.each(pages)(
    '%s: %s is shown at its address and can be used by everybody',
    async (_, name, address, sees) => {
      const { scene, visitor } = stage
      await visitor.page.emulateMedia({ colorScheme: scheme })
      const { items } = await scene.api.call('listRuns', { query: { state: 'live', pageSize: 1 } })
      await visitor.go(address.replace('{run}', items[0]!.id))
      await visitor.sees(sees)
      expect(await visitor.barriers()).toEqual([])
      await visitor.shot(`${name}-${scheme}`)
      if (address.endsWith('/nobody')) visitor.excuse(isMissing)
    },
    patienceMs,
  )
})

test(
  'on a phone no page is wider than the screen, and the menu opens',
  async () => {
    const { scene, visitor } = stage
    await visitor.page.setViewportSize({ width: 390, height: 844 })
    for (const [, name, address, sees] of pages.filter(([, , to]) => !/nobody$|\{run\}/.test(to))) {
      await visitor.go(address)
      await visitor.sees(sees)
      expect(await visitor.page.evaluate('document.documentElement.scrollWidth'), address).toBeLessThanOrEqual(390)
      await visitor.shot(`phone-${name}`)
    }
    // A name without a place to break.
    const id = 'x'.repeat(190)
    await scene.api.call('createResource', { path: { type: 'opensds.volume' }, body: { id, properties: { size: 1 } } })
    await visitor.go(`/resources/opensds.volume/${id}`)
    await visitor.sees(`opensds.volume ${id} is`)
    const isNarrow = async () =>
      expect(await visitor.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    await isNarrow()
    // Why a grey button is grey can be read to its end, and so can the name that is to be typed.
    await visitor.page.getByRole('button', { name: /^reset/ }).hover()
    const tip = (await visitor.page.getByRole('tooltip').filter({ visible: true }).boundingBox())!
    expect(tip.x + tip.width).toBeLessThanOrEqual(390)
    await isNarrow()
    const cutOff = () =>
      visitor.page.evaluate(`[...document.querySelectorAll('dialog *')].flatMap((one) =>
        one.scrollWidth > one.clientWidth && /block|flex/.test(getComputedStyle(one).display) ? [one.outerHTML] : [])`)
    await visitor.stands('Available')
    await visitor.click('delete')
    expect(await cutOff()).toEqual([])
    await visitor.page.keyboard.press('Escape')
    await visitor.closes()
    await visitor.page.keyboard.press('/')
    await visitor.page.getByRole('combobox', { name: 'Find' }).fill(id.slice(0, 20))
    await visitor.page.getByRole('option').first().waitFor()
    expect(await cutOff()).toEqual([])
    await visitor.page.keyboard.press('Escape')
    // Nobody works on it: it is healed, and an incident tells of it.
    await scene.api.call('importResources', {
      path: { type: 'opensds.volume' },
      query: { reason: 'to be found' },
      body: [{ id: `y${id}`, status: 'Attaching', properties: { size: 1 } }],
    })
    await visitor.go('/stuck')
    await visitor.page.locator('.incident summary', { hasText: `y${id}` }).waitFor()
    await isNarrow()
    await visitor.click('Menu')
    await visitor.page.locator('nav').getByRole('link', { name: 'Healing' }).click()
    await visitor.sees('What healing would do now')
    expect(await visitor.barriers()).toEqual([])
    await visitor.page.setViewportSize({ width: 1440, height: 900 })
  },
  patienceMs,
)

/** What a person needs to read is neither outside of the screen nor cut off: but what scrolls within itself, and what is meant to. */
const cut = `(() => {
  const found = []
  for (const one of document.querySelectorAll('main *')) {
    const own = [...one.childNodes].find((node) => node.nodeType === 3 && node.textContent.trim() !== '')
    if (own === undefined || one.closest('svg, .hidden, .choices, .tip, .feed, .why, option, summary')) continue
    const range = document.createRange()
    range.selectNodeContents(own)
    const { left, right, width } = range.getBoundingClientRect()
    if (width === 0) continue
    for (let box = one; box !== null; box = box.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(box)
      const edges = box.getBoundingClientRect()
      if (/auto|scroll/.test(overflowX) || textOverflow === 'ellipsis') break
      const isCut = /hidden|clip/.test(overflowX) && (right > edges.right + 1 || left < edges.left - 1)
      if (!isCut && (box !== document.body || right <= innerWidth + 1)) continue
      found.push(own.textContent)
      break
    }
  }
  return found
})()`

/** Of the reader's own choice in the browser; 16 unless he changes it. */
async function setTextSize(standard: number): Promise<void> {
  const session = await stage.visitor.page.context().newCDPSession(stage.visitor.page)
  await session.send('Page.setFontSizes', { fontSizes: { standard } })
}

test.each([
  [360, 16],
  [768, 16],
  [1_024, 16],
  [1_440, 32],
  [768, 32],
])(
  'on a screen of %i px with text of %i px no page is wider than the screen, and nothing is cut off',
  async (width, text) => {
    const { scene, visitor } = stage
    // Something was healed: the board of it is the widest there.
    if (width === 360)
      await scene.api.call('approveHealing', { body: { type: 'opensds.volume', id: 'archive', reason: 'to be seen' } })
    await setTextSize(text)
    await visitor.page.setViewportSize({ width, height: 844 })
    const { items } = await scene.api.call('listRuns', { query: { state: 'live', pageSize: 1 } })
    // Of all types, the list has a column more.
    const addresses = new Set(['/resources', ...pages.map(([, , to]) => to).filter((to) => !to.endsWith('nobody'))])
    for (const address of addresses) {
      await visitor.go(address.replace('{run}', items[0]!.id))
      await visitor.page.locator('main h1').first().waitFor()
      await visitor.page.locator('main .loading').first().waitFor({ state: 'detached' })
      expect(await visitor.page.evaluate('document.documentElement.scrollWidth'), address).toBeLessThanOrEqual(width)
      expect(await visitor.page.evaluate(cut), address).toEqual([])
      // Columns of a list end where their rows do: they can be scrolled to.
      const heads = visitor.page.locator('.grid-row.head')
      if ((await heads.count()) > 0)
        expect(await heads.evaluate((one) => one.scrollWidth - one.clientWidth), address).toBeLessThanOrEqual(0)
    }
    // It is the text that has grown, or else nothing was tried.
    const size = await visitor.page.evaluate<number>(
      'parseFloat(getComputedStyle(document.querySelector("h1")).fontSize)',
    )
    expect(Math.round(size)).toBe((22 * text) / 16)
    await setTextSize(16)
    await visitor.page.setViewportSize({ width: 1440, height: 900 })
  },
  patienceMs,
)

test('the colours are those of the system until somebody chooses, and the choice is kept', async () => {
  const { visitor } = stage
  const ground = () => visitor.page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  await visitor.page.emulateMedia({ colorScheme: 'dark' })
  await visitor.go('/')
  const dark = await ground()
  await visitor.page.emulateMedia({ colorScheme: 'light' })
  await expect.poll(ground).not.toBe(dark)
  await visitor.click(/^Colours: auto/)
  while ((await ground()) !== dark) await visitor.click(/^Colours:/)
  await visitor.page.reload()
  await visitor.sees('Needs attention')
  expect(await ground()).toBe(dark)
  while ((await visitor.page.getByRole('button', { name: /^Colours: auto/ }).count()) === 0)
    await visitor.click(/^Colours:/)
  await expect.poll(ground).not.toBe(dark)
})

test('the first page needs at most 250 KB of JavaScript, compressed, and nothing inline', () => {
  const html = readFileSync('dist/web/index.html', 'utf8')
  expect(html).not.toMatch(/<script(?![^>]*src=)|<style|style=/)
  const files = [...html.matchAll(/(?:src|href)="\/(assets\/[^"]+\.js)"/g)].map(([, file]) => file!)
  expect(files.length).toBeGreaterThan(0)
  const bytes = files.reduce((all, file) => all + gzipSync(readFileSync(`dist/web/${file}`)).length, 0)
  expect(bytes).toBeLessThan(250 * 1_024)
})
