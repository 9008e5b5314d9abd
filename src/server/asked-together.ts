// One question for many who ask the same at once. Whoever comes before it is sent has its answer; whoever comes while it is under way
// has that of the next one. So nobody has an answer that is older than his question.
import { nextTurn, type Clock } from '../base/clock.ts'

export class AskedTogether<T> {
  readonly #clock: Clock
  readonly #ask: (key: string) => Promise<T>
  /** Not sent yet. */
  readonly #waiting = new Map<string, Promise<T>>()
  /** Sent, without an answer yet. */
  readonly #underWay = new Map<string, Promise<unknown>>()

  constructor(clock: Clock, ask: (key: string) => Promise<T>) {
    this.#clock = clock
    this.#ask = ask
  }

  get(key: string): Promise<T> {
    const joined = this.#waiting.get(key)
    if (joined !== undefined) return joined
    const asked = this.#turn(key).then(() => this.#send(key))
    this.#waiting.set(key, asked)
    return asked
  }

  /** The end of what is under way; else the next turn of the event loop, so that those come along who are here already. */
  #turn(key: string): Promise<unknown> {
    return this.#underWay.get(key) ?? nextTurn(this.#clock)
  }

  #send(key: string): Promise<T> {
    this.#waiting.delete(key)
    const answer = this.#ask(key)
    const ended = answer.then(
      () => {},
      () => {},
    )
    this.#underWay.set(key, ended)
    void ended.then(() => {
      if (this.#underWay.get(key) === ended) this.#underWay.delete(key)
    })
    return answer
  }
}
