// Builds the console into dist/web when its sources are newer. Plain JavaScript for whatever Node the machine has; the build itself
// runs on the Node of the packages. Built beside and put in place at once, so that two at a time do no harm.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['src/console', 'src/client', 'src/protocol', 'src/base', 'package-lock.json']
const built = join(root, 'dist/web')

function newest(path) {
  const found = statSync(path)
  if (!found.isDirectory()) return found.mtimeMs
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))))
}

export function buildConsole() {
  const page = join(built, 'index.html')
  if (existsSync(page) && statSync(page).mtimeMs >= Math.max(...sources.map((path) => newest(join(root, path))))) return
  const beside = `${built}-${process.pid}`
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  const given = [
    'build',
    '--config',
    join(root, 'src/console/vite.config.mjs'),
    '--outDir',
    beside,
    '--logLevel',
    'warn',
  ]
  const { status } = spawnSync(join(root, 'node_modules/.bin/node'), [vite, ...given], {
    cwd: root,
    stdio: 'inherit',
    // Tests run in a mode of their own, in which React would be built for its developers: larger by half, and slower.
    env: { ...process.env, NODE_ENV: 'production' },
  })
  if (status !== 0) throw new Error('The console could not be built; what went wrong stands above.')
  const before = `${beside}-before`
  try {
    // Somebody may be reading the old one: it is put aside whole, and only then removed.
    if (existsSync(built)) renameSync(built, before)
    renameSync(beside, built)
  } catch {
    // Another one was quicker: its build is as good.
    rmSync(beside, { recursive: true, force: true })
  }
  rmSync(before, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildConsole()
