// Who wants to hear that something may have been written: the same for every store.

export class Listeners {
  private readonly all = new Set<() => void>()

  /** The answer takes it back. The same function given twice is two listeners. */
  add(wake: () => void): () => void {
    const listener = () => wake()
    this.all.add(listener)
    return () => void this.all.delete(listener)
  }

  wake(): void {
    for (const wake of this.all) wake()
  }

  clear(): void {
    this.all.clear()
  }
}
