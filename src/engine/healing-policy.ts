// What people have set about healing, and what healing has done so far: modes per rule, a breaker and a rate per type, the
// scoreboard. Kept in the store, so that all processes agree: modes and breakers as records, so that whoever sets one can have his
// entry in the journal in the same commit.
//
// A breaker: closed -> open when more than `limit` healings of a type, that no crash explains, happen within the window;
// open -> closed only by a person: a mass event needs a look.
import type { Clock, Millis } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { Found } from '../decision/command.ts'
import type { Resource } from '../decision/state.ts'
import { emptyBatch, type Beside, type Store } from '../store/store.ts'
import { changedMeanwhile } from './rejections.ts'

export type HealingMode = 'auto' | 'approve' | 'off'

export interface Breaker {
  readonly openedAt: Millis
  readonly reason: string
}

export interface Score {
  readonly type: string
  readonly status: string
  readonly found: string
  readonly count: number
  readonly lastAt: Millis
}

export interface HealingLimits {
  /** More healings of a type than this within the window open its breaker. Infinity: no breaker. */
  readonly breakerLimit: number
  readonly breakerWindowMs: number
  /** Most healings of a type in a second. */
  readonly ratePerSecond: number
}

const recordKind = 'healing'
type Switches = 'modes' | 'breakers'
const scoresName = 'healing scoreboard'
/** Other processes change the same record: it is read and changed again so often. */
const triesMax = 20

interface Read {
  readonly value: JsonObject
  readonly version: number
  readonly isDamaged: boolean
}

export class HealingPolicy {
  readonly #store: Store
  readonly #clock: Clock
  readonly #limits: HealingLimits
  #modes: JsonObject = {}
  #breakers: JsonObject = {}
  /** Times of recent healings that count for the breaker, by type; and of the present second, for the rate. */
  readonly #recent = new Map<string, Millis[]>()
  readonly #second = new Map<string, { at: number; count: number }>()
  readonly #scores = new Map<string, { count: number; lastAt: Millis }>()

  constructor(store: Store, clock: Clock, limits: HealingLimits) {
    this.#store = store
    this.#clock = clock
    this.#limits = limits
  }

  /** Reads what people have set; once per pass. */
  async load(): Promise<void> {
    const [modes, breakers] = await Promise.all([this.#read('modes'), this.#read('breakers')])
    // Somebody may have switched healing off there: until they are set anew, nothing is healed.
    if (modes.isDamaged || breakers.isDamaged)
      throw new HomeostatError(
        'store_corrupt',
        `The ${modes.isDamaged ? 'modes' : 'breakers'} of healing are damaged in the store. Set one of them anew, and look at the others.`,
      )
    this.#modes = modes.value
    this.#knowBreakers(breakers.value)
  }

  /** One that was closed elsewhere counts anew. */
  #knowBreakers(breakers: JsonObject): void {
    for (const type in this.#breakers) if (breakers[type] === undefined) this.#recent.delete(type)
    this.#breakers = breakers
  }

  modeOf(resource: Pick<Resource, 'type' | 'status'>): HealingMode {
    const mode = this.#modes[ruleName(resource.type, resource.status)]
    return mode === 'approve' || mode === 'off' ? mode : 'auto'
  }

  breakerOf(type: string): Breaker | null {
    const breaker = this.#breakers[type]
    return breaker === undefined || breaker === null ? null : (breaker as unknown as Breaker)
  }

  get modes(): Readonly<Record<string, HealingMode>> {
    return this.#modes as Record<string, HealingMode>
  }

  get breakers(): Readonly<Record<string, Breaker>> {
    return this.#breakers as unknown as Record<string, Breaker>
  }

  /** Why it is not healed by itself now; null when it may be. Crash recovery is held by its mode alone. */
  held(resource: Resource, found: Found): string | null {
    const mode = this.modeOf(resource)
    if (mode === 'off') return `healing of ${resource.type} in ${resource.status} is switched off`
    if (mode === 'approve') return `healing of ${resource.type} in ${resource.status} waits for approval`
    if (found === 'ownerLost') return null
    const breaker = this.breakerOf(resource.type)
    if (breaker !== null) return `the breaker of ${resource.type} is open: ${breaker.reason}`
    return null
  }

  /** Takes one place of this second's rate; false: later. */
  takeTurn(type: string, found: Found): boolean {
    if (found === 'ownerLost') return true
    const at = Math.floor(this.#clock.monotonic() / 1_000)
    const second = this.#second.get(type)
    if (second === undefined || second.at !== at) this.#second.set(type, { at, count: 1 })
    else if (second.count >= this.#limits.ratePerSecond) return false
    else second.count++
    return true
  }

  /** Something was healed: counted for the scoreboard, and for the breaker when no crash explains it. */
  async healed(resource: Resource, found: Found): Promise<void> {
    const now = this.#clock.now()
    this.#score(resource, found, now)
    if (found === 'ownerLost') return
    const since = now - this.#limits.breakerWindowMs
    const times = (this.#recent.get(resource.type) ?? []).filter((at) => at > since)
    times.push(now)
    this.#recent.set(resource.type, times)
    if (times.length <= this.#limits.breakerLimit || this.breakerOf(resource.type) !== null) return
    const minutes = Math.round(this.#limits.breakerWindowMs / 60_000)
    const reason = `more than ${this.#limits.breakerLimit} were healed within ${minutes} minutes that no crash explains`
    await this.setBreaker(resource.type, { openedAt: now, reason })
  }

  /** A person had them healed: counted for the scoreboard alone. The breaker is for what goes on by itself. */
  async healedByPerson(healed: readonly { readonly resource: Resource; readonly found: Found }[]): Promise<void> {
    for (const { resource, found } of healed) this.#score(resource, found, this.#clock.now())
    await this.writeScores()
  }

  /** By the status that it stood in. */
  #score({ type, status }: Resource, found: Found, now: number): void {
    const name = `${type}/${status}/${found}`
    this.#scores.set(name, { count: (this.#scores.get(name)?.count ?? 0) + 1, lastAt: now })
  }

  /** Adds what this process has counted to the scoreboard. */
  async writeScores(): Promise<void> {
    if (this.#scores.size === 0) return
    const mine = new Map(this.#scores)
    this.#scores.clear()
    const change = (old: JsonObject): JsonObject => {
      const scores: Record<string, Json> = { ...old }
      for (const [name, { count, lastAt }] of mine) {
        const before = asObject(scores[name] ?? null)
        scores[name] = { count: Number(before['count'] ?? 0) + count, lastAt }
      }
      return scores
    }
    try {
      await this.#change(scoresName, change)
    } catch (error) {
      for (const [name, { count, lastAt }] of mine) {
        this.#scores.set(name, { count: (this.#scores.get(name)?.count ?? 0) + count, lastAt })
      }
      throw error
    }
  }

  async scoreboard(): Promise<readonly Score[]> {
    const scores = asObject(await this.#store.setting(scoresName))
    return Object.entries(scores).map(([name, score]) => {
      const [type = '', status = '', found = ''] = name.split('/')
      const { count, lastAt } = asObject(score)
      return { type, status, found, count: Number(count), lastAt: Number(lastAt) }
    })
  }

  /** What is beside it is written in the same commit. */
  async setMode(type: string, status: string, mode: HealingMode, beside: Beside = {}): Promise<void> {
    const change = (old: JsonObject): JsonObject => {
      const { [ruleName(type, status)]: _, ...rest } = old
      return mode === 'auto' ? rest : { ...rest, [ruleName(type, status)]: mode }
    }
    this.#modes = await this.#switch('modes', change, beside)
  }

  /** Null closes it. What is beside it is written in the same commit. */
  async setBreaker(type: string, breaker: Breaker | null, beside: Beside = {}): Promise<void> {
    const change = (old: JsonObject): JsonObject => {
      const { [type]: _, ...rest } = old
      return breaker === null ? rest : { ...rest, [type]: { ...breaker } }
    }
    this.#knowBreakers(await this.#switch('breakers', change, beside))
    if (breaker === null) this.#recent.delete(type)
  }

  async #read(name: Switches): Promise<Read> {
    const found = await this.#store.record(recordKind, name)
    if (found !== null) return { value: asObject(found.value), version: found.version, isDamaged: found.value === null }
    // Until it is changed for the first time it is where it was before there were records.
    return { value: asObject(await this.#store.setting(`healing ${name}`)), version: 0, isDamaged: false }
  }

  async #switch(name: Switches, change: (old: JsonObject) => JsonObject, beside: Beside): Promise<JsonObject> {
    for (let tries = 0; tries < triesMax; tries++) {
      const { value, version } = await this.#read(name)
      const to = change(value)
      const records = [{ kind: recordKind, key: name, from: version, to }, ...(beside.records ?? [])]
      const answer = await this.#store.commit({ ...emptyBatch, records, journal: beside.journal })
      if (answer.committed) return to
      if (answer.records?.some(({ kind }) => kind !== recordKind))
        throw new HomeostatError('record_conflict', changedMeanwhile)
    }
    throw keptChanging(name)
  }

  async #change(name: string, change: (old: JsonObject) => JsonObject): Promise<JsonObject> {
    for (let tries = 0; tries < triesMax; tries++) {
      const old = await this.#store.setting(name)
      const next = change(asObject(old))
      if (await this.#store.changeSetting(name, old, next)) return next
    }
    throw keptChanging(name)
  }
}

const keptChanging = (name: string) => new Error(`what is set as '${name}' kept being changed by others`)

const ruleName = (type: string, status: string): string => `${type}/${status}`

function asObject(json: Json): JsonObject {
  return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as JsonObject) : {}
}
