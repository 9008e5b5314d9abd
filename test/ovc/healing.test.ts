// Table 4.3 of the specification: every row A1..N3 with its resolution, found with a run on record and found without one; the
// statuses that the seed does not cover; the notes C5, M5, D1, D5 and the gaps G1..G7.
import { checkLifecycles } from 'homeostat'
import { describe, expect, test } from 'vitest'
import { CloudTable, type Kind, type Put } from './cloud-table.ts'
import { onMachine, rows, type Row } from './healing-rows.ts'
import { at, rows as transitions } from './transition-rows.ts'
import { ovc } from '../../catalogues/ovc/index.ts'

test('check finds nothing', () => {
  expect(checkLifecycles(Object.values(ovc))).toEqual([])
})

const followUp = (t: CloudTable, x: string): unknown =>
  t.eventsOf(x).find(({ kind, by }) => kind === 'accepted' && by === 'healer')?.detail?.['operation'] ?? ''

function stuck(kind: Kind, status: string, put: Put): { t: CloudTable; x: string } {
  const t = new CloudTable()
  if (kind === 'disk') t.put('machine', 'm', 'RUNNING')
  t.put(kind, 'x', status, put)
  // Something to do, so that the follow-ups take time.
  if (kind === 'account' && status === 'DISABLING') t.put('cloudspace', 'y', 'DEPLOYED', { parent: 'x' })
  if (kind === 'account' && status === 'ENABLING') t.put('cloudspace', 'y', 'PAUSED', { parent: 'x' })
  return { t, x: `ovc.${kind}/x` }
}

describe('4.3: what is found stuck without a run', () => {
  test.each(rows)('%s: a %s in %s with %j (%s) is put to %s %j, then %s', (...row) => {
    const [, kind, status, put, answer, to, set, attempt] = row
    const { t, x } = stuck(kind, status, put)
    t.heal(x, 'unowned')
    if (answer !== '') t.answered(x, answer)
    const healed = t.eventsOf(x).find((event) => event.kind === 'healed')
    expect(healed?.to).toBe(to)
    expect(t.get(x).properties).toMatchObject(set)
    expect(followUp(t, x)).toBe(attempt)
    if (kind === 'node') expect(t.status('ovc.stack/x')).toBe(t.status(x))
    t.finishAll()
    if (kind === 'node') expect(t.status('ovc.stack/x')).toBe(t.status(x))
    expect(t.get(x).run).toBeNull()
  })

  test('property 1: every transitional status of every type has a row, tried above or with D1', () => {
    const tried = new Set(rows.map(([, kind, status]) => `${kind} ${status}`))
    for (const [kind, lifecycle] of Object.entries(ovc)) {
      const { statuses } = lifecycle.resource as unknown as { statuses: { transitional: Record<string, string> } }
      for (const status of Object.keys(statuses.transitional))
        if (kind !== 'stack' && !status.endsWith('_ATTACHED_DISK')) expect(tried).toContain(`${kind} ${status}`)
    }
  })
})

describe('4.3: what loses its owner in the middle of a run', () => {
  /** Rows that the record overrules (G6), and disks that go their own way while their machine shows it (D1). */
  const known: Readonly<Record<string, string>> = {
    'cloudspace VIRTUAL delete': 'VIRTUAL',
    'machine VIRTUAL delete': 'VIRTUAL',
    'node ERROR enable': 'ERROR',
    'node ENABLED decommission': 'ENABLED',
    'disk ASSIGNED delete': 'ASSIGNED',
    'disk ASSIGNED destroy': 'ASSIGNED',
    'disk TOBEDELETED destroy': 'ASSIGNED',
    'disk TOBEDELETED restore': 'ASSIGNED',
  }
  const cut = transitions.map(
    (row) => [`a ${row[0]} that was asked to ${row[1]} from ${row[2]}, and is found in ${row[3]}`, row] as const,
  )
  test.each(cut)('%s', (_words, [kind, operation, from, via, end, , more = {}]) => {
    const isEnabled = from !== 'DISABLED'
    const put = isEnabled ? more.put : { ...more.put, properties: { ...more.put?.properties, enabled: false } }
    const ofRow = (row: Row) => row[1] === kind && row[2] === via
    const table = rows.filter(ofRow)
    const answers = new Set(table.map(([, , , , answer]) => answer))
    for (const answer of answers.size === 0 ? [''] : answers) {
      const { t, x } = at(kind, from, put)
      t.request(x, operation, more.input)
      const { input } = t.get(x).run!
      const { links } = t.get(x)
      t.heal(x)
      if (answer !== '') t.answered(x, answer)
      // Of the rows for this status the one that fits: the disk is plugged in, the account or space is enabled.
      const fits = table.find(
        ([, , , with_, says]) =>
          says === answer &&
          (with_.links === undefined) === (links['machine'] === undefined) &&
          (with_.properties?.['enabled'] !== false) === isEnabled,
      )
      const row = fits ?? table.find(([, , , , says]) => says === answer)
      const to = known[`${kind} ${from} ${operation}`] ?? row?.[5]
      expect(to).toBeDefined()
      expect(t.eventsOf(x).find((event) => event.kind === 'healed')?.to).toBe(to)
      const attempt = row?.[7] ?? ''
      expect(followUp(t, x)).toBe(attempt)
      const run = t.get(x).run
      // G4: what is attempted again is what was asked for.
      if (run !== null) expect(run).toMatchObject({ operation: attempt, by: 'healing', input })
      t.finishAll()
      // Property 6: it ends as if it had not been cut, or where its row puts it.
      expect(t.get(x)).toMatchObject({ run: null, status: attempt === '' ? to : end })
    }
  })

  test.each([
    ['A1', 'account', 'CONFIRMED', 'disable', undefined, 'CONFIRMED'],
    ['A3', 'account', 'CONFIRMED', 'delete', { reason: 'unpaid' }, 'CONFIRMED'],
    ['A4', 'account', 'DELETED', 'restore', { reason: 'paid' }, 'DELETED'],
    ['C3', 'cloudspace', 'DEPLOYED', 'disable', { reason: 'abuse' }, 'DEPLOYED'],
    ['C6', 'cloudspace', 'DEPLOYED', 'delete', { reason: 'old', withMachines: true }, 'PAUSED'],
    ['C9', 'cloudspace', 'DELETED', 'restore', { reason: 'again' }, 'DELETED'],
    ['M4', 'machine', 'RUNNING', 'delete', { reason: 'old' }, 'HALTED'],
    ['M5', 'machine', 'DELETED', 'restore', { reason: 'again' }, 'DELETED'],
    ['I2', 'image', 'DELETED', 'restore', { reason: 'again' }, 'DELETED'],
    ['I3', 'image', 'CREATED', 'delete', { reason: 'old' }, 'CREATED'],
    ['N1', 'node', 'ENABLED', 'maintain', { machines: 'stop' }, 'ENABLED'],
    ['N2', 'node', 'MAINTENANCE', 'enable', undefined, 'MAINTENANCE'],
  ] as const)('%s, G4: the follow-up of a %s from %s, %s, has the original input', (...row) => {
    const [, kind, from, operation, input, to] = row
    const t = new CloudTable()
    t.put(kind, 'x', from)
    const x = `ovc.${kind}/x`
    if (kind === 'account') t.put('cloudspace', 'y', 'DEPLOYED', { parent: x })
    t.request(x, operation, input)
    t.heal(x)
    expect(t.eventsOf(x).find((event) => event.kind === 'healed')?.to).toBe(to)
    expect(t.get(x).run).toMatchObject({ operation, by: 'healing', ...(input ? { input } : {}) })
  })

  test('N3, G6: a node is put back to where it came from, not to the guess of the table', () => {
    for (const from of ['ENABLED', 'MAINTENANCE']) {
      const t = new CloudTable()
      t.put('node', 'x', from)
      t.request('ovc.node/x', 'decommission')
      t.heal('ovc.node/x')
      expect(t.eventsOf('ovc.node/x').find(({ kind }) => kind === 'healed')?.to).toBe(from)
      expect(t.statuses('ovc.node/x', 'ovc.stack/x')).toEqual(['DECOMMISSIONING', 'DECOMMISSIONING'])
    }
  })

  test('N2 as printed is a misprint: a healthy ENABLED node is never touched', () => {
    const t = new CloudTable()
    expect(t.refused(t.healing('ovc.node/n', 'unowned')).code).toBe('not_stuck')
  })

  test('C8 as printed is not followed: a rename that hung deletes nothing', () => {
    const t = new CloudTable()
    t.request('c', 'update', { name: 'new' })
    t.heal('c')
    expect(t.get('c')).toMatchObject({ status: 'DEPLOYED', run: null })
  })

  test('note C5: a paused space whose repeated delete fails repairs itself; a disabled one stays disabled', () => {
    const t = new CloudTable()
    t.request('c', 'delete')
    t.heal('c')
    t.failed('c', 'no route')
    expect(t.status('c')).toBe('PAUSED')
    t.advance(300_000)
    t.fireTimers()
    t.finishAll()
    expect(t.status('c')).toBe('DEPLOYED')
    const off = new CloudTable({ cloudspace: 'DISABLED', enabled: false })
    off.request('c', 'delete')
    off.heal('c')
    off.failed('c', 'no route')
    off.advance(86_400_000)
    off.fireTimers()
    off.finishAll()
    expect(off.status('c')).toBe('DISABLED')
  })

  test('G2: what moved on since it was found, and what is settled, is not healed', () => {
    const t = new CloudTable()
    t.request('c', 'pause')
    const seen = t.healing('c')
    t.done('c')
    expect(t.refused(seen).code).toBe('not_stuck')
    expect(t.refused(t.healing('c')).code).toBe('not_stuck')
  })

  test('G2, property 5: the call of a lost owner changes nothing afterwards', () => {
    const t = new CloudTable()
    t.request('c', 'delete')
    const late = t.ending('c', { kind: 'done', result: null })
    t.heal('c')
    const before = t.get('c')
    t.send(late)
    expect(t.get('c').status).toBe(before.status)
    expect(t.get('c').epoch).toBe(before.epoch)
  })

  test('G3: a refused follow-up leaves the healed status and says why', () => {
    const t = new CloudTable({ account: 'DELETED', cloudspace: 'RESTORING' })
    t.heal('c', 'unowned')
    expect(t.get('c')).toMatchObject({ status: 'DELETED', run: null })
    expect(t.get('c').description).toContain('The attempt was refused: Cannot restore ovc.cloudspace c')
  })

  test('G5: a parent whose follow-up finds busy children waits until they are at rest', () => {
    const t = new CloudTable({ account: 'DISABLING', cloudspace: 'PAUSING' })
    t.heal('a', 'unowned')
    expect(t.owedBy('a')).toEqual(['awaitRest'])
    t.heal('c', 'unowned')
    t.answered('c', 'up')
    t.again('a', 2_000)
    t.advance(2_000)
    t.finishAll()
    expect(t.statuses('a', 'c')).toEqual(['DISABLED', 'PAUSED'])
  })

  test('property 2: healing ends settled, and what is healed once is not found again', () => {
    for (const [, kind, status, put, answer] of rows) {
      const { t, x } = stuck(kind, status, put)
      t.heal(x, 'unowned')
      if (answer !== '') t.answered(x, answer)
      t.finishAll()
      expect(t.refused(t.healing(x, 'unowned')).code).toBe('not_stuck')
    }
  })
})

describe('disks are healed with their machine', () => {
  const withDisk = (machine: string, disk: string): CloudTable => {
    const t = new CloudTable()
    t.put('machine', 'm', machine)
    t.put('disk', 'd', disk, onMachine)
    return t
  }

  test.each([
    ['DELETING', 'DELETING_ATTACHED_DISK'],
    ['DESTROYING', 'DESTROYING_ATTACHED_DISK'],
    ['RESTORING', 'RESTORING_ATTACHED_DISK'],
  ])('D1: while its machine is %s, a disk in %s is left to it', (machine, disk) => {
    const t = withDisk(machine, disk)
    expect(t.refused(t.healing('d', 'unowned')).code).toBe('healed_with_owner')
  })

  test.each(
    ['DELETING_ATTACHED_DISK', 'DESTROYING_ATTACHED_DISK', 'RESTORING_ATTACHED_DISK'].flatMap((disk) =>
      [
        ['RUNNING', 'ASSIGNED'],
        ['HALTED', 'ASSIGNED'],
        ['PAUSED', 'ASSIGNED'],
        ['ERROR', 'ASSIGNED'],
        ['DELETING_DISK', 'ASSIGNED'],
        ['STOPPING', 'ASSIGNED'],
        ['DELETED', 'TOBEDELETED'],
        ['DESTROYED', 'TOBEDESTROYED'],
        ['none', 'TOBEDESTROYED'],
      ].map(([machine, to]) => [disk, machine!, to!] as const),
    ),
  )('note D1: a disk in %s with its machine %s is put to %s', (disk, machine, to) => {
    const t = new CloudTable()
    if (machine !== 'none') t.put('machine', 'm', machine)
    t.put('disk', 'd', disk, machine === 'none' ? {} : onMachine)
    expect(t.heal('d', 'unowned').status).toBe(to)
  })

  test.each([
    ['M1', 'DEPLOYING', 'ASSIGNED', 'TOBEDESTROYED'],
    ['M2', 'DESTROYING', 'DESTROYING_ATTACHED_DISK', 'TOBEDESTROYED'],
    ['M4', 'DELETING', 'DELETING_ATTACHED_DISK', 'ASSIGNED'],
    ['M4', 'DELETING', 'TOBEDELETED', 'ASSIGNED'],
    ['M4', 'DELETING', 'RESIZING', ''],
    ['M5', 'RESTORING', 'RESTORING_ATTACHED_DISK', 'TOBEDELETED'],
    ['M5', 'RESTORING', 'ASSIGNED', 'TOBEDELETED'],
  ])('%s: healing a machine in %s moves its disk in %s to %s', (_row, machine, disk, to) => {
    const t = withDisk(machine, disk)
    t.heal('m', 'unowned')
    expect(t.eventsOf('d').find(({ kind }) => kind === 'moved')?.to ?? '').toBe(to)
    t.finishAll()
    if (disk !== 'RESIZING') {
      const together = { DELETED: 'TOBEDELETED', HALTED: 'ASSIGNED', DESTROYED: t.status('d') }
      expect(t.status('d')).toBe(together[t.status('m') as keyof typeof together])
    }
  })

  test('D4, D4b: after healing, or after a failure, the real plug is made to follow the record, and its size is recorded', () => {
    for (const [status, links] of [
      ['ASSIGNED', onMachine],
      ['CREATED', {}],
    ] as const) {
      const t = new CloudTable()
      t.put('machine', 'm', 'RUNNING')
      t.put('disk', 'd', 'RESIZING', links)
      expect(t.heal('d', 'unowned')).toMatchObject({ status, properties: { loose: true, size: 10 } })
      t.advance(1_000)
      t.fireTimers()
      expect(t.owedBy('d')).toEqual(['settleDisk'])
      t.finishAll({ settleDisk: { size: 12 } })
      expect(t.get('d')).toMatchObject({ status, properties: { loose: false, size: 12 } })
      t.request('d', 'resize', { size: 20 })
      t.failed('d', 'no space')
      expect(t.get('d')).toMatchObject({ status, properties: { loose: true, size: 12 } })
    }
  })

  test('D1: a disk whose own delete was cut keeps its data, whichever of disk and machine is healed first', () => {
    for (const order of [
      ['d', 'm'],
      ['m', 'd'],
    ] as const) {
      const t = withDisk('RUNNING', 'ASSIGNED')
      t.request('d', 'delete')
      expect(t.statuses('d', 'm')).toEqual(['DELETING_ATTACHED_DISK', 'DELETING_DISK'])
      for (const name of order) {
        if (t.get(name).run === null) continue
        t.heal(name)
        if (name === 'm') t.answered('m', 'running')
      }
      expect(t.statuses('d', 'm')).toEqual(['ASSIGNED', 'RUNNING'])
    }
  })

  test('D1, decision 0.9: a disk whose destruction was cut after its storage was gone is only a model', () => {
    const t = withDisk('RUNNING', 'ASSIGNED')
    t.request('d', 'destroy')
    t.done('m')
    expect(t.owedBy('d')).toEqual(['destroyAttached'])
    expect(t.heal('d')).toMatchObject({ status: 'ASSIGNED', properties: { loose: true } })
    t.advance(1_000)
    t.fireTimers()
    t.failed('d', 'there is no storage of disk d', { code: 'storage_missing' })
    expect(t.get('d')).toMatchObject({ status: 'MODELED', properties: { loose: false } })
    expect(t.carryOut('d', 'buildOn')).toBe('ASSIGNED')
  })

  test('M3: a machine that could not be asked is off, unverified and not startable, until a drift probe answers', () => {
    const t = withDisk('REBOOTING', 'ASSIGNED')
    t.heal('m', 'unowned')
    t.answered('m', 'unknown')
    expect(t.get('m')).toMatchObject({ status: 'HALTED', properties: { verified: false } })
    expect(t.whyNot('m', 'start')).toContain('verified')
    t.look('m')
    t.answered('m', 'halted')
    expect(t.get('m')).toMatchObject({ status: 'HALTED', properties: { verified: true } })
    expect(t.carryOut('m', 'start')).toBe('RUNNING')
  })

  test('decision 0.9: drift probes lead a machine to ERROR and out of it, and a disk to MODELED and out of it', () => {
    const t = withDisk('RUNNING', 'ASSIGNED')
    t.look('m')
    expect(t.answered('m', 'missing').status).toBe('ERROR')
    t.look('m')
    expect(t.answered('m', 'running').status).toBe('RUNNING')
    t.put('disk', 'e', 'CREATED')
    t.look('e')
    expect(t.answered('e', 'missing').status).toBe('MODELED')
    t.look('e')
    expect(t.answered('e', 'there').status).toBe('CREATED')
    t.look('c')
    expect(t.answered('c', 'down').status).toBe('PAUSED')
    t.look('ovc.node/n')
    t.answered('ovc.node/n', 'down')
    expect(t.statuses('ovc.node/n', 'ovc.stack/n')).toEqual(['ERROR', 'ERROR'])
  })
})

describe('cascades of healing', () => {
  test('A5: an account found in DESTROYING takes everything with it; what is destroyed already is left alone', () => {
    const t = new CloudTable()
    t.put('account', 'x', 'DESTROYING')
    t.put('cloudspace', 's', 'DEPLOYED', { parent: 'x' })
    t.put('cloudspace', 'gone', 'DESTROYED', { parent: 'x' })
    t.put('machine', 'm', 'RUNNING', { parent: 's' })
    t.put('image', 'i', 'DELETED', { parent: 'x' })
    t.put('disk', 'd', 'ASSIGNED', { parent: 'x', links: { machine: 'm' } })
    t.put('disk', 'e', 'CREATED', { parent: 'x' })
    const before = t.get('gone').revision
    t.request('m', 'pause')
    t.heal('x', 'unowned')
    expect(t.statuses('x', 's', 'm', 'i')).toEqual(['DESTROYED', 'DESTROYED', 'DESTROYED', 'DESTROYED'])
    expect(t.statuses('d', 'e')).toEqual(['TOBEDESTROYED', 'TOBEDESTROYED'])
    expect(t.get('gone').revision).toBe(before)
    // Fenced: the pause under way was closed with it.
    expect(t.get('m').run).toBeNull()
    t.advance(60_000)
    t.fireTimers()
    t.finishAll()
    expect(t.statuses('d', 'e')).toEqual(['DESTROYED', 'DESTROYED'])
  })

  test('C1, C2, I1: what a lost creation or destruction may have left is handed to the sweeper', () => {
    const t = new CloudTable({ cloudspace: 'VIRTUAL' })
    t.request('c', 'deploy')
    t.heal('c')
    expect(t.get('c')).toMatchObject({ status: 'DESTROYED', ledger: [{ kind: 'firewall', state: 'orphaned' }] })
    t.create('ovc.image', 'i', { parent: { no: t.get('a').no }, properties: { enabled: true, system: false } })
    t.heal('i')
    expect(t.get('i')).toMatchObject({ status: 'DESTROYED', ledger: [{ kind: 'image', state: 'orphaned' }] })
  })

  test('C2: machines that survive a lost destruction go with their cloudspace, and their disks find out', () => {
    const t = new CloudTable({ cloudspace: 'DESTROYING' })
    t.put('machine', 'm', 'HALTED')
    t.put('disk', 'd', 'ASSIGNED', onMachine)
    t.heal('c', 'unowned')
    expect(t.statuses('c', 'm', 'd')).toEqual(['DESTROYED', 'DESTROYED', 'ASSIGNED'])
    t.advance(3_600_000)
    t.fireTimers()
    expect(t.status('d')).toBe('TOBEDESTROYED')
  })

  test('500 resources in every transitional status, as after a power cut: one pass and its follow-ups settle each', () => {
    const t = new CloudTable()
    const found: [string, Row][] = []
    for (let n = 0; found.length < 500; n++)
      for (const [index, row] of rows.entries()) {
        const [, kind, status, put] = row
        const id = `${kind}-${n}-${index}`
        if (found.length === 500) break
        if (put.links !== undefined) t.put('machine', `m${id}`, 'HALTED')
        t.put(kind, id, status, put.links === undefined ? put : { links: { machine: `m${id}` } })
        found.push([`ovc.${kind}/${id}`, row])
      }
    for (const [x, [, , , , answer, to]] of found) {
      t.heal(x, 'unowned')
      if (answer !== '') t.answered(x, answer)
      expect(t.eventsOf(x).find(({ kind }) => kind === 'healed')?.to).toBe(to)
    }
    t.finishAll()
    for (const [x, [, kind, , , , , , attempt]] of found) {
      expect(t.get(x).run).toBeNull()
      expect(t.plans.kindOf(`ovc.${kind}`, t.status(x))).not.toBe('transitional')
      expect(followUp(t, x)).toBe(attempt)
    }
  }, 20_000)
})
