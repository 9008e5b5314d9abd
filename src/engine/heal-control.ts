// Healing in people's hands: what is stuck, what would be done about it, and the switches.
import { HomeostatError } from '../base/errors.ts'
import { nameOf } from '../decision/begin-run.ts'
import type { Found } from '../decision/command.ts'
import type { Decision } from '../decision/decision.ts'
import { previewHeal, type HealPreview } from '../decision/preview.ts'
import type { Resource } from '../decision/state.ts'
import { notLoaded } from '../lifecycle/not-loaded.ts'
import type { Plans } from '../lifecycle/plan.ts'
import type { Beside } from '../store/store.ts'
import type { Door } from './door.ts'
import type { Breaker, HealingMode, HealingPolicy, Score } from './healing-policy.ts'
import { existingNamed, read } from './read.ts'
import { findStuck, judge, type Stuck, type StuckContext, type StuckPlace, type StuckQuery } from './stuck.ts'

export interface HealControlContext extends StuckContext {
  readonly plans: Plans
  readonly door: Door
  readonly policy: HealingPolicy
  /** Asks for a pass now; does nothing in a process without a worker. */
  readonly wake: () => void
}

export interface PreviewRow extends HealPreview {
  readonly mode: HealingMode
  /** Why it is not healed by itself; null: it is. */
  readonly held: string | null
}

/** What healing would do to this one, and waits with for a person. */
export interface Proposal extends Stuck {
  readonly row: PreviewRow
}

export interface ProposalQuery {
  readonly limit: number
  readonly tenant?: string | undefined
  readonly type?: string | undefined
  readonly status?: string | undefined
}

const stuckPageSize = 500

export class HealControl {
  readonly #context: HealControlContext

  constructor(context: HealControlContext) {
    this.#context = context
  }

  /** What is stuck now, of all or of one tenant, owners before owned. */
  async stuck(limit = 1_000, tenant?: string): Promise<readonly Stuck[]> {
    return (await this.stuckPage({ limit, tenant })).stuck
  }

  /** The same page by page; `next` is null when there is no more. */
  async stuckPage(query: StuckQuery): Promise<{ readonly stuck: readonly Stuck[]; readonly next: StuckPlace | null }> {
    return findStuck(this.#context, query)
  }

  /** Of each, why it is not healed by itself; null: it is. */
  async heldOf(stuck: readonly Stuck[]): Promise<readonly (string | null)[]> {
    const { policy } = this.#context
    if (stuck.length > 0) await policy.load()
    return stuck.map(({ resource, found }) => policy.held(resource, found))
  }

  /** What would be healed and how, in words; nothing is done. */
  async preview(limit = 200, tenant?: string): Promise<readonly PreviewRow[]> {
    return (await this.previewPage({ limit, tenant })).rows
  }

  /** The same page by page, as `stuckPage`. */
  async previewPage(
    query: StuckQuery,
  ): Promise<{ readonly rows: readonly PreviewRow[]; readonly next: StuckPlace | null }> {
    const { stuck, next } = await this.stuckPage(query)
    await this.#context.policy.load()
    const rows: PreviewRow[] = []
    for (const one of stuck) rows.push(await this.#preview(one))
    return { rows, next }
  }

  /** What waits for approval, owners before owned; `hasMore`: beyond the limit there are others. */
  async proposals({ limit, tenant, type, status }: ProposalQuery): Promise<{
    readonly proposals: readonly Proposal[]
    readonly hasMore: boolean
  }> {
    const { policy } = this.#context
    await policy.load()
    const isWanted = ({ resource }: Stuck) =>
      policy.modeOf(resource) === 'approve' &&
      (type === undefined || resource.type === type) &&
      (status === undefined || resource.status === status)
    const proposals: Proposal[] = []
    for (let from: StuckPlace | undefined; ;) {
      const { stuck, next } = await this.stuckPage({ limit: stuckPageSize, tenant, from })
      for (const one of stuck.filter(isWanted)) {
        const row = await this.#preview(one)
        if (!row.acts) continue
        if (proposals.length === limit) return { proposals, hasMore: true }
        proposals.push({ ...one, row })
      }
      if (next === null) return { proposals, hasMore: false }
      from = next
    }
  }

  /** The same of one resource; null: it is not stuck. */
  async previewOf(resource: Resource): Promise<PreviewRow | null> {
    const { found } = await judge(this.#context, resource)
    if (found === null) return null
    await this.#context.policy.load()
    return this.#preview({ resource, found })
  }

  async #preview({ resource, found }: Stuck): Promise<PreviewRow> {
    const { plans, policy } = this.#context
    const preview = await read(this.#context, (situation) => previewHeal(plans, situation, resource, found))
    return { ...preview, mode: policy.modeOf(resource), held: policy.held(resource, found) }
  }

  /** A pass now, whatever the rhythm. */
  run(): void {
    this.#context.wake()
  }

  /** A person heals this one now: mode, budget, rate and breaker do not hold it. */
  async approve(type: string, id: string, by: string): Promise<Decision> {
    const resource = await existingNamed(this.#context.store, type, id)
    const { no, revision } = resource
    const found = await this.foundFor(resource)
    const decision = await this.#context.door.ask({ kind: 'heal', no, found, revision, owner: 0, by, override: true })
    if (decision.accepted) await this.countApproved([{ resource, found }])
    return decision
  }

  /** What a person had healed, as it stood before, is on the scoreboard with the rest. It is done: a count that is lost harms nobody. */
  async countApproved(healed: readonly Stuck[]): Promise<void> {
    await this.#context.policy.healedByPerson(healed).catch(() => {})
  }

  /** In which way a person heals it: also what is late by less than healing waits for, or waits for a worker. Throws `not_stuck`. */
  async foundFor(resource: Resource): Promise<Found> {
    const judged = await judge({ ...this.#context, overdueSlackMs: 0 }, resource)
    if (judged.found !== null) return judged.found
    const name = nameOf(resource)
    switch (judged.because) {
      case 'settled':
      case 'held':
      case 'damaged':
        // The decision says by what it is held, in which status it rests, or what is damaged.
        return 'unowned'
      case 'waiting':
        return 'ownerLost'
      case 'parked': {
        const { reason } = resource.run!.parked!
        throw new HomeostatError('not_stuck', `${name} is parked: ${reason} Retry, skip or cancel its run.`)
      }
      case 'inTime':
        throw new HomeostatError('not_stuck', `${name} is not stuck: its run is under way.`)
      case 'unknownHere':
        throw new HomeostatError(
          'not_stuck',
          `${name} stands where the declarations loaded here know no way: it is healed where they do.`,
        )
    }
  }

  async modes(): Promise<Readonly<Record<string, HealingMode>>> {
    await this.#context.policy.load()
    return this.#context.policy.modes
  }

  /** What is beside it is written in the same commit. */
  async setMode(type: string, status: string, mode: HealingMode, beside?: Beside): Promise<void> {
    const plan = this.#context.plans.get(type)
    if (plan === undefined) throw new HomeostatError('type_unknown', notLoaded(this.#context.plans, type))
    if (!plan.heal.has(status)) {
      const known = [...plan.heal.keys()].join(', ')
      throw new HomeostatError('status_unknown', `${type} has no healing rule for '${status}'. It has ${known}.`)
    }
    await this.#context.policy.setMode(type, status, mode, beside)
    this.#context.wake()
  }

  async breakers(): Promise<Readonly<Record<string, Breaker>>> {
    await this.#context.policy.load()
    return this.#context.policy.breakers
  }

  /** Somebody has looked: healing of the type goes on. */
  async closeBreaker(type: string, beside?: Beside): Promise<void> {
    await this.#context.policy.setBreaker(type, null, beside)
    this.#context.wake()
  }

  async openBreaker(type: string, reason: string, beside?: Beside): Promise<void> {
    await this.#context.policy.setBreaker(type, { openedAt: this.#context.clock.now(), reason }, beside)
  }

  scoreboard(): Promise<readonly Score[]> {
    return this.#context.policy.scoreboard()
  }
}
