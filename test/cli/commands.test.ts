// The commands themselves: what they read from words, how they look, and a walk through those that the README does not show.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createProgram } from '../../src/cli/cli.ts'
import { configFields } from '../../src/cli/config.ts'
import { wordsFor } from '../../src/cli/completion.ts'
import { valuesOf } from '../../src/cli/given-values.ts'
import { pick } from '../../src/cli/names.ts'
import { drawn, endWords, type Run } from '../../src/cli/follow-run.ts'
import { nearest } from '../../src/base/did-you-mean.ts'
import { beside, lasting, moment, Printer, type Output } from '../../src/cli/print.ts'
import { root, Terminal } from './terminal.ts'

// A machine that others use too takes its time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const now = Date.parse('2026-03-04T12:00:00Z')

describe('values', () => {
  test.each([
    [['size=10', 'name=web', 'on=true'], { size: 10, name: 'web', on: true }],
    [['counts.worker=3', 'counts.master=1'], { counts: { worker: 3, master: 1 } }],
    [['r.0.type=host', 'r.1.type=ip'], { r: [{ type: 'host' }, { type: 'ip' }] }],
    [['a=now+10m', 'b=now-1d', 'c=now'], { a: now + 600_000, b: now - 86_400_000, c: now }],
    [['tags=["a","b"]', 'text=a=b'], { tags: ['a', 'b'], text: 'a=b' }],
    [['{"whole":{"thing":1}}'], { whole: { thing: 1 } }],
    [[], undefined],
  ])('%j', (given, expected) => expect(valuesOf(given, now)).toEqual(expected))

  test.each([['size'], ['=3'], ['a.=1'], ['__proto__.x=1']])('%s is refused', (given) => {
    expect(() => valuesOf([given], now)).toThrow(/name/i)
  })
})

describe('names', () => {
  const types = ['sahara.cluster', 'opensds.volume', 'shop.disk', 'ovc.disk']
  test('as short as they stay clear', () => {
    expect(pick('cluster', types)).toBe('sahara.cluster')
    expect(pick('clusters', types)).toBe('sahara.cluster')
    expect(() => pick('disk', types)).toThrow('shop.disk or ovc.disk')
    expect(() => pick('clutser', types)).toThrow("no type 'clutser'")
  })
  test('mistyped ones are near', () => {
    expect(nearest('clutser', types)).toEqual(['sahara.cluster'])
    expect(nearest('sacle', ['scale', 'update', 'delete'])).toEqual(['scale'])
    expect(nearest('zzz', types)).toEqual([])
    // A node and its stack have one id.
    expect(nearest('m1', ['n1', 'n1', 'other'])).toEqual(['n1'])
  })
})

describe('looks', () => {
  const print = (given: Partial<Output>, act: (printer: Printer) => void): string => {
    const lines: string[] = []
    const output = { err: () => {}, columns: null, isColoured: false, isJson: false, ...given }
    act(new Printer({ ...output, out: (text) => void lines.push(text) }))
    return lines.join('\n')
  }
  const rows = [
    ['a', 'Ready'],
    ['longer', 'Creating and more than fits'],
  ]

  test('columns line up, nothing trails', () => {
    expect(print({}, (printer) => printer.table(['ID', 'STATUS'], rows))).toBe(
      ['ID      STATUS', 'a       Ready', 'longer  Creating and more than fits'].join('\n'),
    )
  })
  test('colours take no room, and a terminal cuts what does not fit', () => {
    const coloured = print({ isColoured: true, columns: 20 }, (printer) =>
      printer.table(
        ['ID', 'STATUS'],
        rows.map(([id, status]) => [id!, printer.status(status!, 'stable')]),
      ),
    )
    // oxlint-disable-next-line no-control-regex
    const plain = coloured.replaceAll(/\u001b\[\d+m/g, '').split('\n')
    expect(coloured).toContain('\u001b[32m')
    expect(plain[2]).toBe('lo…r  Creating and …')
  })
  test('a narrow terminal shows the status whole: what stands before it gives way, the widest first', () => {
    const wide = [['opensds.volume', 'a-very-long-id-of-a-volume-17', 'errorExtending', '3 min ago', 'extend']]
    const seen = print({ columns: 40 }, (printer) => printer.table(['TYPE', 'ID', 'STATUS', 'SINCE', 'WHAT'], wide))
    expect(seen.split('\n')).toEqual([
      'TYPE        ID          STATUS         …',
      'opens…lume  a-ver…e-17  errorExtending …',
    ])
    const last = print({ columns: 40 }, (printer) => printer.table(['ID', 'STATE'], [['x'.repeat(40), 'running']]))
    expect(last.split('\n')[1]).toBe(`${'x'.repeat(15)}…${'x'.repeat(15)}  running`)
  })
  test('a narrow terminal shows the outcome of the audit whole, and its times', () => {
    const wide = [['2026-03-02 10:00:00', 'admin token', 'operate extend', 'opensds.volume/v-1', 'denied', 'why not']]
    const seen = print({ columns: 60 }, (printer) => printer.table(['AT', 'WHO', 'DID', 'TO', 'OUTCOME', 'WHY'], wide))
    expect(seen.split('\n')).toEqual([
      'AT                   WHO       DID       TO        OUTCOME …',
      '2026-03-02 10:00:00  admi…ken  oper…end  open…v-1  denied  …',
    ])
    const narrower = print({ columns: 40 }, (printer) =>
      printer.table(['AT', 'WHO', 'DID', 'TO', 'OUTCOME', 'WHY'], wide),
    )
    expect(narrower.split('\n')[1]).toBe('2026-…00:00  ad…n  op…d  op…1  denied  …')
  })
  test('what is drawn over takes one line of the terminal each, however much drivers tell', () => {
    const steps = [{ name: 'makeTheWholeVolumeAtOnce', status: 'Creating', state: 'running' }]
    const resource = { type: 'opensds.volume', id: 'a-very-long-id-of-a-volume-17' }
    const progress = 'copied 17 of 4,711 blocks\nand\t\u001b[2Jgoes on'
    const run = { steps, resource, operation: 'create', status: 'Creating', attempt: 2, round: 3, progress }
    for (const columns of [10, 40, 120]) {
      const output = { ...silent, columns, isColoured: true }
      const lines = drawn(run as unknown as Run, new Printer(output))
      // oxlint-disable-next-line no-control-regex
      const plain = lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''))
      expect(plain).toHaveLength(2)
      for (const line of plain) expect([line.length <= columns, /[\n\t]/.test(line)]).toEqual([true, false])
    }
  })
  test('control characters of strangers are shown, not carried out', () => {
    const evil = 'a\u001b]0;title\u0007\u001b[2J\r\u009b31mb'
    const seen = String.raw`a\u001b]0;title\u0007\u001b[2J\u000d\u009b31mb`
    expect(print({}, (printer) => printer.line(evil))).toBe(seen)
    expect(print({ isColoured: true }, (printer) => printer.line(evil))).toBe(seen)
    expect(print({}, (printer) => printer.line('\u001b[31mred'))).toBe(String.raw`\u001b[31mred`)
    const told = print({ isColoured: true }, (printer) =>
      printer.table(['A', 'B'], [[evil, printer.paint('red', 'x\ny')]]),
    )
    expect(told).toContain(`${seen}  \u001b[31mx y\u001b[39m`)
  })
  test('times are said as people say them', () => {
    expect([300, 5_000, 90_000, 3_600_000, 9 * 3_600_000 + 540_000, 3 * 86_400_000].map(lasting)).toEqual([
      '300 ms',
      '5 s',
      '1 min 30 s',
      '1 h',
      '9 h 9 min',
      '3 days',
    ])
    expect(beside('2026-03-04T11:59:50Z', now)).toBe('10 s ago')
    expect(moment('2026-03-05T12:00:00Z', now)).toBe('2026-03-05 12:00:00 UTC (in 24 h)')
  })
})

test('docs/cli.md has every command, and names none that there is not', () => {
  const known = createProgram().commands.map((command) => command.name())
  const table = readFileSync(join(root, 'docs/cli.md'), 'utf8').split('## Commands')[1]!.split('##')[0]!
  const cells = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`([\w-]+)[^`]*`/g)])
  expect(cells.map(([, name]) => name!).sort()).toEqual(known.filter((name) => name !== 'completion').sort())
})

test('docs/cli.md has every field of the config', () => {
  const table = readFileSync(join(root, 'docs/cli.md'), 'utf8').split('## The config')[1]!
  const cells = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)])
  expect(cells.map(([, name]) => name!).sort()).toEqual(configFields.toSorted())
})

test('completion knows commands, their parts and their options', () => {
  const program = createProgram()
  expect(wordsFor(program, ['or'])).toEqual(['orphans'])
  expect(wordsFor(program, ['orphans', ''])).toEqual(['ls', 'sweep', 'adopt', 'write-off'])
  expect(wordsFor(program, ['rm', 'web', '--fo'])).toEqual(['--force'])
})

const silent: Output = { out: () => {}, err: () => {}, columns: null, isColoured: false, isJson: false }

describe('asked', () => {
  const terminal = Terminal.clone()
  const json = async (line: string) => JSON.parse((await terminal.ask(`${line} --json`)).out) as any
  beforeAll(async () => {
    await terminal.start(`${process.execPath} --conditions=source ${join(root, 'src/bin.ts')} serve --dev`)
  })
  afterAll(() => terminal.close())

  test('what is mistyped is answered with what it may have been', async () => {
    await terminal.homeostat('create volume --id disk-one size=1 --wait')
    const told = await Promise.all(
      [
        'lss',
        'ls volmue',
        'ls --limt 3',
        'do disk-one extned',
        'why disk-oen',
        'fault set fial',
        'fault set fail --type volume --step creatVolume',
      ].map((line) => terminal.homeostat(line)),
    )
    expect(told.map(({ exit }) => exit)).toEqual([2, 4, 2, 4, 4, 2, 2])
    const meant = ['ls', 'opensds.volume', '--limit', 'extend', 'disk-one', 'There are: fail', "'createVolume'"]
    for (const [i, words] of meant.entries()) expect(told[i]!.err).toContain(words)
  })

  test('refusals say why, with their exit codes', async () => {
    expect(await terminal.homeostat('do disk-one extend size=1')).toMatchObject({ exit: 5 })
    expect(await terminal.homeostat('create volume')).toMatchObject({ exit: 2, err: expect.stringContaining('size') })
    expect(await terminal.homeostat('rm disk-one --force')).toMatchObject({ exit: 2 })
    expect(await terminal.homeostat('ls --token wrong')).toMatchObject({ exit: 77 })
    expect(await terminal.homeostat('ls --url http://127.0.0.1:1')).toMatchObject({ exit: 75 })
  })

  test.each([
    ['token create', 2, '(homeostat token create --help says more)'],
    ['token create ci --role king', 2, 'body.role: Invalid option'],
    ['ls --url nonsense', 2, "'nonsense' is no address of a server"],
    ['ls --limit 0', 2, 'whole number of 1 or more'],
    ['drain abc --reason x', 2, 'it must be a number'],
    ['ls --store none.db', 4, 'There is no store'],
    ['token revok x', 2, "Did you mean 'revoke'?"],
    ['token creat x --role viewer', 2, "unknown command 'token creat'"],
    ['healing frob', 2, 'There are: show, mode, approve, breaker.'],
    ['orphans adopt --reason x', 2, "missing required argument 'orphans'"],
    ['create volume --input x=1 size=1', 2, 'What follows --input belongs to it'],
    ['create volume --operation frob size=1', 4, "no operation 'frob' that creates"],
    ['create volume --id x siez=1 size=1', 2, "Did you mean 'size'?"],
  ])('%s: says what is wrong, once, and the way out', async (line, exit, words) => {
    const told = await terminal.ask(line)
    expect(told).toMatchObject({ exit, out: '' })
    expect(told.err.split(words)).toHaveLength(2)
    expect(existsSync(join(terminal.folder, 'none.db'))).toBe(false)
  })

  test.each([
    ['get --json', "missing required argument 'resource'"],
    ['token revok x --json', "Did you mean 'revoke'?"],
    ['ls --frob --json', "unknown option '--frob'"],
    ['--json frob', "unknown command 'frob'"],
  ])('%s: what is wrong with a command is JSON, too', async (line, words) => {
    const { exit, err } = await terminal.ask(line)
    const told = JSON.parse(err) as { error: string; hint: string; exit: number }
    expect(told.error).toContain(words)
    expect([exit, told.exit, told.hint]).toEqual([2, 2, expect.stringContaining('--help says more')])
  })

  test.each(['help webhook', 'webhook --help', 'help'])('%s is no error', async (line) => {
    const { exit, out } = await terminal.ask(line)
    expect(out).toContain('Usage: homeostat')
    expect(exit).toBe(0)
  })

  test('how healing is held is seen and changed: modes and breakers; what waits is approved at once', async () => {
    const mode = await terminal.ask('healing mode volume Creating approve --reason "look first"')
    expect(mode).toMatchObject({ exit: 0, out: expect.stringContaining('opensds.volume in Creating is approve now') })
    await terminal.ask('healing breaker volume open --reason "a mass event"')
    const { out } = await terminal.ask('healing')
    expect(out).toContain('Breaker of opensds.volume is open: a mass event')
    expect(out).toMatch(/opensds\.volume +Creating +approve/)
    expect((await terminal.ask('doctor')).out).toContain('homeostat healing breaker <type> close')
    expect(await terminal.ask('healing breaker volume shut --reason x')).toMatchObject({ exit: 2 })
    expect(await terminal.ask('healing mode volume Creating now --reason x')).toMatchObject({ exit: 2 })
    const stuck = ['one', 'two'].map((id) =>
      JSON.stringify({ id: `held-${id}`, status: 'Creating', properties: { size: 1 } }),
    )
    writeFileSync(join(terminal.folder, 'held.jsonl'), stuck.join('\n'))
    await terminal.ask('import volume held.jsonl --reason test')
    const said = await terminal.ask('healing approve volume --dry-run --reason looked')
    expect(said.out).toMatch(/opensds\.volume\/held-one +Creating[^]*\n2 wait for approval\./)
    expect(await terminal.ask('healing approve --expect 3 --reason looked')).toMatchObject({ exit: 5 })
    expect((await terminal.ask('healing approve --expect 2 --reason looked')).out).toBe('Healed 2 of 2.\n')
    expect((await terminal.ask('healing approve --reason looked')).out).toBe('Nothing waits for approval.\n')
    for (const { id } of await json('incidents')) await terminal.ask(`incidents close ${id} --reason looked`)
    await terminal.ask('healing breaker volume close --reason looked')
    await terminal.ask('healing mode volume Creating auto --reason looked')
    const after = await terminal.ask('healing')
    expect(after.out).not.toMatch(/Breaker|approve/)
  })

  test('what failed is told once, however often it was tried, and in the list of runs', async () => {
    await terminal.ask('fault set fail --type volume --step createVolume --terminal --message "no room left"')
    const { out } = await terminal.ask('create volume --id doomed size=1 --wait')
    await terminal.ask('fault clear')
    expect(out).toContain('no room left')
    const [run] = await json('runs doomed')
    const line = endWords({ ...run, reasons: ['dry', 'dry', 'wet'] }, new Printer(silent))
    expect(line).toMatch(/opensds\.volume\/doomed is Error: dry; wet$/)
    expect((await terminal.ask('runs doomed')).out).toContain('no room left')
    expect((await terminal.ask('runs')).out).toContain('no room left')
  })

  test('who presses Ctrl-C while he waits is told that it goes on, and how to end it', async () => {
    await terminal.ask('fault set hang --type volume --step growVolume')
    const program = `${process.execPath} --conditions=source ${join(root, 'src/bin.ts')}`
    const waiting = await terminal.start(`${program} do disk-one extend size=2 --wait`, {}, /checkCapacity +done/)
    waiting.child.kill('SIGINT')
    expect(await waiting.exited).toBe(130)
    expect(waiting.output).toMatch(/goes on without us: homeostat run (\S+) --wait\n +To end it: homeostat cancel \1 /)
    await terminal.ask('fault clear')
    expect(await terminal.ask('wait disk-one')).toMatchObject({ exit: 0 })
    expect((await json('get disk-one')).properties.size).toBe(2)
  })

  test('the server of the folder by its address needs no token; another server is sent none', async () => {
    const { url } = JSON.parse(terminal.read('data/server.json')) as { readonly url: string }
    for (const own of [url, url.replace('127.0.0.1', 'localhost'), `${url}/`])
      expect(await terminal.homeostat('types', { HOMEOSTAT_URL: own }), own).toMatchObject({ exit: 0, err: '' })
    const sent: (string | undefined)[] = []
    const stranger = createServer((asked, answer) => {
      sent.push(asked.headers.authorization)
      answer.writeHead(401, { 'content-type': 'application/problem+json' }).end('{"code":"unauthenticated"}')
    })
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve))
    const { port } = stranger.address() as { readonly port: number }
    expect(await terminal.homeostat(`types --url http://127.0.0.1:${port}`)).toMatchObject({ exit: 77 })
    expect(sent).toEqual([undefined])
    await new Promise((resolve) => stranger.close(resolve))
  })

  test('import, bulk and watch', async () => {
    const lines = [1, 2, 3].map((n) => JSON.stringify({ id: `old-${n}`, status: 'Available', properties: { size: n } }))
    writeFileSync(join(terminal.folder, 'old.ndjson'), [...lines, '{"id":"odd","status":"Nowhere"}'].join('\n'))
    const imported = await terminal.homeostat('import volume old.ndjson --reason moved')
    expect(imported.out).toContain('3 resources of type opensds.volume taken in, 1 refused')
    expect(imported.out).toContain('line 4:')
    const counted = await terminal.homeostat('bulk start volume delete -q old- --reason tidy --dry-run')
    expect(counted.out).toContain('delete would be asked of 3')
    const done = await terminal.homeostat('bulk start volume delete -q old- --reason tidy --per-second 100 --wait')
    expect(done.out).toMatch(/delete of opensds\.volume, done; 3 accepted, 0 refused, 0 left of 3/)
    const seeing = terminal.run(`${join(root, 'bin/homeostat')} watch volume --after 0 | head -3`)
    // It learns that nobody reads any more when it has something to say.
    let isOver = false
    void seeing.then(() => (isOver = true))
    for (let n = 0; !isOver; n++) await terminal.homeostat(`create volume --id late-${n} size=1`)
    const seen = await seeing
    expect(seen.out.trim().split('\n')).toHaveLength(3)
    expect(seen.out).toContain('opensds.volume/disk-one')
  })

  test('tokens see what they may', async () => {
    const { secret, token } = await json('token create reader --role viewer')
    expect((await terminal.ask(`ls --token ${secret}`)).exit).toBe(0)
    expect((await terminal.ask(`rm disk-one --token ${secret}`)).exit).toBe(77)
    expect((await terminal.ask(`token revoke ${token.id}`)).exit).toBe(0)
    expect((await terminal.ask(`ls --token ${secret}`)).exit).toBe(77)
    expect((await terminal.ask('audit --verify')).out).toContain('the chain is whole')
    // The newest, in the order in which they happened.
    const all = await terminal.ask('audit --json')
    const two = await terminal.ask('audit --json -n 2')
    const numbersIn = (out: string) => (JSON.parse(out) as { readonly n: number }[]).map(({ n }) => n)
    expect(numbersIn(two.out)).toEqual(numbersIn(all.out).slice(-2))
    const revoked = await json('audit -q REVOKEtoken')
    expect(revoked).toMatchObject([{ action: 'revokeToken', target: expect.stringContaining(token.id) }])
    expect((await terminal.ask('audit -q nobody-did-this')).out).toMatch(/Nothing in the whole audit contains/)
  })

  test('every other command that only looks answers in words, and in JSON', async () => {
    for (const line of [
      'types',
      'types volume',
      'get disk-one',
      'why disk-one',
      'history disk-one',
      'runs',
      'stuck',
      'heal --dry-run',
      'healing',
      'orphans',
      'incidents',
      'incidents -n 1',
      'workers',
      'bulk',
      'token',
      'account',
      'audit',
      'fault',
      'truth',
    ]) {
      const words = await terminal.ask(line)
      expect(words, line).toMatchObject({ exit: 0, err: '' })
      // oxlint-disable-next-line no-control-regex
      expect(words.out, line).not.toMatch(/\u001b|undefined|\[object| +$/m)
    }
    for (const line of ['types', 'why disk-one', 'healing', 'truth'])
      expect(await json(line), line).toBeTypeOf('object')
  })
})
