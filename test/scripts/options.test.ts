// What a script is told wrongly is said in a line, with what would be right: no stack, and exit code 2.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { amount, flag, made, oneOf, readOptions, someOf, whole } from '../../scripts/options.ts'
import { readReplay } from '../../scripts/replay-file.ts'
import { scenarios } from '../simulation/scenarios.ts'

const scripts = resolve(import.meta.dirname, '../../scripts')

const table = {
  minutes: amount('how long', 3),
  seed: whole('which', { from: 0 }),
  workers: whole('how many', { from: 1, or: 4 }),
  store: oneOf('where', ['near', 'far']),
  only: someOf('these', ['kill', 'freeze', 'cut']),
  text: made('any', 'text', (given) => given.length),
  json: flag('brief'),
}
const told = (line: string): unknown => {
  try {
    return readOptions(line === '' ? [] : line.split(' '), table)
  } catch (error) {
    return (error as Error).message
  }
}

test('what is given is read, and what is left out has its default', () => {
  expect(told('')).toMatchObject({ minutes: 3, workers: 4, json: false, seed: undefined, only: undefined })
  expect(told('--minutes .5 --seed=0 --workers 12 --store far --only cut,kill --text abc --json')).toEqual({
    minutes: 0.5,
    seed: 0,
    workers: 12,
    store: 'far',
    only: ['cut', 'kill'],
    text: 3,
    json: true,
  })
})

test.each([
  ['--minuts 3', "There is no option --minuts. Did you mean '--minutes'?"],
  ['--zzzzzz', 'There is no option --zzzzzz. Known are: --minutes, --seed'],
  ['-m 3', 'There is no option -m.'],
  ['three', "'three' is no option."],
  ['--minutes x', "--minutes: 'x' is no number above 0."],
  ['--minutes 0', "--minutes: '0' is no number above 0."],
  ['--seed 1.5', "--seed: '1.5' is no whole number from 0 on."],
  ['--seed -1', "--seed: '-1' is no whole number from 0 on."],
  ['--workers 0', "--workers: '0' is no whole number from 1 on."],
  ['--workers', '--workers lacks its value: --workers <n>.'],
  ['--workers --json', '--workers lacks its value: --workers <n>.'],
  ['--store fra', "--store: there is no 'fra'. Did you mean 'far'?"],
  ['--only kill,friz', "--only: there is no 'friz'."],
  ['--json=1', '--json takes no value.'],
  ['--constructor', 'There is no option --constructor.'],
])('%s', (line, words) => expect(told(line)).toContain(words))

describe('a failure that was written down', () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-replay-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const written = (text: string) => {
    const file = join(folder, 'failure.json')
    writeFileSync(file, text)
    return file
  }
  const failure = (patch: object) => JSON.stringify({ scenario: 'readme', conditions: { seed: 7 }, ...patch })

  test('is read again', () => {
    const strikes = [{ at: 'commit', n: 2, fault: 'crashBefore' }]
    const { scenario, conditions } = readReplay(written(failure({ conditions: { seed: 7, strikes } })), scenarios)
    expect(scenario.name).toBe('readme')
    expect(conditions).toEqual({ seed: 7, strikes })
  })

  test.each([
    ['half of a file', '{"scenario": "rea', /failure\.json is no JSON: /],
    ['something else', '[1, 2]', /is no failure that the simulator wrote: /],
    ['no conditions', failure({ conditions: undefined }), /wrote: conditions: /],
    ['an odd strike', failure({ conditions: { seed: 1, strikes: [{ at: 'noon' }] } }), /conditions\.strikes\.0\.at: /],
    ['a mistyped scenario', failure({ scenario: 'readmee' }), /'readmee', which there is not\. Did you mean 'readme'/],
  ])('%s is told as that', (_, text, words) => {
    expect(() => readReplay(written(text), scenarios)).toThrow(words)
  })

  test('that is not there is told as that', () => {
    expect(() => readReplay(join(folder, 'none.json'), scenarios)).toThrow(/none\.json cannot be read \(ENOENT\)\.$/)
  })
})

const ran = (script: string, ...args: string[]) =>
  new Promise<{ readonly code: unknown; readonly err: string }>((done) => {
    execFile(process.execPath, ['--conditions=source', join(scripts, `${script}.ts`), ...args], (error, _, err) =>
      done({ code: error?.code ?? 0, err }),
    )
  })

test('a script ends with code 2, its help and no stack', async () => {
  const [simulate, faults, story] = await Promise.all([
    ran('simulate', '--replay', 'no/such/file.json'),
    ran('faults', '--only', 'killWroker'),
    ran('story', '--x'),
  ])
  expect(simulate.err).toMatch(/^--replay: no\/such\/file\.json cannot be read \(ENOENT\)\.\n\nnpm run simulate -- /)
  expect(faults.err).toMatch(/^--only: there is no 'killWroker'\. Did you mean 'killWorker'\?\n\nnpm run faults -- /)
  expect(story.err).toMatch(/^There is no option --x\. Known are: --help\.?\n\nnpm run story -- /)
  expect(simulate.err + faults.err + story.err).not.toMatch(/^ +at /m)
  expect([simulate.code, faults.code, story.code]).toEqual([2, 2, 2])
})

test('no script of the package is a bare tool that reads its options in its own way', () => {
  const { scripts: all } = JSON.parse(readFileSync(resolve(scripts, '../package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  // What these are given is for the tool itself.
  const tools = ['test', 'check', 'format', 'build', 'start']
  const others = Object.entries(all).filter(([name, line]) => !tools.includes(name) && !/ scripts\/\S+$/.test(line))
  expect(others).toEqual([])
})

test('no script reads its options in another way', () => {
  const others = readdirSync(scripts, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && name !== 'options.ts')
    .filter((name) => readFileSync(join(scripts, name), 'utf8').includes('parseArgs'))
  expect(others).toEqual([])
})
