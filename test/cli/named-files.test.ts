// Files and folders that are named on the command line and cannot be had: told at once, with the way out, and nothing is left behind.
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { root, Terminal } from './terminal.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 240_000 })

const terminal = Terminal.empty()
writeFileSync(join(terminal.folder, 'file'), 'no store')
mkdirSync(join(terminal.folder, 'folder'))
afterAll(() => terminal.close())

const config = `--config ${join(root, 'homeostat.config.ts')}`

test.each([
  // Node's mkdir of a whole path spins for ever there.
  ['init /proc/xx', 73, /\/proc\/xx cannot be written to .*\n.*homeostat init my-project/],
  ['init file', 73, /file cannot be written to .*ENOTDIR/],
  ['init file/deeper', 73, /deeper cannot be written to .*ENOTDIR/],
  [`draw lease -o folder ${config}`, 73, /folder cannot be written to .*EISDIR/],
  ['backup --data nowhere', 4, /There is no store .*nowhere/],
  ['restore nowhere', 4, /There is no back-up .*nowhere/],
  ['restore folder', 4, /There is no back-up .*folder/],
])('%s', async (line, code, words) => {
  const { exit, err } = await terminal.homeostat(line)
  expect(err).toMatch(words)
  expect(err).not.toContain('A defect of Homeostat')
  expect(exit).toBe(code)
  expect(existsSync(join(terminal.folder, 'nowhere'))).toBe(false)
})

test('a data folder that only a look at the config makes is for its owner alone', async () => {
  expect(await terminal.homeostat(`check ${config} --data looked`)).toMatchObject({ exit: 0 })
  expect(statSync(join(terminal.folder, 'looked')).mode & 0o077).toBe(0)
})
