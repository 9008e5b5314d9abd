// npm run bench: the figures of the engine beside the bare limits of the same machine, measured in the same run.
// npm run bench -- [--only P1,P4] [--store sqlite|postgres] [--runs 5] [--json] [--no-write]
// Each benchmark audits its store afterwards and fails when it is wrong. Exit code 1 when a goal is missed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { api } from './bench/api.ts'
import type { Bench, Figure } from './bench/bench.ts'
import { decideRate } from './bench/decide-rate.ts'
import { postgresGround, sqliteGround } from './bench/ground.ts'
import { growth } from './bench/growth.ts'
import { idle } from './bench/idle.ts'
import { latency } from './bench/latency.ts'
import { powerCut } from './bench/power-cut.ts'
import { recovery } from './bench/recovery.ts'
import { sharing } from './bench/sharing.ts'
import { throughput } from './bench/throughput.ts'
import { provenance, writeFigures } from './figures.ts'

const ofStore: Readonly<Record<string, Readonly<Record<string, Bench>>>> = {
  sqlite: { P1: throughput, P4: latency, P5: recovery, P8: decideRate, P9: idle, P10: api },
  postgres: { P2: throughput, P3: sharing, P4: latency, P5: recovery, P9: idle, P10: api },
}
/** These take minutes: only when asked for. */
const long: Readonly<Record<string, Bench>> = { P6: powerCut, P7: growth }

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    runs: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
    'no-write': { type: 'boolean', default: false },
  },
})
const benches = ofStore[values.store]
if (benches === undefined)
  fail(`There is no benchmark for the store '${values.store}'. There are: ${Object.keys(ofStore).join(', ')}.`)
const known = { ...benches, ...long }
const names = values.only?.split(',') ?? Object.keys(benches)
for (const name of names) {
  if (!(name in known)) fail(`There is no benchmark '${name}'. There are: ${Object.keys(known).join(', ')}.`)
}
const runs = Number(values.runs)
if (!Number.isInteger(runs) || runs < 1) fail(`--runs takes a whole number, not '${values.runs}'.`)

const figures: Record<string, Figure[]> = {}
for (const name of names) {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-bench-'))
  const ground = values.store === 'sqlite' ? sqliteGround(folder) : await postgresGround()
  try {
    figures[name] = await known[name]!({ runs, folder, ground, say })
  } finally {
    await ground.close()
    rmSync(folder, { recursive: true, force: true })
  }
  clear()
  if (!values.json) for (const figure of figures[name]) console.log(row(figure))
}

const all = Object.values(figures).flat()
if (!values['no-write']) {
  const command = `npm run bench -- ${process.argv.slice(2).join(' ')}`.trim().replace(/ --$/, '')
  for (const [name, found] of Object.entries(figures))
    writeFigures(values.store === 'sqlite' ? `Bench ${name}` : `Bench ${name} on PostgreSQL`, table(found, command))
}
if (values.json) {
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
  else if (!values.json) process.stderr.write(`${text}\n`)
}

function clear(): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
}

function fail(text: string): never {
  console.error(text)
  process.exit(2)
}
