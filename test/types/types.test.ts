// Proves what the compiler sees: good declarations compile, and each planted mistake is an error on the very line it is made.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { checkLifecycles } from 'homeostat'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databases } from '../../examples/database.ts'

const root = resolve(import.meta.dirname, '../..')
const samples = join(import.meta.dirname, 'samples')
const names = readdirSync(samples)
const expectation = /^\s*\/\/ @ts-expect-error (.*)$/

interface Complaint {
  readonly file: string
  readonly line: number
  /** With the lines that explain it. */
  readonly text: string
}

/** About the samples; the rest of the repository has its own check. */
async function complaintsOf(project: string): Promise<Complaint[]> {
  const run = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['--noEmit', '--pretty', 'false', '-p', project])
  const output = await run.then(
    ({ stdout }) => stdout,
    (failed: { stdout: string }) => failed.stdout,
  )
  return output.split(/\n(?=\S)/).flatMap((text) => {
    const match = /([^/\\(\s]+)\((\d+),\d+\): error/.exec(text)
    return match && names.includes(match[1]!) ? [{ file: match[1]!, line: Number(match[2]), text }] : []
  })
}

/** The samples elsewhere, changed; they still mean this package and its zod. */
function copyOf(change: (text: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-types-'))
  cpSync(samples, folder, { recursive: true })
  for (const file of names) {
    writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')))
  }
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/homeostat'))
  for (const name of ['zod', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
  // `include` would be that of the whole repository.
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { rootDir: '/' },
      files: names,
      include: [],
    }),
  )
  return folder
}

test('good declarations compile, and every expected error is one', async () => {
  expect(await complaintsOf(import.meta.dirname)).toEqual([])
})

test("the README's example has no faults", () => {
  expect(checkLifecycles([databases])).toEqual([])
})

describe('the expectations bite', () => {
  let folder = ''
  let complaints: readonly Complaint[] = []
  const expected = names.flatMap((file) =>
    readFileSync(join(samples, file), 'utf8')
      .split('\n')
      .flatMap((text, index) => {
        const match = expectation.exec(text)
        return match ? [{ name: `${file}: ${match[1]}`, file, line: index + 2 }] : []
      }),
  )

  beforeAll(async () => {
    folder = copyOf((text) => text.replaceAll(/\/\/ @ts-expect-error/g, '// mistake'))
    complaints = await complaintsOf(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  test('there are as many as were planted', () => {
    expect(expected.filter(({ file }) => file === 'mistakes.ts')).toHaveLength(42)
  })

  test.each(expected)('$name', ({ file, line }) => {
    expect(complaints.filter((one) => one.file === file).map((one) => one.line)).toContain(line)
  })

  test('nothing else is complained about', () => {
    const surplus = complaints.filter(
      (one) => !expected.some(({ file, line }) => file === one.file && line === one.line),
    )
    expect(surplus.map(({ text }) => text)).toEqual([])
  })

  test('misspelt words get the right one suggested', () => {
    const suggested = new Set(
      complaints.flatMap(({ text }) => [...text.matchAll(/Did you mean[^?]*'"?(\w+)"?'\?/g)].map((match) => match[1]!)),
    )
    const words = [
      'Available',
      'Attached',
      'attachments',
      'multiAttach',
      'deadline',
      'ifBusy',
      'realSize',
      'grow',
      'growVolume',
    ]
    expect([...suggested]).toEqual(expect.arrayContaining(words))
  })

  test('a needless expectation is an error', async () => {
    const needless = copyOf((text) =>
      text.replace("import { z } from 'zod'", "// @ts-expect-error nothing is wrong\nimport { z } from 'zod'"),
    )
    const found = await complaintsOf(needless)
    rmSync(needless, { recursive: true })
    expect(new Set(found.map(({ text }) => /TS\d+/.exec(text)?.[0]))).toEqual(new Set(['TS2578']))
  })
})
