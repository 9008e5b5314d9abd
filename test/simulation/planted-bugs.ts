// Bugs that the simulator must find. Each is a small change of the sources, made in a copy of them: nothing of it is in the
// product. A text that is no longer there is an error, so that a bug cannot quietly stop being planted.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface PlantedBug {
  readonly name: string
  readonly changes: readonly { readonly file: string; readonly from: string; readonly to: string }[]
  /** Where it is looked for first: names of scripted or free scenarios. */
  readonly scenarios: readonly string[]
  /** On which kind of store; left out: on any. */
  readonly store?: 'snapshot' | 'serializable'
  /** Promises by which it may be found. */
  readonly breaks: readonly string[]
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'a heartbeat renews whoever asks: the ended incarnation too',
    changes: [
      {
        file: 'store/memory-store.ts',
        from: "if (worker === undefined || worker.state !== 'live' || worker.leaseUntil <= now) return false",
        to: 'if (worker === undefined) return false',
      },
    ],
    scenarios: ['readme'],
    breaks: ['G4'],
  },
  {
    name: 'the effect comes before its commit',
    changes: [
      {
        file: 'engine/door.ts',
        from: '          const committing = this.#store.commit(batch)',
        to: `          if (batch.writes.length > 0) this.#options.onCommitted?.(batch.writes, 0, this.#known)
          const committing = this.#store.commit(batch)`,
      },
    ],
    scenarios: ['readme life', 'readme'],
    breaks: ['effects'],
  },
  {
    name: 'the answer comes before the commit',
    changes: [
      {
        file: 'engine/door.ts',
        from: '          const committing = this.#store.commit(batch)',
        to: `          for (const item of items) item.done?.(item.decision!)
          const committing = this.#store.commit(batch)`,
      },
    ],
    scenarios: ['readme life', 'readme'],
    breaks: ['G2'],
  },
  {
    name: 'the undo of the second step is forgotten',
    changes: [
      {
        file: 'decision/failure.ts',
        from: 'run.steps.filter((index) => operation.steps[index]!.undo !== null)',
        to: 'run.steps.filter((index) => operation.steps[index]!.undo !== null && index !== 1)',
      },
    ],
    scenarios: ['job life', 'lab'],
    breaks: ['undo', 'G7'],
  },
  {
    name: 'a lease that ends at t is renewed at t',
    changes: [
      {
        file: 'store/memory-store.ts',
        from: "worker.state !== 'live' || worker.leaseUntil <= now) return false",
        to: "worker.state !== 'live' || worker.leaseUntil < now) return false",
      },
    ],
    scenarios: ['readme', 'lab'],
    breaks: ['G4'],
  },
  {
    name: 'a live run is healed: leases are judged too early',
    changes: [
      {
        file: 'store/memory-store.ts',
        from: "leaseUntil <= now ? 'expired' : 'live'",
        to: "leaseUntil - 7_000 <= now ? 'expired' : 'live'",
      },
    ],
    scenarios: ['readme', 'lab'],
    breaks: ['G4'],
  },
  {
    name: "the healing's follow-up loses its input",
    changes: [
      { file: 'decision/heal-probe.ts', from: 'input: isSame ? run.input : undefined,', to: 'input: undefined,' },
    ],
    scenarios: ['lab', 'ovc', 'boxes'],
    breaks: ['healing'],
  },
  {
    name: 'an orphan is swept by two',
    changes: [
      {
        file: 'decision/sweep-orphan.ts',
        from: 'if (isAnothers && entry.sweeper !== command.gone && entry.since + sweepLeaseMs > draft.now) {',
        to: 'if (isAnothers && command.sweeper < 0) {',
      },
      {
        file: 'engine/sweeper.ts',
        from: 'return entry.sweeper === me || gone.has(entry.sweeper) || entry.since + sweepLeaseMs <= clock.now()',
        to: 'return true',
      },
    ],
    scenarios: ['job forced', 'lab'],
    breaks: ['sweeping'],
  },
  {
    name: 'a cascade skips the rules',
    changes: [
      {
        file: 'decision/rules.ts',
        from: 'export function findBreaches(draft: Draft): readonly Breach[] {',
        to: `export function findBreaches(draft: Draft): readonly Breach[] {
  if (draft.writes.length > 1) return none`,
      },
    ],
    scenarios: ['boxes', 'opensds', 'blazar'],
    breaks: ['G5'],
  },
  {
    name: 'an event is seen before a smaller one',
    changes: [
      {
        file: 'store/memory-store.ts',
        from: 'return this.state.history.slice(after, after + limit)',
        to: 'return this.state.history.slice(after, after + limit).filter((_, i, all) => i !== all.length - 2)',
      },
    ],
    scenarios: ['box life', 'boxes'],
    breaks: ['S4'],
  },
  {
    name: 'a timer goes on where it is not declared to run',
    changes: [
      {
        file: 'decision/timers.ts',
        from: 'if (!timer.in.has(after.status)) continue',
        to: 'if (!timer.in.has(after.status) && after.timers[timer.name] === undefined) continue',
      },
    ],
    scenarios: ['pair life', 'pairs', 'boxes'],
    breaks: ['timers'],
  },
  {
    name: 'what waits its turn is forgotten when the run before it is interrupted',
    changes: [
      {
        file: 'decision/begin-run.ts',
        from: 'const freed = draft.change(resource, { ledger:',
        to: 'const freed = draft.change(resource, { queue: [], ledger:',
      },
    ],
    scenarios: ['job life', 'lab'],
    breaks: ['G2'],
  },
  {
    name: 'an event tells the state before the one that it led to',
    changes: [
      {
        file: 'decision/draft.ts',
        from: '      revision: resource.revision,',
        to: "      revision: resource.revision - (kind === 'landed' ? 1 : 0),",
      },
    ],
    scenarios: ['readme life'],
    breaks: ['S11'],
  },
  {
    name: 'what is moved to where it can stay is held on',
    changes: [
      {
        file: 'decision/landing.ts',
        from: "holder: stays ? item.holder : plan.kinds.get(to) === 'transitional' ? holder : null,",
        to: 'holder: stays ? item.holder : holder,',
      },
    ],
    scenarios: ['box life'],
    breaks: ['G1'],
  },
  {
    name: 'a run that interrupts another takes the status on the way for where it came from',
    changes: [
      {
        file: 'decision/begin-run.ts',
        from: 'return preempt(draft, plan, resource, asked, input, busy.previous)',
        to: 'return preempt(draft, plan, resource, asked, input, resource.status)',
      },
    ],
    scenarios: ['readme two at once', 'lab'],
    breaks: ['G1'],
  },
  {
    name: 'what is refused leaves something behind in the commit of its neighbours',
    changes: [
      {
        file: 'decision/decide.ts',
        from: 'changes: keepEvidence(draft, code) }',
        to: 'changes: draft.writes.length > 0 ? draft.changes() : keepEvidence(draft, code) }',
      },
    ],
    scenarios: ['ovc', 'boxes'],
    breaks: ['G2', 'G5', 'S11'],
  },
  // Servers that keep less than they promise.
  {
    name: 'snapshot: what was read is checked before the lock is had, in the same statement',
    changes: [
      {
        file: 'testing/simulated-server.ts',
        from: 'if (this.#isSerializable && this.hasConflicts(transaction.batch))',
        to: 'if (this.hasConflicts(transaction.batch))',
      },
      {
        file: 'testing/simulated-server.ts',
        from: '} else if (guards.some((guard) => this.#state.brokenBy(guard) !== null)) {',
        to: '} else if (guards.length < 0) {',
      },
    ],
    scenarios: ['boxes', 'opensds'],
    store: 'snapshot',
    breaks: ['G5'],
  },
  {
    name: 'snapshot: a number is taken from a sequence, and others are numbered before its commit',
    changes: [
      {
        file: 'testing/simulated-server.ts',
        from: '    open.first = this.#numbered + 1',
        to: `    this.#release(open, feed)
    open.first = this.#numbered + 1`,
      },
    ],
    scenarios: ['readme', 'boxes'],
    store: 'snapshot',
    breaks: ['S4'],
  },
  {
    name: 'snapshot: a commit whose answer was lost is merely looked up',
    changes: [
      {
        file: 'testing/simulated-server.ts',
        from: "    this.#outcomes.set(id, 'forbidden')",
        to: '',
      },
    ],
    scenarios: ['readme', 'boxes'],
    store: 'snapshot',
    breaks: ['S2', 'G2'],
  },
  {
    name: 'serializable: reads are not verified at the end (write skew)',
    changes: [
      {
        file: 'testing/simulated-server.ts',
        from: 'if (guards.some((guard) => this.#isChanged(open, lockOfGuard(guard)))) return this.#failure()',
        to: 'if (guards.length < 0) return this.#failure()',
      },
    ],
    scenarios: ['opensds'],
    store: 'serializable',
    breaks: ['G5'],
  },
  {
    name: 'serializable: a resource that was changed since the snapshot is overwritten',
    changes: [
      {
        file: 'testing/simulated-server.ts',
        from: 'if (this.#isSerializable) return this.#isChanged(open, lock) ? this.#failure() : null',
        to: 'if (this.#isSerializable) return null',
      },
    ],
    scenarios: ['readme', 'boxes'],
    store: 'serializable',
    breaks: ['G4', 'S3'],
  },
  {
    name: 'serializable: a commit under way is not waited for when its outcome is asked for',
    changes: [
      {
        file: 'testing/simulated-server.ts',
        from: '    if (holder !== undefined) {',
        to: '    if (id < 0) {',
      },
    ],
    scenarios: ['readme', 'boxes'],
    store: 'serializable',
    breaks: ['S2', 'G2'],
  },
  // Bugs that the simulator has found; it would find them again.
  {
    name: 'a call begins from old knowledge',
    changes: [
      {
        file: 'engine/worker.ts',
        from: 'const isFresh = owned.trustedAt >',
        to: 'const isFresh = true || owned.trustedAt >',
      },
    ],
    scenarios: ['readme', 'lab'],
    breaks: ['G6'],
  },
  {
    name: 'a hanging call is taken for the next round',
    changes: [
      {
        file: 'decision/failure.ts',
        from: 'const attempt = firstAttempt(step.retry, rounds)',
        to: 'const attempt = 1 + 0 * firstAttempt(step.retry, rounds)',
      },
    ],
    scenarios: ['readme life', 'readme', 'lab'],
    breaks: ['G1'],
  },
  {
    name: 'what a failed step may have made is forgotten',
    changes: [
      {
        file: 'decision/ledger.ts',
        from: "entry.state === 'meant' && entry.begun === begun ? { ...entry, state: 'unknown' as const, since: now } : entry",
        to: "entry.state === 'meant' && entry.begun === begun ? { ...entry, name: `${entry.name}0`, since: now } : entry",
      },
    ],
    scenarios: ['readme', 'lab'],
    breaks: ['G7'],
  },
]

const root = resolve(import.meta.dirname, '..', '..')

/** What a simulation is made of. */
const simulated = ['base', 'lifecycle', 'decision', 'store', 'engine', 'testing']

/** A copy of the sources with the bug in it; `remove` takes it away. */
export function plant(bug: PlantedBug): { readonly module: (file: string) => string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-planted-'))
  for (const part of simulated) {
    cpSync(join(root, 'src', part), join(folder, 'src', part), {
      recursive: true,
      filter: (file) => !file.endsWith('.test.ts'),
    })
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir')
  for (const { file, from, to } of bug.changes) {
    const path = join(folder, 'src', file)
    const text = readFileSync(path, 'utf8')
    if (text.split(from).length !== 2)
      throw new Error(`cannot plant '${bug.name}': ${file} no longer has this once:\n${from}`)
    writeFileSync(
      path,
      text.replace(from, () => to),
    )
  }
  return {
    module: (file) => pathToFileURL(join(folder, 'src', file)).href,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
