// Whether somebody wants the worker of this process drained: asked of any process of the installation, noticed here within seconds.
import type { Clock } from '../base/clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import { Rhythm } from '../engine/rhythm.ts'
import { padded, type Objects } from './objects.ts'

const everyMs = 3_000

export class DrainWatch {
  readonly #engine: Engine
  readonly #objects: Objects
  readonly #rhythm: Rhythm

  constructor(parts: { readonly engine: Engine; readonly objects: Objects; readonly clock: Clock; readonly log: Log }) {
    this.#engine = parts.engine
    this.#objects = parts.objects
    const { clock, log } = parts
    const pass = () => this.#look()
    this.#rhythm = new Rhythm({ clock, log, name: 'drain watch', pass, gapMs: 1_000, afterFailureMs: everyMs })
  }

  start(): void {
    this.#rhythm.start()
  }

  stop(): Promise<void> {
    return this.#rhythm.stop()
  }

  /** A drain may take as long as the calls under way; the watch goes on meanwhile. */
  async #look(): Promise<number | undefined> {
    if (this.#engine.isDraining) return undefined
    const asked = await this.#objects.get('drain', padded(this.#engine.incarnation))
    if (asked !== null) void this.#engine.drain()
    return everyMs
  }
}
