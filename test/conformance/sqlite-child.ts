// A process of its own on a SQLite store, for tests that need real ones. Says on standard output what was acknowledged.
// node sqlite-child.ts <file> commit <count> | forever | hold
import { writeSync } from 'node:fs'
import { systemClock } from '../../src/base/clock.ts'
import type { Resource } from '../../src/decision/state.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store, Write } from '../../src/store/store.ts'
import { changed, sampleBatch, sampleKinds, sampleResource, sampleRun } from '../../src/testing/store-samples.ts'

const [file = '', mode = '', count = '0'] = process.argv.slice(2)
const say = (line: string) => void writeSync(1, `${line}\n`)

const store = openSqliteStore({ file })
await store.useKinds(sampleKinds)
const worker = await store.register({ name: `process ${process.pid}`, leaseMs: 2000, now: systemClock.now() })
say(`worker ${worker}`)

/** The resource that all processes change. */
export const shared = 1

if (mode === 'hold') {
  process.stdin.resume()
} else {
  let next = worker * 2 ** 32
  let own: Resource | null = null
  for (let n = 0; mode === 'forever' || n < Number(count); n++) {
    // One of its own that begins or ends, and now and then the one of all.
    const before: Resource | null = n % 10 === 0 ? null : own
    const after: Resource =
      before === null
        ? sampleResource(++next, { status: 'creating', run: sampleRun({ owner: worker, previous: '' }) })
        : changed(
            before,
            before.run === null
              ? { status: 'creating', run: sampleRun({ owner: worker }) }
              : { status: 'available', run: null },
          )
    await commitOwn(store, { before, after }, n % 3 === 0)
    own = after
    say(`ack ${after.no} ${after.revision}`)
  }
  await store.end({ no: worker, as: 'ended', now: systemClock.now() })
  await store.close()
  say('done')
}

async function commitOwn(on: Store, write: Write, withShared: boolean): Promise<void> {
  for (;;) {
    const writes = [write]
    if (withShared) {
      const [before] = (await on.load([{ ask: 'resource', no: shared }])) as readonly Resource[]
      writes.push({ before: before!, after: changed(before!, { description: `by ${worker}` }) })
    }
    const answer = await on.commit(sampleBatch(writes))
    if (answer.committed) {
      if (withShared) say(`shared ${writes[1]!.after.revision}`)
      return
    }
    if (answer.conflicts.join() !== String(shared)) throw new Error(`conflicts ${answer.conflicts.join()}`)
  }
}
