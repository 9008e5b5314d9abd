// How the console feels with many resources: a real browser on a real server over a SQLite file, measured by the browser's own performance
// API. `node --conditions=source scripts/bench-console.ts [resources] [--figures]`; with --figures it writes its section of
// docs/figures.md. Everything happens on this machine, so browser, server and engine share its cores.
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { launchBrowser } from '../test/console/browser.ts'
import { openScene, type Scene } from '../test/console/scene.ts'
import { buildConsole } from './build-console.mjs'
import { provenance, writeFigures } from './figures.ts'

const many = Number(process.argv[2] ?? 200_000)
const isWritten = process.argv.includes('--figures')
const atOnce = 20_000
const type = 'opensds.volume'
const opens = 5
/** One in so many failed, and one in so many can be asked to grow without anything else matching. */
const failedEvery = 400
const growsEvery = 25

const statusOf = (n: number): string =>
  n % failedEvery === 0 ? 'Error' : n % growsEvery === 1 ? 'ErrorExtending' : 'Available'

async function load({ api }: Scene): Promise<void> {
  for (let from = 0; from < many; from += atOnce) {
    const body = Array.from({ length: Math.min(atOnce, many - from) }, (_, index) => ({
      id: `volume-${from + index}`,
      status: statusOf(from + index),
      properties: { size: 1 + (index % 90), zone: `eu-${index % 3}` },
    }))
    await api.call('importResources', { path: { type }, query: { reason: 'measuring' }, body })
  }
}

/** Before anything of the page runs: marks the moment at which what was come for is in the document. */
const watch = (selector: string): string => `
  new MutationObserver((_, observer) => {
    if (document.querySelector(${JSON.stringify(selector)}) === null) return
    observer.disconnect()
    requestAnimationFrame(() => performance.mark('useful'))
  }).observe(document, { childList: true, subtree: true })`

interface Smoothness {
  readonly frames: number
  readonly longestMs: number
  readonly longTasks: number
  readonly longestTaskMs: number
}

/** Frames and long tasks while `each` is done in every frame. */
const smoothness = (page: Page, seconds: number, each = '') =>
  page.evaluate<Smoothness>(`new Promise((done) => {
    const tasks = []
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)))
    observer.observe({ type: 'longtask' })
    const begun = performance.now()
    let last = begun, frames = 0, longest = 0
    const step = (at) => {
      if (frames > 0) longest = Math.max(longest, at - last)
      last = at
      frames++
      ${each}
      if (at - begun < ${seconds * 1_000}) return requestAnimationFrame(step)
      observer.disconnect()
      done({ frames, longestMs: Math.round(longest), longTasks: tasks.length, longestTaskMs: Math.round(Math.max(0, ...tasks)) })
    }
    requestAnimationFrame(step)
  })`)

const inWords = ({ frames, longestMs, longTasks, longestTaskMs }: Smoothness, seconds: number): string =>
  `${Math.round(frames / seconds)} frames a second, the longest ${longestMs} ms; ${longTasks} tasks above 50 ms${longTasks === 0 ? '' : `, the longest ${longestTaskMs} ms`}`

const median = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!

/**
 * Opened so often: when something useful is on the screen, by the page's own clock from the opening of the address. `isCold`: by a browser
 * that has nothing of the console yet.
 */
async function open(context: BrowserContext, address: string, selector: string, isCold: boolean): Promise<number[]> {
  const times: number[] = []
  for (let tries = 0; tries < opens; tries++) {
    const own = isCold
      ? await context.browser()!.newContext({ locale: 'en-US', storageState: await context.storageState() })
      : context
    const page = await own.newPage()
    await page.addInitScript(watch(selector))
    await page.goto(address)
    await page.locator(selector).first().waitFor()
    const read = () => page.evaluate<number | null>(`performance.getEntriesByName('useful')[0]?.startTime ?? null`)
    let found = await read()
    while (found === null) found = await read()
    times.push(Math.round(found))
    await (isCold ? own.close() : page.close())
  }
  return times
}

/** From the choice of a filter until the page shows what fits. */
async function timed(page: Page, act: () => Promise<unknown>, shown: Locator): Promise<number> {
  const before = await page.evaluate<number>('performance.now()')
  await act()
  await shown.waitFor()
  return Math.round((await page.evaluate<number>('performance.now()')) - before)
}

interface Found {
  readonly figure: string
  readonly found: string
  readonly goal: string
  readonly met: boolean | null
}

async function measure(browser: Browser, scene: Scene): Promise<Found[]> {
  const told: Found[] = []
  const tell = (figure: string, found: string, goal: string, met: boolean | null) => {
    console.log(`${figure}: ${found} (${goal})`)
    told.push({ figure, found, goal, met })
  }
  const context = await browser.newContext({ locale: 'en-US', viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.goto(`${scene.url}/#ticket=${scene.ticket()}`)
  await page.locator('.attention li').first().waitFor()

  const list = `/resources?type=${type}`
  for (const [name, address, selector] of [
    ['Fleet', '/', '.attention li'],
    ['Resources', list, '.all .grid-row'],
  ] as const) {
    for (const isCold of [false, true]) {
      const times = await open(context, `${scene.url}${address}`, selector, isCold)
      tell(
        `${name}: first useful paint${isCold ? ' in a browser that was never here' : ''}`,
        `${median(times)} ms (${Math.min(...times)} to ${Math.max(...times)} ms in ${opens} openings)`,
        'below 1 s',
        Math.max(...times) < 1_000,
      )
    }
  }

  await page.goto(`${scene.url}${list}`)
  await page.locator('.all .grid-row').first().waitFor()
  const scrolled = await smoothness(page, 4, `document.querySelector('.rows').scrollTop += 80`)
  tell('Resources: scrolling for 4 s', inWords(scrolled, 4), 'no frame above 100 ms', scrolled.longestMs <= 100)

  const fits = (count: number) => page.locator('.page-head', { hasText: `${count.toLocaleString('en')} fit` })
  const failed = Math.ceil(many / failedEvery)
  const byKind = await timed(
    page,
    () => page.locator('#filter-kind').selectOption('failed'),
    fits(failed + many / growsEvery),
  )
  tell('Resources: filter by kind, until it is shown', `${byKind} ms`, 'below 300 ms', byKind < 300)
  const byStatus = await timed(page, () => page.locator('#filter-status').selectOption('Error'), fits(failed))
  tell('Resources: filter by status, until it is shown', `${byStatus} ms`, 'below 300 ms', byStatus < 300)
  await page.goto(`${scene.url}${list}`)
  await page.locator('.all .grid-row').first().waitFor()
  const [typing, byText] = await Promise.all([
    smoothness(page, 2),
    timed(
      page,
      () => page.locator('#filter-text').fill('volume-77'),
      page.locator('.all .grid-row').first().filter({ hasText: 'volume-77' }),
    ),
  ])
  tell(
    'Resources: text typed, until what fits is shown',
    `${byText} ms; meanwhile ${inWords(typing, 2)}`,
    'below 1 s',
    byText < 1_000,
  )

  for (const [name, address, selector] of [
    ['Fleet', '/', '.attention li'],
    ['Resources', `${list}&status=Available`, '.all .grid-row'],
  ] as const) {
    await page.goto(`${scene.url}${address}`)
    await page.locator(selector).first().waitFor()
    const newest = async () => (await scene.api.call('streamEvents', { query: { pageSize: 1 } })).last
    // Each that is asked to grow leaves its status and comes to another: two changes.
    const { bulk } = await scene.api.call('createBulk', {
      body: {
        filter: { type, status: ['ErrorExtending'] },
        operation: 'extend',
        input: { size: 100 },
        reason: 'measuring',
        perSecond: 500,
      },
    })
    const before = await newest()
    const seconds = 6
    const busy = await smoothness(page, seconds)
    const events = Math.round(((await newest()) - before) / seconds)
    // It may be over by itself.
    await scene.api.call('cancelBulk', { path: { bulk: bulk!.id } }).catch(() => {})
    tell(
      `${name}: ${events} events a second on screen`,
      inWords(busy, seconds),
      'at least 500 a second, no frame above 250 ms',
      events >= 500 && busy.longestMs <= 250,
    )
  }
  await context.close()
  return told
}

buildConsole()
const scene = await openScene()
const browser = await launchBrowser()
try {
  const begun = performance.now()
  await load(scene)
  console.log(`${many} resources loaded in ${Math.round((performance.now() - begun) / 100) / 10} s`)
  const told = await measure(browser, scene)
  if (isWritten)
    writeFigures('Console', [
      provenance(`node --conditions=source scripts/bench-console.ts ${many} --figures`),
      '',
      `Headless Chromium, server and engine on the same two cores; ${many.toLocaleString('en')} resources in a SQLite file.`,
      '',
      '| figure | found | goal | met |',
      '| --- | --- | --- | --- |',
      ...told.map(
        ({ figure, found, goal, met }) => `| ${figure} | ${found} | ${goal} | ${met === true ? 'yes' : '**no**'} |`,
      ),
    ])
} finally {
  await browser.close()
  await scene.close()
}
