// A driver whose functions are elsewhere: every step, undo and probe is a signed call over HTTP, in any language on the other side
// (docs/remote-drivers.md). For the engine it is a driver like any other.
import { pause, systemClock, type Clock } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import {
  again,
  completes,
  TerminalError,
  UnknownOutcomeError,
  type Call,
  type Driver,
  type Sweeper,
} from '../lifecycle/driver.ts'
import { typeOf, type AnyLifecycle } from '../lifecycle/lifecycle.ts'
import { AllowList } from '../server/allow-list.ts'
import { endAnswer, inventoryAnswer, probeAnswer, readAnswer, workAnswer, type WorkAnswer } from './answers.ts'
import { keyOfToken, stepToken } from './signature.ts'
import { WireCaller, type CallOptions, type WireEnd } from './wire-call.ts'

export interface RemoteOptions {
  /** Where the driver listens. https, unless private addresses are allowed and it is one. */
  readonly url: string
  /** What both sides know, at least 20 characters. Two while it is being changed: calls are signed with both. */
  readonly secret: string | readonly [string, string]
  /** Where the API is reached by the driver, to complete steps later. Left out: later ends are found by looking again. */
  readonly completeAt?: string
  /** Addresses of this machine and of private networks may be called. Default: no. */
  readonly privateAddresses?: boolean
  /** Only these hosts, addresses and networks may be called: the driver must be one of them. Left out: no such list. */
  readonly allow?: readonly string[] | undefined
  /** Certificates of one's own authority, as PEM. */
  readonly ca?: string
  /** Most time for one call, from its start to the last byte of its answer. Default 30 s. */
  readonly timeoutMs?: number
  /** Most bytes of an answer. Default 1 MB. */
  readonly answerMaxBytes?: number
  /** Most calls at a time. Default 64. */
  readonly atOnce?: number
  /** How often the driver is asked about a step that it accepted and has not completed. Default 30 s. */
  readonly lookAgainMs?: number
  /** Related resources are sent along. Default: yes. */
  readonly related?: boolean
  /** The driver answers `inventory`. Default: yes. */
  readonly inventory?: boolean
  readonly clock?: Clock
}

/** What the engine gives to every function of a driver, as far as it is sent along. */
export type RemoteCall = Omit<Call<unknown, unknown, unknown, unknown, unknown>, 'resource' | 'related' | 'results'> & {
  readonly resource: { readonly type: string }
  readonly related: unknown
  readonly results: unknown
}

const secretMin = 20
const cancelTries = 3
const cancelMs = 5_000
const inventoryPagesMax = 1_000

/** Throws `address_refused` when the address may not be called. */
export function remoteDriver<L extends AnyLifecycle>(lifecycle: L, options: RemoteOptions): Driver<L> {
  const remote = new Remote(typeOf(lifecycle), options)
  const functions: Record<string, (call: RemoteCall) => Promise<unknown>> = {}
  for (const name of functionsOf(lifecycle)) functions[name] = (call) => remote.call(name, call)
  return {
    ...functions,
    sweeper: remote.sweeper,
    [completes]: (token: string) => remote.keyOf(token),
  } as unknown as Driver<L>
}

/** Every function that the declaration names: steps that do not ask others, undos, probes. */
function functionsOf({ body }: AnyLifecycle): ReadonlySet<string> {
  const names = new Set<string>(Object.keys((body.probes ?? {}) as object))
  const operations = (body.operations ?? {}) as Readonly<
    Record<string, { readonly steps: Readonly<Record<string, { readonly ask?: object; readonly undo?: string }>> }>
  >
  for (const { steps } of Object.values(operations))
    for (const [name, { ask, undo }] of Object.entries(steps)) {
      if (ask === undefined) names.add(name)
      if (undo !== undefined) names.add(undo)
    }
  return names
}

class Remote {
  readonly #type: string
  readonly #secrets: readonly string[]
  readonly #options: RemoteOptions
  readonly #clock: Clock
  readonly #wire: WireCaller
  /** Beside the others: a cancel must get through when all calls hang. */
  readonly #cancelWire: WireCaller

  constructor(type: string, options: RemoteOptions) {
    this.#type = type
    this.#options = options
    this.#secrets = typeof options.secret === 'string' ? [options.secret] : options.secret
    if (this.#secrets.some((secret) => secret.length < secretMin))
      throw new HomeostatError(
        'driver_unsuitable',
        `The secret of the remote driver of ${type} is too short: give it at least ${secretMin} characters.`,
      )
    this.#clock = options.clock ?? systemClock
    const wire = {
      url: options.url,
      secrets: this.#secrets,
      privateAddresses: options.privateAddresses ?? false,
      allow: options.allow === undefined ? undefined : new AllowList(options.allow),
      ca: options.ca,
      timeoutMs: options.timeoutMs ?? 30_000,
      answerMaxBytes: options.answerMaxBytes ?? 1_000_000,
      atOnce: options.atOnce ?? 64,
      clock: this.#clock,
    }
    this.#wire = new WireCaller(wire)
    this.#cancelWire = new WireCaller({ ...wire, timeoutMs: Math.min(wire.timeoutMs, cancelMs) })
  }

  keyOf(token: string): string | null {
    return keyOfToken(this.#secrets, this.#type, token)
  }

  async call(name: string, call: RemoteCall): Promise<unknown> {
    const content = this.#content(name, call)
    return call.phase === 'probe' ? this.#probe(content, call) : this.#work(content, call)
  }

  #content(name: string, call: RemoteCall): object {
    const { phase, key, run, operation, epoch, attempt, deadlineAt, forced, resource } = call
    const { related = true, completeAt } = this.#options
    const complete =
      completeAt === undefined || phase === 'probe'
        ? null
        : {
            url: `${completeAt.replace(/\/$/, '')}/v1/runs/${run}/steps/${encodeURIComponent(name)}:complete`,
            token: stepToken(this.#secrets[0]!, this.#type, key),
          }
    return {
      version: 1,
      kind: phase,
      function: name,
      key,
      epoch,
      attempt,
      run,
      operation,
      deadlineAt: deadlineAt === 0 ? null : deadlineAt,
      forced,
      name: call.name ?? null,
      resource,
      input: call.input ?? null,
      results: call.results ?? {},
      item: call.item ?? null,
      ledger: call.ledger,
      ...(related ? { related: call.related } : {}),
      complete,
    }
  }

  /** What the deadline leaves of the time (the engine gives the call up by itself then), and the trace it belongs to. */
  #wireOptions({ deadlineAt, traceparent }: RemoteCall): CallOptions {
    const timeoutMs = deadlineAt === 0 ? Infinity : Math.max(1, deadlineAt - this.#clock.now())
    return { timeoutMs, traceparent }
  }

  async #probe(content: object, call: RemoteCall): Promise<unknown> {
    const end = await this.#wire.call(content, call.signal, this.#wireOptions(call))
    if (end.kind !== 'answered') return notAnswered(end)
    const read = readAnswer(probeAnswer, end.text)
    if ('fault' in read) throw unreadable(read.fault)
    const { answer } = read
    if (answer.kind !== 'answered') return endOf(answer)
    return answer.observed === undefined ? answer.answer : { answer: answer.answer, observed: answer.observed }
  }

  /**
   * Until the driver has said how it ended. A step that it accepted is waited for here: the run goes on when the driver completes it
   * (the signal tells), or when asking again, with the same key, shows that it has ended.
   */
  async #work(content: object, call: RemoteCall): Promise<unknown> {
    for (let mayHaveBegun = false; ;) {
      const end = await this.#wire.call(content, call.signal, this.#wireOptions(call))
      if (end.kind === 'aborted') return this.#stop(content, call, mayHaveBegun || end.isSent)
      // What it has accepted goes on, whether or not it can be reached now: only its own word ends it.
      let waitMs = this.#options.lookAgainMs ?? 30_000
      if (end.kind === 'answered') {
        const read = readAnswer(workAnswer, end.text)
        if ('fault' in read) throw unreadable(read.fault)
        const { answer } = read
        if (answer.kind !== 'accepted') return endOf(answer)
        mayHaveBegun = true
        waitMs = answer.lookAgainMs ?? waitMs
        if (answer.progress !== undefined) call.progress(answer.progress)
      } else if (!mayHaveBegun) return notAnswered(end)
      await pause(this.#clock, waitMs, call.signal)
      if (call.signal.aborted) return this.#stop(content, call, true)
    }
  }

  /** The run no longer owes the call: the driver is told, so that what it began stops. Another owner's call goes on. */
  async #stop(content: object, { signal, key, epoch, attempt, resource }: RemoteCall, mayHaveBegun: boolean) {
    const reason = signal.reason as { readonly message?: string; readonly isStillOwed?: boolean } | undefined
    if (mayHaveBegun && reason?.isStillOwed !== true) {
      const why = reason?.message ?? ''
      const { function: name } = content as { readonly function: string }
      const cancel = { version: 1, kind: 'cancel', function: name, key, epoch, attempt, resource, reason: why }
      for (let n = 0; n < cancelTries; n++) {
        const end = await this.#cancelWire.call(cancel, never)
        if (end.kind === 'answered' || (end.kind === 'notDone' && end.code === 'remote_refused')) break
        await pause(this.#clock, 200 * 2 ** n, never)
      }
    }
    throw new UnknownOutcomeError(`the call was given up: ${reason?.message ?? 'aborted'}`)
  }

  get sweeper(): Sweeper {
    const destroy: Sweeper['destroy'] = async ({ kind, name, ref, key, signal }) => {
      const content = { version: 1, kind: 'destroy', type: this.#type, key, thing: { kind, name, ref: ref ?? null } }
      const end = await this.#wire.call(content, signal)
      if (end.kind === 'busy') throw new Error('the driver has no room now')
      if (end.kind !== 'answered') return void notAnswered(end)
      const read = readAnswer(endAnswer, end.text)
      if ('fault' in read) throw unreadable(read.fault)
      if (read.answer.kind === 'failed') throw new Error(read.answer.reason || read.answer.code)
    }
    if (this.#options.inventory === false) return { destroy }
    return { destroy, inventory: (asked) => this.#inventory(asked?.signal ?? never) }
  }

  /** All of it or nothing: a part would make known strays look gone. */
  async #inventory(signal: AbortSignal): ReturnType<NonNullable<Sweeper['inventory']>> {
    const things: { kind: string; name: string; ref?: unknown }[] = []
    let after: string | null = null
    for (let page = 0; page < inventoryPagesMax; page++) {
      const end = await this.#wire.call({ version: 1, kind: 'inventory', type: this.#type, after }, signal)
      if (end.kind === 'busy') throw new Error('the driver has no room now')
      if (end.kind !== 'answered') throw new Error('reason' in end ? end.reason : 'it was given up')
      const read = readAnswer(inventoryAnswer, end.text)
      if ('fault' in read) throw unreadable(read.fault)
      if (read.answer.kind === 'failed') throw new Error(read.answer.reason || read.answer.code)
      things.push(...read.answer.things)
      after = read.answer.next
      if (after === null) return things
    }
    throw new Error(`the inventory has more than ${inventoryPagesMax} pages`)
  }
}

const never = new AbortController().signal

const unreadable = (fault: string) =>
  new UnknownOutcomeError(`the driver was called, and its answer cannot be used: ${fault}`)

/** Returns or throws what the engine understands. */
function endOf(answer: Exclude<WorkAnswer, { kind: 'accepted' }>): unknown {
  switch (answer.kind) {
    case 'done':
      return answer.result
    case 'again':
      return again(`${answer.afterMs}ms`)
    case 'failed':
      throw failure(answer.code, answer.reason || answer.code, answer.terminal)
    case 'unknown':
      throw new UnknownOutcomeError(answer.reason || 'the driver does not know how it ended')
    case 'stale':
      throw failure('stale_epoch', `the driver has been called with epoch ${answer.epoch} already`, false)
  }
}

function notAnswered(end: Exclude<WireEnd, { kind: 'answered' }>): unknown {
  switch (end.kind) {
    case 'busy':
      return again(`${end.afterMs}ms`)
    case 'notDone':
      throw failure(end.code, end.reason, false)
    case 'unknown':
      throw new UnknownOutcomeError(end.reason)
    case 'aborted':
      throw new UnknownOutcomeError('the call was given up')
  }
}

const failure = (code: string, reason: string, isTerminal: boolean): Error =>
  isTerminal ? new TerminalError(code, reason) : Object.assign(new Error(reason), { code })
