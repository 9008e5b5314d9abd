// How the console feels with many resources: a real browser on a real server over a SQLite file, measured with the browser's own
// clock. `node --conditions=source scripts/bench-console.ts 200000`; it prints what docs/console.md tells.
import { launchBrowser } from '../test/console/browser.ts'
import { openScene, type Scene } from '../test/console/scene.ts'

const many = Number(process.argv[2] ?? 200_000)
const atOnce = 20_000

async function load({ api }: Scene): Promise<void> {
  for (let from = 0; from < many; from += atOnce) {
    const body = Array.from({ length: Math.min(atOnce, many - from) }, (_, index) => ({
      id: `volume-${from + index}`,
      status: index % 400 === 0 ? 'Error' : 'Available',
      properties: { size: 1 + (index % 90), zone: `eu-${index % 3}` },
    }))
    await api.call('importResources', { path: { type: 'opensds.volume' }, query: { reason: 'measuring' }, body })
  }
}

const scene = await openScene()
const browser = await launchBrowser()
try {
  const begun = performance.now()
  await load(scene)
  console.log(`${many} resources loaded in ${Math.round((performance.now() - begun) / 100) / 10} s`)
  const page = await browser.newPage({ locale: 'en-US', viewport: { width: 1440, height: 900 } })
  await page.goto(`${scene.url}/#ticket=${scene.ticket()}`)
  await page.locator('.attention li').first().waitFor()
  const opened = async (address: string, shown: string) => {
    await page.goto(`${scene.url}${address}`)
    await page.locator(shown).first().waitFor()
    return Math.round(Number(await page.evaluate('performance.now()')))
  }
  console.log(`Fleet: useful after ${await opened('/', '.attention li')} ms`)
  console.log(`Resources: useful after ${await opened('/resources?type=opensds.volume', '.all .grid-row')} ms`)
  // Frames while it is scrolled for two seconds: how long the longest took.
  const frames = await page.evaluate<{ readonly frames: number; readonly longest: number }>(`new Promise((done) => {
    const box = document.querySelector('.rows'); const begun = performance.now(); let last = begun, frames = 0, longest = 0
    const step = (at) => { longest = Math.max(longest, at - last); last = at; frames++; box.scrollTop += 60
      if (at - begun < 2000) requestAnimationFrame(step); else done({ frames, longest: Math.round(longest) }) }
    requestAnimationFrame(step) })`)
  console.log(`Scrolling: ${frames.frames} frames in 2 s, the longest ${frames.longest} ms`)
  const filtered = Number(await page.evaluate('performance.now()'))
  await page.getByLabel('Kind').selectOption('failed')
  await page.locator('.page-head', { hasText: `${(many / 400).toLocaleString('en')} fit` }).waitFor()
  console.log(
    `Filter by kind: shown after ${Math.round(Number(await page.evaluate('performance.now()')) - filtered)} ms`,
  )

  // Operations are asked for at 500 a second while the first page is open.
  await opened('/', '.attention li')
  const before = (await scene.api.call('streamEvents', { query: { pageSize: 1 } })).last
  await scene.api.call('createBulk', {
    body: {
      filter: { type: 'opensds.volume', status: ['Available'] },
      operation: 'extend',
      input: { size: 100 },
      reason: 'measuring',
      perSecond: 500,
    },
  })
  const busy = await page.evaluate<{ readonly frames: number; readonly longest: number }>(`new Promise((done) => {
    const begun = performance.now(); let last = begun, frames = 0, longest = 0
    const step = (at) => { longest = Math.max(longest, at - last); last = at; frames++
      if (at - begun < 5000) requestAnimationFrame(step); else done({ frames, longest: Math.round(longest) }) }
    requestAnimationFrame(step) })`)
  const after = (await scene.api.call('streamEvents', { query: { pageSize: 1 } })).last
  console.log(
    `${Math.round((after - before) / 5)} events a second: ${busy.frames} frames in 5 s, the longest ${busy.longest} ms`,
  )
} finally {
  await browser.close()
  await scene.close()
}
