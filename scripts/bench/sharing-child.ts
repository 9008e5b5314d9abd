// One of several worker processes under load: says when it is ready, is told for how long, and says how many operations it has done.
import { createInterface } from 'node:readline'
import { openPostgresStore } from '../../src/postgres.ts'
import { keepInFlight, manyInFlight } from './load.ts'
import { openSubject } from './subject.ts'

const [place = '', share = ''] = process.argv.slice(2)
const [url = '', schema] = place.split('#')
// Alone it keeps two commits under way; beside others one each is enough for the server.
const commits = Number(share) === 1_000 ? 2 : 1
const subject = await openSubject(await openPostgresStore({ url, schema, commits }), manyInFlight)
// Compiling is a process's own cost and not one of sharing: within seconds eight of them would do little else.
await keepInFlight((done) => subject.create(done), 10_000, Number(share))
process.stdout.write('ready\n')
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const ms = Number((await lines.next()).value)
let done = 0
let isOver = false
let under = 0
await new Promise<void>((resolve) => {
  const next = () => {
    under++
    subject.create(() => {
      under--
      if (!isOver) {
        done++
        next()
      } else if (under === 0) resolve()
    })
  }
  for (let i = 0; i < Number(share); i++) next()
  setTimeout(() => (isOver = true), ms)
})
await subject.close()
process.stdout.write(`${done}\n`)
process.exit(0)
