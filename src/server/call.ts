// One request on its way through: who asks for what, and the way to change something on his behalf. A change, its entry in the audit
// and the record of its idempotency key are one commit.
import { context, isSpanContextValid, trace } from '@opentelemetry/api'
import { canonical, type Json } from '../base/json.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Command } from '../decision/command.ts'
import { runId, type Resource } from '../decision/state.ts'
import { liveRunView, type RunView } from '../engine/run-view.ts'
import { traceOf } from '../engine/step-span.ts'
import { z } from 'zod'
import type { Answer, Body, Parameters, Query } from '../protocol/route.ts'
import type { RouteName, Routes } from '../protocol/routes.ts'
import type { auditEntry } from '../protocol/shapes.ts'
import type { Beside, RecordChange } from '../store/store.ts'
import { notLoaded } from '../lifecycle/not-loaded.ts'
import { sees, sha256, type Principal } from './principal.ts'
import type { Services } from './services.ts'
import type { WireResource, WireRun } from './wire.ts'

export interface Asked {
  readonly id: string
  readonly address: string
  readonly header: (name: string) => string | undefined
  readonly signal: AbortSignal
}

/** An answer that is more than its JSON. */
export class Reply {
  readonly status: number | null
  readonly headers: Readonly<Record<string, string | string[]>>
  /** Text as it is; anything else as JSON; undefined: none. */
  readonly body: unknown

  constructor(
    body: unknown,
    given: { readonly status?: number; readonly headers?: Record<string, string | string[]> } = {},
  ) {
    this.body = body
    this.status = given.status ?? null
    this.headers = given.headers ?? {}
  }
}

/** An answer that goes on: the handler has the connection from here on. */
export class Stream {
  readonly begin: (response: import('node:http').ServerResponse) => void

  constructor(begin: Stream['begin']) {
    this.begin = begin
  }
}

export type Handler<Name extends RouteName> = (
  call: Call<Name>,
) => Promise<Answer<Routes[Name]> | Reply | Stream> | Answer<Routes[Name]> | Reply | Stream

export type Handlers<Names extends RouteName = RouteName> = { readonly [Name in Names]: Handler<Name> }

export type AuditEntry = Omit<z.infer<typeof auditEntry>, 'n' | 'hash' | 'at'> & { readonly at: number }

export interface Noted {
  readonly target: string
  readonly reason?: string | undefined
  readonly detail?: Json
}

export class Call<Name extends RouteName = RouteName> {
  readonly name: Name
  readonly parameters: Parameters<Routes[Name]>
  readonly query: Query<Routes[Name]>
  readonly body: Body<Routes[Name]>
  readonly principal: Principal
  readonly asked: Asked
  readonly services: Services
  /** The client's idempotency key, made his own; null: he gave none. */
  readonly key: string | null
  #replayed: Json = null
  /** Null: nothing was sent in yet. */
  #isFoundByKey: boolean | null = null

  constructor(parts: {
    readonly name: Name
    readonly parameters: Parameters<Routes[Name]>
    readonly query: Query<Routes[Name]>
    readonly body: Body<Routes[Name]>
    readonly principal: Principal
    readonly asked: Asked
    readonly services: Services
    readonly key: string | null
  }) {
    this.name = parts.name
    this.parameters = parts.parameters
    this.query = parts.query
    this.body = parts.body
    this.principal = parts.principal
    this.asked = parts.asked
    this.services = parts.services
    const { key, principal } = parts
    this.key = key === null ? null : sha256(JSON.stringify([principal.name, principal.tenant, key]))
  }

  /** Of what is asked for: the same key with another one is a mistake. */
  get #hash(): string {
    return sha256(canonical([this.name, this.parameters, this.query, this.body ?? null]))
  }

  /** What the answer to the same request was made from, when it was asked before. */
  get replayed(): Json {
    return this.#replayed
  }

  /** It was done before, with the same key: nothing more is done. */
  get isReplay(): boolean {
    return this.#replayed !== null || this.#isFoundByKey === true
  }

  async findReplay(): Promise<void> {
    if (this.key === null) return
    const found = await this.services.objects.get('once', this.key)
    if (found === null) return
    if (found.value.hash !== this.#hash)
      throw new HomeostatError('key_reused', 'The idempotency key was used for another request. Use a new key.')
    this.#replayed = found.value.ref
  }

  /** A resource that the principal may see; of another tenant is as if it were not there. */
  async resource(type: string, id: string): Promise<Resource> {
    this.plan(type)
    const found = await this.services.engine.get(type, id)
    if (found !== null && sees(this.principal, found.tenant)) return found
    throw new HomeostatError('resource_not_found', `There is no ${type} ${id}.`)
  }

  plan(type: string) {
    const { plans } = this.services.engine
    const plan = plans.get(type)
    if (plan !== undefined) return plan
    throw new HomeostatError('type_unknown', notLoaded(plans, type))
  }

  /** A run of a resource that the principal may see, with the resource. */
  async runOf(id: string): Promise<{ readonly resource: Resource; readonly begun: number }> {
    const view = await this.services.engine.run(id)
    const resource = await this.services.engine.getByNo(view.no)
    if (resource !== null && sees(this.principal, resource.tenant)) return { resource, begun: view.begun }
    throw new HomeostatError('run_not_found', `There is no run ${id}.`)
  }

  /** The revision that If-Match names; undefined: none. */
  get ifRevision(): number | undefined {
    const given = this.asked.header('if-match')?.trim()
    if (given === undefined || given === '*') return undefined
    // Proxies that compress make an etag weak; a revision is exact all the same.
    const found = /^(?:W\/)?"([^"]*)"$/.exec(given)
    if (found === null)
      throw new HomeostatError(
        'request_invalid',
        `If-Match takes one etag as it was told, with its quotation marks ("r5"), or *: '${given.slice(0, 50)}' is none.`,
      )
    // An etag that we never gave is of no revision.
    return /^r\d{1,15}$/.test(found[1]!) ? Number(found[1]!.slice(1)) : -1
  }

  /** The trace that what is asked for belongs to: the span of this request where somebody records it, else the one the client sent. */
  get trace(): string | undefined {
    const own = trace.getSpanContext(context.active())
    if (own !== undefined && isSpanContextValid(own))
      return `00-${own.traceId}-${own.spanId}-${own.traceFlags.toString(16).padStart(2, '0')}`
    return traceOf(this.asked.header('traceparent')) ?? undefined
  }

  /** What is written with a change: the entry of the audit and, where there is a key, how to answer again. */
  beside(noted: Noted, ref: Json, outcome: AuditEntry['outcome'] = 'done'): Beside {
    return { records: this.#once(ref), journal: [this.auditEntry(outcome, noted)] }
  }

  #once(ref: Json): RecordChange[] {
    if (this.key === null) return []
    const at = this.services.clock.now()
    return [this.services.objects.change('once', this.key, 0, { hash: this.#hash, at, ref })]
  }

  auditEntry(outcome: AuditEntry['outcome'], { target, reason = '', detail = null }: Noted): Json {
    const { name: principal, tenant } = this.principal
    const at = this.services.clock.now()
    const entry: AuditEntry = {
      at,
      principal,
      address: this.asked.address,
      tenant,
      action: this.name,
      target,
      outcome,
      reason,
      detail,
    }
    return entry as Json
  }

  /**
   * Sends a command in. Those that carry a key of their own are found again by the engine; all others by a record that is written
   * with them. A rejection is thrown.
   */
  async submit(
    command: Command,
    noted: Omit<Noted, 'target'> & { readonly target?: string },
    more?: (resource: Resource) => readonly RecordChange[],
  ): Promise<{ readonly resource: Resource; readonly begun: number }> {
    const again = await this.#answerAgain()
    if (again !== null) return again
    // The key of a step to be completed says which step, not which request.
    const hasOwnKey = command.kind !== 'completeStep' && 'key' in command && command.key !== undefined
    let isFound = false
    const decision = await this.services.engine.submit(command, ({ resource, begun, changes }) => {
      // The same request again, by its key: it changes nothing, and is in the audit already.
      isFound = hasOwnKey && changes.key === null
      if (isFound) return {}
      const target = noted.target ?? `${resource.type}/${resource.id}`
      const journal = [this.auditEntry('done', { ...noted, target })]
      const own = hasOwnKey ? [] : this.#once({ no: resource.no, begun })
      return { records: [...own, ...(more?.(resource) ?? [])], journal }
    })
    if (decision.accepted) {
      // An import sends in many.
      this.#isFoundByKey = isFound && this.#isFoundByKey !== false
      return { resource: decision.resource, begun: decision.begun }
    }
    const { code, message, details } = decision.rejection
    if (code === 'record_conflict' && this.key !== null) {
      // The same request was under way at the same time.
      await this.findReplay()
      const first = await this.#answerAgain()
      if (first !== null) return first
    }
    throw new HomeostatError(code, message, { details })
  }

  async #answerAgain(): Promise<{ readonly resource: Resource; readonly begun: number } | null> {
    if (this.#replayed === null) return null
    const { no, begun } = this.#replayed as { readonly no: number; readonly begun: number }
    const resource = await this.services.engine.getByNo(no)
    if (resource === null) throw new HomeostatError('resource_not_found', 'The resource of this request is gone.')
    return { resource, begun }
  }

  /** Writes the server's own objects, with the audit. Asked again with the same key, it has been done. */
  async write(
    records: readonly RecordChange[],
    noted: Noted,
    ref: Json = {},
    outcome: AuditEntry['outcome'] = 'done',
  ): Promise<void> {
    if (this.#replayed !== null) return
    const made = this.beside(noted, ref, outcome)
    await this.services.objects.write([...records, ...(made.records ?? [])], made.journal)
  }

  /** The answer to an accepted change. */
  async accepted(done: {
    readonly resource: Resource
    readonly begun: number
  }): Promise<{ readonly resource: WireResource; readonly run: WireRun | null }> {
    const { wire } = this.services
    const { resource: changed, begun } = done
    const resource = await wire.resource(this.principal, changed)
    if (begun === 0) return { resource, run: null }
    wire.learn(changed)
    const view = changed.run?.begun === begun ? liveRunView(changed) : await this.#endedView(changed.no, begun)
    return { resource, run: view === null ? null : ((await wire.runs(this.principal, [view]))[0] ?? null) }
  }
  /** It ended in the same commit, or it waits its turn: then there is none yet. */
  #endedView(no: number, begun: number): Promise<RunView | null> {
    return this.services.engine.run(runId({ no, begun })).catch((error: unknown) => {
      if (error instanceof HomeostatError && error.code === 'run_not_found') return null
      throw error
    })
  }
}
