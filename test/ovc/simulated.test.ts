// Every operation of the catalogue and every healing row in simulation: a crash, a pause past the lease or a lost commit at every
// commit, and lost replies, failures, nonsense and hangs at every call. Everything settles, rules hold at every commit, nothing
// leaks. What is declared and in no story makes the last two tests fail.
import { expect, test } from 'vitest'
import type { Command } from '../../src/decision/command.ts'
import { systematic } from '../../src/testing/explore.ts'
import { outsideMicrotasks } from '../../src/testing/microtasks.ts'
import { Simulator, type Scenario, type ScriptLine } from '../../src/testing/simulation.ts'
import { keepPromises } from '../simulation/keep-promises.ts'
import { ovc } from '../simulation/scenarios.ts'

const usual = {
  account: { enabled: true },
  cloudspace: { enabled: true },
  machine: { verified: true, memory: 1 },
  disk: { size: 1 },
  image: { enabled: true, system: false },
  node: {},
} as const
type Kind = keyof typeof usual
const parents: Partial<Record<Kind, readonly [Kind, string]>> = {
  cloudspace: ['account', 'a'],
  machine: ['cloudspace', 'c'],
  disk: ['account', 'a'],
  image: ['account', 'a'],
}
const parentOf = (kind: Kind) => {
  const parent = parents[kind]
  return parent === undefined ? {} : { parent: { type: `ovc.${parent[0]}`, id: parent[1] } }
}

const line = (at: number, ask: () => Command): ScriptLine => ({ at: at * 1_000, ask })

interface Given {
  readonly links?: Readonly<Record<string, string>>
  readonly properties?: Readonly<Record<string, unknown>>
}

/** It is there already, in this status. */
const put = (kind: Kind, id: string, status: string, { links = {}, properties = {} }: Given = {}): ScriptLine =>
  line(0.1, () => ({
    kind: 'importResource',
    type: `ovc.${kind}`,
    id,
    status,
    properties: { ...usual[kind], ...properties },
    links,
    by: 'someone',
    ...parentOf(kind),
  }))

/** What is asked: `machine m stop`, perhaps with an input; or what is to be made. */
type Ask =
  | string
  | readonly [words: string, input: unknown]
  | { readonly make: string; readonly links?: Given['links'] }

/** One after the other, some seconds apart. */
const asked = (...asks: readonly Ask[]): ScriptLine[] =>
  asks.map((one, index) => {
    const [words, input] = typeof one === 'string' ? [one, undefined] : 'make' in one ? [one.make, undefined] : one
    const [kind, id, operation] = words.split(' ') as [Kind, string, string]
    const links = typeof one === 'object' && 'make' in one ? (one.links ?? {}) : null
    return line(1 + index * 3, () => ({
      kind: 'requestOperation',
      type: `ovc.${kind}`,
      id,
      operation,
      input,
      by: 'someone',
      ...(links === null ? {} : { create: { properties: usual[kind], links, ...parentOf(kind) } }),
    }))
  })

/** So late that the timers of what is left behind have come. */
const later = (words: string, input: unknown): ScriptLine => ({ ...asked([words, input])[0]!, at: 60_000 })

const cloud = [put('account', 'a', 'CONFIRMED'), put('cloudspace', 'c', 'DEPLOYED')]
const onMachine = { links: { machine: 'm' } }
const renamed = { name: 'new' }

const stories: Readonly<Record<string, readonly ScriptLine[]>> = {
  'an account with a cloudspace comes to be': asked(
    { make: 'account a create' },
    ['account a update', renamed],
    { make: 'cloudspace c create' },
    'cloudspace c deploy',
    ['cloudspace c update', renamed],
    { make: 'node n2 create' },
    ['cloudspace c migrate', { node: 'n2' }],
  ),
  'a node and a machine come to be': [
    ...cloud,
    ...asked(
      { make: 'node n1 create' },
      'node n1 update',
      { make: 'machine m create', links: { node: 'n1' } },
      'machine m deploy',
    ),
  ],
  'disks come to be': [...cloud, ...asked({ make: 'disk d model' }, 'disk d build', { make: 'disk e create' })],
  'images come to be': [...cloud, ...asked({ make: 'image i model' }, 'image i build', { make: 'image k create' })],
  'the power of a machine': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    ...asked('machine m pause', 'machine m resume', 'machine m reboot', 'machine m reset', 'machine m stop'),
  ],
  'a machine is started, resized, moved and limited': [
    ...cloud,
    put('node', 'n2', 'ENABLED'),
    put('machine', 'm', 'HALTED'),
    put('disk', 'd', 'ASSIGNED', onMachine),
    ...asked(
      'machine m start',
      ['machine m resize', { memory: 2 }],
      ['machine m migrate', { node: 'n2' }],
      ['machine m limitDisk', { disk: 'd', iops: 5 }],
    ),
  ],
  'a request waits behind a migration': [
    ...cloud,
    put('node', 'n2', 'ENABLED'),
    put('machine', 'm', 'RUNNING'),
    ...asked(['machine m migrate', { node: 'n2' }]),
    { ...asked('machine m stop')[0]!, at: 1_005 },
  ],
  'disks are made on a machine': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('disk', 'd', 'MODELED', onMachine),
    ...asked('disk d buildOn', { make: 'disk e createOn', ...onMachine }),
  ],
  'disks are attached, resized, detached and deleted': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('disk', 'd', 'CREATED'),
    ...asked(['disk d attach', { machine: 'm' }], ['disk d resize', { size: 2 }], 'disk d detach', 'disk d delete'),
  ],
  'an attached disk is deleted, restored and destroyed': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('disk', 'd', 'ASSIGNED', onMachine),
    ...asked('disk d delete', 'disk d restore', 'disk d destroy'),
  ],
  'disks that are loose, abandoned and left to the destroyer': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('machine', 'gone', 'DESTROYED'),
    put('disk', 'd', 'ASSIGNED', { ...onMachine, properties: { loose: true } }),
    put('disk', 'e', 'ASSIGNED', { links: { machine: 'gone' } }),
    put('disk', 'f', 'TOBEDESTROYED'),
    later('account a update', renamed),
  ],
  'a clone and an image are made from a machine': [
    ...cloud,
    put('machine', 'm', 'HALTED'),
    put('machine', 'k', 'VIRTUAL', { links: { original: 'm' } }),
    put('image', 'i', 'VIRTUAL', { links: { source: 'm' } }),
    ...asked('machine k deploy', 'image i build'),
  ],
  'an image is disabled, enabled, deleted, restored and destroyed': [
    ...cloud,
    put('image', 'i', 'CREATED'),
    ...asked('image i disable', 'image i enable', 'image i delete', 'image i restore', 'image i destroy'),
  ],
  'a machine is deleted, restored and destroyed with its disk': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('disk', 'd', 'ASSIGNED', onMachine),
    ...asked('machine m delete', 'machine m restore', 'machine m destroy'),
  ],
  'a cloudspace is paused, resumed and reset': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    ...asked('cloudspace c pause', 'cloudspace c resume', 'cloudspace c reset'),
  ],
  'a cloudspace is disabled, enabled, deleted and restored': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    ...asked(
      'cloudspace c disable',
      'cloudspace c enable',
      ['cloudspace c delete', { withMachines: true }],
      'cloudspace c restore',
    ),
  ],
  'an account is disabled, enabled, deleted and restored': [
    ...cloud,
    put('machine', 'm', 'RUNNING'),
    put('image', 'i', 'CREATED'),
    ...asked('account a disable', 'account a enable', 'account a delete', 'account a restore', 'cloudspace c restore'),
  ],
  'an account is destroyed with all that it owns': [
    ...cloud,
    put('machine', 'm', 'RUNNING', { links: { image: 'i' } }),
    put('image', 'i', 'CREATED'),
    put('disk', 'd', 'ASSIGNED', onMachine),
    put('disk', 'e', 'CREATED'),
    ...asked('account a destroy'),
  ],
  'a node is emptied, enabled and taken away': [
    ...cloud,
    put('node', 'n1', 'ENABLED'),
    put('node', 'n2', 'ENABLED'),
    put('machine', 'm', 'RUNNING', { links: { node: 'n1' } }),
    ...asked(
      ['node n1 maintain', { machines: 'stop' }],
      'node n1 enable',
      ['node n1 maintain', { machines: 'move' }],
      'node n1 decommission',
    ),
  ],
}

/** As a power cut leaves them: one of each status that nobody carries out. */
const found = (kind: Kind, statuses: readonly string[], given: Given = {}): ScriptLine[] =>
  statuses.map((status) => put(kind, `${kind}-${status}`, status, given))

const transitional = (kind: Kind): string[] =>
  [...plans.get(`ovc.${kind}`)!.kinds].filter(([, is]) => is === 'transitional').map(([status]) => status)

const { plans } = new Simulator(ovc)
const ofMachines = transitional('machine')
const powerCuts: Readonly<Record<string, readonly ScriptLine[]>> = {
  'accounts after a power cut': found('account', transitional('account')),
  'cloudspaces after a power cut': [cloud[0]!, ...found('cloudspace', transitional('cloudspace'))],
  'machines after a power cut, one half': [...cloud, ...found('machine', ofMachines.slice(0, 10))],
  'machines after a power cut, the other half': [...cloud, ...found('machine', ofMachines.slice(10))],
  'disks after a power cut': [
    ...cloud,
    put('machine', 'm', 'HALTED'),
    ...found('disk', transitional('disk'), onMachine),
  ],
  'images after a power cut': [cloud[0]!, ...found('image', transitional('image'))],
  'nodes after a power cut': [put('node', 'n2', 'ENABLED'), ...found('node', transitional('node'))],
}

const scenarioOf = (name: string, script: readonly ScriptLine[]): Scenario => ({
  ...ovc,
  name,
  script,
  results: { 'ovc.node.findRoom': () => ({ node: 'n2' }) },
})

const succeeded = new Set<string>()
const healed = new Set<string>()

test.each(Object.entries({ ...stories, ...powerCuts }))('%s', async (name, script) => {
  const simulator = new Simulator(scenarioOf(name, script))
  const all = await outsideMicrotasks(() => systematic(simulator, false))
  expect(all.length).toBeGreaterThan(10)
  expect(await keepPromises(simulator, all)).toBe(all.length)
  const quiet = await outsideMicrotasks(() => simulator.run({ seed: 0, choices: {} }))
  for (const one of quiet.succeeded) succeeded.add(one)
  for (const one of quiet.healed) healed.add(one)
})

test('every operation that is declared ends well in one of the stories above', () => {
  const declared = plans.all.flatMap(({ type, operations }) => [...operations.keys()].map((name) => `${type}.${name}`))
  expect(declared.length).toBeGreaterThan(50)
  expect(declared.filter((one) => !succeeded.has(one))).toEqual([])
})

test('in every status that has a healing row, something was healed in one of the stories above', () => {
  // A stack moves with its node in every commit, and comes in with it: there is none that is stuck by itself.
  const leading = plans.all.filter(({ type }) => type !== 'ovc.stack')
  const declared = leading.flatMap(({ type, heal }) => [...heal.keys()].map((status) => `${type} ${status}`))
  expect(declared.length).toBeGreaterThan(50)
  expect(declared.filter((one) => !healed.has(one))).toEqual([])
})
