// npm run endure: what the server must endure at full size. A thousand event streams, a hundred of them stalled, under a server that is
// killed and started again; ten thousand creates through a connection that loses half of the answers.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adminToken as token } from '../test/server/workshop.ts'
import { endureCreates } from './endure/creates.ts'
import { endureStreams, mb } from './endure/streams.ts'
import { provenance, writeFigures } from './figures.ts'
import { flag, optionsOf, someOf, whole } from './options.ts'

const parts = { streams, creates }
const options = optionsOf('npm run endure', {
  only: someOf('only these parts', Object.keys(parts) as (keyof typeof parts)[]),
  clients: whole('event streams, a tenth of them stalled', { from: 1, or: 1_000 }),
  backlog: whole('events that have happened before', { from: 1, or: 40_000 }),
  events: whole('events that happen meanwhile', { from: 1, or: 2_000 }),
  creates: whole('creates whose answers are lost', { from: 1, or: 10_000 }),
  'no-write': flag('leaves docs/figures.md as it is'),
})
const count = (value: number) => value.toLocaleString('en')
const say = (text: string) => console.error(text)
const command = `npm run endure -- ${process.argv.slice(2).join(' ')}`.replace(/[ -]+$/, '')
/** What a stalled one may cost: a buffer of 256 KB, the page that filled it, and its connection. */
const stalledMax = 512 * 1024
/** What objects may grow by for other reasons: more resources, more names that are remembered. */
const slack = 32 * 1024 * 1024
const faults: string[] = []

for (const part of options.only ?? (Object.keys(parts) as (keyof typeof parts)[])) {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-endure-'))
  try {
    const file = join(folder, 'store.db')
    const [title, rows] = await parts[part](file)
    const lines = [provenance(command), '', '| figure | value |', '| --- | --- |', ...rows.map((row) => `| ${row} |`)]
    console.log(lines.join('\n'))
    if (!options['no-write']) writeFigures(title, lines)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

async function streams(file: string): Promise<[string, string[]]> {
  const { clients, events, backlog } = options
  const stalled = Math.ceil(clients / 10)
  const found = await endureStreams({ file, token, clients, stalled, backlog, events, kills: 2, say })
  const { alone, beside, later, owedBytes } = found
  faults.push(...found.faults)
  if (beside.heap - alone.heap > stalled * stalledMax + slack)
    faults.push(`${stalled} stalled clients cost ${mb(beside.heap - alone.heap)}.`)
  if (later.heap - beside.heap > slack)
    faults.push(`The objects grew by ${mb(later.heap - beside.heap)} with the events.`)
  return [
    'Endurance: event streams',
    [
      `clients; of them stalled | ${count(clients)}; ${count(stalled)}`,
      `events; told to all readers together | ${count(found.events)}; ${count(found.told)} (${mb(found.bytes)})`,
      `server killed and started again; readers that came back | ${found.kills} times; ${count(found.reconnections)} times`,
      `events lost, told twice or out of order | ${found.faults.length}`,
      `objects in the server with the readers alone; with the stalled, who are owed ${mb(owedBytes)}; after ${count(events)} more events | ${mb(alone.heap)}; ${mb(beside.heap)}; ${mb(later.heap)}`,
      `memory of the process at the same moments | ${mb(alone.rss)}; ${mb(beside.rss)}; ${mb(later.rss)}`,
    ],
  ]
}

async function creates(file: string): Promise<[string, string[]]> {
  const found = await endureCreates({ file, token, creates: options.creates, say })
  if (found.ids !== found.asked || found.resources !== found.asked)
    faults.push(`${found.asked} creates made ${found.resources} resources with ${found.ids} ids.`)
  if (found.audited !== found.asked) faults.push(`The audit has ${found.audited} entries of ${found.asked}.`)
  return [
    'Endurance: lost answers',
    [
      `creates asked for, each until it was answered | ${count(found.asked)}`,
      `answers; lost on their way | ${count(found.answers)}; ${count(found.dropped)}`,
      `resources made; entries in the audit | ${count(found.resources)}; ${count(found.audited)}`,
    ],
  ]
}
