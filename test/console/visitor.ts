// Somebody in front of the console: a page of a real browser that remembers every error, every request that left the machine, and
// whether what is shown can be used by everybody.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import type { Scene } from './scene.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const shots = resolve('test/console/shots')
mkdirSync(shots, { recursive: true })

export type Scheme = 'light' | 'dark'

interface AxeResults {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

export class Visitor {
  readonly page: Page
  readonly origin: string
  /** What the browser's console and the page complained about. */
  readonly errors: string[] = []
  /** Requests to anybody but our own server. */
  readonly strangers: string[] = []

  constructor(page: Page, origin: string) {
    this.page = page
    this.origin = origin
    page.setDefaultTimeout(30_000)
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.errors.push(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => this.errors.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url())) this.strangers.push(request.url())
    })
  }

  /** To an address of the console, as a click on a link would. */
  async go(address: string): Promise<void> {
    await this.page.evaluate(
      `history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`,
    )
  }

  /** Waits until the browser has complained so often, and takes these complaints off the list. */
  async complaints(count: number): Promise<string[]> {
    while (this.errors.length < count) await this.page.waitForEvent('console', { timeout: 30_000 })
    return this.errors.splice(0)
  }

  sees(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor()
  }

  async click(name: string | RegExp, role: 'button' | 'link' | 'tab' = 'button'): Promise<void> {
    await this.page
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .click()
  }

  async type(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).first().fill(text)
  }

  async choose(label: string | RegExp, value: string): Promise<void> {
    await this.page.getByLabel(label).first().selectOption(value)
  }

  /** The dialog that is open: fills in a reason and the name to be typed, and does it. */
  async confirm(does: string, given: { readonly reason?: string; readonly name?: string } = {}): Promise<void> {
    const dialog = this.page.getByRole('dialog')
    if (given.reason !== undefined) await dialog.getByLabel(/Reason/).fill(given.reason)
    if (given.name !== undefined) await dialog.getByLabel(/cannot be taken back/).fill(given.name)
    await dialog.getByRole('button', { name: does, exact: true }).click()
  }

  async closes(): Promise<void> {
    await this.page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  /** Everything that keeps somebody from using what is shown, in words; or only what colours can do. */
  async barriers(which: 'all' | 'colours' = 'all'): Promise<string[]> {
    if (!(await this.page.evaluate('typeof axe === "object"'))) await this.page.evaluate(`${axe}; undefined`)
    const rules =
      which === 'all' ? ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] : { type: 'rule', values: ['color-contrast'] }
    const options = JSON.stringify({ runOnly: rules, resultTypes: ['violations'] })
    const { violations } = await this.page.evaluate<AxeResults>(`axe.run(${options})`)
    return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)}`))
  }

  /** Kept as an artefact; with HOMEOSTAT_PICTURES also where the documents show it. */
  async shot(name: string, scheme: Scheme): Promise<void> {
    await this.page.screenshot({ path: join(shots, `${name}-${scheme}.png`) })
    const documents = process.env['HOMEOSTAT_PICTURES']
    if (documents !== undefined) await this.page.screenshot({ path: join(documents, `console-${name}-${scheme}.png`) })
  }
}

/** Signed in by the ticket that the server printed. */
export async function visit(browser: Browser, scene: Scene, scheme: Scheme, width = 1440): Promise<Visitor> {
  const page = await browser.newPage({
    locale: 'en-US',
    colorScheme: scheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  })
  return new Visitor(page, scene.url)
}

export { launchBrowser }
