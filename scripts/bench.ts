// npm run bench: the figures of the engine beside the bare limits of the same machine, measured in the same run.
// Each benchmark audits its store afterwards and fails when it is wrong. Exit code 1 when a goal is missed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileSooner } from '../src/cli/compile-sooner.ts'
import { api } from './bench/api.ts'
import type { Bench, Figure } from './bench/bench.ts'
import { decideRate } from './bench/decide-rate.ts'
import { postgresGround, sqliteGround } from './bench/ground.ts'
import { growth } from './bench/growth.ts'
import { idle } from './bench/idle.ts'
import { latency } from './bench/latency.ts'
import { limits } from './bench/limits.ts'
import { powerCut } from './bench/power-cut.ts'
import { recovery } from './bench/recovery.ts'
import { sharing } from './bench/sharing.ts'
import { throughput } from './bench/throughput.ts'
import { provenance, writeFigures } from './figures.ts'
import { flag, oneOf, optionsOf, someOf, whole } from './options.ts'

const ofStore: Readonly<Record<string, Readonly<Record<string, Bench>>>> = {
  sqlite: { P1: throughput, P4: latency, P5: recovery, P8: decideRate, P9: idle, P10: api },
  // Latency before many processes: the server cleans up after those for a while.
  postgres: { P2: throughput, P4: latency, P3: sharing, P5: recovery, P9: idle, P10: api },
}
/** Only when asked for: these take minutes. */
const long: Readonly<Record<string, Bench>> = { P6: powerCut, P7: growth }
/** And these judge nothing. */
const told: Readonly<Record<string, Readonly<Record<string, Bench>>>> = { sqlite: {}, postgres: { limits } }

// As `serve` and `work` do.
compileSooner()

const options = optionsOf('npm run bench', {
  only: someOf('only these', [
    ...new Set(Object.keys({ ...ofStore['sqlite'], ...ofStore['postgres'], ...long, ...told['postgres'] })),
  ]),
  store: oneOf('which store is measured', Object.keys(ofStore), 'sqlite'),
  runs: whole('runs of each', { from: 1, or: 5 }),
  json: flag('one line of JSON at the end, nothing else on the output'),
  'no-write': flag('leaves docs/figures.md as it is'),
})
const { runs, store } = options
const known: Readonly<Record<string, Bench>> = { ...ofStore[store], ...long, ...told[store] }
const names = options.only ?? Object.keys(ofStore[store]!)
for (const name of names) {
  if (known[name] === undefined)
    fail(`There is no benchmark ${name} for ${store}. There are: ${Object.keys(known).join(', ')}.`)
}

const figures: Record<string, Figure[]> = {}
for (const name of names) {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-bench-'))
  const ground = store === 'sqlite' ? sqliteGround(folder) : await postgresGround()
  try {
    figures[name] = await known[name]!({ runs, folder, ground, say })
  } finally {
    await ground.close()
    rmSync(folder, { recursive: true, force: true })
  }
  clear()
  if (!options.json) for (const figure of figures[name]) console.log(row(figure))
}

const all = Object.values(figures).flat()
if (!options['no-write']) {
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim().replace(/ --$/, '')
  for (const [name, found] of Object.entries(figures))
    writeFigures(store === 'sqlite' ? `Bench ${name}` : `Bench ${name} on PostgreSQL`, table(found, command))
}
if (options.json) {
  const json = Object.entries(figures).map(([name, [first]]) => {
    const { value, bare, ratio, details } = first!
    return [name, { value, bare, ratio, ...details }]
  })
  console.log(JSON.stringify(Object.fromEntries(json)))
}
process.exitCode = all.every((figure) => figure.isMet) ? 0 : 1

function row({ what, found, goal, isMet }: Figure): string {
  return `${isMet ? 'met   ' : 'MISSED'}  ${what}\n        ${found}  (goal: ${goal})`
}

function table(found: readonly Figure[], command: string): string[] {
  return [
    provenance(command),
    '',
    '| figure | found | goal | met |',
    '| --- | --- | --- | --- |',
    ...found.map(
      ({ what, found: text, goal, isMet }) => `| ${what} | ${text} | ${goal} | ${isMet ? 'yes' : '**no**'} |`,
    ),
  ]
}

/** Progress goes to the terminal, if there is one, in one line. */
function say(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
  else if (!options.json) process.stderr.write(`${text}\n`)
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
}

function fail(text: string): never {
  console.error(text)
  process.exit(2)
}
