// A map from positive numbers, of any size a number can be exact in. The usual Map makes an object of each number beyond 31 bits and
// compares them one by one; numbers of resources are such, and they are looked up several times for every command.
// Open addressing with the keys in one block; a deletion closes its gap, so that nothing has to be swept up later.

const firstRoom = 16
/** No key: an empty place. */
const empty = 0

export class NumberMap<Value> {
  #keys = new Float64Array(firstRoom)
  #values = roomFor<Value>(firstRoom)
  #size = 0

  get size(): number {
    return this.#size
  }

  get(key: number): Value | undefined {
    return this.#values[this.#placeOf(key)]
  }

  set(key: number, value: Value): void {
    const place = this.#placeOf(key)
    this.#values[place] = value
    if (this.#keys[place] === key) return
    this.#keys[place] = key
    if (++this.#size * 2 > this.#keys.length) this.#grow()
  }

  delete(key: number): boolean {
    const keys = this.#keys
    const values = this.#values
    let gap = this.#placeOf(key)
    if (keys[gap] === empty) return false
    const mask = keys.length - 1
    // What stands behind moves up, unless that would put it before where it belongs.
    for (let at = (gap + 1) & mask; keys[at] !== empty; at = (at + 1) & mask) {
      const home = hash(keys[at]!) & mask
      if (((at - home) & mask) < ((at - gap) & mask)) continue
      keys[gap] = keys[at]!
      values[gap] = values[at]
      gap = at
    }
    keys[gap] = empty
    values[gap] = undefined
    this.#size--
    return true
  }

  /** Costs next to nothing when it is small, or empty: it may be used again and again instead of being made. */
  clear(): void {
    if (this.#keys.length > firstRoom) {
      this.#keys = new Float64Array(firstRoom)
      this.#values = roomFor(firstRoom)
    } else if (this.#size > 0) {
      for (let place = 0; place < firstRoom; place++) {
        this.#keys[place] = empty
        this.#values[place] = undefined
      }
    }
    this.#size = 0
  }

  /** A list of its own, in no order: the map may change while it is gone through. */
  values(): Value[] {
    const found: Value[] = []
    for (let place = 0; place < this.#keys.length; place++)
      if (this.#keys[place] !== empty) found.push(this.#values[place]!)
    return found
  }

  /** Where the key is, or would be put. */
  #placeOf(key: number): number {
    const keys = this.#keys
    const mask = keys.length - 1
    let place = hash(key) & mask
    for (; keys[place] !== key && keys[place] !== empty; place = (place + 1) & mask);
    return place
  }

  #grow(): void {
    const keys = this.#keys
    const values = this.#values
    this.#keys = new Float64Array(2 * keys.length)
    this.#values = roomFor(2 * keys.length)
    for (let place = 0; place < keys.length; place++) {
      if (keys[place] === empty) continue
      const to = this.#placeOf(keys[place]!)
      this.#keys[to] = keys[place]!
      this.#values[to] = values[place]
    }
  }
}

const roomFor = <Value>(length: number) => Array<Value | undefined>(length).fill(undefined)

/** Both halves count: numbers of resources are alike in the lower one when different processes gave them. */
const hash = (key: number): number => {
  const mixed = Math.imul(key | 0, 0x9e3779b1) ^ Math.imul((key / 2 ** 32) | 0, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
