// Checks of the source itself: sizes, opening comments, names, and documents that must say the same as the code.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { codes } from '../src/base/errors.ts'

const root = resolve(import.meta.dirname, '..')
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const typescript = files.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
const markdown = files.filter((file) => file.endsWith('.md'))

test('there are files to look at', () => {
  expect(typescript.length).toBeGreaterThan(50)
  expect(markdown.length).toBeGreaterThan(5)
})

test('files stay small enough to hold in the head: 400 lines, tests 800', () => {
  const long = typescript.filter(
    (file) =>
      read(file).trimEnd().split('\n').length > (file.endsWith('.test.ts') || file.startsWith('test/') ? 800 : 400),
  )
  expect(long).toEqual([])
})

test('every source file opens with a comment that says what it is for', () => {
  expect(typescript.filter((file) => !/^(#!.*\n)?\/[/*]/.test(read(file)))).toEqual([])
})

test('no drawer folders, no index files but at the doors', () => {
  expect(files.filter((file) => /(^|\/)(utils?|helpers?|common|misc|shared)(\/|\.ts$)/.test(file))).toEqual([])
  expect(
    typescript.filter(
      (file) => file.endsWith('/index.ts') && file !== 'src/index.ts' && !file.startsWith('catalogues/'),
    ),
  ).toEqual([])
})

test('nothing is left undone by its own words', () => {
  const words = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX'].join('|')})\\b`)
  expect(typescript.filter((file) => words.test(read(file)))).toEqual([])
})

test('each Markdown file has one title, and its links to files resolve', () => {
  for (const file of markdown) {
    const text = read(file).replace(/```[\s\S]*?```/g, '')
    expect(text.match(/^# /gm)?.length ?? 0, `titles in ${file}`).toBe(1)
    for (const [, target] of text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)[^)]*\)/g)) {
      expect(existsSync(join(root, dirname(file), target!)), `${file} links to ${target}`).toBe(true)
    }
  }
})

test('docs/errors.md lists exactly the codes of src/base/errors.ts, with their summaries', () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z_]+)` \| (\d+) \| (\d+) \| (yes|no) \| (.*?) \|/gm)].map(
    ([, code, http, exit, retry, summary]) => ({
      code,
      http: Number(http),
      exit: Number(exit),
      retryable: retry === 'yes',
      summary,
    }),
  )
  expect(rows).toEqual(
    Object.entries(codes)
      .map(([code, row]) => ({ code, ...row }))
      .map(({ code, http, exit, retryable, summary }) => ({ code, http, exit, retryable, summary })),
  )
})

test('package.json exports only entry points that exist', () => {
  const { exports } = JSON.parse(read('package.json')) as {
    exports: Record<string, { source: string; default: string }>
  }
  for (const entry of Object.values(exports)) {
    expect(existsSync(join(root, entry.source)), entry.source).toBe(true)
    expect(entry.default).toBe(entry.source.replace(/^\.\//, './dist/').replace(/\.ts$/, '.js'))
  }
})

test('the lock file names no download address', () => {
  expect(read('package-lock.json')).not.toMatch(/"resolved": "http/)
})
