// Orphans that wait to be destroyed, by type of resource. Each type has places of its own: a backend that hangs or fails holds up the
// orphans of its own type, and nobody else's.

export interface OrphansByTypeOptions<T> {
  /** Never fails. */
  readonly sweep: (orphan: T) => Promise<void>
  /** A type that was offered more than it could take has room again. */
  readonly onRoom: () => void
}

interface OfType<T> {
  readonly waiting: { readonly name: string; readonly orphan: T }[]
  running: number
  /** More were offered than it could take. */
  hasMore: boolean
}

const atOnce = 8
const waitingMost = 200

export class OrphansByType<T> {
  readonly #options: OrphansByTypeOptions<T>
  readonly #types = new Map<string, OfType<T>>()
  /** Waiting or being destroyed. */
  readonly #names = new Set<string>()
  readonly #underWay = new Set<Promise<void>>()

  constructor(options: OrphansByTypeOptions<T>) {
    this.#options = options
  }

  /** One that is there already is not taken twice. */
  offer(type: string, name: string, orphan: T): void {
    if (this.#names.has(name)) return
    const own = this.#of(type)
    if (own.waiting.length >= waitingMost) {
      own.hasMore = true
      return
    }
    this.#names.add(name)
    own.waiting.push({ name, orphan })
    this.#begin(own)
  }

  /** What waits is left; resolves when what is under way has ended. */
  async stop(): Promise<void> {
    for (const { waiting } of this.#types.values()) waiting.length = 0
    await Promise.all(this.#underWay)
  }

  #of(type: string): OfType<T> {
    const known = this.#types.get(type)
    if (known !== undefined) return known
    const own: OfType<T> = { waiting: [], running: 0, hasMore: false }
    this.#types.set(type, own)
    return own
  }

  #begin(own: OfType<T>): void {
    while (own.running < atOnce && own.waiting.length > 0) {
      const { name, orphan } = own.waiting.shift()!
      own.running++
      const sweeping = this.#options.sweep(orphan).finally(() => {
        own.running--
        this.#names.delete(name)
        this.#underWay.delete(sweeping)
        this.#begin(own)
        if (own.hasMore && own.waiting.length === 0) {
          own.hasMore = false
          this.#options.onRoom()
        }
      })
      this.#underWay.add(sweeping)
    }
  }
}
