// npm run fuzz: requests by chance, made from the OpenAPI document, at a server on SQLite in a temporary folder.
// Exit code 1 when an answer was wrong; it says which request, and how to repeat it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../src/sqlite.ts'
import { adminToken, openShop } from '../test/server/workshop.ts'
import { provenance, writeFigures } from './figures.ts'
import { fuzz, type FuzzResult } from './fuzz/campaign.ts'
import { flag, optionsOf, whole } from './options.ts'

const options = optionsOf('npm run fuzz', {
  requests: whole('so many', { from: 1, or: 200_000 }),
  seed: whole('which requests', { from: 0, or: 1 }),
  'no-write': flag('leaves docs/figures.md as it is'),
})
const { requests, seed } = options

const folder = mkdtempSync(join(tmpdir(), 'homeostat-fuzz-'))
const defects: unknown[] = []
const shop = await openShop({
  store: openSqliteStore({ file: join(folder, 'fuzz.db') }),
  server: {
    rate: { perSecond: 1_000_000, burst: 1_000_000 },
    webhooks: { privateAddresses: true, tries: 1 },
    log: (level, message, fields) => void (level === 'error' && defects.push([message, fields])),
  },
})
const began = performance.now()
const say = (text: string) => void (process.stderr.isTTY ? process.stderr.write(`\r${text}`) : console.error(text))
const result = await fuzz({ url: shop.url, adminToken, requests, seed, say })
const seconds = (performance.now() - began) / 1_000
const { isSound } = (await shop.ask('GET', '/v1/audit:verify')).json as { readonly isSound: boolean }
await shop.close()
rmSync(folder, { recursive: true, force: true })

for (const fault of result.faults) console.error(JSON.stringify(fault, null, 2))
for (const defect of defects.slice(0, 5)) console.error('a defect was logged:', defect)
if (!isSound) console.error('The chain of the audit is broken.')
const isWell = result.faults.length === 0 && defects.length === 0 && isSound
const lines = linesOf(result, seconds)
console.log(lines.join('\n'))
if (!isWell) console.error(`Repeat it with: npm run fuzz -- --requests ${requests} --seed ${seed}`)
if (!options['no-write']) writeFigures('Fuzz', lines)
process.exitCode = isWell ? 0 : 1

function linesOf({ statuses, faults, ...found }: FuzzResult, took: number): string[] {
  const of = (what: string) => String(faults.filter((fault) => fault.what === what).length)
  const count = (value: number) => Math.round(value).toLocaleString('en')
  const command = `npm run fuzz -- ${process.argv.slice(2).join(' ')}`.replace(/[ -]+$/, '')
  const byStatus = Object.entries(statuses).map(([status, times]) => `${status}: ${count(times)}`)
  return [
    provenance(command),
    '',
    '| figure | value |',
    '| --- | --- |',
    `| requests by chance from the OpenAPI document | ${count(found.requests)}, ${count(found.requests / took)} a second |`,
    `| operations of the document; answered with success | ${found.operations}; ${found.reached} |`,
    `| answers by status | ${byStatus.join(', ')} |`,
    `| answers of 5xx | ${of('a fault of its own')} |`,
    `| hangs (no answer within 20 s, or a broken connection) | ${of('a hang')} |`,
    `| refusals that are no problem of the table of codes | ${of('no problem')} |`,
    `| answers with bytes of another tenant | ${of('foreign bytes')} of ${count(found.lookedThrough)} |`,
    `| defects logged | ${defects.length} |`,
  ]
}
