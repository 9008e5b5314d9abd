// Seeds and strikes that once broke a promise, each with a line on what it was. They stay for ever.
import type { Conditions } from '../../src/testing/simulation.ts'

export interface Regression {
  readonly scenario: string
  readonly conditions: Conditions
  readonly was: string
}

const seed = (scenario: string, number: number, was: string): Regression => ({
  scenario,
  conditions: { seed: number, isSwarm: true },
  was,
})

export const regressions: readonly Regression[] = [
  seed('readme', 1, 'G1: a delete that hung was never called again; its next round had the name of the hanging call'),
  seed('readme', 260, 'G6: a call began when the interrupted one ended, from knowledge 150 ms old'),
  seed(
    'readme',
    921,
    'G6: a worker that had stood still after its commit began the next call of a run that was deleted',
  ),
  seed('readme', 1071, 'G1: a heal row that only attempts was healed for ever once its budget was spent'),
  seed('blazar', 25, 'a near store that threw while a call was prepared left the call begun for ever'),
  seed('pairs', 0, 'the leader of a pair could not be created: the decision never stopped asking for facts'),
  seed('lab', 181, 'a call with the same name began while the one before was under way'),
  {
    scenario: 'ovc machine and disk',
    conditions: { seed: 0, choices: {}, strikes: [{ at: 'call', n: 8, fault: 'terminal' }] },
    was: 'a decision threw when an item of a forEach step failed',
  },
]
