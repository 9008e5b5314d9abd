// The package as it is published, put together into few files: its entries load, its threads are found where they are started, and what
// a module looks for beside itself is still there.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
let folder = ''

function run(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args], { cwd: folder, encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  return stdout
}

beforeAll(() => {
  // As deep as dist/src, and where the packages are found.
  mkdirSync(join(root, 'dist'), { recursive: true })
  folder = mkdtempSync(join(root, 'dist/built-'))
  const script = `import { bundle } from ${JSON.stringify(join(root, 'scripts/bundle.mjs'))}; await bundle(${JSON.stringify(folder)})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  if (status !== 0 || stderr !== '') throw new Error(`the build failed: ${stderr}`)
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('every entry that package.json exports is there and loads', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, { default: string }>
  }
  const files = Object.values(exports).map((entry) => entry.default.replace('./dist/src/', './'))
  writeFileSync(join(folder, 'all.mjs'), files.map((file) => `import '${file}'`).join('\n'))
  run('all.mjs')
})

test('the command line knows its version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  expect(run('bin.js', '--version')).toContain(version)
})

test('the threads are where they are started', () => {
  const threads = globSync('src/store/*/*.ts', { cwd: root }).filter(
    (file) => readFileSync(join(root, file), 'utf8').match(/^import \{.*workerData/m) !== null,
  )
  expect(threads.length).toBeGreaterThan(2)
  for (const file of threads)
    expect(existsSync(join(folder, file.replace(/^src./, '').replace(/ts$/, 'js'))), file).toBe(true)
})

test('a process of the built files keeps its lease: its thread beats', () => {
  writeFileSync(
    join(folder, 'beats.mjs'),
    `import { setTimeout as pause } from 'node:timers/promises'
import { createEngine, resourceType } from './index.js'
import { z } from 'zod'
import { openSqliteStore } from './sqlite.js'
const statuses = { stable: {}, transitional: { Going: 'Goes.' }, failed: {}, terminal: { Gone: 'Was.' } }
const thing = resourceType('thing', { properties: z.object({}), statuses }).lifecycle({
  operations: { create: { from: [], steps: { pass: { during: 'Going' } }, to: 'Gone', onFailure: 'Gone' } },
  heal: { Going: { resume: true, unowned: { status: 'Gone' } } },
})
const store = openSqliteStore({ file: 'beats.db' })
const leaseMs = 6_000
const engine = createEngine({ store, lifecycles: { thing }, drivers: { thing: { pass: () => undefined } }, options: { leaseMs } })
await engine.start()
await engine.create('thing', { properties: {} }, { by: 'test' })
await pause(leaseMs + 500)
console.log(engine.incarnation)
await engine.stop()
await store.close()
`,
  )
  expect(run('beats.mjs')).toBe('1\n')
}, 30_000)

test('what is in a file of its own besides is only what several share', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
  expect(files.length).toBeLessThan(120)
})

test('the package holds what is named here, and runs nothing when it is installed', () => {
  const { files, scripts, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    files: readonly string[]
    scripts: Record<string, string>
    dependencies: Record<string, string>
  }
  const folders = ['bin', 'templates', 'deploy', 'dist', 'docs', '!docs/pictures']
  const pages = ['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'].map((page) => `${page}.md`)
  expect(files).toEqual([...folders, ...pages, 'LICENSE'])
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?(install|prepare|publish)/.test(name))).toEqual([])
  for (const [name, version] of Object.entries(dependencies)) expect(version, name).toMatch(/^\d+\.\d+\.\d+$/)
})
