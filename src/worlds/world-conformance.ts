// The suite that every world must pass: tests for each promise of the port, W1 to W5, by number.
// It is given the test functions, so that importing it needs no test runner.
import { faultPromises } from './conformance-faults.ts'
import { killPromise } from './conformance-kills.ts'
import { thingPromises } from './conformance-things.ts'
import type { World } from './world.ts'

type MaybePromise<T> = T | Promise<T>

/** One world, empty at first, on which several handles can be opened: each stands for a process. */
export interface WorldUnderTest {
  open(): MaybePromise<World>
  /** Lets time pass. */
  pass(ms: number): Promise<void>
  /** Milliseconds by the clock of the world, from any beginning. */
  now(): number
  /**
   * Carries out the story in a process of its own that is killed before its nth step outside of itself. Answers how many calls were
   * finished; null when it came to its end before. Left out: the world has no processes.
   */
  killAt?(step: number): Promise<number | null>
  /** Removes everything. */
  remove(): MaybePromise<void>
}

export interface WorldSuite {
  /** The title starts with the number of the promise. */
  readonly test: (title: string, body: (under: WorldUnderTest) => Promise<void>) => void
  readonly expect: (value: unknown) => { toEqual(expected: unknown): void }
  readonly create: () => MaybePromise<WorldUnderTest>
}

export interface WorldConformanceOptions {
  readonly name: string
  readonly create: () => MaybePromise<WorldUnderTest>
  readonly test: (name: string, body: () => Promise<void>) => unknown
  readonly expect: WorldSuite['expect']
}

export function worldConformance({ name, create, test, expect }: WorldConformanceOptions): void {
  const suite: WorldSuite = {
    expect,
    create,
    test: (title, body) =>
      void test(`${title} (${name})`, async () => {
        const under = await create()
        try {
          await body(under)
        } finally {
          await under.remove()
        }
      }),
  }
  thingPromises(suite)
  faultPromises(suite)
  killPromise(suite)
}
