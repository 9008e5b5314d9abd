// Keeps the direction of dependencies: who may import whom, as one table. Sees real files, and proves that it would see a breach.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Folder of src/ -> folders it may import. Entry points (src/*.ts) put the parts together and may import anything. */
const mayImport: Record<string, readonly string[]> = {
  base: [],
  lifecycle: ['base'],
  decision: ['base', 'lifecycle'],
  store: ['base', 'lifecycle', 'decision'],
  engine: ['base', 'lifecycle', 'decision', 'store'],
  testing: ['base', 'lifecycle', 'decision', 'store', 'engine'],
  worlds: ['base', 'lifecycle'],
  drawing: ['lifecycle'],
  protocol: ['base'],
  client: ['base', 'lifecycle', 'protocol'],
  console: ['base', 'protocol', 'client'],
  server: ['base', 'lifecycle', 'decision', 'engine', 'drawing', 'protocol', 'store'],
  /** Of the server only how strangers are called and how their JSON is read. */
  remote: ['base', 'lifecycle', 'server'],
}
/** Only these may be touched only there. */
const onlyIn: readonly { readonly what: string; readonly pattern: RegExp; readonly allowed: RegExp }[] = [
  {
    what: 'real time and timers',
    pattern: /\b(Date\.now\(|new Date\(|setTimeout\(|setInterval\(|setImmediate\(|performance\.now\()/,
    allowed: /^src\/(base\/clock\.ts|console\/time\.ts|testing\/|store\/sqlite\/heartbeat)/,
  },
  { what: 'chance', pattern: /\b(Math\.random\(|randomUUID\b|randomBytes\b)/, allowed: /^src\/base\/random\.ts/ },
  { what: 'node:sqlite', pattern: /from 'node:sqlite'/, allowed: /^src\/store\/sqlite\// },
  { what: 'the process', pattern: /\b(process\.(env|argv|exit)|console\.[a-z])/, allowed: /^src\/(cli\/|bin\.ts)/ },
]
const pure = /^src\/(lifecycle|decision)\//

interface Source {
  readonly file: string
  readonly text: string
}

function sources(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))
}

const specifiers = (text: string): string[] =>
  [
    ...text.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)import '([^']+)'/g,
    ),
  ].map((match) => (match[1] ?? match[2] ?? match[3])!)

function breaches({ file, text }: Source): string[] {
  const found: string[] = []
  const isTest = file.endsWith('.test.ts')
  const [top, folder] = file.split('/') as [string, string]
  for (const specifier of specifiers(text)) {
    const target = specifier.startsWith('.')
      ? relative(root, resolve(root, dirname(file), specifier))
          .split(sep)
          .join('/')
      : null
    if (top === 'src' && folder in mayImport && target?.startsWith('src/') && !isTest) {
      const other = target.split('/')[1]!
      if (other !== folder && !mayImport[folder]!.includes(other))
        found.push(`${file} imports ${target}: ${folder} may import only ${mayImport[folder]!.join(', ') || 'nothing'}`)
      if (folder === 'engine' && other === 'store' && target !== 'src/store/store.ts')
        found.push(`${file} imports ${target}: the engine knows the port, never a particular store`)
    }
    if (pure.test(file) && specifier.startsWith('node:') && !isTest)
      found.push(`${file} imports ${specifier}: it must stay pure`)
    if (
      (top === 'catalogues' || top === 'examples') &&
      target !== null &&
      !target.startsWith(`${top}/${top === 'examples' ? '' : `${folder}/`}`)
    ) {
      found.push(`${file} imports ${target}: it may use only the public package and its own folder`)
    }
  }
  if (pure.test(file) && !isTest && /\b(async|await)\s/.test(stripComments(text)))
    found.push(`${file} is asynchronous: it must stay pure`)
  if (top === 'src' && !isTest)
    for (const { what, pattern, allowed } of onlyIn)
      if (pattern.test(stripComments(text)) && !allowed.test(file)) found.push(`${file} touches ${what}`)
  return found
}

const stripComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '')

const all = [...sources('src'), ...sources('catalogues'), ...sources('examples')]

test('every import goes in the direction of the table', () => {
  expect(all.flatMap(breaches)).toEqual([])
})

test('the check sees the files and their imports', () => {
  expect(all.length).toBeGreaterThan(40)
  for (const folder of Object.keys(mayImport))
    expect(all.filter(({ file }) => file.startsWith(`src/${folder}/`)).length, folder).toBeGreaterThan(2)
  expect(all.flatMap(({ text }) => specifiers(text)).length).toBeGreaterThan(200)
})

test.each([
  ['src/decision/planted.ts', "import { createDoor } from '../engine/door.ts'"],
  ['src/decision/planted.ts', "import {\n  readFileSync,\n} from 'node:fs'"],
  ['src/decision/planted.ts', 'export const planted = async () => {}'],
  ['src/engine/planted.ts', "import { x } from '../store/sqlite/sqlite-store.ts'"],
  ['src/engine/planted.ts', 'const now = Date.now()'],
  ['src/lifecycle/planted.ts', "export { decide } from '../decision/decide.ts'"],
  ['src/base/planted.ts', 'const luck = Math.random()'],
  ['catalogues/blazar/planted.ts', "import { decide } from '../../src/decision/decide.ts'"],
  ['catalogues/blazar/planted.ts', "import { volumes } from '../opensds/index.ts'"],
])('a planted breach in %s is caught: %s', (file, text) => {
  expect(breaches({ file, text })).toHaveLength(1)
})
