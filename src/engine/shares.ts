// How many of the commands that wait make the next batch, for a store that takes several at once: it is kept busy when it always has one
// batch while the door decides another, and nothing is lost between them when both are alike in size and kind.
//
// So what is in hand is cut into shares that stay as they are: all that waits, while another batch is on its way. While none is, whatever was
// on its way has landed too, and perhaps only a part of what comes of it is here yet. Then a share of what was in hand lately is taken. (A
// share of what waits would be a quarter of all, the rest would join others, and from then on small batches take turns with large
// ones, of several kinds: a sixth fewer operations a second on PostgreSQL.)

/** Fewer commands than this are not split. */
const worthSplitting = 100

export class Shares {
  /** Commands in hand (waiting or on their way) when the latest batches were taken. */
  private readonly inHand: number[] = []

  /** How many of `waiting` commands are taken, while `flying` are on their way to a store that takes so many batches `atOnce`. */
  next(waiting: number, flying: number, atOnce: number): number {
    this.inHand.push(waiting + flying)
    // Each share has been taken twice by then: what is in hand has really become less.
    while (this.inHand.length > 2 * atOnce) this.inHand.shift()
    if (flying > 0 || waiting <= worthSplitting) return waiting
    return Math.min(waiting, Math.ceil(Math.max(...this.inHand) / atOnce))
  }
}
