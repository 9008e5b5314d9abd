// P6: a million resources, a tenth of them in the middle of an operation when the power fails; a new process brings all of them to rest.
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { audit } from './audit.ts'
import { ms, thousands, type Figure, type Options } from './bench.ts'
import { build, built } from './processes.ts'

const resting = 900_000
const stuck = 100_000

export async function powerCut({ ground, say }: Options): Promise<Figure[]> {
  const place = ground.placeOf('power-cut')
  build(say)
  say(`P6: making ${thousands(resting)} resting resources and ${thousands(stuck)} operations`)
  const first = begin(place, 'fill')
  await word(first, 'resting')
  say(`P6: ${thousands(resting)} are there; beginning ${thousands(stuck)} operations`)
  await word(first, 'stuck')
  first.kill('SIGKILL')
  await ended(first)
  say('P6: the power has failed and come back')
  const began = performance.timeOrigin + performance.now()
  const second = begin(place, 'finish')
  const [doneAt, p50, p99, reads] = (await word(second, 'done')).map(Number) as [number, number, number, number]
  const peakMb = peakOf(second.pid!)
  second.stdin!.end('stop\n')
  await ended(second)
  const store = await ground.openStore('power-cut')
  await audit(store, {
    counts: { 'bench.volume/Available': resting + stuck, 'bench.pool/Open': 1 },
    events: { accepted: stuck, landed: stuck, imported: resting + 1 },
  })
  await store.close()
  const seconds = (doneAt - began) / 1000
  return [
    {
      value: seconds,
      details: { p50, p99, reads, peakMb },
      what: `P6: ${thousands(resting + stuck)} resources, ${thousands(stuck)} stuck after a power cut, on ${ground.name}: start of a process until all are at rest`,
      found: `${seconds.toFixed(1)} s`,
      goal: '15 s',
      isMet: seconds <= 15,
    },
    {
      value: p99,
      what: 'P6: a page of the list and an explanation meanwhile, p99',
      found: `${ms(p99)} (p50 ${ms(p50)}, ${reads} times)`,
      goal: 'below 100 ms',
      isMet: p99 < 100,
    },
    {
      value: peakMb,
      what: 'P6: memory of the process at its largest',
      found: `${Math.round(peakMb)} MB`,
      goal: 'below 512 MB',
      isMet: peakMb < 512,
    },
  ]
}

function begin(place: string, mode: 'fill' | 'finish'): ChildProcess {
  const args = [join(built, 'power-cut-child.js'), place, mode, String(resting), String(stuck)]
  return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
}

/** What the process says after this word, when it says it. */
function word(child: ChildProcess, wanted: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let text = ''
    const hear = (chunk: Buffer) => {
      text += chunk.toString()
      const line = text.split('\n').find((one) => one.startsWith(wanted))
      if (line === undefined || !text.endsWith('\n')) return
      child.stdout!.off('data', hear)
      resolve(line.split(' ').slice(1))
    }
    child.stdout!.on('data', hear)
    child.once('exit', (code, signal) => reject(new Error(`the process ended (${code ?? signal}) before '${wanted}'`)))
  })
}

const ended = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()))

/** As the kernel has seen it; other systems do not tell. */
function peakOf(pid: number): number {
  const kib = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kib) / 1024
}
