// Seeds and strikes that once broke a promise, each with a line on what it was. They stay for ever.
import type { Conditions } from '../../src/testing/simulation.ts'

export interface Regression {
  readonly scenario: string
  readonly conditions: Conditions
  readonly was: string
}

const seed = (scenario: string, number: number, was: string): Regression => ({
  scenario,
  // What a server does was not there yet: the choice of one is a later one.
  conditions: { seed: number, isSwarm: true, setting: { server: 'plain' } },
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
  seed(
    'boxes',
    2348,
    'G6: a process that stood still while the facts of a call were loaded began the call without its lease',
  ),
  seed('boxes', 309, 'G1: parked runs took all the room of a worker, and what waited was never claimed'),
  seed('ovc', 794767337, 'G1: the checker took a drift probe, answered while there were faults, for settled'),
  seed('blazar', 900096, 'the door threw when a flight landed while the next batch waited for facts'),
  {
    scenario: 'opensds',
    conditions: {
      seed: 801923,
      isSwarm: true,
      choices: {
        setting: { 1: 1, 3: 1, 7: 5, 9: 2, 14: 1 },
        commit: { 3: 8 },
        store: { 9: 2, 27: 3 },
        call: { 2: 2, 5: 7, 12: 7 },
        workload: { 13: 1, 16: 1, 19: 1, 21: 1, 25: 2, 26: 2, 29: 5, 31: 4, 32: 1, 33: 2 },
        plan: { 0: 5, 1: 2, 2: 3, 4: 5, 8: 3 },
      },
    },
    was: 'the answer of a probe that had hung was taken for the answer of the next one',
  },
  {
    scenario: 'sahara',
    conditions: {
      seed: 1208144,
      isSwarm: true,
      choices: {
        setting: { 0: 2, 5: 3, 9: 2, 15: 1 },
        call: { 14: 9 },
        process: { 2: 1 },
        workload: { 4: 1, 6: 7, 7: 1, 10: 3, 11: 5, 13: 7, 14: 1, 15: 1, 16: 2, 17: 3, 18: 1 },
        results: { 0: 1 },
        plan: { 0: 6, 1: 4, 2: 1, 3: 1 },
      },
    },
    was: 'G1: a child waited to be healed with its parent, which was parked because the child was busy',
  },
  {
    scenario: 'ovc machine and disk',
    conditions: { seed: 0, choices: {}, strikes: [{ at: 'call', n: 8, fault: 'terminal' }] },
    was: 'a decision threw when an item of a forEach step failed',
  },
  {
    scenario: 'blazar',
    conditions: {
      seed: 794792532,
      isSwarm: true,
      stays: 'brief',
      choices: {
        setting: { 1: 2, 3: 1, 9: 2, 10: 1, 14: 1, 15: 2 },
        store: {
          13: 2,
          14: 1,
          18: 2,
          19: 3,
          55: 2,
          60: 2,
          61: 1,
          100: 2,
          106: 2,
          107: 2,
          117: 2,
          118: 1,
          141: 2,
          143: 2,
          144: 2,
          157: 2,
          158: 3,
          168: 2,
          169: 1,
          178: 2,
        },
        call: { 7: 9, 11: 5, 14: 1, 17: 9, 18: 4, 20: 2, 21: 1 },
        workload: { 4: 1, 7: 2, 15: 2, 16: 1, 18: 3 },
        plan: { 0: 3, 1: 2, 2: 2, 4: 4, 6: 2 },
      },
    },
    was: 'G4: a worker whose lease seemed to lapse between two looks was healed away from, though nobody had ended it',
  },
  {
    scenario: 'opensds',
    conditions: { seed: 794775844, isSwarm: true, stays: 'brief' },
    was: 'an explanation whose store threw on the spot left another failure behind that nobody took',
  },
  {
    scenario: 'readme',
    conditions: {
      seed: 794795244,
      isSwarm: true,
      stays: 'brief',
      choices: {
        setting: { 1: 2 },
        commit: { 0: 7, 4: 7, 5: 7, 9: 6, 11: 6 },
        call: { 2: 6, 7: 6 },
        asking: { 0: 2, 3: 1, 4: 1 },
        workload: { 10: 1, 11: 1, 14: 7, 16: 5 },
        plan: { 0: 4, 5: 4 },
      },
    },
    was: 'a sweeper that had stood still past its lease swept what another had taken over',
  },
  {
    scenario: 'boxes',
    conditions: { seed: 794836840, isSwarm: true, stays: 'brief' },
    was: 'the checker threw at a run that was parked and interrupted in one commit; its resource went on telling people to retry it',
  },
]
