// Many event streams on one server, a tenth of which ask for everything and take nothing, while events are made and the server is killed
// and started again: every reader has every event exactly once and in order, and the memory of the server does not follow the number
// of events. What the stalled ones are owed is far more than the sockets of the system keep by themselves.
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpClient } from '../../src/client.ts'
import { freePort, startServing, type Memory, type Serving } from '../../test/server/serving.ts'
import { Reader, Stalled } from './stream-client.ts'

export interface StreamsOptions {
  /** Where the store is put. */
  readonly file: string
  readonly token: string
  readonly clients: number
  /** Of them. */
  readonly stalled: number
  /** There before anybody comes: what the stalled ones are owed at once. */
  readonly backlog: number
  /** Made while all are there, before the next look at the memory; and again after each kill. */
  readonly events: number
  readonly kills: number
  readonly say?: (text: string) => void
}

export interface StreamsResult {
  readonly events: number
  /** To all readers together. */
  readonly told: number
  readonly bytes: number
  readonly reconnections: number
  readonly kills: number
  /** Of the server with the readers alone, with the stalled ones too, and after more events. */
  readonly alone: Memory
  readonly beside: Memory
  readonly later: Memory
  /** To all stalled ones together, at the last look. */
  readonly owedBytes: number
  readonly faults: readonly string[]
}

const linesAtOnce = 100

export async function endureStreams(options: StreamsOptions): Promise<StreamsResult> {
  const { file, token, clients, stalled, backlog, events, kills, say = () => {} } = options
  const port = await freePort()
  const start = () => startServing({ file, port, execArgv: ['--expose-gc'] })
  let serving: Serving = await start()
  const http = new HttpClient({ url: `http://127.0.0.1:${port}`, token, retries: 40, retryMs: 50 })
  const produce = async (count: number, atOnce = linesAtOnce) => {
    for (let left = count; left > 0; left -= atOnce) {
      const line = { status: 'Ready', properties: { size: 1 } }
      const body = Array.from({ length: Math.min(left, atOnce) }, () => line)
      await http.call('importResources', { path: { type: 'shop.box' }, query: { reason: 'load' }, body })
    }
  }
  const readers: Reader[] = []
  const lazy = Array.from({ length: stalled }, () => new Stalled({ port, token }))
  const open = async (some: readonly (Reader | Stalled)[]) => {
    for (const client of some) client.open()
    await until(() => some.every(({ connections }) => connections > 0))
  }
  const allTold = async () => {
    const last = await lastEvent(http)
    await until(() => readers.every((reader) => reader.last >= last))
    return last
  }
  try {
    await produce(backlog, 2_000)
    const from = await lastEvent(http)
    for (let n = stalled; n < clients; n++) readers.push(new Reader({ port, token }, from))
    await open(readers)
    await produce(linesAtOnce)
    await allTold()
    const alone = await serving.memory()
    say(`${readers.length} readers: ${shown(alone)}`)
    await open(lazy)
    await produce(linesAtOnce)
    await allTold()
    const beside = await serving.memory()
    say(`and ${stalled} that are stalled: ${shown(beside)}`)
    await produce(events)
    const reached = await allTold()
    const later = await serving.memory()
    say(`after ${events} more events: ${shown(later)}`)
    const bytesEach = readers[0]!.bytes / readers[0]!.events
    const owedBytes = bytesEach * reached * stalled
    for (let kill = 1; kill <= kills; kill++) {
      const producing = produce(events)
      const begun = readers[0]!.last
      await until(() => readers.some((reader) => reader.last > begun))
      await serving.kill()
      serving = await start()
      await producing
      await allTold()
      say(`killed and started again ${kill} times: all readers have come back and are up to date`)
    }
    const last = await allTold()
    const faults = readers.flatMap((reader) => reader.faults)
    for (const reader of readers)
      if (reader.last !== last || reader.events !== last - from)
        faults.push(`a reader has ${reader.events} events up to ${reader.last}, of those from ${from} to ${last}`)
    return {
      events: last - from,
      told: sum(readers.map((reader) => reader.events)),
      bytes: sum(readers.map((reader) => reader.bytes)),
      reconnections: sum(readers.map((reader) => reader.connections - 1)),
      kills,
      alone,
      beside,
      later,
      owedBytes,
      faults: faults.slice(0, 20),
    }
  } finally {
    for (const client of [...readers, ...lazy]) client.close()
    await serving.kill()
  }
}

async function lastEvent(http: HttpClient): Promise<number> {
  let last = 0
  for (;;) {
    const page = await http.call('streamEvents', { query: { after: last, pageSize: 500 } })
    if (page.items.length === 0) return last
    last = page.last
  }
}

const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0)
const shown = ({ rss, heap }: Memory): string => `${mb(heap)} of objects, ${mb(rss)} of memory`
export const mb = (bytes: number): string => `${Math.round(bytes / 1024 / 1024).toLocaleString('en')} MB`

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20)
}
