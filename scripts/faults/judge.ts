// The verdict: what was promised against what is there. By the declarations and the evidence alone; nothing of the engine is asked.
import { rootOf } from 'homeostat/worlds'
import type { Resource } from '../../src/decision/state.ts'
import { edgesOf } from '../../src/lifecycle/lifecycle-graph.ts'
import type { AnyLifecycle } from '../../src/lifecycle/lifecycle.ts'
import { RuleJudge } from '../../src/testing/rule-judge.ts'
import type { Cold, Commit, Evidence, Row, Told } from './evidence.ts'

export interface Verdict {
  /** Acknowledged, and not in the store as it was acknowledged. */
  readonly lost: readonly string[]
  /** One request as two runs, one run accepted or landed twice, two things where one was asked for. */
  readonly doubled: readonly string[]
  /** Along no declared edge, or from where it did not stand. */
  readonly illegal: readonly string[]
  /** By an owner whose time was over, in the store or in the outside world. */
  readonly zombieWrites: readonly string[]
  /** Still on the way after the bound. */
  readonly stuck: readonly string[]
  /** A declared rule that did not hold after some commit. */
  readonly rules: readonly string[]
  /** What exists outside and is in no record, or the other way round. */
  readonly strays: readonly string[]
}

export const isClean = (verdict: Verdict): boolean => Object.values(verdict).every((faults) => faults.length === 0)

export function judge(evidence: Evidence, lifecycles: readonly AnyLifecycle[]): Verdict {
  const replay = new Replay(lifecycles)
  for (const commit of evidence.commits) replay.take(commit)
  const accepted = acceptedTimes(evidence.commits)
  const { lost, doubled } = judgeAcknowledged(evidence, accepted)
  if (replay.lastNumber !== evidence.numbered)
    replay.illegal.push(`${evidence.numbered} events were numbered, ${replay.lastNumber} are there`)
  for (const row of evidence.rows) {
    const status = replay.states.get(row.no)?.status
    if (status !== row.status)
      replay.illegal.push(`${nameOf(row)} is ${row.status}, but its events end in ${status ?? 'nothing'}`)
  }
  return {
    lost,
    doubled: [...doubled, ...twoThings(evidence)],
    illegal: replay.illegal,
    zombieWrites: [...replay.zombies, ...evidence.breaches.map(({ said }) => said), ...zombieEffects(evidence)],
    stuck: evidence.rows
      .filter(isOnTheWay)
      .map(
        (row) =>
          `${nameOf(row)} is ${row.status}, owner ${row.owner}, due ${row.due === null ? 'never' : new Date(row.due).toISOString()} ${row.run ?? ''}`,
      ),
    rules: replay.rules,
    strays: strays(evidence),
  }
}

const nameOf = ({ type, id }: Pick<Row, 'type' | 'id'>): string => `${type} ${id}`

/** Whoever waits for a person waits by declaration. */
export const isOnTheWay = ({ owner, kind, isParked }: Row): boolean =>
  (owner !== null || kind === 'transitional') && !isParked

function acceptedTimes(commits: readonly Commit[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const { events } of commits)
    for (const { kind, no, begun } of events)
      if (kind === 'accepted') times.set(`${no}-${begun}`, (times.get(`${no}-${begun}`) ?? 0) + 1)
  return times
}

function judgeAcknowledged(
  { acknowledged, keys }: Evidence,
  accepted: ReadonlyMap<string, number>,
): { lost: string[]; doubled: string[] } {
  const lost: string[] = []
  const doubled: string[] = []
  const answers = new Map<string, string>()
  for (const { key, type, resource, operation, no, begun } of acknowledged) {
    const run = `${no}-${begun}`
    const what = `${operation} of ${type} ${resource} (${key})`
    const before = answers.get(key)
    if (before !== undefined && before !== run) doubled.push(`${what} was acknowledged as ${before} and as ${run}`)
    answers.set(key, run)
    const found = keys.get(key)
    if (found === undefined) lost.push(`${what} was acknowledged and is not there`)
    else if (`${found.no}-${found.begun}` !== run)
      doubled.push(`${what} was acknowledged as ${run} and is there as ${found.no}-${found.begun}`)
    // Epoch 0 names no run: what was asked for was so already.
    if (begun > 0 && !accepted.has(run))
      lost.push(`${what} was acknowledged, but no event says that run ${run} was accepted`)
  }
  for (const [run, times] of accepted) if (times > 1) doubled.push(`run ${run} was accepted ${times} times`)
  return { lost, doubled }
}

/** In the outside world: an owner acts after a later one has acted on the same resource. */
function zombieEffects({ effects }: Evidence): string[] {
  const highest = new Map<string, number>()
  const found: string[] = []
  for (const { resource, epoch, verb } of effects) {
    const seen = highest.get(resource) ?? 0
    if (epoch < seen) found.push(`${verb} for ${resource} was done at epoch ${epoch}, after epoch ${seen}`)
    else highest.set(resource, epoch)
  }
  return found
}

const there = 1
const orphaned = 3

/** What a settled resource has, it has once. */
function twoThings({ rows, truth }: Evidence): string[] {
  const byOwner = new Map<string, number>()
  for (const { name, kind } of truth) {
    if (rootOf(name) !== name) continue
    const owner = `${name.split('/').slice(0, 2).join('/')} ${kind}`
    byOwner.set(owner, (byOwner.get(owner) ?? 0) + 1)
  }
  return rows.flatMap((row) => {
    if (isOnTheWay(row) || row.hasOrphans) return []
    return row.ledger
      .filter(
        ({ name }) => (byOwner.get(`${row.type}/${row.id} ${name.split('/').at(-2)}`) ?? 0) > ledgerCount(row, name),
      )
      .map(({ name }) => `${nameOf(row)} has more than its record says: ${name}`)
  })
}

const ledgerCount = ({ ledger }: Row, name: string): number =>
  ledger.filter((entry) => entry.name.split('/').at(-2) === name.split('/').at(-2)).length

/** Hypervisors belong to the nodes for ever, without a record. */
const unrecorded = new Set(['hypervisor'])

/** Also one that is being swept: whose sweeper was killed is swept by another. */
export const isUnswept = ({ ledger }: Row): boolean => ledger.some(({ state }) => state >= orphaned)

function strays({ rows, truth }: Evidence): string[] {
  const known = new Set(rows.flatMap(({ ledger }) => ledger.map(({ name }) => name)))
  // Of some things only the parts exist.
  const real = new Set(truth.map(({ name }) => rootOf(name)))
  const nobodys = truth
    .filter(({ name, kind }) => !unrecorded.has(kind) && !known.has(rootOf(name)))
    .map(({ name }) => `${name} is in no record`)
  const missing = rows.flatMap((row) =>
    row.ledger
      .filter(({ name, state }) => state === there && state < orphaned && !real.has(name))
      .map(({ name }) => `${nameOf(row)} (${row.status}) has ${name} on record, which is not there`),
  )
  const unswept = rows
    .filter(isUnswept)
    .map((row) => `${nameOf(row)} (${row.status}) has orphans that nobody sweeps: ${JSON.stringify(row.ledger)}`)
  return [...nobodys, ...missing, ...unswept]
}

/** Told only by the owner of a run. */
const ofOwner = new Set(['stepDone', 'stepAgain', 'attemptFailed', 'outcomeUnknown', 'probed', 'undone', 'undoFailed'])
/** What a person may do from anywhere. */
const byHand = new Set(['statusSet', 'imported'])

/** Lives the feed again, commit by commit. */
export class Replay {
  readonly states = new Map<number, Resource>()
  readonly illegal: string[] = []
  readonly zombies: string[] = []
  readonly rules: string[] = []
  lastNumber = 0
  readonly #rules: RuleJudge
  readonly #edges: ReadonlySet<string>
  readonly #epochs = new Map<number, number>()
  readonly #writers = new Map<string, string>()
  readonly #children = new Map<number, Set<number>>()
  readonly #linkedBy = new Map<number, Set<number>>()
  readonly #broken = new Set<number>()

  constructor(lifecycles: readonly AnyLifecycle[]) {
    this.#rules = new RuleJudge(lifecycles)
    this.#edges = new Set(
      lifecycles.flatMap((one) => edgesOf(one, lifecycles)).map(({ type, from, to }) => `${type}\n${from}\n${to}`),
    )
  }

  take({ events, cold }: Commit): void {
    const touched = new Set<number>()
    for (const one of cold) {
      this.#learn(one)
      touched.add(one.no)
    }
    for (const event of events) {
      this.#judgeEvent(event)
      touched.add(event.no)
    }
    this.#judgeRules(touched)
  }

  #learn({ no, type, id, parent, links, properties, isTerminal }: Cold): void {
    const before = this.states.get(no)
    for (const target of Object.values(before?.links ?? {})) this.#linkedBy.get(target)?.delete(no)
    if (before?.parent != null) this.#children.get(before.parent)?.delete(no)
    // No rule looks at what is over.
    if (!isTerminal) {
      for (const target of Object.values(links)) setOf(this.#linkedBy, target).add(no)
      if (parent !== null) setOf(this.#children, parent).add(no)
    }
    const status = before?.status ?? ''
    this.states.set(no, { no, type, id, parent, links, properties, status } as unknown as Resource)
  }

  #judgeEvent(event: Told): void {
    const { n, no, kind, from, to, epoch, by } = event
    if (n !== this.lastNumber + 1) this.illegal.push(`event ${n} comes after ${this.lastNumber}`)
    this.lastNumber = n
    const state = this.states.get(no)
    if (state === undefined) return void this.illegal.push(`event ${n} is of resource ${no}, which was never written`)
    const name = nameOf(state)
    if (from !== state.status)
      this.illegal.push(`event ${n}: ${name} is told to leave ${from}, but it was ${state.status}`)
    // A follower that was moved apart comes back to its leader from anywhere.
    const isPaired = state.links['pair'] !== undefined
    if (from !== to && !byHand.has(kind) && !isPaired && !this.#edges.has(`${state.type}\n${from}\n${to}`))
      this.illegal.push(`event ${n}: ${name} went from '${from}' to '${to}' (${kind}), which nothing declares`)
    this.states.set(no, { ...state, status: to })
    const last = this.#epochs.get(no) ?? 0
    if (epoch < last) this.zombies.push(`event ${n}: ${name} has ${kind} at epoch ${epoch} after epoch ${last}`)
    this.#epochs.set(no, Math.max(epoch, last))
    if (ofOwner.has(kind) && by.startsWith('worker ')) this.#judgeWriter(event, name)
  }

  /** At each epoch one incarnation writes. */
  #judgeWriter({ n, no, kind, epoch, by }: Told, name: string): void {
    const place = `${no} ${epoch}`
    const known = this.#writers.get(place) ?? by
    if (known !== by)
      this.zombies.push(`event ${n}: ${name} has ${kind} by ${by} at epoch ${epoch}, which is ${known}'s`)
    this.#writers.set(place, known)
  }

  #judgeRules(touched: ReadonlySet<number>): void {
    if (!this.#rules.hasRules) return
    const concerned = new Set<number>()
    for (const no of touched) {
      const state = this.states.get(no)
      if (state === undefined) continue
      for (const one of [no, ...this.#around(state)]) concerned.add(one)
    }
    for (const no of concerned) {
      const state = this.states.get(no)
      if (state === undefined) continue
      const breach = this.#rules.breachOf(this.#neighbourhood(state), state)
      if (breach === null) this.#broken.delete(no)
      else if (!this.#broken.has(no)) {
        this.#broken.add(no)
        this.rules.push(`after event ${this.lastNumber}: ${breach}`)
      }
    }
  }

  /** Whose rules may look at it: what it is in, what is in it, what it is linked with. */
  #around({ no, parent, links }: Resource): number[] {
    const found = [...(this.#children.get(no) ?? []), ...(this.#linkedBy.get(no) ?? []), ...Object.values(links)]
    for (let up = parent; up !== null; up = this.states.get(up)?.parent ?? null) found.push(up)
    if (parent !== null) found.push(...(this.#children.get(parent) ?? []))
    return found
  }

  /** Everything that its own rules can look at. */
  #neighbourhood(of: Resource): ReadonlyMap<number, Resource> {
    const found = new Map<number, Resource>()
    const add = (no: number) => {
      const state = this.states.get(no)
      if (state !== undefined) found.set(no, state)
    }
    for (const no of [of.no, ...this.#around(of)]) add(no)
    const below = [...(this.#children.get(of.no) ?? [])]
    for (let no = below.pop(); no !== undefined; no = below.pop()) {
      add(no)
      below.push(...(this.#children.get(no) ?? []))
    }
    return found
  }
}

function setOf(table: Map<number, Set<number>>, key: number): Set<number> {
  const found = table.get(key)
  if (found !== undefined) return found
  const fresh = new Set<number>()
  table.set(key, fresh)
  return fresh
}
