// Makes a checkout ready. Runs on whatever Node the machine has (18 or newer) and needs no dependency itself:
// `npm start`, `npm test` and the others call it first, so that a fresh clone needs no other command.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { buildConsole } from './build-console.mjs'

const changedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  console.log('Setting up (once): installing the packages that package-lock.json names ...')
  const npm = spawnSync('npm', ['ci'], { stdio: 'inherit', shell: process.platform === 'win32' })
  if (npm.status !== 0) process.exit(npm.status ?? 1)
}

buildConsole()
