// Works off bulk operations: one operation over a frozen list of resources, at a rate. The list and what became of each target are
// records; a target's request and its record are one commit, so that a process may die at any moment and another goes on, and no
// target is asked twice. One process at a time works off a bulk operation, by a lease, so that its rate is the rate of all together.
import type { Clock, Millis } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { secretText } from '../base/random.ts'
import type { Json } from '../base/json.ts'
import { runId, type Resource } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import { Rhythm } from '../engine/rhythm.ts'
import type { AuditEntry } from './call.ts'
import { isConflict, padded, type BulkItemRecord, type BulkRecord, type Found, type Objects } from './objects.ts'
import { sha256 } from './principal.ts'

export interface BulkRunnerOptions {
  readonly engine: Engine
  readonly objects: Objects
  readonly clock: Clock
  readonly log: Log
}

/** Other processes' bulk operations are looked for this often. */
const lookMs = 5_000
const atOnce = 50
/** Items looked at in one pass: most of them may have been asked by another process before. */
const pageSize = 500
/** Others leave a bulk operation alone for so long after its runner was last heard of. */
const leaseMs = 10_000

/** How long a list of targets may be without its bulk operation: it is being written. Then whoever wrote it is gone. */
const unfinishedMs = 600_000
const forgetEveryMs = 3_600_000

/** The newest is listed first. */
export const bulkId = (at: Millis, request: string): string =>
  `${String(Number.MAX_SAFE_INTEGER - at).padStart(16, '0')}-${sha256(request).slice(0, 8)}`
const madeAt = (bulk: string): Millis => Number.MAX_SAFE_INTEGER - Number(bulk.split('-')[0])

/** Above that of every item. */
const lastIndex = 999_999_999_999_999
export const itemKey = (bulk: string, index: number): string => `${bulk}/${padded(index)}`

export class BulkRunner {
  readonly #options: BulkRunnerOptions
  readonly #rhythm: Rhythm
  /** Not the engine's incarnation: two servers may share an engine. */
  readonly #me = secretText().slice(0, 16)
  /** Where each one is, as far as this process knows: targets before it have been asked. */
  readonly #cursors = new Map<string, string>()
  /** Requests that may still be made at once, by bulk operation. */
  readonly #allowance = new Map<string, { tokens: number; at: number }>()
  /** When lists that nobody began are looked for again. */
  #forgetAt = 0

  constructor(options: BulkRunnerOptions) {
    this.#options = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({ clock, log, name: 'bulk', pass: () => this.#pass(), gapMs: 20, afterFailureMs: 1_000 })
  }

  start(): void {
    this.#rhythm.start()
  }

  /** What it works off is given back: others need not wait for the lease to end. */
  async stop(): Promise<void> {
    await this.#rhythm.stop()
    const { objects } = this.#options
    const own = (await objects.all('bulk runner').catch(() => [])).filter(({ value }) => value.runner === this.#me)
    for (const { key, version } of own)
      await objects.write([objects.change('bulk runner', key, version, null)]).catch(() => {})
  }

  wake(): void {
    this.#rhythm.wake()
  }

  /** The list of targets of a bulk operation that never began. */
  async forget(id: string): Promise<void> {
    const { objects } = this.#options
    for (let items; (items = await objects.under('bulk item', `${id}/`)).length > 0;)
      await objects.write(items.map(({ key, version }) => objects.change('bulk item', key, version, null)))
  }

  /** Whoever froze a list may have died before the bulk operation began: nobody would ever look at it again. */
  async #forgetUnfinished(): Promise<void> {
    const { objects, clock } = this.#options
    const now = clock.monotonic()
    if (now < this.#forgetAt) return
    this.#forgetAt = now + forgetEveryMs
    for (let after = ''; ;) {
      const [item] = await objects.list('bulk item', { after, limit: 1 })
      if (item === undefined) return
      const id = item.key.slice(0, item.key.lastIndexOf('/'))
      const isOld = madeAt(id) < clock.now() - unfinishedMs
      if (isOld && (await objects.get('bulk', id)) === null) await this.forget(id).catch(notMine)
      after = itemKey(id, lastIndex)
    }
  }

  async #pass(): Promise<number> {
    const { objects } = this.#options
    await this.#forgetUnfinished()
    let next = lookMs
    for (const bulk of await objects.all('bulk')) {
      if (bulk.value.state === 'running') next = Math.min(next, await this.#workOff(bulk))
      else this.#cursors.delete(bulk.value.id)
    }
    return next
  }

  /** Answers when to come back. */
  async #workOff({ value: bulk, version }: Found<'bulk'>): Promise<number> {
    const { objects } = this.#options
    const elsewhereMs = await this.#take(bulk.id)
    if (elsewhereMs > 0) return Math.min(lookMs, elsewhereMs)
    const allowed = this.#allowedNow(bulk)
    if (allowed < 1) return Math.ceil(1_000 / bulk.perSecond)
    const after = this.#cursors.get(bulk.id) ?? ''
    const items = await objects.under('bulk item', `${bulk.id}/`, { after, limit: pageSize })
    if (items.length === 0) return this.#finish(bulk, version)
    const waiting = items.filter(({ value }) => value.state === 'waiting')
    const asked = waiting.slice(0, Math.min(allowed, atOnce))
    this.#allowance.get(bulk.id)!.tokens -= asked.length
    await Promise.all(asked.map((item) => this.#ask(bulk, item)))
    const isThrough = asked.length === waiting.length
    this.#cursors.set(bulk.id, (isThrough ? items : asked).at(-1)!.key)
    return 0
  }

  async #finish(bulk: BulkRecord, version: number): Promise<number> {
    const { objects, clock } = this.#options
    const ended = { ...bulk, state: 'done' as const, endedAt: clock.now() }
    const runner = await objects.get('bulk runner', bulk.id)
    const released = runner === null ? [] : [objects.change('bulk runner', bulk.id, runner.version, null)]
    await objects.write([objects.change('bulk', bulk.id, version, ended), ...released]).catch(notMine)
    return 0
  }

  /** 0: this process works it off. Else for how long another has the lease, at most. */
  async #take(id: string): Promise<number> {
    const { objects, clock } = this.#options
    const found = await objects.get('bulk runner', id)
    const now = clock.now()
    const left = (found?.value.until ?? 0) - now
    const isMine = found?.value.runner === this.#me
    if (isMine && left > leaseMs / 2) return 0
    if (!isMine && left > 0) return left
    const lease = { runner: this.#me, until: now + leaseMs }
    try {
      await objects.write([objects.change('bulk runner', id, found?.version ?? 0, lease)])
    } catch (error) {
      notMine(error)
      return leaseMs
    }
    // What another has asked meanwhile is not saved up for.
    if (!isMine) {
      this.#allowance.delete(id)
      this.#cursors.delete(id)
    }
    return 0
  }

  #allowedNow({ id, perSecond }: BulkRecord): number {
    const now = this.#options.clock.monotonic()
    const allowance = this.#allowance.get(id) ?? { tokens: Math.max(1, perSecond / 10), at: now }
    allowance.tokens = Math.min(Math.max(1, perSecond), allowance.tokens + ((now - allowance.at) / 1_000) * perSecond)
    allowance.at = now
    this.#allowance.set(id, allowance)
    return Math.floor(allowance.tokens)
  }

  /** Each target is in the audit as if it had been asked for alone. */
  #entryOf({ id, by, tenant, operation, reason }: BulkRecord, resource: Resource): Json {
    const entry: AuditEntry = {
      at: this.#options.clock.now(),
      principal: by,
      address: '',
      tenant,
      action: 'operate',
      target: `${resource.type}/${resource.id}`,
      outcome: 'done',
      reason,
      detail: { operation, bulk: id },
    }
    return entry as Json
  }

  async #ask(bulk: BulkRecord, item: Found<'bulk item'>): Promise<void> {
    const { engine, objects } = this.#options
    const resource = await engine.getByNo(item.value.no)
    const change = (to: BulkItemRecord) => objects.change('bulk item', item.key, item.version, to)
    const refuse = async (code: string, message: string) => {
      // Another process may have asked meanwhile; then its word counts.
      await objects.write([change({ ...item.value, state: 'refused', code, message })]).catch(notMine)
    }
    if (resource === null) return refuse('resource_not_found', 'It is gone.')
    const known = engine.plans.get(resource.type)?.operations.get(bulk.operation)
    const decision = await engine.submit(
      {
        kind: 'requestOperation',
        type: resource.type,
        id: resource.id,
        operation: bulk.operation,
        input: bulk.input ?? (known?.input ? {} : undefined),
        by: `${bulk.by}, bulk ${bulk.id}`,
        tenant: bulk.tenant ?? undefined,
        lane: 'background',
      },
      ({ resource: { no }, begun }) => {
        const run = begun === 0 ? null : runId({ no, begun })
        const records = [change({ ...item.value, state: 'accepted', run, code: null, message: '' })]
        return { records, journal: [this.#entryOf(bulk, resource)] }
      },
    )
    if (decision.accepted || decision.rejection.code === 'record_conflict') return
    const { code, message } = decision.rejection
    // The process is on its way out, or its lease is lost: whoever comes next asks.
    if (code === 'engine_stopped' || code === 'lease_lost' || code === 'store_unavailable')
      throw new HomeostatError(code, message)
    await refuse(code, message)
  }
}

function notMine(error: unknown): void {
  if (!isConflict(error)) throw error
}
