// The suite that every store must pass: tests for each promise of the port, S1 to S15, by number.
// It is given the test functions, so that importing it needs no test runner.
import type { MaybePromise, Store } from '../store/store.ts'
import { compareWithModel } from './store-differential.ts'
import { processPromises } from './store-process-promises.ts'
import { commitPromises } from './store-promises.ts'
import { recordPromises } from './store-record-promises.ts'
import { sampleKinds } from './store-samples.ts'
import type { Suite, Tested } from './store-suite.ts'
import { tenantPromises } from './store-tenant-promises.ts'

/** One store, empty at first, on which several handles can be opened: each stands for a process. */
export interface StoreUnderTest {
  open(): MaybePromise<Store>
  /** The process behind a handle is gone, without a goodbye. */
  crash(store: Store): MaybePromise<void>
  /** Closes and removes everything. */
  remove(): MaybePromise<void>
}

export interface ConformanceOptions {
  readonly name: string
  readonly create: () => MaybePromise<StoreUnderTest>
  /** Promises that the store does not keep, and why. */
  readonly skip?: readonly { readonly promise: string; readonly reason: string }[]
  /** Seeds of the random comparison with the memory store. */
  readonly seeds?: readonly number[]
  readonly test: {
    (name: string, body: () => Promise<void>): unknown
    skip(name: string, body: () => Promise<void>): unknown
  }
  readonly expect: (value: unknown) => { toEqual(expected: unknown): void }
}

export function storeConformance(options: ConformanceOptions): void {
  const { name, create, skip = [], seeds = [1, 2, 3], expect } = options
  const test: Suite['test'] = (title, body) => {
    const promise = title.slice(0, title.indexOf(' '))
    const reason = skip.find((one) => one.promise === promise)?.reason
    const run = async () => {
      const under = await create()
      try {
        await body(tested(under))
      } finally {
        await under.remove()
      }
    }
    if (reason === undefined) options.test(`${title} (${name})`, run)
    else options.test.skip(`${title} (${name}: ${reason})`, run)
  }

  commitPromises({ test, expect })
  processPromises({ test, expect })
  recordPromises({ test, expect })
  tenantPromises({ test, expect })
  for (const seed of seeds) {
    test(`S10 all answers agree with the memory store, seed ${seed}`, async (under) => {
      await compareWithModel([await under.open()], seed, 120)
    })
    test(`S12 all answers agree with the memory store over three handles, seed ${seed}`, async (under) => {
      await compareWithModel([await under.open(), await under.open(), await under.open()], seed + 1000, 120)
    })
  }
}

function tested(under: StoreUnderTest): Tested {
  return {
    async open() {
      const store = await under.open()
      await store.useKinds(sampleKinds)
      return store
    },
    async crash(store) {
      await under.crash(store)
    },
  }
}
