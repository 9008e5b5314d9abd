// `homeostat init` writes a project that works: its test passes, it compiles strictly, it is checked, drawn and served.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { root, Terminal, type Said } from './terminal.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const terminal = Terminal.empty()
const project = new Terminal(join(terminal.folder, 'shop'))
let written: Said

interface Packages {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

beforeAll(async () => {
  written = await terminal.homeostat('init shop')
  // As after `npm install`.
  const modules = join(project.folder, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  symlinkSync(root, join(modules, 'homeostat'))
  const { dependencies, devDependencies } = JSON.parse(project.read('package.json')) as Packages
  const names = Object.keys({ ...dependencies, ...devDependencies }).filter((name) => name !== 'homeostat')
  for (const name of names) symlinkSync(join(root, 'node_modules', name), join(modules, name))
})
afterAll(async () => {
  await project.close()
  await terminal.close()
})

test('it says what it wrote, and what is next', () => {
  expect(written.exit).toBe(0)
  expect(written.out).toContain('database.test.ts')
  expect(written.out).toContain('Next: cd shop && npm install && npm test && npm start')
})

test('a folder with something in it is left alone', async () => {
  const { exit, err } = await terminal.homeostat('init shop')
  expect(err).toContain('is not empty')
  expect(exit).toBe(73)
})

test('its test passes', async () => {
  const { exit, out } = await project.run('npm test', { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` })
  expect(out).toMatch(/pass 4/)
  expect(exit).toBe(0)
})

/** What the pages of docs show as TypeScript, with what they take for granted before it. */
function writeBlocks(): void {
  const own = `import { databases } from './database.ts'\n`
  const boxes = own + `const token = 't'\nconst boxes = databases\n`
  const engine =
    own +
    `import { createDriver } from './driver.ts'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
const store = openSqliteStore({ file: 'x.db' })
const lifecycles = { database: databases }
const drivers = { database: createDriver(openLocalWorld({ directory: 'w' })) }
`
  const parts = `import { defineConfig, defineModule } from 'homeostat/config'\n`
  const before: Readonly<Record<string, readonly string[]>> = {
    api: [engine, boxes],
    oidc: [parts + own],
    'remote-drivers': [''],
    simulation: [own + 'const mine = databases\n'],
  }
  for (const [page, beginnings] of Object.entries(before)) {
    const text = readFileSync(join(root, 'docs', `${page}.md`), 'utf8')
    const blocks = [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => block!)
    expect(blocks).toHaveLength(beginnings.length)
    for (const [index, block] of blocks.entries()) {
      const shown = block
        .replace('[/* … */]', '[defineModule({ lifecycles: { database: databases } })]')
        .replace("import { disks } from './disks.ts'", "import { databases as disks } from './database.ts'")
        .replaceAll('{ size:', '{ sizeGb:')
      writeFileSync(join(project.folder, `${page}-${index}.ts`), beginnings[index]! + shown)
    }
  }
}

/** Everything that the package offers, each by its subpath. */
function writeImports(): void {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly exports: object }
  const lines = Object.keys(exports).map((path, n) => `export * as part${n} from '${path.replace('.', 'homeostat')}'`)
  expect(lines.length).toBeGreaterThan(5)
  writeFileSync(join(project.folder, 'parts.ts'), lines.join('\n'))
}

test('it compiles strictly, and so do every part of the package and what the pages of docs show', () => {
  writeBlocks()
  writeImports()
  const tsc = join(project.folder, 'node_modules/typescript/bin/tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc], { cwd: project.folder, encoding: 'utf8' })
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

test('its packages are those that this was tested with', () => {
  const ours = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Packages
  const { dependencies, devDependencies } = JSON.parse(project.read('package.json')) as Packages
  const { homeostat, ...theirs } = { ...dependencies, ...devDependencies }
  expect(homeostat).toBe(`file:${root}`)
  expect({ ...ours.dependencies, ...ours.devDependencies }).toMatchObject(theirs)
})

test('it is checked and drawn', async () => {
  expect(await project.homeostat('check')).toMatchObject({ exit: 0, out: '1 lifecycle: 0 errors, 0 warnings.\n' })
  expect((await project.homeostat('draw database --mermaid')).out).toContain('stateDiagram-v2')
  expect((await project.homeostat('draw database')).out).toContain('<svg')
})

test('it is served, and a database is made', async () => {
  const server = await project.start(`${process.execPath} --conditions=source ${root}/src/bin.ts serve --dev --port 0`)
  const made = await project.homeostat('create database --id orders sizeGb=1 --wait')
  expect(made.out).toContain('shop.database/orders is Ready')
  expect(made.exit).toBe(0)
  expect((await project.homeostat('truth')).out).toContain('shop.database/orders/disk/1')
  server.child.kill('SIGTERM')
  expect(await server.exited).toBe(0)
})
