// driver.ts: a complete remote driver. It makes disks (files in a folder), fills them block by block in the background, and removes them.
// What it has been asked for is in a SQLite file, so that it can be killed at any moment: a call that comes twice is done once, a call of
// an owner that lost its turn is refused, and what was begun is finished after a restart. The protocol: docs/remote-drivers.md.
//
//   HOMEOSTAT_SECRETS=a-long-secret PORT=9000 FOLDER=./data node driver.ts
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { faultOfSignature, signatureHeader, timestampHeader } from 'homeostat/remote'
import { CallRecords, type GivenCall } from './call-records.ts'
import { Disks } from './disks.ts'
import { Filler } from './filler.ts'

const { HOMEOSTAT_SECRETS = '', FOLDER = 'data', PORT = '9000', BLOCK_SECONDS = '0.2' } = process.env
const secrets = HOMEOSTAT_SECRETS.split(',')
const bodyMax = 4_000_000
const pageSize = 1_000

mkdirSync(FOLDER, { recursive: true })
const disks = new Disks(FOLDER)
const records = new CallRecords(join(FOLDER, 'calls.db'))
const filler = new Filler({ records, disks, blockMs: Number(BLOCK_SECONDS) * 1_000 })

async function answer(call: any): Promise<object> {
  switch (call.kind) {
    case 'step':
    case 'undo':
      return work(call)
    case 'probe': {
      const names = diskNames(call)
      const isThere = names.length > 0 && names.every((name) => disks.isThere(name))
      return records.stale(call) ?? { kind: 'answered', answer: isThere ? 'there' : 'absent' }
    }
    case 'cancel':
      return cancel(call)
    case 'inventory': {
      const names = disks.names().filter((name) => call.after === null || name > call.after)
      const things = names.slice(0, pageSize).map((name) => ({ kind: 'disk', name }))
      return { kind: 'inventory', things, next: names.length > pageSize ? names[pageSize - 1]! : null }
    }
    case 'destroy':
      disks.remove(call.thing.name)
      return { kind: 'done' }
    default:
      return { kind: 'failed', code: 'unsupported', reason: `${call.kind} is not known here` }
  }
}

async function work(call: GivenCall): Promise<object> {
  const refused = records.stale(call) ?? records.answerOf(call)
  if (refused !== null) return refused
  const others = records.othersAtWork(call)
  for (const key of others) records.markCancelled(key)
  for (const key of others) await filler.stop(key)
  // Another call may have come meanwhile. From here on nothing waits: all of it happens, or the process dies and it comes again.
  const late = records.stale(call) ?? records.answerOf(call)
  if (late !== null) return late
  records.begin(call)
  if (call.function === 'fillDisk') {
    filler.begin(call.key)
    return { kind: 'accepted', lookAgainMs: 5_000, progress: 'being filled' }
  }
  const made = doNow(call)
  // Only what was done is remembered: what failed may be tried again.
  if (made.kind === 'done') records.end(call.key, made, true)
  else records.forget(call.key)
  return made
}

function doNow(call: GivenCall): { readonly kind: string } {
  switch (call.function) {
    case 'makeDisk':
      disks.make(call.name!)
      break
    case 'removeDisk':
      for (const name of diskNames(call)) disks.remove(name)
      break
    case 'growDisk':
      for (const name of diskNames(call)) disks.resize(name, (call.input as { sizeMb: number }).sizeMb)
      break
    default:
      return failed('unsupported', `${call.function} is not known here`)
  }
  return { kind: 'done' }
}

const failed = (code: string, reason: string) => ({ kind: 'failed', code, reason, terminal: true })
const diskNames = ({ ledger }: GivenCall) => ledger.filter(({ kind }) => kind === 'disk').map(({ name }) => name)

/** Answers when the work has stopped. What has ended is left as it is, and so is a later attempt. */
async function cancel(call: GivenCall): Promise<object> {
  if (records.cancel(call)) await filler.stop(call.key)
  return { kind: 'done' }
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > bodyMax) return say(response, 413, { error: 'the call is too large' })
    parts.push(part)
  }
  const body = Buffer.concat(parts).toString('utf8')
  const header = (name: string) => String(request.headers[name] ?? '')
  const call = { method: request.method!, path: request.url!, timestamp: header(timestampHeader), body }
  const fault = faultOfSignature(secrets, { ...call, signature: header(signatureHeader) }, Date.now())
  if (fault !== null) return say(response, 401, { error: fault })
  say(response, 200, await answer(JSON.parse(body)))
}

function say(response: ServerResponse, status: number, content: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    console.error(error)
    // Nobody knows how far it came: 500 says just that.
    if (!response.headersSent) say(response, 500, { error: 'a defect of the driver' })
  })
})
server.listen(Number(PORT), '127.0.0.1', () => {
  filler.goOn()
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})
