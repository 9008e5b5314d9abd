// The load of P10, in a process of its own: connections that are kept, each of which asks for an operation as soon as the last one was
// answered. Plain sockets and requests that are made up once: whoever measures shares the machine with what is measured.
// Reads rounds from its input, a JSON object per line, and answers each with a line.
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export interface Round {
  readonly port: number
  readonly token: string
  readonly connections: number
  /** Volumes of each connection, `v-<connection>-<n>`, taken in turn. */
  readonly volumes: number
  readonly ms: number
}

export interface RoundResult {
  readonly accepted: number
  /** Anything but 202, by status. */
  readonly others: Readonly<Record<string, number>>
  readonly ms: number
  /** Milliseconds from the last byte asked to the last byte answered. */
  readonly p50: number
  readonly p99: number
  readonly longest: number
}

const run = `${process.pid}-${Date.now()}`
let keys = 0

/** Once more, when told to by a line of the input. */
for await (const line of createInterface({ input: process.stdin })) {
  const round = JSON.parse(line) as Round
  process.stdout.write(`${JSON.stringify(await play(round))}\n`)
}

async function play(round: Round): Promise<RoundResult> {
  const took: number[] = []
  const others: Record<string, number> = {}
  const began = performance.now()
  const until = began + round.ms
  const clients = Array.from({ length: round.connections }, (_, n) => client(round, n, until, took, others))
  await Promise.all(clients)
  const ms = performance.now() - began
  const sorted = Float64Array.from(took).sort()
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { accepted: took.length, others, ms, p50: at(0.5), p99: at(0.99), longest: at(1) }
}

/** One connection: asks, reads the answer whole, asks again. */
function client(
  { port, token, volumes }: Round,
  no: number,
  until: number,
  took: number[],
  others: Record<string, number>,
): Promise<void> {
  const requests = Array.from({ length: volumes }, (_, n) => [
    `POST /v1/resources/bench.volume/v-${no}-${n}:extend HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n` +
      'content-type: application/json\r\naccept: application/json\r\nidempotency-key: ',
    '\r\ncontent-length: 2\r\n\r\n{}',
  ])
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1')
    let turn = 0
    let asked = 0
    let rest: Buffer | null = null
    const ask = () => {
      const [head, tail] = requests[turn++ % volumes]!
      asked = performance.now()
      socket.write(`${head}${run}-${++keys}${tail}`, 'latin1')
    }
    socket.setNoDelay(true)
    socket.once('connect', ask)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the server has closed a connection')))
    socket.on('data', (chunk) => {
      const all: Buffer = rest === null ? chunk : Buffer.concat([rest, chunk])
      const status = wholeAnswer(all)
      rest = status === null ? all : null
      if (status === null) return
      const now = performance.now()
      if (status === '202') took.push(now - asked)
      else others[status] = (others[status] ?? 0) + 1
      if (now < until) return ask()
      socket.removeAllListeners('close')
      socket.end(() => resolve())
    })
  })
}

/** The status when the answer is there whole; else null. */
function wholeAnswer(bytes: Buffer): string | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return null
  const head = bytes.toString('latin1', 0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)
  if (length === null) throw new Error(`an answer without a length:\n${head}`)
  return bytes.length < end + 4 + Number(length[1]) ? null : head.slice(9, 12)
}
