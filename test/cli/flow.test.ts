// The README's "Start" and "Try to break it", typed line by line as they are printed, in a folder like a fresh clone: `npm start` in one
// terminal, the rest in another.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root, Terminal, type Running } from './terminal.ts'

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const part = readme.slice(readme.indexOf('## Start'), readme.indexOf('## A lifecycle'))
const lines = [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block]) => block!.trim().split('\n'))

const terminal = Terminal.clone()
afterAll(() => terminal.close())

/** What a reader must see after a line, by the beginning of the line: every line has some. */
const expected: readonly (readonly [line: string, exit: number, ...shown: RegExp[]])[] = [
  ['homeostat create cluster --id web', 0, /✔ spawn +done/, /create succeeded .* sahara\.cluster\/web is Active/],
  ['homeostat create lease --id lab', 0, /create succeeded .* blazar\.lease\/lab is PENDING/],
  ['homeostat ls', 0, /sahara\.cluster +web +Active/, /blazar\.lease +lab +PENDING/],
  ['homeostat truth', 0, /sahara\.cluster\/web\/machine\/1\/worker-003 +instance +running +\d+/],
  ['homeostat do web scale', 0, /✔ addInstances +done/, /scale succeeded/],
  ['homeostat fault set fail', 0, /is set: fail on type sahara\.cluster, step configure/],
  ['homeostat create cluster --id doomed', 1, /↶ spawn +undone/, /✘ configure +failed/, /is Error: no more addresses/],
  ['homeostat truth doomed', 0, /^Nothing exists\.$/m],
  ['homeostat why doomed', 0, /doomed is Error \(failed\)/, /no more addresses/, /Next: nothing happens by itself/],
  ['homeostat fault clear', 0, /All faults are cleared/],
  ['homeostat fault set slow', 0, /is set: slow/],
  ['homeostat create cluster --id big', 0, /create accepted, run \S+; it is Validating/],
  ['kill -9', 0],
  ['homeostat why big', 0, /sahara\.cluster big is \w+ \(transitional\)/, /Next: /],
  ['homeostat fault clear', 0],
  ['homeostat wait big', 0, /create succeeded|is Active/, /sahara\.cluster\/big is Active\./],
  [
    'homeostat history big',
    0,
    /resumed .*\(its worker is gone\); it goes on, after asking whether the cut call happened/,
  ],
  ['homeostat healing', 0, /sahara\.cluster +\w+ +its worker is gone +\d/],
  ['homeostat fault set hang', 0, /is set: hang/],
  ['homeostat rm web', 0, /delete accepted/, /it is Deleting/],
  ['homeostat why web', 0, /web is Deleting \(transitional\)/, /Next: .* At \d\d:\d\d:\d\d UTC \(in /],
  ['homeostat rm web --force', 0, /delete forced after .* sahara\.cluster\/web is gone/],
  ['homeostat orphans', 0, /sahara\.cluster\/web\/machine\/1 +machine +orphaned +sahara\.cluster\/web/],
  ['homeostat fault clear', 0],
  ['homeostat orphans sweep', 0, /sahara\.cluster\/web\/machine\/1: destroyed\./],
  ['homeostat truth web', 0, /^Nothing exists\.$/m],
  ['homeostat doctor', 0, /✔ server .*is ready/, /✔ audit .*the chain is whole/],
]

test('every line of the README does what it says', { timeout: 480_000 }, async () => {
  let setting = ''
  let server: Running | null = null
  let at = 0
  for (const line of lines) {
    if (line.startsWith('npm start')) {
      server = await terminal.start(line)
      expect(server.output).toMatch(/Open http:\/\/127\.0\.0\.1:\d+\/#ticket=[\w-]{20,}/)
      continue
    }
    if (line.startsWith('export ')) {
      setting = `${line}\n`
      continue
    }
    const [beginning, exit, ...shown] = expected[at++]!
    expect(line).toContain(beginning)
    const said = await terminal.run(setting + line)
    expect(said, line).toMatchObject({ exit })
    for (const pattern of shown) expect(said.out, line).toMatch(pattern)
    if (line.startsWith('kill')) expect(await server!.exited).not.toBe(0)
  }
  expect(at).toBe(expected.length)
  process.kill(Number(terminal.read('data/pid')), 'SIGINT')
  expect(await server!.exited).toBe(0)
  expect(server!.output).toContain('Stopped.')
})
