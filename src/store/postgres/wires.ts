// A few connections of one kind, opened when they are needed and replaced when they fail.
import { systemClock } from '../../base/clock.ts'
import { HomeostatError } from '../../base/errors.ts'
import { closeMs, type Wire } from './wire.ts'

const closed = () => new HomeostatError('store_unavailable', 'The store is closed. Open it again.')

/** One is carried out, the next lies ready. More would only wait for longer. */
const sharersMost = 2

export class Wires {
  private readonly open: (givenUp: AbortSignal) => Promise<Wire>
  private readonly size: number
  private readonly free: Wire[] = []
  private readonly waiting: ((wire: Wire | null) => void)[] = []
  private readonly all = new Set<Wire>()
  /** How many share each of those that are shared. */
  private readonly sharing = new Map<Wire, number>()
  private opening = 0
  /** What close waits for: connections on their way. */
  private readonly underWay = new Set<Promise<Wire>>()
  /** Closing waits for them no longer. */
  private readonly givenUp = new AbortController()
  private isClosed = false

  /** Opening ends early when the signal that it is given fires. */
  constructor(open: (givenUp: AbortSignal) => Promise<Wire>, size: number) {
    this.open = open
    this.size = size
  }

  /** Opens the first ones ahead of their use. */
  async warm(count = 1): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.use(() => Promise.resolve())))
  }

  get isBusy(): boolean {
    return this.free.length === 0 && this.all.size + this.opening >= this.size
  }

  async use<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    const wire = await this.take()
    try {
      return await work(wire)
    } finally {
      this.give(wire)
    }
  }

  /** The same for work that is one pipeline: two of them may have one connection, the second behind the first. */
  async share<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    const wire = this.sharable() ?? this.takeFree() ?? (await this.take())
    this.sharing.set(wire, (this.sharing.get(wire) ?? 0) + 1)
    try {
      return await work(wire)
    } finally {
      const others = this.sharing.get(wire)! - 1
      if (others > 0) this.sharing.set(wire, others)
      else {
        this.sharing.delete(wire)
        this.give(wire)
      }
    }
  }

  private sharable(): Wire | undefined {
    for (const [wire, sharers] of this.sharing) if (wire.isOpen && sharers < sharersMost) return wire
    return undefined
  }

  async close(): Promise<void> {
    this.isClosed = true
    for (const resolve of this.waiting.splice(0)) resolve(null)
    const cancel = systemClock.after(closeMs, () => this.givenUp.abort())
    await Promise.allSettled([...[...this.all].map((wire) => wire.close()), ...this.underWay])
    cancel()
    this.all.clear()
    this.free.length = 0
  }

  private async take(): Promise<Wire> {
    for (;;) {
      if (this.isClosed) throw closed()
      const wire = this.takeFree()
      if (wire !== undefined) return wire
      if (this.all.size + this.opening < this.size) {
        const added = this.add()
        this.underWay.add(added)
        return added.finally(() => this.underWay.delete(added))
      }
      const given = await new Promise<Wire | null>((resolve) => this.waiting.push(resolve))
      if (given?.isOpen) return given
      if (given !== null) this.all.delete(given)
    }
  }

  private takeFree(): Wire | undefined {
    while (!this.isClosed) {
      const wire = this.free.pop()
      if (wire === undefined || wire.isOpen) return wire
      this.all.delete(wire)
    }
    return undefined
  }

  private async add(): Promise<Wire> {
    this.opening++
    try {
      const wire = await this.open(this.givenUp.signal)
      if (this.isClosed) {
        // Nobody else would close it: it was still on its way.
        await wire.close().catch(() => {})
        throw closed()
      }
      this.all.add(wire)
      return wire
    } catch (error) {
      // Whoever waits may try by itself.
      this.waiting.shift()?.(null)
      throw error
    } finally {
      this.opening--
    }
  }

  private give(wire: Wire): void {
    const next = this.waiting.shift()
    if (!wire.isOpen) {
      this.all.delete(wire)
      next?.(null)
    } else if (next !== undefined) next(wire)
    else this.free.push(wire)
  }
}
