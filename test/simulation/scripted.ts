// Scenarios that always ask the same: for the systematic layer, which strikes at every commit and every call of them.
import type { Command } from '../../src/decision/command.ts'
import type { Scenario, ScriptLine } from '../../src/testing/simulation.ts'
import { beginning } from '../../src/testing/simulated-clock.ts'
import { blazar, boxesAndItems, cascades, lab, opensds, ovc, pairs, readme, sahara } from './scenarios.ts'

/** Of one type: what is asked of it, by seconds after the beginning. */
const create = (
  at: number,
  type: string,
  id: string,
  more: Partial<Extract<Command, { kind: 'requestOperation' }>> = {},
): ScriptLine => ({
  at: at * 1_000,
  ask: () => ({ kind: 'requestOperation', type, id, operation: 'create', by: 'someone', ...more }),
})

const operate = (
  at: number,
  type: string,
  id: string,
  operation: string,
  more: Partial<Extract<Command, { kind: 'requestOperation' }>> = {},
): ScriptLine => ({
  at: at * 1_000,
  ask: () => ({ kind: 'requestOperation', type, id, operation, by: 'someone', ...more }),
})

const bringIn = (at: number, type: string, id: string, status: string, properties: unknown): ScriptLine => ({
  at: at * 1_000,
  ask: () => ({ kind: 'importResource', type, id, status, properties, by: 'someone' }),
})

const scripted = (of: Scenario, name: string, script: readonly ScriptLine[]): Scenario => ({ ...of, name, script })

const database = { create: { properties: { sizeGb: 1 } } }

export const scriptedScenarios: readonly Scenario[] = [
  scripted(readme, 'readme life', [
    create(0.1, 'shop.database', 'a', database),
    operate(2, 'shop.database', 'a', 'grow', { input: { sizeGb: 5 } }),
    operate(4, 'shop.database', 'a', 'delete'),
  ]),
  scripted(readme, 'readme two at once', [
    create(0.1, 'shop.database', 'a', database),
    create(0.1, 'shop.database', 'b', database),
    operate(0.11, 'shop.database', 'a', 'delete'),
    operate(0.15, 'shop.database', 'a', 'delete'),
  ]),
  scripted(readme, 'readme imports', [
    bringIn(0.1, 'shop.database', 'a', 'Creating', { sizeGb: 1 }),
    bringIn(0.1, 'shop.database', 'b', 'Deleting', { sizeGb: 1 }),
    bringIn(0.1, 'shop.database', 'c', 'Growing', { sizeGb: 1 }),
  ]),
  {
    ...scripted(
      readme,
      'readme breaker',
      ['a', 'b', 'c', 'd', 'e'].map((id) => bringIn(0.1, 'shop.database', id, 'Creating', { sizeGb: 1 })),
    ),
    engine: { breakerLimit: 1, healRatePerSecond: 2 },
  },
  scripted(opensds, 'opensds life', [
    create(0.1, 'opensds.volume', 'v', { create: { properties: { size: 1, multiAttach: true } } }),
    operate(1, 'opensds.volume', 'v', 'extend', { input: { size: 3 } }),
    create(2, 'opensds.attachment', 'a', attachment('v', 'h1')),
    create(3, 'opensds.attachment', 'b', attachment('v', 'h2')),
    operate(4, 'opensds.attachment', 'a', 'delete'),
    operate(5, 'opensds.attachment', 'b', 'delete'),
    operate(6, 'opensds.volume', 'v', 'delete'),
  ]),
  scripted(opensds, 'opensds snapshots', [
    create(0.1, 'opensds.volume', 'v', { create: { properties: { size: 1 } } }),
    create(1, 'opensds.snapshot', 's', {
      create: { parent: { type: 'opensds.volume', id: 'v' }, properties: { size: 1 } },
    }),
    operate(2, 'opensds.volume', 'v', 'delete'),
    operate(3, 'opensds.snapshot', 's', 'delete'),
    operate(4, 'opensds.volume', 'v', 'delete'),
  ]),
  scripted(blazar, 'blazar life', [
    create(0.1, 'blazar.lease', 'l', lease(3_000, 9_000, 2)),
    operate(16, 'blazar.lease', 'l', 'delete'),
  ]),
  scripted(blazar, 'blazar update and delete', [
    create(0.1, 'blazar.lease', 'l', lease(2_000, 60_000, 2)),
    operate(4, 'blazar.lease', 'l', 'update', { input: { endDate: beginning + 7_000 } }),
    operate(5, 'blazar.lease', 'l', 'delete'),
  ]),
  scripted(sahara, 'sahara life', [
    create(0.1, 'sahara.cluster', 'c', { create: { properties: cluster(1) } }),
    operate(3, 'sahara.cluster', 'c', 'scale', { input: { counts: { master: 1, worker: 2 } } }),
    operate(6, 'sahara.cluster', 'c', 'delete'),
  ]),
  scripted(sahara, 'sahara forced', [
    create(0.1, 'sahara.cluster', 'c', { create: { properties: cluster(1) } }),
    operate(0.15, 'sahara.cluster', 'c', 'delete', { force: true, reason: 'now' }),
  ]),
  scripted(ovc, 'ovc account', [
    create(0.1, 'ovc.account', 'a', { create: { properties: { enabled: true } } }),
    create(0.2, 'ovc.cloudspace', 's', child('ovc.account', 'a', { enabled: true })),
    operate(0.5, 'ovc.cloudspace', 's', 'deploy'),
    create(1, 'ovc.machine', 'm', child('ovc.cloudspace', 's', { verified: true, memory: 1 })),
    operate(1.5, 'ovc.machine', 'm', 'deploy'),
    operate(2, 'ovc.cloudspace', 's', 'pause', { input: { reason: 'night' } }),
    operate(4, 'ovc.account', 'a', 'destroy', { input: { reason: 'over' } }),
  ]),
  scripted(ovc, 'ovc machine and disk', [
    create(0.1, 'ovc.account', 'a', { create: { properties: { enabled: true } } }),
    create(0.2, 'ovc.cloudspace', 's', child('ovc.account', 'a', { enabled: true })),
    operate(0.4, 'ovc.cloudspace', 's', 'deploy'),
    create(0.6, 'ovc.machine', 'm', child('ovc.cloudspace', 's', { verified: true, memory: 1 })),
    operate(0.8, 'ovc.machine', 'm', 'deploy'),
    create(0.8, 'ovc.disk', 'd', child('ovc.account', 'a', { size: 1 })),
    operate(1.5, 'ovc.disk', 'd', 'attach', { input: { machine: 'm' } }),
    operate(2.5, 'ovc.machine', 'm', 'delete', { input: { reason: 'why' } }),
    operate(4, 'ovc.machine', 'm', 'restore', { input: { reason: 'why' } }),
    operate(6, 'ovc.machine', 'm', 'destroy', { input: { reason: 'why' } }),
  ]),
  scripted(ovc, 'ovc node', [
    create(0.1, 'ovc.node', 'n', { create: { properties: {} } }),
    operate(1, 'ovc.node', 'n', 'maintain', { input: { machines: 'stop' } }),
    operate(2, 'ovc.node', 'n', 'enable'),
    operate(3, 'ovc.node', 'n', 'decommission'),
  ]),
  scripted(lab, 'job life', [
    create(0.1, 'lab.job', 'j', { create: { properties: { size: 1 } }, input: { reason: 'first' } }),
    operate(1, 'lab.job', 'j', 'rest', { input: { reason: 'tired' } }),
    operate(1.01, 'lab.job', 'j', 'tune', { input: { size: 3 } }),
    operate(2, 'lab.job', 'j', 'delete', { input: { reason: 'old' } }),
  ]),
  scripted(lab, 'job forced', [
    create(0.1, 'lab.job', 'j', { create: { properties: { size: 1 } } }),
    operate(0.13, 'lab.job', 'j', 'delete', { force: true, reason: 'now' }),
  ]),
  {
    // All look for orphans so often that they meet at the same one.
    ...scripted(lab, 'job swept by three', [
      create(0.1, 'lab.job', 'j', { create: { properties: { size: 1 } } }),
      operate(0.13, 'lab.job', 'j', 'delete', { force: true, reason: 'now' }),
    ]),
    setting: { isFar: true, processes: 3 },
    engine: { ...lab.engine, sweepEveryMs: 200 },
  },
  scripted(boxesAndItems, 'box life', [
    create(0.1, 'lab.box', 'b', { create: { properties: { label: 'x' } }, input: { items: 2 } }),
    operate(1, 'lab.box', 'b', 'sort'),
    operate(2, 'lab.box', 'b', 'paint', { input: { color: 'red' } }),
    operate(3, 'lab.box', 'b', 'close'),
    operate(4, 'lab.box', 'b', 'delete'),
  ]),
  scripted(boxesAndItems, 'box closed in a hurry', [
    create(0.1, 'lab.box', 'b', { create: { properties: { label: 'x' } }, input: { items: 3 } }),
    operate(1, 'lab.box', 'b', 'sortStrictly'),
    operate(1.05, 'lab.box', 'b', 'delete'),
  ]),
  scripted(cascades, 'cascade', [
    create(0.1, 'lab.crate', 'c', { create: { properties: {} } }),
    operate(1, 'lab.crate', 'c', 'delete'),
  ]),
  scripted(pairs, 'pair life', [
    create(0.1, 'lab.motor', 'm', { create: { properties: {} } }),
    operate(1, 'lab.motor', 'm', 'start'),
    operate(1.01, 'lab.motor', 'm', 'stop'),
    operate(3, 'lab.motor', 'm', 'delete'),
  ]),
]

function attachment(volume: string, hostId: string) {
  return child('opensds.volume', volume, { hostId })
}

function child(type: string, id: string, properties: unknown) {
  return { create: { parent: { type, id }, properties } }
}

function lease(startsIn: number, endsIn: number, count: number) {
  const properties = { startDate: beginning + startsIn, endDate: beginning + endsIn, degraded: false }
  return {
    create: { properties },
    input: { reservations: Array.from({ length: count }, () => ({ resourceType: 'host' })) },
  }
}

function cluster(worker: number) {
  return { counts: { master: 1, worker }, isTransient: false, isProtected: false, unfinishedJobs: 0 }
}
