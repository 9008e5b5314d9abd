// The load: a process of its own, with many users who ask the workers for mixed operations. Every request has a key; a request that
// nobody answered is asked again with its key, of another worker. What was acknowledged is on the disk before its user goes on.
import { open } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { randomUUID } from 'node:crypto'
import { seededRandom, type Random } from '../../src/base/random.ts'
import { ground, userOf, type Wish } from './load.ts'
import type { Acknowledged, Asked, ClientCounts, ClientOrders, Told } from './messages.ts'
import { pause } from '../waiting.ts'

const orders = JSON.parse(process.env['FAULTS_CLIENT']!) as ClientOrders
const patienceMs = 4_000
/** These say nothing about the request: it is asked again. */
const again = new Set(['store_unavailable', 'lease_lost', 'outcome_unknown', 'engine_stopped'])

process.on('disconnect', () => process.exit(1))
process.on('SIGINT', () => {})

const counts = { acknowledged: 0, refused: 0, asked: 0, repeated: 0, systems: {} as Record<string, number> }
const codes: Record<string, number> = {}
let isOver = false

/** A connection to one worker, opened again when it is needed. */
class Connection {
  readonly #path: string
  readonly #waiting = new Map<number, (told: Told | null) => void>()
  #socket: Socket | null = null
  #count = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Null: no answer came. */
  ask(asked: Asked extends infer A ? (A extends Asked ? Omit<A, 'id'> : never) : never): Promise<Told | null> {
    const id = ++this.#count
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answered(id, null), patienceMs)
      this.#waiting.set(id, (told) => {
        clearTimeout(timer)
        resolve(told)
      })
      this.#connected().write(`${JSON.stringify({ ...asked, id })}\n`)
    })
  }

  #connected(): Socket {
    if (this.#socket !== null) return this.#socket
    const socket = connect(this.#path)
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = null
      for (const id of this.#waiting.keys()) this.#answered(id, null)
    })
    const lines = createInterface({ input: socket })
    lines.on('error', () => {})
    lines.on('line', (line) => {
      const told = JSON.parse(line) as Told
      this.#answered(told.id, told)
    })
    return socket
  }

  #answered(id: number, told: Told | null): void {
    const resolve = this.#waiting.get(id)
    this.#waiting.delete(id)
    resolve?.(told)
  }
}

/** What is written together is flushed together. */
class AckLog {
  readonly #lines: { readonly line: string; readonly done: () => void }[] = []
  #isWriting = false

  write(ack: Acknowledged): Promise<void> {
    return new Promise((done) => {
      this.#lines.push({ line: `${JSON.stringify(ack)}\n`, done })
      void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    if (this.#isWriting) return
    this.#isWriting = true
    while (this.#lines.length > 0) {
      const group = this.#lines.splice(0)
      await file.write(group.map(({ line }) => line).join(''))
      await file.datasync()
      for (const { done } of group) done()
    }
    this.#isWriting = false
  }
}

const file = await open(orders.log, 'a')
const log = new AckLog()
const connections = orders.sockets.map((path) => new Connection(path))
const someone = (random: Random) => connections[random.below(connections.length)]!

/** Asks until it is answered; true when it was accepted. */
async function ask(random: Random, wish: Wish, key: string): Promise<boolean> {
  counts.asked++
  for (let tries = 0; ; tries++) {
    const told = await someone(random).ask({ do: 'request', request: { ...wish, key } })
    if (told?.told === 'accepted') {
      const { no, begun } = told
      await log.write({ key, type: wish.type, resource: wish.id!, operation: wish.operation, no, begun })
      counts.acknowledged++
      const [system] = wish.type.split('.') as [string]
      counts.systems[system] = (counts.systems[system] ?? 0) + 1
      return true
    }
    if (told?.told === 'refused' && !again.has(told.code)) {
      counts.refused++
      codes[told.code] = (codes[told.code] ?? 0) + 1
      return false
    }
    counts.repeated++
    if (isOver && tries > 100) return false
    await pause(20 + random.below(150))
  }
}

/** Until nothing of it is under way, but not for ever. */
async function settled(random: Random, { type, id }: Wish, tries: number): Promise<void> {
  for (let n = 0; n < tries && !isOver; n++) {
    const seen = await someone(random).ask({ do: 'look', type, of: id! })
    if (seen?.told === 'seen' && !seen.isBusy) return
    await pause(50 + random.below(50))
  }
}

async function live(index: number): Promise<void> {
  const random = seededRandom(orders.seed * 1_000 + index)
  const user = userOf(random, index)
  const run = randomUUID().slice(0, 8)
  for (let n = 0; !isOver; n++) {
    const wish = user.next()
    const key = `${run}/${index}/${n}`
    const isAccepted = await ask(random, wish, key)
    // Now and then it is asked a second time: the answer must be the same.
    if (isAccepted && random.below(15) === 0) await ask(random, wish, key)
    if (random.below(4) > 0) await settled(random, wish, 20)
    await pause(random.below(120))
  }
}

const tell = () => process.send?.({ ...counts, codes } satisfies ClientCounts)
setInterval(tell, 250).unref()
process.on('message', () => (isOver = true))

const random = seededRandom(orders.seed)
for (const wish of ground) {
  const key = `ground/${wish.type}/${wish.id}/${wish.operation}`
  while (!(await ask(random, wish, key))) await pause(200)
  await settled(random, wish, 400)
}
process.send?.('ground')
await Promise.all(Array.from({ length: orders.users }, (_, index) => live(index)))
await file.close()
process.send?.({ ...counts, codes } satisfies ClientCounts, () => process.exit(0))
