// A failure of the simulator that was written down, read again. Whatever is wrong with the file is said as that.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { didYouMeanOf } from '../src/base/did-you-mean.ts'
import type { Conditions, Scenario } from '../src/testing/simulation.ts'
import { UsageFault } from './options.ts'

export interface Replay {
  readonly scenario: Scenario
  readonly conditions: Conditions
}

/** As the simulator writes it; what it found is in it for people. */
const shape = z.object({
  scenario: z.string(),
  conditions: z.strictObject({
    seed: z.number().int(),
    choices: z.record(z.string(), z.record(z.string(), z.number().int())).optional(),
    strikes: z
      .array(z.strictObject({ at: z.enum(['commit', 'call']), n: z.number().int(), fault: z.string() }))
      .optional(),
    isSwarm: z.boolean().optional(),
    isTold: z.boolean().optional(),
    setting: z.record(z.string(), z.unknown()).optional(),
    eventsMost: z.number().optional(),
    stays: z.enum(['brief', 'usual', 'long']).optional(),
  }),
})

export function readReplay(file: string, scenarios: readonly Scenario[]): Replay {
  const read = shape.safeParse(jsonIn(file))
  if (!read.success) {
    const [first] = read.error.issues
    throw new UsageFault(`${file} is no failure that the simulator wrote: ${first!.path.join('.')}: ${first!.message}.`)
  }
  const { scenario: name, conditions } = read.data
  const scenario = scenarios.find((one) => one.name === name)
  if (scenario !== undefined) return { scenario, conditions: conditions as Conditions }
  const names = scenarios.map((one) => one.name)
  throw new UsageFault(`${file} is of a scenario '${name}', which there is not. ${didYouMeanOf(name, names)}`)
}

function jsonIn(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageFault(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageFault(`${file} is no JSON: ${(error as Error).message}.`, { cause: error })
  }
}
