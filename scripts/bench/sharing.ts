// P3: several worker processes on one database, each with its share of a thousand operations in flight, for a few seconds.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { audit } from './audit.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import { poolCount } from './subject.ts'

const inFlight = 1_000
const seconds = 4
const counts = [1, 2, 4, 8]
/** Of what one process does; none for eight: it must not collapse, and every process must have its share. */
const goals: Readonly<Record<number, number>> = { 2: 1, 4: 0.7, 8: 0.3 }

export async function sharing({ ground, say }: Options): Promise<Figure[]> {
  const rates = new Map<number, number>()
  const unevenness = new Map<number, number>()
  for (const processes of counts) {
    const name = `sharing-${processes}`
    const shares = await load(ground.placeOf(name), processes)
    const sum = shares.reduce((all, share) => all + share, 0)
    const even = sum / processes
    rates.set(processes, sum / seconds)
    unevenness.set(processes, Math.max(...shares.map((share) => Math.abs(share - even) / even)))
    say(`P3 ${processes} processes: ${thousands(sum / seconds)}/s, shares ${shares.join(' ')}`)
    const store = await ground.openStore(name)
    const made = (await store.counts()).find(({ type }) => type === 'bench.volume')?.count ?? 0
    await audit(store, { counts: { 'bench.volume/Available': made, 'bench.pool/Open': poolCount } })
    await store.close()
    if (made < sum) throw new Error(`${sum} operations were told to be done, ${made} are there`)
  }
  const one = rates.get(1)!
  return counts
    .filter((processes) => processes > 1)
    .map((processes) => {
      const rate = rates.get(processes)!
      const uneven = unevenness.get(processes)!
      const goal = goals[processes]!
      return {
        value: rate,
        bare: one,
        ratio: rate / one,
        details: { unevenness: uneven },
        what: `P3: operations a second of ${processes} processes on ${ground.name}`,
        found: `${thousands(rate)} beside ${thousands(one)} of one: ${(rate / one).toFixed(2)}; shares differ by ${Math.round(100 * uneven)} %`,
        goal: `${goal} of one process, shares even within 30 %`,
        isMet: rate / one >= goal && uneven <= 0.3,
      }
    })
}

/** How many operations each process has done in the time, counted when all were at work. */
async function load(place: string, processes: number): Promise<number[]> {
  const share = String(Math.ceil(inFlight / processes))
  const program = join(import.meta.dirname, 'sharing-child.ts')
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, ['--conditions=source', program, place, share], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  )
  const ended = children.map((child) => new Promise<number | null>((resolve) => child.once('exit', resolve)))
  const lines = children.map((child) => linesOf(child.stdout))
  for (const line of lines) if ((await line.next()).value !== 'ready') throw new Error('a process did not start')
  for (const child of children) child.stdin.write(`${seconds * 1000}\n`)
  const done = await Promise.all(lines.map(async (line) => Number((await line.next()).value)))
  for (const code of await Promise.all(ended)) if (code !== 0) throw new Error(`a process ended with ${code}`)
  return done
}

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string> {
  let text = ''
  for await (const chunk of stream) {
    const lines = (text + String(chunk)).split('\n')
    text = lines.pop()!
    yield* lines
  }
}
