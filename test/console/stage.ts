// What every file of browser tests begins with: a scene of its own, a browser, and somebody signed in who is in front of it for all
// tests of the file. Whatever the browser complains about, and every request that leaves the machine, fails the test it happens in.
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { buildConsole } from '../../scripts/build-console.mjs'
import { launchBrowser } from './browser.ts'
import { fill, openScene, type Scene } from './scene.ts'
import { visit, type Visitor } from './visitor.ts'

export interface Stage {
  readonly scene: Scene
  readonly browser: Browser
  readonly visitor: Visitor
}

/** Enough on a busy machine; nothing waits for it that is there. */
export const patienceMs = 120_000

export function openStage({ isFilled = true, isSignedIn = true } = {}): Stage {
  let scene: Scene
  let browser: Browser
  let visitor: Visitor
  beforeAll(async () => {
    buildConsole()
    ;[scene, browser] = await Promise.all([openScene(), launchBrowser()])
    if (isFilled) await fill(scene)
    visitor = await visit(browser, scene, 'light')
    if (isSignedIn) await visitor.enter(scene.ticket())
    // The first time a browser may have to be fetched.
  }, 400_000)
  beforeEach(() => void visitor.made.splice(0))
  afterEach(async () => {
    // What a test that failed has left open, held back or killed is not to fail the next one too.
    await visitor.page.unrouteAll({ behavior: 'ignoreErrors' })
    if (!scene.isRunning()) await scene.start()
    if ((await visitor.page.getByRole('dialog').count()) > 0) await visitor.page.keyboard.press('Escape')
    const [errors, strangers] = [visitor.errors.splice(0), visitor.strangers.splice(0)]
    expect(errors).toEqual([])
    expect(strangers).toEqual([])
  }, patienceMs)
  afterAll(async () => {
    await browser?.close()
    await scene?.close()
  }, patienceMs)
  return {
    get scene() {
      return scene
    },
    get browser() {
      return browser
    },
    get visitor() {
      return visitor
    },
  }
}
