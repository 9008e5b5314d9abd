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

/** Set for the process, by any of the files. */
function variablesOf(text: string): string[] {
  const patterns = [/^ENV (\w+)=/gm, /^Environment="?(\w+)=/gm, /^\s+- name: ([A-Z][A-Z_]+)$/gm]
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name!))
}

test.each(files)('%s sets only variables that something reads', (file) => {
  const sources = readdirSync(join(root, 'src/cli')).map((name) => readFileSync(join(root, 'src/cli', name), 'utf8'))
  const ours = new Set(
    sources.flatMap((text) => [...text.matchAll(/process\.env\['(\w+)'\]/g)].map(([, name]) => name)),
  )
  // Node's own; and the one that the manifest tells the user's config to read.
  const others = new Set(['NODE_ENV', 'DATABASE_URL'])
  for (const name of variablesOf(read(file))) expect(ours.has(name) || others.has(name), `${file}: ${name}`).toBe(true)
  if (read(file).includes('name: DATABASE_URL')) expect(read(file)).toContain('process.env.DATABASE_URL')
})

test('probes ask for what is served, on the port that is listened on', () => {
  const paths = files.flatMap((file) => [...read(file).matchAll(/(?:path: |4600)(\/\w+)/g)].map(([, path]) => path))
  expect(new Set(paths)).toEqual(new Set(['/livez', '/readyz']))
})

test.each(files)('%s gives it a user of its own', (file) => {
  expect(read(file)).toMatch(/^User=homeostat$|^USER node$|runAsNonRoot: true/m)
})

test('every server of the manifest has the key that secrets are sealed with: one made up in its folder would be gone with it', () => {
  const containers = read('kubernetes.yaml').split('- name: homeostat\n').slice(1)
  expect(containers.length).toBe(2)
  for (const text of containers) expect(text).toContain('name: HOMEOSTAT_SECRET_KEY')
})
