// The outside world as a worker sees it: the calls of the port, over a socket to the harness. What cannot be sent was not done; what was
// sent and not answered may have been done.
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { TerminalError, UnknownOutcomeError } from 'homeostat'
import type { Guard, World } from 'homeostat/worlds'
import { verbs, type CloudAnswer, type CloudCall, type CloudGivenUp, type CloudVerb } from './cloud.ts'

interface Waiting {
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: Error) => void
}

type Verbs = Pick<World, CloudVerb>

export async function openFarWorld(socketPath: string): Promise<World> {
  const socket = connect(socketPath)
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  const line = new Line(socket)
  const calls = Object.fromEntries(verbs.map((verb) => [verb, (...args: unknown[]) => line.call(verb, args)]))
  const absent = () => Promise.reject(new Error('only the harness can look behind the world'))
  return {
    ...(calls as unknown as Verbs),
    truth: absent,
    leaks: absent,
    faults: { set: absent, clear: absent, list: absent },
    close: async () => void socket.destroy(),
  } as World
}

class Line {
  readonly #socket: Socket
  readonly #waiting = new Map<number, Waiting>()
  #calls = 0

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('error', () => {})
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new UnknownOutcomeError('the world has gone away'))
      this.#waiting.clear()
    })
    const lines = createInterface({ input: socket })
    lines.on('error', () => {})
    lines.on('line', (text) => this.#answered(JSON.parse(text) as CloudAnswer))
  }

  call(verb: CloudVerb, args: readonly unknown[]): Promise<unknown> {
    // The guard comes last, and is left out in a look of nobody in particular.
    const guardAt = verb === 'get' || verb === 'list' ? 1 : args.length - 1
    const { signal, ...guard } = (args[guardAt] ?? {}) as Partial<Guard>
    if (signal?.aborted) return Promise.reject(new Error('nobody waits for this call any more'))
    const id = ++this.#calls
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      signal?.addEventListener('abort', () => this.#send({ givenUp: id }), { once: true })
      const rest = args.slice(0, guardAt)
      if (guardAt === 1 && rest.length === 0) rest.push(verb === 'list' ? {} : '')
      this.#send({ id, verb, args: rest, guard })
    })
  }

  #send(message: CloudCall | CloudGivenUp): void {
    if (!this.#socket.destroyed) this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  #answered({ id, answer, error }: CloudAnswer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error === undefined) waiting?.resolve(answer)
    else if (error.kind === 'terminal') waiting?.reject(new TerminalError(error.code, error.message))
    else if (error.kind === 'unknown') waiting?.reject(new UnknownOutcomeError(error.message))
    else waiting?.reject(new Error(error.message))
  }
}
