// The README says what is true: its programs are the files in examples/, and they do what it says, run as a reader would run
// them, in a folder of their own, killed with -9 in the middle.
import { execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const programs = ['database.ts', 'main.ts']

/** Blocks of a language, without their fences. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp('^```' + language + '[^\\n]*\\n([\\s\\S]*?)^```$', 'gm'))].map((match) => match[1]!)

let folder = ''

/** As after `npm install homeostat zod`; the condition `source` stands for what is published. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-readme-'))
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '@types'), { recursive: true })
  symlinkSync(root, join(modules, 'homeostat'))
  for (const name of ['zod', '@types/node']) symlinkSync(join(root, 'node_modules', name), join(modules, name))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  for (const name of programs) copyFileSync(join(root, 'examples', name), join(folder, name))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(programs)('the README prints %s as it is', (name) => {
  const printed = blocks('ts').filter((text) => text.startsWith(`// ${name}`))
  expect(printed).toEqual([readFileSync(join(root, 'examples', name), 'utf8')])
})

test('the project that `homeostat init` begins has the lifecycle of the README, and lets its delete be forced', () => {
  const declared = (file: string): string =>
    /^const sizeGb[^]*?^\}\)$/m.exec(readFileSync(join(root, file), 'utf8'))?.[0] ?? `nothing in ${file}`
  const forced = "      ifBusy: 'preempt',\n      force: '10s',\n"
  const template = declared('templates/project/database.ts')
  expect(template).toContain(forced)
  expect(template.replace(forced, "      ifBusy: 'preempt',\n")).toBe(declared('examples/database.ts'))
})

test('every program the README tells to run exists', () => {
  const commands = blocks('sh').flatMap((text) => text.split('\n'))
  const scripts = Object.keys(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }).scripts,
  )
  expect(commands.some((line) => line.startsWith('npm start'))).toBe(true)
  const missing = commands.filter((line) => {
    const [, script] = /^npm (?:run )?([a-z]+)/.exec(line) ?? []
    const [, file] = /^(?:npx )?node (?:--\S+ )*(\S+\.ts)/.exec(line) ?? []
    if (file !== undefined) return !existsSync(join(root, file)) && !programs.includes(file)
    return script !== undefined && !['install', 'ci', 'i'].includes(script) && !scripts.includes(script)
  })
  expect(missing).toEqual([])
})

test('the programs compile as they are printed, strictly', () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const options = {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    customConditions: ['source'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: programs }))
  expect(() => execFileSync(process.execPath, [tsc, '-p', folder], { stdio: 'pipe', encoding: 'utf8' })).not.toThrow()
})

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
}

/** Runs main.ts; killed with -9 as soon as `killWhen` holds. */
async function runMain(killWhen: (() => boolean) | null): Promise<Ended> {
  const child = spawn(process.execPath, ['--conditions=source', 'main.ts'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  const watch = setInterval(() => {
    if (killWhen?.()) child.kill('SIGKILL')
  }, 10)
  try {
    return await new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, output })))
  } finally {
    clearInterval(watch)
  }
}

const disks = (): string[] =>
  existsSync(join(folder, 'disks'))
    ? readdirSync(join(folder, 'disks'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    : []
const servers = (): string[] => (existsSync(join(folder, 'servers')) ? readdirSync(join(folder, 'servers')) : [])

test('killed with -9 in the middle and started again, the database is there, once', async () => {
  const killed = await runMain(() => disks().length === 1)
  expect(killed).toMatchObject({ code: null, signal: 'SIGKILL' })
  expect(servers()).toEqual([])
  const again = await runMain(null)
  expect(again.output).toContain('orders is there already: Creating')
  expect(again.output).toContain('shop.database orders is Ready')
  expect(again).toMatchObject({ code: 0, signal: null })
  expect(disks()).toEqual(['x'.repeat(10)])
  expect(servers()).toEqual(['orders'])
})

test('started once more, it finds it done', async () => {
  rmSync(join(folder, 'servers', 'orders'), { recursive: true })
  const { code, output } = await runMain(null)
  expect(code).toBe(0)
  expect(output).toContain('orders is there already: Ready')
  // No step was done again.
  expect(servers()).toEqual([])
})
