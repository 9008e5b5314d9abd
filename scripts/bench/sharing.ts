// P3: several worker processes on one database, each with its share of a thousand operations in flight, for a few seconds.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { audit } from './audit.ts'
import { thousands, type Figure, type Options } from './bench.ts'
import type { Ground } from './ground.ts'
import { median } from './load.ts'
import { poolCount } from './subject.ts'

const inFlight = 1_000
const seconds = 4
/** One process is measured anew in each: the machine is not the same from minute to minute. */
const rounds = 3
const counts = [1, 2, 4, 8]
/** Of what one process does; none for eight: it must not collapse, and every process must have its share. */
const goals: Readonly<Record<number, number>> = { 2: 1, 4: 0.7, 8: 0.3 }

export async function sharing({ ground, say }: Options): Promise<Figure[]> {
  const found = new Map<number, Round[]>(counts.map((processes) => [processes, []]))
  for (let round = 1; round <= rounds; round++) {
    await ground.refresh()
    for (const processes of counts) {
      const one = await measured(ground, processes, round)
      found.get(processes)!.push(one)
      say(`P3 round ${round} of ${rounds}, ${processes} processes: ${thousands(one.rate)}/s`)
    }
  }
  const alone = found.get(1)!.map(({ rate }) => rate)
  return counts
    .filter((processes) => processes > 1)
    .map((processes) => {
      const rates = found.get(processes)!.map(({ rate }) => rate)
      const ratio = median(rates.map((rate, round) => rate / alone[round]!))
      const uneven = Math.max(...found.get(processes)!.map(({ unevenness }) => unevenness))
      const goal = goals[processes]!
      return {
        value: median(rates),
        bare: median(alone),
        ratio,
        details: { unevenness: uneven },
        what: `P3: operations a second of ${processes} processes on ${ground.name}`,
        found: `${thousands(median(rates))} beside ${thousands(median(alone))} of one: ${ratio.toFixed(2)}; shares differ by ${Math.round(100 * uneven)} % at most`,
        goal: `${goal} of one process, shares even within 30 %`,
        isMet: ratio >= goal && uneven <= 0.3,
      }
    })
}

interface Round {
  readonly rate: number
  /** How far the share of one process was from an even one. */
  readonly unevenness: number
}

async function measured(ground: Ground, processes: number, round: number): Promise<Round> {
  const name = `sharing-${processes}-${round}`
  const shares = await load(ground.placeOf(name), processes)
  const sum = shares.reduce((all, share) => all + share, 0)
  const even = sum / processes
  const store = await ground.openStore(name)
  const made = (await store.counts()).find(({ type }) => type === 'bench.volume')?.count ?? 0
  await audit(store, { counts: { 'bench.volume/Available': made, 'bench.pool/Open': poolCount } })
  await store.close()
  if (made < sum) throw new Error(`${sum} operations were told to be done, ${made} are there`)
  return { rate: sum / seconds, unevenness: Math.max(...shares.map((share) => Math.abs(share - even) / even)) }
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
