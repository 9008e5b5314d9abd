// Faults come by seed and in the numbers that a campaign is meant to have.
import { expect, test } from 'vitest'
import { scheduleOf, type FaultKind } from '../../scripts/faults/schedule.ts'
import { leaseMs } from '../../scripts/faults/systems.ts'

const count = (planned: ReturnType<typeof scheduleOf>, ...kinds: FaultKind[]) =>
  planned.filter(({ does }) => kinds.includes(does)).length

test('the same seed is the same schedule, another seed another one', () => {
  expect(scheduleOf(1, 60)).toEqual(scheduleOf(1, 60))
  expect(scheduleOf(1, 60)).not.toEqual(scheduleOf(2, 60))
})

test.each([1, 2, 3])('ten minutes by seed %i are planned to do more than they must', (seed) => {
  const planned = scheduleOf(seed, 600)
  expect(count(planned, 'killWorker')).toBeGreaterThan(130)
  expect(count(planned, 'freezeWorker')).toBeGreaterThan(130)
  expect(count(planned, 'cutCommit')).toBeGreaterThan(900)
  expect(count(planned, 'failOver')).toBeGreaterThan(22)
  expect(count(planned, 'killPrimary', 'killStandby', 'failOver')).toBeGreaterThan(50)
  for (const fault of planned) if (fault.does === 'freezeWorker') expect(fault.ms).toBeGreaterThan(leaseMs)
  expect(planned.map(({ atMs }) => atMs)).toEqual(planned.map(({ atMs }) => atMs).sort((a, b) => a - b))
})

test('only what is wanted', () => {
  expect(new Set(scheduleOf(1, 60, ['stall', 'failOver']).map(({ does }) => does))).toEqual(
    new Set(['stall', 'failOver']),
  )
})
