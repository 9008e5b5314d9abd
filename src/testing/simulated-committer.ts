// What the store's own code in a process does about a commit to a server: sends it, tries again what may be tried again, looks what has
// changed where something is not as it should be, and finds out what became of a commit whose answer was lost. It answers `unavailable`
// only when it knows that nothing was written.
//
//   sent -> committed
//   sent -> undone    what has changed is looked up -> conflict; nothing has -> sent again
//   sent -> unknown   the connection broke -> the commit is forbidden on another one -> committed, or it never can be
import { HomeostatError } from '../base/errors.ts'
import type { Batch, CommitAnswer } from '../store/store.ts'
import type { StoreFaults, StoreWatch } from './faulty-store.ts'
import type { Timeline } from './simulated-clock.ts'
import type { SimulatedProcess } from './simulated-process.ts'
import type { ServerAnswer, ServerBackend } from './simulated-server.ts'

/** What happens to the messages of a commit. `cutReply`: it arrives, and the connection breaks before its answer is there. */
export type ExchangeFault = 'none' | 'cutRequest' | 'cutReply' | 'serverDies'

export interface CommitterParts extends ServerBackend {
  readonly handle: object
  readonly process: SimulatedProcess
  readonly timeline: Timeline
  readonly faults: StoreFaults
  readonly watch: StoreWatch
}

interface Commit {
  readonly batch: Batch
  /** Half of it on each way. */
  readonly slowMs: number
  readonly resolve: (answer: CommitAnswer) => void
  readonly reject: (error: Error) => void
  attempts: number
}

const attemptsMax = 20
const pauseFirstMs = 20
const pauseAtMostMs = 2_000

export class SimulatedCommitter {
  readonly #parts: CommitterParts
  #ids = 0

  constructor(parts: CommitterParts) {
    this.#parts = parts
  }

  commit(batch: Batch, fault: ExchangeFault, slowMs: number): Promise<CommitAnswer> {
    return new Promise((resolve, reject) => this.#send({ batch, slowMs, resolve, reject, attempts: 0 }, fault))
  }

  #send(commit: Commit, fault: ExchangeFault = this.#parts.faults.atExchange()): void {
    const { server, handle, process, timeline, faults, watch } = this.#parts
    commit.attempts++
    const id = process.rank * 2 ** 32 + ++this.#ids
    const there = faults.latencyMs(process) + Math.floor(commit.slowMs / 2)
    const back = faults.latencyMs(process) + Math.ceil(commit.slowMs / 2)
    let isOver = false
    const heard = (ms: number, answer: ServerAnswer) =>
      timeline.after(ms, process, () => {
        if (isOver) return
        isOver = true
        if (answer.is === 'gone') this.#resolve(commit, id, pauseFirstMs)
        else this.#answered(commit, answer)
      })
    if (fault !== 'none') watch.faulted(process, `${fault} at a commit`)
    if (fault === 'cutRequest') {
      heard(there, { is: 'gone' })
      return
    }
    process.messages++
    timeline.after(there, null, () =>
      server.begin({
        id,
        batch: commit.batch,
        handle,
        process,
        answer: (answer) => {
          process.messages--
          heard(back, answer)
        },
      }),
    )
    if (fault === 'cutReply') heard(there + faults.noticeMs(), { is: 'gone' })
    if (fault === 'serverDies') timeline.after(there + faults.noticeMs(), null, () => this.#kill())
  }

  #kill(): void {
    const { server, timeline, faults } = this.#parts
    server.die()
    timeline.after(faults.downMs(), null, () => server.comeBack())
  }

  #answered(commit: Commit, answer: Exclude<ServerAnswer, { is: 'gone' }>): void {
    if (answer.is === 'committed') return commit.resolve({ committed: true, first: answer.first })
    if (answer.is === 'again') return this.#again(commit)
    const { process, timeline, faults, state, watch } = this.#parts
    // A question of its own, some time later: what it finds may be something else than what was in the way.
    const there = faults.latencyMs(process)
    const back = faults.latencyMs(process)
    timeline.after(there, null, () => {
      const { conflicts, keys, records } = state.conflictsOf(commit.batch)
      const isNone = conflicts.size === 0 && keys.size === 0 && records.length === 0
      const found = { committed: false, conflicts: [...conflicts].sort(byNumber), keys: [...keys].sort() } as const
      const conflict = records.length === 0 ? found : { ...found, records }
      timeline.after(back, process, () => {
        if (isNone) return this.#again(commit)
        watch.committed(process, commit.batch, conflict, timeline.now)
        commit.resolve(conflict)
      })
    })
  }

  #again(commit: Commit): void {
    if (commit.attempts < attemptsMax) return this.#send(commit)
    // Anything may have changed.
    commit.resolve({ committed: false, conflicts: [], keys: [] })
  }

  /** Finds out, however long it takes. */
  #resolve(commit: Commit, id: number, pauseMs: number): void {
    const { server, process, timeline, faults, watch } = this.#parts
    const there = faults.latencyMs(process)
    const back = faults.latencyMs(process)
    const later = () =>
      timeline.after(pauseMs, process, () => this.#resolve(commit, id, Math.min(2 * pauseMs, pauseAtMostMs)))
    if (faults.atExchange() !== 'none') {
      watch.faulted(process, 'cannot find out yet what became of a commit')
      later()
      return
    }
    const found = (answer: ServerAnswer) => {
      if (answer.is === 'gone') return void later()
      if (answer.is === 'committed') {
        watch.saw('unknown commit had happened')
        return commit.resolve({ committed: true, first: answer.first })
      }
      watch.saw('unknown commit forbidden')
      watch.disowned(commit.batch)
      commit.reject(new HomeostatError('store_unavailable', 'The simulated server did not take the commit.'))
    }
    timeline.after(there, null, () => server.forbid(id, (answer) => timeline.after(back, process, () => found(answer))))
  }
}

const byNumber = (a: number, b: number) => a - b
