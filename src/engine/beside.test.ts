// Records and journal entries that come with a command: in the same commit, or not at all.
import { describe, expect, test } from 'vitest'
import { createBench, type Process } from '../testing/engine-bench.ts'
import type { BesideOf } from './beside.ts'

const importBox = (process: Process, id: string, beside: BesideOf) =>
  process.engine.submit(
    { kind: 'importResource', type: 'bench.box', id, status: 'Ready', properties: { size: 1 }, by: 'test' },
    beside,
  )

const note = (key: string, from: number): BesideOf => {
  return ({ resource }) => ({ records: [{ kind: 'note', key, from, to: resource.id }], journal: [resource.id] })
}

describe.each([
  ['a store in this process', false],
  ['a store that answers later', true],
])('with %s', (_distance, isFar) => {
  test('a command and what comes with it are one commit; of two that change the same record one is refused whole', async () => {
    const process = createBench(isFar).open()
    const { engine } = process
    await engine.start()
    const decisions = await Promise.all([
      importBox(process, 'one', note('a', 0)),
      importBox(process, 'two', note('b', 0)),
      importBox(process, 'three', note('a', 0)),
    ])
    expect(decisions.map((decision) => decision.accepted || decision.rejection.code)).toEqual([
      true,
      true,
      'record_conflict',
    ])
    expect(await engine.get('bench.box', 'three')).toBeNull()
    expect((await engine.records('note')).map(({ key, value, version }) => [key, value, version])).toEqual([
      ['a', 'one', 1],
      ['b', 'two', 1],
    ])
    expect((await engine.journal(0)).map(({ value }) => value)).toEqual(['one', 'two'])
    await engine.stop()
  })

  test('what comes with a refused command is not written', async () => {
    const process = createBench(isFar).open()
    const { engine } = process
    await engine.start()
    await importBox(process, 'one', note('a', 0))
    const again = await importBox(process, 'one', note('b', 0))
    expect(again.accepted).toBe(false)
    expect(await engine.record('note', 'b')).toBeNull()
    expect(await engine.writeBeside({ records: [{ kind: 'note', key: 'a', from: 0, to: 1 }] })).toBe(false)
    expect(await engine.writeBeside({ records: [{ kind: 'note', key: 'a', from: 1, to: 2 }], journal: ['x'] })).toBe(
      true,
    )
    expect((await engine.journal(0)).map(({ value }) => value)).toEqual(['one', 'x'])
    await engine.stop()
  })
})
