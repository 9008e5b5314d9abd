// The outside world: everything that drivers make and destroy is here, in the harness's own memory, and outlives every worker. It checks
// key and epoch of each call as a cloud should, and keeps a list of the changes that it let through, for the auditor.
import { createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { createSimulatedWorld, type Guard, type Truth, type World } from 'homeostat/worlds'
import { TerminalError, UnknownOutcomeError } from 'homeostat'
import { systemClock } from '../../src/base/clock.ts'
import { seededRandom } from '../../src/base/random.ts'

export const verbs = [
  'create',
  'copy',
  'update',
  'resize',
  'link',
  'unlink',
  'start',
  'stop',
  'pause',
  'resume',
  'destroy',
  'get',
  'list',
] as const
export type CloudVerb = (typeof verbs)[number]

export interface CloudCall {
  readonly id: number
  readonly verb: CloudVerb
  /** All arguments but the guard. */
  readonly args: readonly unknown[]
  readonly guard: Partial<Omit<Guard, 'signal'>> | null
}

/** A call is given up by its number alone. */
export interface CloudGivenUp {
  readonly givenUp: number
}

export interface CloudAnswer {
  readonly id: number
  readonly answer?: unknown
  readonly error?: { readonly kind: 'terminal' | 'unknown' | 'plain'; readonly code: string; readonly message: string }
}

export interface Effect {
  readonly resource: string
  readonly epoch: number
  readonly key: string
  readonly verb: CloudVerb
}

export class Cloud {
  readonly world: World
  readonly socketPath: string
  /** Changes that happened, in order. */
  readonly effects: Effect[] = []
  calls = 0
  /** Calls of those who had lost the resource by then. */
  staleRefused = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(seed: number, socketPath: string) {
    this.socketPath = socketPath
    this.world = createSimulatedWorld({ clock: systemClock, random: seededRandom(seed) })
    this.#server = createServer((socket) => this.#accept(socket))
  }

  static async start(seed: number, socketPath: string): Promise<Cloud> {
    const cloud = new Cloud(seed, socketPath)
    // So that calls are found in the middle.
    await cloud.world.faults.set({ does: 'slow', ms: 40, rate: 0.5 })
    await cloud.world.faults.set({ does: 'slow', ms: 400, rate: 0.05 })
    await cloud.world.faults.set({ does: 'lostReply', rate: 0.01 })
    await new Promise<void>((resolve) => cloud.#server.listen(socketPath, resolve))
    return cloud
  }

  truth(): Promise<readonly Truth[]> {
    return this.world.truth()
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(socket: Socket): void {
    const under = new Map<number, AbortController>()
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#sockets.delete(socket)
      for (const controller of under.values()) controller.abort()
    })
    const lines = createInterface({ input: socket })
    // The stream's own error comes here too.
    lines.on('error', () => {})
    lines.on('line', (line) => {
      const call = JSON.parse(line) as CloudCall | CloudGivenUp
      if ('givenUp' in call) return under.get(call.givenUp)?.abort()
      const controller = new AbortController()
      under.set(call.id, controller)
      void this.#carryOut(call, controller.signal).then((answer) => {
        under.delete(call.id)
        if (!socket.destroyed) socket.write(`${JSON.stringify(answer)}\n`)
      })
    })
  }

  async #carryOut({ id, verb, args, guard }: CloudCall, signal: AbortSignal): Promise<CloudAnswer> {
    this.calls++
    const world = this.world as unknown as Record<CloudVerb, (...args: unknown[]) => Promise<unknown>>
    try {
      const answer = await world[verb](...args, { ...guard, signal })
      this.#happened(verb, guard)
      return { id, answer: answer ?? null }
    } catch (error) {
      if (error instanceof UnknownOutcomeError) this.#happened(verb, guard)
      const code = error instanceof TerminalError ? error.code : ''
      if (code === 'stale_epoch') this.staleRefused++
      const kind =
        error instanceof TerminalError ? 'terminal' : error instanceof UnknownOutcomeError ? 'unknown' : 'plain'
      return { id, error: { kind, code, message: error instanceof Error ? error.message : String(error) } }
    }
  }

  #happened(verb: CloudVerb, guard: CloudCall['guard']): void {
    if (verb === 'get' || verb === 'list' || guard?.epoch === undefined || guard.resource === undefined) return
    this.effects.push({ resource: guard.resource, epoch: guard.epoch, key: guard.key ?? '', verb })
  }
}
