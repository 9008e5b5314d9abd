// Pages are live, and stay true when things go wrong: hidden and seen again, the server restarted, the session over, an answer that is
// late or does not come at all.
import { expect, test } from 'vitest'
import { openStage, patienceMs } from './stage.ts'
import { visit, type Visitor } from './visitor.ts'

const stage = openStage()

/** As when somebody goes to another tab, and comes back. */
const look = (state: 'hidden' | 'visible') =>
  stage.visitor.page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
     document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
  )

async function extend(id: string, size: number): Promise<void> {
  const { api } = stage.scene
  const { run } = await api.call('operate', {
    path: { type: 'opensds.volume', id, operation: 'extend' },
    body: { size },
  })
  await api.call('getRun', { path: { run: run!.id }, query: { wait: 30 } })
}

const openStreams = async () =>
  Number(/^homeostat_event_streams(?:\{\})? (\S+)/m.exec(String(await stage.scene.api.call('metrics', {})))?.[1])
const newest = async () => (await stage.scene.api.call('streamEvents', { query: { pageSize: 1 } })).last
/** The numbers of the events that the page shows, newest first. */
const shown = async (visitor: Visitor) =>
  (await visitor.page.locator('.timeline.of-all li > .num:first-child').allTextContents()).map(Number)

const password = 'a long enough password'
const createAccount = (name: string, role: 'operator' | 'admin' = 'operator') =>
  stage.scene.api.call('createAccount', { body: { name, password, role } })

/** Signs in by an account of his own. */
async function comeIn(visitor: Visitor, name: string, role?: 'admin'): Promise<void> {
  await createAccount(name, role)
  await visitor.page.goto(stage.scene.url)
  await visitor.signIn(name, password)
  await visitor.sees('Needs attention')
}

/** Every number from the newest down: the next is always one less. */
function gaps(numbers: readonly number[]): readonly number[] {
  return numbers.filter((n, index) => index > 0 && numbers[index - 1] !== n + 1)
}

test(
  'hidden, the page closes its stream; seen again, it has missed nothing',
  async () => {
    const { visitor } = stage
    await visitor.go('/events')
    await visitor.page.locator('.live', { hasText: 'live' }).waitFor()
    await expect.poll(openStreams).toBe(1)
    await look('hidden')
    await visitor.page.locator('.live', { hasText: 'paused' }).waitFor()
    await expect.poll(openStreams).toBe(0)
    const before = await newest()
    for (let size = 200; size < 210; size++) await extend('users', size)
    expect((await shown(visitor))[0]).toBe(before)
    await look('visible')
    await expect.poll(async () => (await shown(visitor))[0]).toBe(await newest())
    const numbers = await shown(visitor)
    expect(numbers).toContain(before)
    expect(gaps(numbers)).toEqual([])
    await visitor.go('/resources/opensds.volume/users?tab=properties')
    await visitor.page.locator('dd', { hasText: /^209$/ }).waitFor()
  },
  patienceMs,
)

test(
  'what is shown is read anew when the page is seen again, also where no event tells',
  async () => {
    const { visitor } = stage
    await visitor.go('/resources/opensds.volume/carts?tab=properties')
    await visitor.stands('Available')
    await look('hidden')
    await visitor.page.locator('.live', { hasText: 'paused' }).waitFor()
    await extend('carts', 1_234)
    expect(await visitor.page.locator('dd', { hasText: /^1234$/ }).count()).toBe(0)
    await look('visible')
    await visitor.page.locator('dd', { hasText: /^1234$/ }).waitFor()
  },
  patienceMs,
)

test(
  'the server is killed under an open page and started again: the page says so, goes on, and its feed has no gap',
  async () => {
    const { scene, visitor } = stage
    await visitor.go('/events')
    await visitor.page.locator('.live', { hasText: 'live' }).waitFor()
    const before = await newest()
    await scene.kill()
    await visitor.sees(/The server does not answer/)
    await visitor.sees(/What you see is from/)
    // Also to who has scrolled away from the top.
    await visitor.page.evaluate('scrollTo(0, 300)')
    const { y } = (await visitor.page.locator('.down[role=alert]').boundingBox())!
    expect(y).toBeGreaterThanOrEqual(0)
    // Read out once, not every second.
    const told = await visitor.page.locator('.down strong').evaluate((one) => one.childNodes[0]!.textContent)
    expect(told).toBe('The server does not answer')
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot('server-gone')
    await scene.start()
    await visitor.seesNoMore(/The server does not answer/)
    await extend('photos', 300)
    await expect.poll(async () => (await shown(visitor))[0]).toBe(await newest())
    const numbers = await shown(visitor)
    expect(numbers).toContain(before)
    expect(gaps(numbers)).toEqual([])
    visitor.excuse(/ERR_|Failed to load resource|network/i)
  },
  patienceMs,
)

test(
  'a page that is opened while nobody answers says what to do, and fills by itself when somebody does',
  async () => {
    const { scene, visitor } = stage
    await scene.kill()
    await visitor.go('/webhooks')
    await visitor.sees('This could not be read.')
    await visitor.sees('Try again')
    expect(await visitor.barriers()).toEqual([])
    await visitor.shot('page-not-read')
    await scene.start()
    await visitor.sees('No webhook yet.')
    visitor.excuse(/ERR_|Failed to load resource|network/i)
  },
  patienceMs,
)

test('an answer that takes long is waited for with words; one that is a failure says what it was, and is asked for again', async () => {
  const { visitor } = stage
  const { page } = visitor
  let release = () => {}
  const held = new Promise<void>((done) => (release = done))
  await page.route('**/v1/accounts*', async (route) => {
    await held
    await route.continue()
  })
  await page.route('**/v1/tokens*', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'internal', detail: 'The disk is full. Free some space, then try again.' }),
    }),
  )
  await visitor.go('/access')
  await visitor.sees(/Still reading: the server takes its time/)
  await visitor.sees(/The disk is full\. Free some space/)
  expect(await visitor.barriers()).toEqual([])
  await visitor.shot('slow-and-failing')
  release()
  await visitor.sees('No account.')
  await page.unroute('**/v1/tokens*')
  await visitor.click('Try again')
  await visitor.sees('No token.')
  await page.unroute('**/v1/accounts*')
  visitor.excuse(/500.*\/v1\/tokens/)
})

test('what could be read once and not again is shown with its time, and why it is old', async () => {
  const { visitor } = stage
  await visitor.go('/runs')
  await visitor.go('/access')
  await visitor.sees('No token.')
  await visitor.page.route('**/v1/tokens*', (route) =>
    route.fulfill({
      status: 500,
      contentType: 'application/problem+json',
      body: JSON.stringify({ code: 'internal', detail: 'The disk is full.' }),
    }),
  )
  // Then it is read anew at once, not only after a while.
  const lookAgain = async () => {
    await look('hidden')
    await look('visible')
  }
  await lookAgain()
  await visitor.sees(/It could not be read anew: The disk is full\./)
  await visitor.sees(/What you see is from \d\d:\d\d:\d\d/)
  await visitor.sees('No token.')
  await visitor.page.unroute('**/v1/tokens*')
  await lookAgain()
  await visitor.seesNoMore(/It could not be read anew/)
  visitor.excuse(/500.*\/v1\/tokens/)
})

test('a page that is opened just when the server goes comes by itself when it is back', async () => {
  const other = await visit(stage.browser, stage.scene, 'light')
  await other.page.route(/\/v1\/session$|\/livez$/, (route) => route.abort('connectionrefused'))
  await other.page.goto(stage.scene.url)
  await other.sees('This could not be read.')
  await other.page.unroute(/\/v1\/session$|\/livez$/)
  await other.sees('Sign in')
  await other.page.close()
})

test('a page whose files are gone, after an update of the server, says to reload', async () => {
  const other = await visit(stage.browser, stage.scene, 'light')
  await other.page.route('**/assets/webhooks*', (route) => route.abort())
  await comeIn(other, 'alice', 'admin')
  await other.go('/webhooks')
  await other.sees(/reload to get its newest version/)
  await other.go('/runs')
  await other.sees('flink-live')
  await other.page.close()
})

test('where no events come through, what is shown is read anew all the same', async () => {
  const { browser, scene } = stage
  const other = await visit(browser, scene, 'light')
  // As by a proxy that waits for the end of an answer before it hands it on.
  await other.page.route('**/v1/events*', (route) =>
    route.request().headers()['accept']?.includes('event-stream') === true ? undefined : route.continue(),
  )
  await createAccount('walt')
  await other.page.goto(`${scene.url}/resources/opensds.volume/search?tab=properties`)
  await other.signIn('walt', password)
  await other.stands('Available')
  await other.page.locator('.live', { hasText: 'connecting' }).waitFor()
  await extend('search', 4_321)
  await other.page.locator('dd', { hasText: /^4321$/ }).waitFor()
  await other.page.close()
})

test('a session that ends under an open page is said; signed in again, one is where one was', async () => {
  const { browser, scene } = stage
  const bob = await visit(browser, scene, 'dark')
  await createAccount('bob')
  await bob.page.goto(`${scene.url}/resources/opensds.volume/mail`)
  await bob.signIn('bob', password)
  await bob.stands('Available')
  await scene.api.call('setPassword', { path: { account: 'bob' }, body: { password: 'quite another password' } })
  await bob.sees('Your session has ended.')
  expect(await bob.barriers()).toEqual([])
  await bob.shot('session-ended')
  await bob.signIn('bob', 'quite another password')
  await bob.stands('Available')
  expect(bob.page.url()).toBe(`${scene.url}/resources/opensds.volume/mail`)
  await bob.page.close()
})

test('a session that ends while something is typed: the same person finds it as it was, another finds nothing of it', async () => {
  const { browser, scene } = stage
  const eve = await visit(browser, scene, 'light')
  await createAccount('eve', 'admin')
  await createAccount('oscar', 'admin')
  let known = password
  const dialogs = eve.page.getByRole('dialog')
  const endSession = async () => {
    known += '.'
    await scene.api.call('setPassword', { path: { account: 'eve' }, body: { password: known } })
    await eve.sees('Your session has ended.')
    expect(await dialogs.count()).toBe(0)
  }
  await eve.page.goto(`${scene.url}/resources?type=opensds.volume&status=Available`)
  await eve.signIn('eve', known)
  await eve.click(/^Bulk over/)
  await eve.choose('Operation', 'extend')
  await eve.type(/^size/, '888')
  await eve.type(/Reason/, 'they are full')
  await endSession()
  await eve.signIn('eve', known)
  const bulk = eve.page.getByRole('dialog', { name: 'Bulk over opensds.volume' })
  await expect.poll(() => bulk.getByLabel('Operation').inputValue()).toBe('extend')
  await expect.poll(() => bulk.getByLabel(/^size/).inputValue()).toBe('888')
  expect(await bulk.getByLabel(/Reason/).inputValue()).toBe('they are full')
  await eve.page.keyboard.press('Escape')
  await eve.closes()

  // A form in the page, and a dialog over it.
  const saying = () => eve.page.getByLabel('saying').inputValue()
  await eve.go('/dev')
  await eve.choose('of type', 'opensds.volume')
  await eve.choose('in step', 'createVolume')
  await eve.type('saying', 'out of paper')
  await eve.click('Kill it ...')
  await eve.type(/cannot be taken back/, 'kil')
  await endSession()
  await eve.signIn('eve', known)
  await eve.page.getByRole('dialog', { name: 'Kill this process' }).waitFor()
  expect(await eve.page.getByLabel(/cannot be taken back/).inputValue()).toBe('kil')
  await expect.poll(saying).toBe('out of paper')
  await expect.poll(() => eve.page.getByLabel('in step').inputValue()).toBe('createVolume')
  await eve.page.keyboard.press('Escape')
  await eve.closes()
  // Who leaves the page leaves what was typed there.
  await eve.go('/runs')
  await eve.sees('flink-live')
  await eve.go('/dev')
  await expect.poll(saying).toBe('')

  await eve.type('saying', 'out of ink')
  await eve.click('Kill it ...')
  await endSession()
  await eve.signIn('oscar', password)
  await expect.poll(saying).toBe('')
  expect(await dialogs.count()).toBe(0)
  await eve.page.close()
})

test(
  'a type that a new version of the server no longer declares is not shown as if it were still there',
  async () => {
    const { scene, visitor, browser } = stage
    await scene.api.call('createResource', {
      path: { type: 'archive.tape' },
      body: { id: 'reel', properties: { shelf: 1 } },
    })
    await createAccount('trudy', 'admin')
    const addresses = {
      '/resources/archive.tape/reel': 'There is no archive.tape reel any more.',
      '/lifecycles/archive.tape': 'There is no lifecycle archive.tape.',
      '/lifecycles/archive.tape/rehearsal': 'There is no lifecycle archive.tape.',
      '/resources?type=archive.tape': 'There is no lifecycle archive.tape.',
    }
    const open = Object.entries(addresses).map(async ([address, words]) => {
      const one = await visit(browser, scene, 'light')
      await one.page.goto(scene.url + address)
      await one.signIn('trudy', password)
      await one.sees(/^reel$|archive\.tape/)
      return { one, words }
    })
    const pages = await Promise.all(open)
    await scene.kill()
    await scene.start({ withoutTapes: true })
    for (const { one, words } of pages) {
      await one.sees(words)
      // Other parts of the page may be read a moment longer, but not without end.
      await expect.poll(() => one.page.locator('.loading').count()).toBe(0)
      await one.page.close()
    }
    // An address of the first page that names it shows another one.
    await visitor.go('/?type=archive.tape')
    await visitor.page.locator('.types a[aria-current]').waitFor()
    await scene.kill()
    await scene.start()
    await visitor.page.locator('.types', { hasText: 'archive.tape' }).waitFor()
    visitor.excuse(/ERR_|Failed to load resource|network|404/i)
  },
  patienceMs,
)

/** Whose pages are not read ahead before they are let go on: the first that is read ahead is held back until then. */
async function visitUnread(name: string) {
  const other = await visit(stage.browser, stage.scene, 'light')
  const fetched: string[] = []
  other.page.on('request', (request) => void fetched.push(new URL(request.url()).pathname))
  let letGo = () => {}
  const held = new Promise<void>((done) => (letGo = done))
  await other.page.route('**/assets/resources-*.js', async (route) => {
    await held
    await route.abort('connectionrefused')
  })
  await comeIn(other, name, 'admin')
  return { other, fetched, letGo }
}

test(
  'a page whose files were not read when the server went says so, and comes by itself when it is back',
  async () => {
    const { scene, visitor } = stage
    const { other } = await visitUnread('carol')
    await scene.kill()
    await other.go('/webhooks')
    await other.sees('This could not be read.')
    await other.sees(/The page comes by itself/)
    await other.sees('Try again')
    expect(await other.barriers()).toEqual([])
    await scene.start()
    await other.sees('No webhook yet.')
    await other.page.close()
    visitor.excuse(/ERR_|Failed to load resource|network/i)
  },
  patienceMs,
)

test(
  'pages are not read ahead while nobody answers: a browser would not fetch them again',
  async () => {
    const { scene, visitor } = stage
    const { other, fetched, letGo } = await visitUnread('dave')
    const asked = () => fetched.filter((one) => /^\/assets\/(runs|webhooks|dev)-/.test(one))
    await expect.poll(() => fetched.some((one) => one.startsWith('/assets/resources-'))).toBe(true)
    await scene.kill()
    await other.sees(/The server does not answer/)
    const questions = fetched.length
    letGo()
    // The banner and what reads ahead both ask once a second.
    await expect.poll(() => fetched.slice(questions).filter((one) => one === '/livez').length).toBeGreaterThan(5)
    expect(asked()).toEqual([])
    await scene.start()
    await expect.poll(() => asked().some((one) => one.startsWith('/assets/dev-'))).toBe(true)
    await other.go('/webhooks')
    await other.sees('No webhook yet.')
    expect(fetched.filter((one) => one === '/')).toHaveLength(1)
    await other.page.close()
    visitor.excuse(/ERR_|Failed to load resource|network/i)
  },
  patienceMs,
)
