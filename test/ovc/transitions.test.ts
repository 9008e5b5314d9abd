// Table 4.2 of the specification: every transition, its failure, and every request in every other status.
import { edgesOf } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { CloudTable, type Kind } from './cloud-table.ts'
import { at, rows } from './transition-rows.ts'
import { ovc } from '../../catalogues/ovc/index.ts'

const entered = (t: CloudTable, x: string): string[] => t.eventsOf(x).map(({ to }) => to)

describe('4.2: every transition', () => {
  const transitions = rows.map(
    (row) => [`a ${row[0]} is asked to ${row[1]}: ${row[2]}, ${row[3]}, ${row[4]}`, row] as const,
  )
  test.each(transitions)('%s', (_words, [kind, operation, from, via, to, , more = {}]) => {
    const { t, x } = at(kind, from, more.put)
    t.request(x, operation, more.input)
    expect(t.status(x)).toBe(via)
    t.finishAll()
    expect(t.status(x)).toBe(to)
    expect(entered(t, x)).toContain(via)
    if (kind === 'node') expect(t.status('ovc.stack/x')).toBe(to)
  })

  const failures = rows
    .filter(([kind]) => kind !== 'account')
    .map((row) => [`a ${row[0]} whose ${row[1]} fails goes from ${row[2]} to ${row[5]}`, row] as const)
  test.each(failures)('%s', (_words, [kind, operation, from, , , failed, more = {}]) => {
    const { t, x } = at(kind, from, more.put)
    t.request(x, operation, more.input)
    // The first call of the run, or of the run it asked for, fails for good; what is to be undone then succeeds.
    t.failed(t.owed()[0]!.resource, 'no power')
    t.finishAll()
    expect(t.status(x)).toBe(failed)
    if (kind === 'node') expect(t.status('ovc.stack/x')).toBe(failed)
  })

  test.each([
    ['update', 'CONFIRMED', 'CONFIRMED'],
    ['disable', 'CONFIRMED', 'CONFIRMED'],
    ['delete', 'CONFIRMED', 'CONFIRMED'],
    ['delete', 'DISABLED', 'DISABLED'],
    ['restore', 'DELETED', 'DELETED'],
    ['destroy', 'DELETED', 'DELETED'],
  ])('an account whose %s fails goes back to %s', (operation, from, back) => {
    const { t, x } = at('account', from)
    t.request(x, operation, operation === 'update' ? { name: 'new' } : undefined)
    t.failed(t.owed()[0]!.resource, 'no power')
    t.finishAll()
    expect(t.status(x)).toBe(back)
    expect(t.get(x).description).toContain('no power')
  })

  test('properties change with the status: names, enabled, sizes, limits, memory, nodes', () => {
    const { t } = at('machine', 'HALTED')
    t.carryOut('a', 'update', { name: 'Ann' })
    t.carryOut('c', 'update', { name: 'Space' })
    t.carryOut('ovc.machine/x', 'resize', { memory: 2048 })
    t.carryOut('ovc.machine/x', 'limitDisk', { disk: 'd', iops: 300 })
    t.carryOut('ovc.machine/x', 'migrate', { node: 'n2' })
    t.carryOut('d', 'resize', { size: 30 })
    expect(t.get('a').properties).toMatchObject({ name: 'Ann' })
    expect(t.get('c').properties).toMatchObject({ name: 'Space' })
    expect(t.get('ovc.machine/x')).toMatchObject({
      properties: { memory: 2048 },
      links: { node: t.get('ovc.node/n2').no },
    })
    expect(t.get('d').properties).toMatchObject({ iops: 300, size: 30 })
    expect(t.carryOut('c', 'disable')).toBe('DISABLED')
    expect(t.get('c').properties).toMatchObject({ enabled: false })
    t.put('image', 'i', 'CREATED')
    expect(t.carryOut('i', 'disable')).toBe('DISABLED')
    expect(t.get('i').properties).toMatchObject({ enabled: false })
  })

  test('what is created begins in its first status', () => {
    const t = new CloudTable()
    const made = (kind: Kind, id: string, operation: string, parent: string | null, more = {}) =>
      t.create(`ovc.${kind}`, id, { operation, ...(parent ? { parent: { no: t.get(parent).no } } : {}), ...more })
        .status
    expect(made('account', 'b', 'create', null, { properties: { enabled: true } })).toBe('CONFIRMED')
    expect(made('cloudspace', 'd', 'create', 'a', { properties: { enabled: true } })).toBe('VIRTUAL')
    expect(made('machine', 'm', 'create', 'c', { properties: { verified: true, memory: 1 } })).toBe('VIRTUAL')
    expect(made('disk', 'k', 'model', 'a', { properties: { size: 1 } })).toBe('MODELED')
    expect(made('disk', 'l', 'create', 'a', { properties: { size: 1 } })).toBe('CREATING')
    expect(made('image', 'i', 'model', 'a', { properties: { enabled: true, system: false } })).toBe('VIRTUAL')
    expect(made('image', 'j', 'create', 'a', { properties: { enabled: true, system: false } })).toBe('CREATING')
    expect(made('node', 'o', 'create', null)).toBe('ENABLED')
    t.failed('j', 'no template')
    t.failed('l', 'no space')
    t.finishAll()
    expect(t.statuses('j', 'l', 'ovc.stack/o')).toEqual(['DESTROYED', 'TOBEDESTROYED', 'ENABLED'])
  })

  test('what is created is enabled until somebody disables it; sizes that cannot be are refused', () => {
    const t = new CloudTable()
    const parent = { no: t.get('a').no }
    const space = { no: t.get('c').no }
    t.create('ovc.account', 'plain', { properties: {} })
    expect(t.get('plain').properties).toEqual({ enabled: true, name: '' })
    t.create('ovc.machine', 'm', { parent: space, properties: { memory: 64 } })
    expect(t.get('m').properties).toMatchObject({ verified: true })
    for (const [type, operation, more] of [
      ['ovc.account', 'create', {}],
      ['ovc.cloudspace', 'create', { parent }],
      ['ovc.image', 'create', { parent }],
      ['ovc.image', 'model', { parent }],
    ] as const) {
      const { message } = t.refused(t.creating(type, 'off', { operation, properties: { enabled: false }, ...more }))
      expect(message).toBe(`Cannot ${operation} ${type} off: it needs that it begins enabled: disable it afterwards.`)
    }
    for (const size of [0, -3])
      expect(t.refused(t.creating('ovc.disk', 'd', { parent, properties: { size } })).message).toContain('size: ')
    for (const memory of [0, -5, 0.5])
      expect(t.refused(t.creating('ovc.machine', 'n', { parent: space, properties: { memory } })).message).toContain(
        'memory: ',
      )
  })

  test('a disk by itself is made for no machine: it could not be deleted once that machine is in the bin', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING')
    const links = { machine: 'm' }
    const asked = { parent: { no: t.get('a').no }, properties: { size: 1 }, links }
    const reason = 'it needs that it is made for no machine (createOn and buildOn make one on its machine).'
    expect(t.refused(t.creating('ovc.disk', 'e', asked)).message).toBe(`Cannot create ovc.disk e: ${reason}`)
    t.put('disk', 'd', 'MODELED', { links: { machine: 'm' } })
    expect(t.whyNot('d', 'build')).toBe(`Cannot build ovc.disk d: ${reason}`)
    expect(t.carryOut('d', 'buildOn')).toBe('ASSIGNED')
  })

  test('no edge leaves a terminal status, and every status is in some edge', () => {
    for (const lifecycle of Object.values(ovc)) {
      const edges = edgesOf(lifecycle, Object.values(ovc))
      const { statuses } = lifecycle.resource as unknown as { statuses: Record<string, Record<string, string>> }
      for (const [kind, names] of Object.entries(statuses))
        for (const status of Object.keys(names)) {
          const name = `${lifecycle.resource.type} ${status}`
          expect([name, edges.some(({ from, to }) => from === status || to === status)]).toEqual([name, true])
          if (kind === 'terminal') expect(edges.filter(({ from, to }) => from === status && to !== status)).toEqual([])
        }
    }
  })
})

describe('requests per status', () => {
  const operations = new Map<string, Set<string>>()
  for (const [kind, operation, from] of rows) {
    const key = `${kind} ${operation}`
    operations.set(key, (operations.get(key) ?? new Set()).add(from))
  }

  test.each([...operations])('%s is refused in every other status, with the status and the reason', (key, allowed) => {
    const [kind, operation] = key.split(' ') as [Kind, string]
    const { statuses } = ovc[kind].resource as unknown as { statuses: Record<string, Record<string, string>> }
    const input = rows.find((row) => row[0] === kind && row[1] === operation)![6]?.input
    for (const status of Object.values(statuses).flatMap((names) => Object.keys(names))) {
      // A second one succeeds and does nothing (upstream.test.ts).
      const isNoop =
        (operation === 'delete' && status === 'DELETED') ||
        (['delete', 'destroy'].includes(operation) && status === 'DESTROYED')
      if (allowed.has(status) || isNoop) continue
      const { t, x } = at(kind, status, rows.find((row) => row[0] === kind && row[1] === operation)![6]?.put)
      const { code, message } = t.refused(t.asking(x, operation, input))
      expect(['operation_not_allowed', 'requirement_not_met', 'operation_in_progress']).toContain(code)
      expect(message).toContain(`Cannot ${operation} ovc.${kind} x: it `)
    }
  })

  test('a request while a run is under way is refused with the status and the run', () => {
    const { t, x } = at('cloudspace', 'VIRTUAL')
    t.request(x, 'deploy')
    expect(t.whyNot(x, 'delete')).toMatch(
      /Cannot delete ovc.cloudspace x: it is DEPLOYING \(run .* of deploy is under way\)/,
    )
  })

  test.each([
    ['machine', 'RUNNING', 'stop', 'HALTED'],
    ['cloudspace', 'DEPLOYED', 'disable', 'DISABLED'],
  ] as const)('one request may wait behind the migration of a %s, and no second one', (kind, from, operation, to) => {
    const { t, x } = at(kind, from)
    t.request(x, 'migrate', { node: 'n2' })
    expect(t.request(x, operation)).toMatchObject({ begun: 0, resource: { status: 'MIGRATING' } })
    expect(t.whyNot(x, 'reset')).toContain('it is MIGRATING (run')
    t.finishAll()
    expect(t.status(x)).toBe(to)
    expect(entered(t, x)).toContain('MIGRATING')
  })

  test('a request that waits behind a migration is judged when its turn comes, also after a failed or healed one', () => {
    const { t, x } = at('machine', 'HALTED')
    t.request(x, 'migrate', { node: 'n2' })
    t.request(x, 'pause')
    t.failed(x, 'no route')
    expect(t.get(x)).toMatchObject({ status: 'HALTED', run: null, queue: [] })
    expect(t.eventsOf(x).find(({ kind }) => kind === 'dropped')?.detail?.['reason']).toContain('it is HALTED')
    t.request(x, 'migrate', { node: 'n2' })
    t.request(x, 'start')
    t.heal(x)
    t.answered(x, 'halted')
    expect(t.status(x)).toBe('STARTING')
  })

  test('migration is queued behind what is under way', () => {
    const { t, x } = at('machine', 'RUNNING')
    t.request(x, 'pause')
    t.request(x, 'migrate', { node: 'n2' })
    expect(t.status(x)).toBe('PAUSING')
    t.done(x)
    expect(t.status(x)).toBe('MIGRATING')
    t.done(x)
    expect(t.status(x)).toBe('PAUSED')
  })
})
