// Who goes next when more calls are due than may run: delete before heal before user before background, round-robin between the
// tenants of a lane. Each lane has a floor: room that the others cannot take, so that none starves and delete always gets in.
import { lanes, type Lane } from '../decision/state.ts'

/** What waits in a lane. */
export interface Waiting {
  readonly lane: Lane
  readonly tenant: string
  /** No longer wanted: skipped when its turn comes. */
  readonly isWithdrawn: boolean
}

/** Every so many turns the last lane goes first: with very little room the floors are nothing. */
const turnsBetweenMercy = 8
const floorShare = 1 / 16

class Tenants<W extends Waiting> {
  readonly #queues = new Map<string, { list: W[]; head: number }>()
  size = 0

  add(one: W): void {
    const queue = this.#queues.get(one.tenant)
    if (queue === undefined) this.#queues.set(one.tenant, { list: [one], head: 0 })
    else queue.list.push(one)
    this.size++
  }

  /** The first tenant's next, and that tenant goes to the end of the line. */
  take(): W | null {
    for (const [tenant, queue] of this.#queues) {
      this.#queues.delete(tenant)
      while (queue.head < queue.list.length) {
        const one = queue.list[queue.head++]!
        this.size--
        if (one.isWithdrawn) continue
        if (queue.head < queue.list.length) {
          if (queue.head > 1_000) {
            queue.list = queue.list.slice(queue.head)
            queue.head = 0
          }
          this.#queues.set(tenant, queue)
        }
        return one
      }
    }
    return null
  }
}

export interface LaneFigures {
  readonly lane: Lane
  /** Calls that hold room, and those that wait for it. */
  readonly running: number
  readonly waiting: number
  /** Room that the other lanes cannot take. */
  readonly floor: number
}

export class Lanes<W extends Waiting> {
  readonly #capacity: number
  readonly #floor: number
  readonly #waiting: Readonly<Record<Lane, Tenants<W>>> = {
    delete: new Tenants(),
    heal: new Tenants(),
    user: new Tenants(),
    background: new Tenants(),
  }
  readonly #running: Record<Lane, number> = { delete: 0, heal: 0, user: 0, background: 0 }
  #total = 0
  #turns = 0

  constructor(capacity: number) {
    this.#capacity = Math.max(1, capacity)
    this.#floor = Math.floor(this.#capacity * floorShare)
  }

  /** Calls that hold room. */
  get running(): number {
    return this.#total
  }

  get queued(): number {
    const { delete: deletes, heal, user, background } = this.#waiting
    return deletes.size + heal.size + user.size + background.size
  }

  get figures(): readonly LaneFigures[] {
    return lanes.map((lane) => ({
      lane,
      running: this.#running[lane],
      waiting: this.#waiting[lane].size,
      floor: this.#floor,
    }))
  }

  /** Takes room at once when the lane has some and nobody waits before; else the caller adds it to the line. */
  enter(lane: Lane): boolean {
    if (this.#waiting[lane].size > 0 || !this.#hasRoom(lane)) return false
    this.#take(lane)
    return true
  }

  add(one: W): void {
    this.#waiting[one.lane].add(one)
  }

  /** The next one for which there is room; it holds the room from now on. */
  next(): W | null {
    const inReverse = ++this.#turns % turnsBetweenMercy === 0
    for (let i = 0; i < lanes.length; i++) {
      const lane = lanes[inReverse ? lanes.length - 1 - i : i]!
      const tenants = this.#waiting[lane]
      if (tenants.size === 0 || !this.#hasRoom(lane)) continue
      const one = tenants.take()
      if (one === null) continue
      this.#take(lane)
      return one
    }
    return null
  }

  /** A call has ended. */
  leave(lane: Lane): void {
    this.#running[lane]--
    this.#total--
  }

  #take(lane: Lane): void {
    this.#running[lane]++
    this.#total++
  }

  #hasRoom(lane: Lane): boolean {
    if (this.#total >= this.#capacity) return false
    if (this.#running[lane] < this.#floor) return true
    let kept = 0
    for (const other of lanes) {
      if (other !== lane && this.#running[other] < this.#floor) kept += this.#floor - this.#running[other]
    }
    return this.#total + kept < this.#capacity
  }
}
