// Every operation of the catalogue in simulation: a crash, a pause past the lease or a lost commit at commits, and lost replies,
// failures, nonsense and hangs at calls. Everything settles, rules hold at every commit, nothing leaks. Each story tries every
// eleventh of its faults, so that in time each kind is met; the scripted stories of test/simulation try all.
import { expect, test } from 'vitest'
import type { Command } from '../../src/decision/command.ts'
import { systematic } from '../../src/testing/explore.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import { Simulator, type Scenario, type ScriptLine } from '../../src/testing/simulation.ts'
import { keepPromises } from '../simulation/keep-promises.ts'
import { ovc } from '../simulation/scenarios.ts'

const properties = {
  account: { enabled: true },
  cloudspace: { enabled: true },
  machine: { verified: true, memory: 1 },
  disk: { size: 1 },
  image: { enabled: true, system: false },
  node: {},
} as const
type Kind = keyof typeof properties
const parents: Partial<Record<Kind, readonly [Kind, string]>> = {
  cloudspace: ['account', 'a'],
  machine: ['cloudspace', 'c'],
  disk: ['account', 'a'],
  image: ['account', 'a'],
}

const line = (at: number, ask: () => Command): ScriptLine => ({ at: at * 1_000, ask })

const put = (kind: Kind, id: string, status: string, links: Readonly<Record<string, string>> = {}): ScriptLine =>
  line(0.1, () => {
    const parent = parents[kind]
    return {
      kind: 'importResource',
      type: `ovc.${kind}`,
      id,
      status,
      properties: properties[kind],
      links,
      by: 'someone',
      ...(parent === undefined ? {} : { parent: { type: `ovc.${parent[0]}`, id: parent[1] } }),
    }
  })

/** One after the other, some seconds apart: `machine m stop`. */
const asked = (...asks: readonly (string | readonly [string, unknown])[]): ScriptLine[] =>
  asks.map((one, index) => {
    const [words, input] = typeof one === 'string' ? [one, undefined] : one
    const [kind, id, operation] = words.split(' ') as [Kind, string, string]
    return line(1 + index * 3, () => ({
      kind: 'requestOperation',
      type: `ovc.${kind}`,
      id,
      operation,
      input,
      by: 'someone',
    }))
  })

const cloud = [put('account', 'a', 'CONFIRMED'), put('cloudspace', 'c', 'DEPLOYED')]
const stories: Readonly<Record<string, readonly ScriptLine[]>> = {
  'the power of a machine': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    ...asked('machine m pause', 'machine m resume', 'machine m reboot', 'machine m reset', 'machine m stop'),
  ],
  'a machine is started, resized, moved and limited': [
    ...cloud,
    put('node', 'n2', 'ENABLED'),
    put('machine', 'm', 'HALTED'),
    put('disk', 'd', 'ASSIGNED', { machine: 'm' }),
    ...asked(
      'machine m start',
      ['machine m resize', { memory: 2 }],
      ['machine m migrate', { node: 'n2' }],
      ['machine m limitDisk', { disk: 'd', iops: 5 }],
    ),
  ],
  'disks are built, attached, resized, detached and deleted': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('disk', 'd', 'MODELED'),
    ...asked('disk d build', ['disk d attach', { machine: 'm' }], ['disk d resize', { size: 2 }], 'disk d detach'),
  ],
  'an attached disk is deleted, restored and destroyed': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('disk', 'd', 'ASSIGNED', { machine: 'm' }),
    ...asked('disk d delete', 'disk d restore', 'disk d destroy'),
  ],
  'a clone and an image are made from a machine': [
    ...cloud,
    put('machine', 'm', 'HALTED'),
    put('machine', 'k', 'VIRTUAL', { original: 'm' }),
    put('image', 'i', 'VIRTUAL', { source: 'm' }),
    ...asked(
      'machine k deploy',
      'image i build',
      'image i disable',
      'image i enable',
      'image i delete',
      'image i restore',
    ),
  ],
  'a cloudspace is reset, disabled, enabled, deleted and restored': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    ...asked('cloudspace c reset', 'cloudspace c disable', 'cloudspace c enable', [
      'cloudspace c delete',
      { withMachines: true },
    ]),
  ],
  'an account is disabled, enabled, deleted and restored': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('image', 'i', 'CREATED'),
    ...asked('account a disable', 'account a enable', 'account a delete', 'account a restore', 'cloudspace c restore'),
  ],
  'a node is emptied, enabled, updated and taken away': [
    ...cloud,
    put('node', 'n1', 'ENABLED'),
    put('node', 'n2', 'ENABLED'),
    put('machine', 'm', 'RUNNING', { node: 'n1' }),
    ...asked(
      ['node n1 maintain', { machines: 'stop' }],
      'node n1 enable',
      ['node n1 maintain', { machines: 'move' }],
      'node n1 decommission',
    ),
  ],
}

test.each(Object.entries(stories))('%s', async (name, script) => {
  const scenario: Scenario = { ...ovc, name, script, results: { 'ovc.node.findRoom': () => ({ node: 'n2' }) } }
  const simulator = new Simulator(scenario)
  const all = await outsideMicrotasks(() => systematic(simulator, false))
  const some = all.filter((_, index) => index % 11 === 0)
  expect(some.length).toBeGreaterThan(15)
  expect(await keepPromises(simulator, some)).toBe(some.length)
})
