// The rules of a world, the same on every ground: keys, epochs, names that are closed, and faults around all of it.
import { pause, type Clock } from '../base/clock.ts'
import type { JsonObject } from '../base/json.ts'
import type { Random } from '../base/random.ts'
import { TerminalError, UnknownOutcomeError } from '../lifecycle/driver.ts'
import { asOf, byName, concerns, nonsense } from './fault.ts'
import type { Fault, FaultStore, FaultSwitches, FaultyCall, SetFault } from './fault.ts'
import type { Done, Ground, Kept } from './ground.ts'
import { hasParts, rootOf, typeOf } from './thing-name.ts'
import type { Change, Filter, Guard, Look, NewThing, Power, SweepGuard, Thing, Truth, Verb, World } from './world.ts'

export interface WorldParts {
  readonly ground: Ground
  readonly faults: FaultStore
  readonly clock: Clock
  readonly random: Random
}

/** So many of the latest changes of a thing are known by their keys. */
const doneAtMost = 16

export class GuardedWorld implements World {
  readonly faults: FaultSwitches
  readonly #ground: Ground
  readonly #faultStore: FaultStore
  readonly #clock: Clock
  readonly #random: Random

  constructor({ ground, faults, clock, random }: WorldParts) {
    this.#ground = ground
    this.#faultStore = faults
    this.#clock = clock
    this.#random = random
    this.faults = {
      set: async (fault) => this.#setFault(fault),
      clear: async (id) => this.#clearFaults(id),
      list: async () => faults.all(),
    }
  }

  create(thing: NewThing, guard: Guard): Promise<Thing> {
    return this.#make('create', thing, null, guard)
  }

  copy(source: string, thing: NewThing, guard: Guard): Promise<Thing> {
    return this.#make('copy', thing, source, guard)
  }

  update(name: string, properties: JsonObject, guard: Guard): Promise<Thing> {
    return this.#change('update', name, guard, ({ thing }) => ({ ...thing.properties, ...plain(properties) }))
  }

  resize(name: string, sizeBytes: number, guard: Guard): Promise<Thing> {
    return this.#change('resize', name, guard, ({ thing }) => {
      if (thing.sizeBytes === null) throw new TerminalError('invalid', `${name} stores nothing: it has no size.`)
      this.#ground.resize(name, checkedSize(sizeBytes))
    })
  }

  link(name: string, to: string, guard: Guard): Promise<Thing> {
    const change = ({ thing }: Kept) => {
      this.#mustRead(to)
      if (!thing.links.includes(to)) this.#ground.setLinks(name, [...thing.links, to])
    }
    return this.#change('link', name, guard, change, to)
  }

  unlink(name: string, to: string, guard: Guard): Promise<Thing | null> {
    const change = ({ thing }: Kept) => {
      if (thing.links.includes(to))
        this.#ground.setLinks(
          name,
          thing.links.filter((one) => one !== to),
        )
    }
    return this.#takeAway('unlink', name, guard, change, to)
  }

  start(name: string, guard: Guard): Promise<Thing> {
    return this.#change('start', name, guard, ({ thing }) => {
      if (thing.power === 'stopped') this.#ground.setPower(name, 'running')
    })
  }

  stop(name: string, guard: Guard): Promise<Thing | null> {
    return this.#takeAway('stop', name, guard, () => this.#ground.setPower(name, 'stopped'))
  }

  pause(name: string, guard: Guard): Promise<Thing> {
    return this.#change('pause', name, guard, ({ thing }) => this.#setPowerOfRunning(thing, 'paused'))
  }

  resume(name: string, guard: Guard): Promise<Thing> {
    return this.#change('resume', name, guard, ({ thing }) => this.#setPowerOfRunning(thing, 'running'))
  }

  async destroy(name: string, guard: Guard | SweepGuard): Promise<void> {
    await this.#act('destroy', { name, kind: null, names: [] }, guard, () => {
      if (!('epoch' in guard)) this.#ground.closeName(name)
      for (const one of [...(hasParts(name) ? this.#ground.names(name) : []), name]) {
        const kept = this.#ground.read(one)
        if (kept === null) continue
        this.#remember(kept.thing.name, kept.thing)
        this.#ground.remove(one)
      }
      return null
    })
  }

  async get(name: string, look: Look = {}): Promise<Thing | null> {
    const kept = () => this.#ground.read(name)?.thing ?? null
    const fault = await this.#beforeRead(look, () => {
      return { verb: 'get', type: typeOf(name), kind: this.#kindOf(name), name, step: look.step }
    })
    if (fault?.does === 'garbage') return nonsense
    if (fault?.does !== 'staleReads') return kept()
    return this.#stale(fault, kept() === null ? [] : [kept()!]).find((thing) => thing.name === name) ?? null
  }

  async list({ kind, type, resource }: Filter = {}, look: Look = {}): Promise<readonly Thing[]> {
    const fault = await this.#beforeRead(look, () => {
      return { verb: 'list', type: type ?? typeOf(resource ?? ''), kind: kind ?? '', name: '', step: look.step }
    })
    if (fault?.does === 'garbage') return [nonsense]
    const present = this.#ground.names(resource).flatMap((name) => this.#ground.read(name)?.thing ?? [])
    const seen = fault?.does === 'staleReads' ? this.#stale(fault, present) : present.sort(byName)
    return seen.filter(
      (thing) =>
        (kind === undefined || thing.kind === kind) &&
        (type === undefined || typeOf(thing.name) === type) &&
        (resource === undefined || thing.name.startsWith(`${resource}/`)),
    )
  }

  async truth(): Promise<readonly Truth[]> {
    return [...this.#ground.truth()].sort(byName)
  }

  async leaks(known: Iterable<string>): Promise<readonly Truth[]> {
    const names = new Set(known)
    return (await this.truth()).filter(({ name }) => !names.has(name) && !names.has(rootOf(name)))
  }

  async close(): Promise<void> {}

  /** Creates or copies. */
  #make(verb: 'create' | 'copy', wanted: NewThing, source: string | null, guard: Guard): Promise<Thing> {
    const { name, kind } = wanted
    return this.#act(verb, { name, kind, names: source === null ? [] : [source] }, guard, () => {
      const there = this.#ground.read(name)
      if (there !== null) {
        if (there.thing.kind !== kind)
          throw new TerminalError('name_taken', `${name} is a ${there.thing.kind}, not a ${kind}.`)
        return this.#once(verb, there, guard, () => {})
      }
      if (this.#ground.isClosed(rootOf(name)) || this.#ground.isClosed(name))
        throw new TerminalError('gone', `${name} was destroyed by the sweeper: nobody owned it.`)
      const from = source === null ? null : this.#mustRead(source).thing
      const sizeBytes = wanted.sizeBytes === undefined ? (from?.sizeBytes ?? null) : checkedSize(wanted.sizeBytes)
      const thing: Thing = {
        kind,
        name,
        resource: guard.resource,
        properties: plain(wanted.properties ?? {}),
        sizeBytes,
        content: sizeBytes === null ? null : (from?.content ?? this.#random.uuid()),
        power: 'stopped',
        links: [...(wanted.links ?? [])],
      }
      this.#remember(name, null)
      this.#ground.make({ thing, done: [{ verb, key: guard.key, answer: thing }] })
      return thing
    })
  }

  /** Changes a thing that must be there. What `effect` returns are its new properties. */
  #change(
    verb: Change,
    name: string,
    guard: Guard,
    effect: (kept: Kept) => JsonObject | void,
    other?: string,
  ): Promise<Thing> {
    return this.#act(verb, { name, kind: null, names: other === undefined ? [] : [other] }, guard, () =>
      this.#once(verbOf(verb, other), this.#mustRead(name), guard, effect),
    )
  }

  /** The same for a thing that may be gone already. */
  #takeAway(
    verb: Change,
    name: string,
    guard: Guard,
    effect: (kept: Kept) => void,
    other?: string,
  ): Promise<Thing | null> {
    return this.#act(verb, { name, kind: null, names: [] }, guard, () => {
      const kept = this.#ground.read(name)
      return kept === null ? null : this.#once(verbOf(verb, other), kept, guard, effect)
    })
  }

  /** W1: what this key has done is not done again. The effect comes before its record, and can be repeated. */
  #once(verb: string, kept: Kept, guard: Guard, effect: (kept: Kept) => JsonObject | void): Thing {
    const before = kept.done.find((one) => one.verb === verb && one.key === guard.key)
    if (before !== undefined) return before.answer
    this.#remember(kept.thing.name, kept.thing)
    const properties = effect(kept) ?? kept.thing.properties
    const answer: Thing = { ...this.#mustRead(kept.thing.name).thing, properties }
    const done: Done = { verb, key: guard.key, answer }
    this.#ground.record(answer.name, properties, [...kept.done, done].slice(-doneAtMost))
    return answer
  }

  /** W2 and W5: one change from its faults to its answer. */
  async #act<T extends Thing | null>(
    verb: Change,
    { name, kind, names }: { name: string; kind: string | null; names: readonly string[] },
    guard: Guard | SweepGuard,
    section: () => T,
  ): Promise<T> {
    const { signal } = guard
    signal.throwIfAborted()
    const owner = 'epoch' in guard ? guard : null
    const fault = this.#takeFault(() => ({
      verb,
      type: typeOf(owner?.resource ?? name),
      kind: kind ?? this.#kindOf(name),
      name,
      step: owner?.step,
    }))
    if (fault !== null) await this.#before(fault, signal)
    const exclusive = [...(owner === null ? [] : [owner.resource]), ...[name, ...names].map(rootOf)]
    const answer = await this.#ground.exclusively(exclusive, signal, () => {
      signal.throwIfAborted()
      if (owner !== null) this.#fence(owner.resource, owner.epoch)
      return section()
    })
    return fault === null ? answer : this.#after(fault, signal, answer)
  }

  #fence(resource: string, epoch: number): void {
    const highest = this.#ground.epochOf(resource)
    if (epoch < highest)
      throw new TerminalError(
        'stale_epoch',
        `${resource} is at epoch ${highest}: a call of epoch ${epoch} is too late.`,
      )
    if (epoch > highest) this.#ground.raiseEpoch(resource, epoch)
  }

  #mustRead(name: string): Kept {
    const kept = this.#ground.read(name)
    if (kept === null) throw new TerminalError('not_found', `There is no ${name}.`)
    return kept
  }

  #setPowerOfRunning({ name, power }: Thing, wanted: Power): void {
    if (power === 'stopped') throw new TerminalError('not_running', `${name} does not run.`)
    if (power !== wanted) this.#ground.setPower(name, wanted)
  }

  #setFault(fault: Fault): SetFault {
    const set: SetFault = {
      ...fault,
      id: this.#random.uuid(),
      setAt: this.#clock.now(),
      left: fault.times ?? null,
    }
    this.#faultStore.add(set)
    return set
  }

  #clearFaults(id?: string): void {
    for (const fault of this.#faultStore.all())
      if (id === undefined || fault.id === id) this.#faultStore.remove(fault.id)
    if (!this.#faultStore.all().some(({ does }) => does === 'staleReads')) this.#faultStore.forgetPast(Infinity)
  }

  /** The first fault that is set for this call. */
  #takeFault(describe: () => FaultyCall): SetFault | null {
    const faults = this.#faultStore.all()
    if (faults.length === 0) return null
    const call = describe()
    for (const fault of faults) {
      if (fault.left === 0 || !concerns(fault, call)) continue
      if (fault.rate !== undefined && this.#random.next() >= fault.rate) continue
      if (this.#faultStore.use(fault)) return fault
    }
    return null
  }

  async #before(fault: SetFault, signal: AbortSignal | undefined): Promise<void> {
    if (fault.does === 'fail') throw failureOf(fault)
    if (fault.does === 'slow') await pause(this.#clock, fault.ms ?? 0, signal)
    if (fault.does === 'hang') await this.#faultStore.untilCleared(fault.id, signal)
    signal?.throwIfAborted()
  }

  async #after<T extends Thing | null>(fault: SetFault, signal: AbortSignal, answer: T): Promise<T> {
    if (fault.does === 'lostReply') throw new UnknownOutcomeError(fault.message ?? 'the reply was lost')
    if (fault.does === 'lateSuccess') {
      await this.#faultStore.untilCleared(fault.id, signal)
      signal.throwIfAborted()
    }
    return fault.does === 'garbage' ? (nonsense as T) : answer
  }

  async #beforeRead(look: Look, describe: () => FaultyCall): Promise<SetFault | null> {
    const { signal, resource, epoch } = look
    signal?.throwIfAborted()
    const fault = this.#takeFault(describe)
    if (fault !== null) await this.#before(fault, signal)
    if (resource !== undefined && epoch !== undefined && this.#ground.epochOf(resource) !== epoch)
      await this.#ground.exclusively([resource], signal, () => this.#fence(resource, epoch))
    return fault
  }

  #stale({ ms = 0, setAt }: SetFault, present: readonly Thing[]): readonly Thing[] {
    return asOf(present, this.#faultStore.past(), Math.max(setAt, this.#clock.now() - ms))
  }

  /** Only while somebody wants to see the past. */
  #remember(name: string, before: Thing | null): void {
    const stale = this.#faultStore.all().filter(({ does }) => does === 'staleReads')
    if (stale.length === 0) return
    const at = this.#clock.now()
    this.#faultStore.forgetPast(at - Math.max(...stale.map(({ ms = 0 }) => ms)))
    this.#faultStore.remember({ at, name, before })
  }

  #kindOf(name: string): string {
    return this.#ground.read(name)?.thing.kind ?? name.split('/')[2] ?? ''
  }
}

/** A link to one thing is another change than a link to another. */
const verbOf = (verb: Verb, other: string | undefined): string => (other === undefined ? verb : `${verb} ${other}`)

function failureOf({ code = 'fault', message, terminal = false }: SetFault): Error {
  const text = message ?? `a fault is set here: ${code}`
  return terminal ? new TerminalError(code, text) : Object.assign(new Error(text), { code })
}

function checkedSize(sizeBytes: number): number {
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw new TerminalError('invalid', `${sizeBytes} is no size in bytes.`)
  return sizeBytes
}

/** As it comes back from where it is kept. */
const plain = (properties: JsonObject): JsonObject => JSON.parse(JSON.stringify(properties)) as JsonObject
