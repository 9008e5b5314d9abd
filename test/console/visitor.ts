// Somebody in front of the console: a page of a real browser that remembers every error, every change that was made, every request
// that left the machine, and whether what is shown can be used by everybody.
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { routeNames, routeOf, type RouteName } from '../../src/protocol/routes.ts'
import type { Scene } from './scene.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const shots = resolve('test/console/shots')
const areShotsWanted = process.env['HOMEOSTAT_SHOTS'] !== undefined
if (areShotsWanted) mkdirSync(shots, { recursive: true })

/** Every row of the contract that changes something, with what its addresses look like. */
const changes = routeNames
  .filter((name) => routeOf(name).method !== 'GET')
  .map((name) => {
    const { method, path } = routeOf(name)
    return { name, method, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }
  })

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
  /** Rows of the contract that the page asked to change something, and the server did. */
  readonly made: RouteName[] = []

  constructor(page: Page, origin: string) {
    this.page = page
    this.origin = origin
    page.setDefaultTimeout(30_000)
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        this.errors.push(`${message.text()} ${message.location().url}`)
    })
    page.on('pageerror', (error) => this.errors.push(error.message))
    page.on('response', (response) => {
      const method = response.request().method()
      if (method === 'GET' || !response.ok()) return
      const { pathname } = new URL(response.url())
      const row = changes.find((one) => one.method === method && one.pattern.test(pathname))
      if (row !== undefined) this.made.push(row.name)
    })
    page.on('request', (request) => {
      if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url())) this.strangers.push(request.url())
    })
  }

  /** Signs in by a ticket, as the address does that the server prints. */
  async enter(ticket: string): Promise<void> {
    await this.page.goto(`${this.origin}/#ticket=${ticket}`)
    await this.page.locator('.shell').waitFor()
  }

  async signIn(account: string, password: string): Promise<void> {
    await this.type('Account', account)
    await this.type('Password', password)
    await this.click('Sign in')
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

  /** Takes complaints off the list that belong to what was tried. */
  excuse(...patterns: readonly RegExp[]): void {
    const left = this.errors.filter((one) => !patterns.some((pattern) => pattern.test(one)))
    this.errors.splice(0, Infinity, ...left)
  }

  /**
   * Throws unless in this test the page has asked for each of these rows of the contract, and the server has done it. coverage.test.ts
   * reads from these lines that no change which the console can make is without a test.
   */
  hasMade(...rows: readonly RouteName[]): void {
    const missing = rows.filter((row) => !this.made.includes(row))
    if (missing.length > 0) throw new Error(`The page did not bring about: ${missing.join(', ')}.`)
  }

  sees(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).filter({ visible: true }).first().waitFor()
  }

  seesNoMore(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).filter({ visible: true }).first().waitFor({ state: 'detached' })
  }

  /** Of the resource that is open. */
  async stands(status: string | RegExp): Promise<void> {
    await this.page.locator('.resource-head .status', { hasText: status }).waitFor()
  }

  /** Presses what copies, and answers what is then in the clipboard. */
  async copy(label: string, within: Locator = this.page.locator('body')): Promise<string> {
    await this.page.evaluate('navigator.clipboard.writeText("")')
    await within.getByRole('button', { name: label, exact: true }).first().click()
    return this.page.evaluate<string>(`new Promise((done, fail) => {
      const look = () => navigator.clipboard.readText().then((text) => (text === '' ? setTimeout(look, 20) : done(text)), fail)
      look()
    })`)
  }

  async click(name: string | RegExp, role: 'button' | 'link' | 'tab' = 'button'): Promise<void> {
    await this.page
      .getByRole(role, { name, exact: typeof name === 'string' })
      .first()
      .click()
  }

  async type(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).and(this.page.locator('input:not([type=checkbox]), textarea')).first().fill(text)
  }

  async choose(label: string | RegExp, value: string): Promise<void> {
    await this.page.getByLabel(label).and(this.page.locator('select')).first().selectOption(value)
  }

  /** The dialog that is open: fills in a reason and the name to be typed, and does it. */
  async confirm(does: string, given: { readonly reason?: string; readonly name?: string } = {}): Promise<void> {
    const dialog = this.page.getByRole('dialog')
    if (given.reason !== undefined) await dialog.getByLabel(/Reason/).fill(given.reason)
    if (given.name !== undefined) await dialog.getByLabel(/cannot be taken back/).fill(given.name)
    await dialog.locator('footer').getByRole('button', { name: does, exact: true }).click()
  }

  async closes(): Promise<void> {
    await this.page.getByRole('dialog').waitFor({ state: 'detached' })
  }

  /** Everything that keeps somebody from using what is shown, in words. */
  async barriers(): Promise<string[]> {
    if (!(await this.page.evaluate('typeof axe === "object"'))) await this.page.evaluate(`${axe}; undefined`)
    const options = JSON.stringify({ resultTypes: ['violations'], preload: false })
    const { violations } = await this.page.evaluate<AxeResults>(`axe.run(${options})`)
    return violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)}`))
  }

  /** For those who want to look (HOMEOSTAT_SHOTS=1), out of the sight of git: no test looks at it, and a picture takes its time. */
  async shot(name: string): Promise<void> {
    if (areShotsWanted) await this.page.screenshot({ path: join(shots, `${name}.png`) })
  }
}

export async function visit(browser: Browser, scene: Scene, scheme: Scheme): Promise<Visitor> {
  const page = await browser.newPage({
    locale: 'en-US',
    colorScheme: scheme,
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  return new Visitor(page, scene.url)
}
