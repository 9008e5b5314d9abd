// Puts the modules of the package together into few files in dist/src, beside the declarations that tsc has made: a program then loads
// a handful of files instead of two hundred, of which each is looked for, read and linked on its own. Entries keep their names: what
// package.json exports, the command line, and the threads, which are started by their file's address.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'src')
const nameOf = (file) => relative(sources, file).replaceAll('\\', '/').replace(/\.ts$/, '')

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const exported = Object.values(exports).map(({ source }) => join(root, source))
const threads = readdirSync(join(sources, 'store'), { recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(sources, 'store', name))
  .filter((file) => /^import \{.*\bworkerData\b/m.test(readFileSync(file, 'utf8')))
const entries = [...exported, join(sources, 'bin.ts'), ...threads]

/** Stands for the folder of the entries, until it is known how deep the file is in which a module ends up. */
const top = '#top/'

/** A module goes on finding what lies beside it. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(sources) || !code.includes('import.meta.')) return null
    const name = nameOf(id)
    const placed = code
      .replaceAll('import.meta.url', `import.meta.url.replace(/[^/]*$/, '${top}${name}.js')`)
      .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${top}${dirname(name)}')`)
    return { code: placed, map: null }
  },
  renderChunk(code, { fileName }) {
    if (!code.includes(top)) return null
    return { code: code.replaceAll(top, '../'.repeat(fileName.split('/').length - 1)), map: null }
  },
}

/** Into this folder, from which the code of an earlier build is removed. */
export async function bundle(built = join(root, 'dist/src')) {
  const beside = `${built}-${process.pid}`
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    plugins: [keepPlaces],
    build: {
      ssr: true,
      target: 'es2024',
      outDir: beside,
      minify: false,
      sourcemap: true,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((file) => [nameOf(file), file])),
        // What is installed beside the package stays there.
        external: (id) => !/^[./]/.test(id),
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
  const codeIn = (folder) => readdirSync(folder, { recursive: true }).filter((name) => /\.js(\.map)?$/.test(name))
  if (existsSync(built)) for (const name of codeIn(built)) rmSync(join(built, name))
  for (const name of codeIn(beside)) {
    mkdirSync(dirname(join(built, name)), { recursive: true })
    renameSync(join(beside, name), join(built, name))
  }
  rmSync(beside, { recursive: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
