// Orphans that wait to be destroyed, by type of resource. Each type has places of its own: a backend that hangs or fails holds up the
// orphans of its own type, and nobody else's.

export interface SweepLanesOptions<T> {
  /** Never fails. */
  readonly sweep: (one: T) => Promise<void>
  /** A type that was offered more than it could take has room again. */
  readonly onRoom: () => void
}

interface Lane<T> {
  readonly waiting: { readonly name: string; readonly one: T }[]
  running: number
  /** More were offered than it could take. */
  hasMore: boolean
}

const atOnce = 8
const waitingMost = 200

export class SweepLanes<T> {
  readonly #options: SweepLanesOptions<T>
  readonly #lanes = new Map<string, Lane<T>>()
  /** Waiting or being destroyed. */
  readonly #names = new Set<string>()
  readonly #underWay = new Set<Promise<void>>()

  constructor(options: SweepLanesOptions<T>) {
    this.#options = options
  }

  /** One that is there already is not taken twice. */
  offer(type: string, name: string, one: T): void {
    if (this.#names.has(name)) return
    const lane = this.#laneOf(type)
    if (lane.waiting.length >= waitingMost) {
      lane.hasMore = true
      return
    }
    this.#names.add(name)
    lane.waiting.push({ name, one })
    this.#begin(lane)
  }

  /** What waits is left; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    for (const { waiting } of this.#lanes.values()) waiting.length = 0
    await Promise.all(this.#underWay)
  }

  #laneOf(type: string): Lane<T> {
    const known = this.#lanes.get(type)
    if (known !== undefined) return known
    const lane: Lane<T> = { waiting: [], running: 0, hasMore: false }
    this.#lanes.set(type, lane)
    return lane
  }

  #begin(lane: Lane<T>): void {
    while (lane.running < atOnce && lane.waiting.length > 0) {
      const { name, one } = lane.waiting.shift()!
      lane.running++
      const sweeping = this.#options.sweep(one).finally(() => {
        lane.running--
        this.#names.delete(name)
        this.#underWay.delete(sweeping)
        this.#begin(lane)
        if (lane.hasMore && lane.waiting.length === 0) {
          lane.hasMore = false
          this.#options.onRoom()
        }
      })
      this.#underWay.add(sweeping)
    }
  }
}
