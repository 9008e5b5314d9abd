// Invented states and batches for judging stores: small makers for single tests, and a seeded stream of batches that goes
// through everything a store keeps, odd texts and stale decisions included.
import type { Json, JsonObject } from '../base/json.ts'
import { seededRandom, type Random } from '../base/random.ts'
import { generatedId, type EndedRun, type Event, type No, type Resource, type Run } from '../decision/state.ts'
import { emptyBatch, type Batch, type Guard, type KindOf, type Write } from '../store/store.ts'

export const sampleKinds: KindOf = (_type, status) => {
  if (status === 'deleted') return 'terminal'
  if (status === 'error') return 'failed'
  return status.endsWith('ing') ? 'transitional' : 'stable'
}

export function sampleResource(no: No, patch: Partial<Resource> = {}): Resource {
  return {
    no,
    id: generatedId(no),
    type: 'volume',
    tenant: 'acme',
    name: null,
    parent: null,
    links: {},
    status: 'available',
    description: '',
    properties: { size: 10 },
    revision: 1,
    epoch: 1,
    since: 1000,
    createdAt: 1000,
    run: null,
    holder: null,
    queue: [],
    ledger: [],
    timers: {},
    heals: 0,
    last: 0,
    ...patch,
  }
}

export function sampleRun(patch: Partial<Run> = {}): Run {
  return {
    begun: 1,
    kind: 'operation',
    operation: 'create',
    input: { size: 10 },
    by: 'ann',
    lane: 'user',
    forced: false,
    previous: 'available',
    askedBy: null,
    acceptedAt: 1000,
    phase: 'step',
    step: 0,
    steps: [0],
    results: {},
    items: null,
    undoing: [],
    landing: null,
    reasons: [],
    code: '',
    probe: '',
    found: '',
    attempt: 1,
    probes: 0,
    rounds: 0,
    family: 0,
    dueAt: 0,
    deadlineAt: 0,
    progressAt: 0,
    progress: '',
    parked: null,
    uncertain: false,
    owner: 1,
    resumed: 0,
    ...patch,
  }
}

export function sampleEvent(of: Resource, patch: Partial<Event> = {}): Event {
  const { no, status, revision, epoch } = of
  return {
    no,
    at: 1000,
    kind: 'stepDone',
    from: status,
    to: status,
    revision,
    epoch,
    begun: 1,
    by: 'ann',
    detail: null,
    ...patch,
  }
}

export function sampleEnd(of: Resource, patch: Partial<EndedRun> = {}): EndedRun {
  const fixed = {
    operation: 'create',
    kind: 'operation',
    outcome: 'succeeded',
    acceptedAt: 1000,
    endedAt: 2000,
    by: 'ann',
  } as const
  return { no: of.no, begun: 1, status: of.status, ...fixed, ...patch }
}

/** A batch of these writes, with one event for each unless events are given. */
export function sampleBatch(writes: readonly Write[], patch: Partial<Batch> = {}): Batch {
  const events = writes.map(({ before, after }) => sampleEvent(after, { from: before?.status ?? '' }))
  return { ...emptyBatch, writes, events, ...patch }
}

/** The next state: one revision on. */
export const changed = (before: Resource, patch: Partial<Resource>): Resource => ({
  ...before,
  revision: before.revision + 1,
  ...patch,
})

const oddTexts = [
  '',
  'plain',
  'ünïcödé ✓',
  'a\u0000b',
  '\ud800 alone',
  '\u0001json:"x"',
  `quote ' " \\ \n`,
  '\u2028',
  'x'.repeat(300),
]
const names = ['a', 'b', '7', '__proto__', 'with space', 'é']

/** Invents batches, and remembers what was accepted. */
export class BatchStream {
  readonly random: Random
  readonly states = new Map<No, Resource>()
  private nextNo = 1
  private now = 1_700_000_000_000
  private readonly usedKeys: string[] = []
  private readonly usedIds: string[] = []

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  get time(): number {
    return this.now
  }

  pick<T>(from: readonly T[]): T {
    return from[this.random.below(from.length)]!
  }

  chance(share: number): boolean {
    return this.random.next() < share
  }

  text(): string {
    return this.pick(oddTexts)
  }

  json(depth = 0): Json {
    const kind = this.random.below(depth > 2 ? 5 : 7)
    if (kind === 0) return null
    if (kind === 1) return this.chance(0.5)
    if (kind === 2) return this.pick([0, 1, -1, 1.5, 2 ** 53 - 1, 1e300, this.random.below(1e6)])
    if (kind <= 4) return this.text()
    if (kind === 5) return Array.from({ length: this.random.below(3) }, () => this.json(depth + 1))
    return this.object(depth + 1)
  }

  object(depth = 0): JsonObject {
    const entries = Array.from({ length: this.random.below(4) }, () => [this.pick(names), this.json(depth)] as const)
    // Not by assignment: __proto__ is a name like any other.
    return Object.fromEntries(entries)
  }

  /** At most one write per resource, as the door makes them; now and then decided on something stale. */
  batch(): Batch {
    this.now += this.random.below(1000)
    const writes = new Map<No, Write>()
    const events: Event[] = []
    const ended: EndedRun[] = []
    const size = 1 + this.random.below(6)
    for (let i = 0; i < size; i++) {
      const write = this.states.size === 0 || this.chance(0.3) ? this.creation() : this.change()
      if (writes.has(write.after.no)) continue
      writes.set(write.after.no, write)
      const { before, after } = write
      for (let n = this.random.below(3); n >= 0; n--) {
        const detail = this.chance(0.3) ? this.object() : null
        events.push(
          sampleEvent(after, {
            at: this.now,
            from: before?.status ?? '',
            by: this.text(),
            detail,
            begun: after.run?.begun ?? 0,
          }),
        )
      }
      const run = before?.run
      if (run && after.run?.begun !== run.begun) {
        ended.push(sampleEnd(after, { begun: run.begun, operation: run.operation, by: this.text(), endedAt: this.now }))
      }
    }
    const some = [...writes.values()]
    return {
      writes: some,
      guards: this.guards(),
      events,
      ended,
      keys: this.chance(0.3) ? [this.key(some[0]!.after.no)] : [],
      late: this.chance(0.1)
        ? [{ no: some[0]!.after.no, epoch: 1, call: this.text(), at: this.now, outcome: this.object() }]
        : [],
      incidents: this.chance(0.1)
        ? [
            {
              no: some[0]!.after.no,
              kind: this.pick(['overdue', 'unowned']),
              at: this.now,
              status: 'x',
              text: this.text(),
              evidence: this.object(),
            },
          ]
        : [],
    }
  }

  /** The store has taken the batch. */
  accepted(batch: Batch): void {
    for (const { after } of batch.writes) this.states.set(after.no, after)
    for (const { key } of batch.keys) this.usedKeys.push(key)
  }

  private creation(): Write {
    const no = this.nextNo++ * 3 + this.random.below(3)
    const id = this.chance(0.6)
      ? generatedId(no)
      : this.chance(0.1) && this.usedIds.length > 0
        ? this.pick(this.usedIds)
        : `${this.text()}-${no}`
    // Ids made from a number are that number's own.
    if (id !== generatedId(no)) this.usedIds.push(id)
    const fresh = sampleResource(no, {
      id,
      type: this.pick(['volume', 'server']),
      tenant: this.pick(['', 'acme', this.text()]),
      name: this.pick([null, null, 'web', this.text()]),
      parent: this.states.size > 0 && this.chance(0.6) ? this.someone().no : null,
      links: this.links(),
      since: this.now,
      createdAt: this.now,
    })
    return { before: null, after: { ...fresh, ...this.patch(fresh) } }
  }

  private change(): Write {
    const current = this.someone()
    const stale = this.chance(0.04)
    const before = stale
      ? { ...current, ...(this.chance(0.5) ? { revision: current.revision + 1 } : { epoch: current.epoch + 1 }) }
      : current
    return { before, after: { ...changed(before, this.patch(before)) } }
  }

  private someone(): Resource {
    const all = [...this.states.values()]
    return all[this.random.below(all.length)]!
  }

  private links(): Resource['links'] {
    if (this.states.size === 0 || this.chance(0.6)) return {}
    return { [this.pick(['disk', 'pair'])]: this.someone().no }
  }

  /** Some of the things that decisions do to a resource. */
  private patch(before: Resource): Partial<Resource> {
    const patch: { -readonly [Key in keyof Resource]?: Resource[Key] } = { since: this.now }
    if (before.run !== null && this.chance(0.6)) {
      patch.run = { ...before.run, ...this.runPatch() }
      patch.status = this.pick(['creating', 'extending', before.status])
    } else if (this.chance(0.5)) {
      patch.epoch = before.epoch + 1
      patch.run = sampleRun({
        begun: before.epoch + 1,
        previous: before.status,
        input: this.json(),
        by: this.text(),
        ...(this.chance(0.2) ? { trace: this.text() } : {}),
        ...this.runPatch(),
      })
      patch.status = 'creating'
    } else {
      patch.run = null
      patch.status = this.pick(['available', 'available', 'error', 'deleted', 'extending'])
    }
    if (this.chance(0.3)) patch.properties = this.object()
    if (this.chance(0.2)) patch.description = this.text()
    if (this.chance(0.2))
      patch.timers = this.chance(0.5) ? {} : { expiry: this.now + this.random.below(5000), drift: this.now }
    if (this.chance(0.1)) patch.links = this.links()
    if (this.chance(0.1)) patch.holder = this.chance(0.5) ? { no: 1, begun: 1 } : null
    if (this.chance(0.1))
      patch.queue = this.chance(0.5)
        ? []
        : [{ operation: 'extend', input: this.json(), by: this.text(), at: this.now, key: null }]
    if (this.chance(0.2)) patch.ledger = this.chance(0.3) ? [] : [this.entry()]
    if (this.chance(0.1)) patch.heals = this.random.below(3)
    if (this.chance(0.05)) patch.name = this.pick([null, this.text()])
    return patch
  }

  private entry(): Resource['ledger'][number] {
    const state = this.pick(['meant', 'there', 'orphaned', 'sweeping'] as const)
    return {
      name: `volume/x/disk/1`,
      kind: 'disk',
      state,
      ref: this.json(),
      begun: 1,
      step: 'make',
      since: this.now,
      sweeper: 0,
    }
  }

  private runPatch(): Partial<Run> {
    const patch: { -readonly [Key in keyof Run]?: Run[Key] } = {
      step: this.random.below(4),
      attempt: this.random.below(3),
    }
    const later = () => this.pick([0, 0, this.now - 100, this.now + this.random.below(3000)])
    if (this.chance(0.5)) patch.steps = this.pick([[], [0], [0, 1, 2]])
    if (this.chance(0.5)) patch.results = this.object()
    if (this.chance(0.3)) patch.dueAt = later()
    if (this.chance(0.3)) patch.deadlineAt = later()
    if (this.chance(0.3)) patch.progressAt = later()
    if (this.chance(0.3)) patch.owner = this.random.below(4)
    if (this.chance(0.1))
      patch.parked = this.chance(0.5) ? null : { code: 'budget_spent', reason: this.text(), at: this.now }
    if (this.chance(0.1)) patch.phase = this.pick(['undo', 'probe', 'healProbe', 'cascade'] as const)
    if (this.chance(0.1)) patch.items = this.pick([null, [], [{ no: 3, relation: 'disks', attempt: 0, dueAt: 0 }]])
    if (this.chance(0.1)) patch.undoing = [1, 0]
    if (this.chance(0.1)) patch.landing = { of: 'failure', step: -1, case: 2, undoFailed: true }
    if (this.chance(0.1)) patch.reasons = [this.text()]
    if (this.chance(0.1)) patch.code = this.text()
    if (this.chance(0.1)) patch.probe = this.text()
    if (this.chance(0.1)) patch.found = this.text()
    if (this.chance(0.1)) patch.progress = this.text()
    if (this.chance(0.1)) patch.probes = this.random.below(3)
    if (this.chance(0.1)) patch.rounds = this.random.below(3)
    if (this.chance(0.1)) patch.family = this.random.below(3)
    if (this.chance(0.1)) patch.resumed = this.random.below(3)
    if (this.chance(0.1)) patch.uncertain = this.chance(0.5)
    if (this.chance(0.05)) patch.askedBy = { no: 1, begun: 4 }
    return patch
  }

  private key(no: No): Batch['keys'][number] {
    const key =
      this.usedKeys.length > 0 && this.chance(0.1)
        ? this.pick(this.usedKeys)
        : `${this.text()}-${this.random.below(1e9)}`
    return { key, hash: this.text(), no, begun: 1, at: this.now }
  }

  private guards(): Guard[] {
    if (this.states.size === 0 || this.chance(0.5)) return []
    const one = this.someone()
    const wrong = this.chance(0.05)
    const living = (fits: (state: Resource) => boolean) =>
      [...this.states.values()]
        .filter((state) => fits(state) && sampleKinds(state.type, state.status) !== 'terminal')
        .map((state) => state.no)
    const members = (nos: No[]) => (wrong ? [...nos, one.no] : nos.sort((a, b) => a - b))
    return [
      { guard: 'revision', no: one.no, revision: one.revision + (wrong ? 1 : 0) },
      { guard: 'children', no: one.no, members: members(living((state) => state.parent === one.no)) },
      {
        guard: 'linkedBy',
        no: one.no,
        link: 'disk',
        members: members(living((state) => state.links['disk'] === one.no)),
      },
      { guard: 'absent', type: one.type, id: this.chance(0.05) ? one.id : 'nobody' },
    ]
  }
}
