// `npm run story`: the story that the README shows, played in a real browser by its test; the pictures in docs/pictures are made anew.
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { optionsOf } from './options.ts'

optionsOf('npm run story', {})

const root = resolve(import.meta.dirname, '..')
const vitest = resolve(root, 'node_modules/vitest/vitest.mjs')
const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/console/story.test.ts'], {
  cwd: root,
  env: { ...process.env, HOMEOSTAT_PICTURES: 'docs/pictures' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
