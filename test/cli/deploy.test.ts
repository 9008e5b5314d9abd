// The files in deploy/ start what there is: every command and option that they name is one of ours, and none of them runs as root.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProgram } from '../../src/cli/cli.ts'
import { root } from './terminal.ts'

const folder = join(root, 'deploy')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const files = readdirSync(folder).filter((name) => /\.(service|yaml)$|^Dockerfile$/.test(name))

/** What is started, as words. */
function commandsOf(text: string): string[][] {
  const lines = [
    ...[...text.matchAll(/^ExecStart=\S+\/homeostat (.+)$/gm)].map(([, words]) => words!.split(' ')),
    ...[...text.matchAll(/^\s+args: \[(.+)\]$/gm)].map(([, words]) =>
      words!.split(', ').map((one) => one.replaceAll('"', '')),
    ),
    ...[...text.matchAll(/^CMD (\["serve".+\])$/gm)].map(([, words]) => JSON.parse(words!) as string[]),
  ]
  return lines
}

test('there are units, an image and a manifest', () => {
  expect(files.sort()).toEqual([
    'Dockerfile',
    'homeostat-backup.service',
    'homeostat-worker@.service',
    'homeostat.service',
    'kubernetes.yaml',
  ])
})

test.each(files)('%s names commands and options that there are', (file) => {
  const commands = commandsOf(read(file))
  expect(commands.length).toBeGreaterThan(0)
  const program = createProgram()
  for (const [name, ...rest] of commands) {
    const command = program.commands.find((one) => one.name() === name)
    expect(command, `${file}: ${name}`).toBeDefined()
    const known = [...command!.options, ...program.options].map(({ long }) => long)
    for (const word of rest.filter((one) => one.startsWith('--'))) expect(known, `${file}: ${name}`).toContain(word)
  }
})

test.each(files)('%s gives it a user of its own', (file) => {
  expect(read(file)).toMatch(/^User=homeostat$|^USER node$|runAsNonRoot: true/m)
})
