// Table 4.4 of the specification: the rules between objects; and the clones, images and bins that they lean on.
import { describe, expect, test } from 'vitest'
import { CloudTable } from './cloud-table.ts'

const onMachine = { links: { machine: 'm' } }

describe('node and stack', () => {
  test('are written together in every transition: never seen different after any decision', () => {
    const t = new CloudTable()
    const same = () => expect(t.status('ovc.stack/n')).toBe(t.status('ovc.node/n'))
    for (const operation of ['update', 'maintain', 'enable', 'maintain', 'decommission']) {
      t.request('ovc.node/n', operation)
      same()
      for (let owed = t.owed(); owed.length > 0; owed = t.owed()) {
        t.done('ovc.node/n', { node: 'n2' })
        same()
      }
    }
    expect(t.statuses('ovc.node/n', 'ovc.stack/n')).toEqual(['DECOMMISSIONED', 'DECOMMISSIONED'])
    // Every commit that changed one changed the other.
    const moves = (name: string) =>
      t
        .eventsOf(name)
        .filter(({ from, to }) => from !== to)
        .map(({ to, at }) => [to, at])
    expect(moves('ovc.stack/n')).toEqual(moves('ovc.node/n'))
  })

  test('a stack is asked nothing by itself, and fails with its node', () => {
    const t = new CloudTable()
    expect(t.whyNot('ovc.stack/n', 'maintain')).toBe("ovc.stack n has no operation 'maintain'. ovc.stack has none.")
    t.request('ovc.node/n', 'maintain')
    t.failed('ovc.node/n', 'no power')
    expect(t.statuses('ovc.node/n', 'ovc.stack/n')).toEqual(['ENABLED', 'ENABLED'])
  })

  test('maintenance moves machines, which keep their state', () => {
    const t = new CloudTable()
    for (const status of ['RUNNING', 'PAUSED', 'HALTED']) t.put('machine', status, status, { links: { node: 'n' } })
    expect(t.carryOut('ovc.node/n', 'maintain')).toBe('MAINTENANCE')
    for (const status of ['RUNNING', 'PAUSED', 'HALTED'])
      expect(t.get(status)).toMatchObject({ status, links: { node: t.get('ovc.node/n2').no } })
    expect(t.eventsOf('RUNNING').map(({ to }) => to)).toContain('MIGRATING')
  })

  test('maintenance by stop tags what ran; enable starts those again and no others', () => {
    const t = new CloudTable()
    t.put('machine', 'on', 'RUNNING', { links: { node: 'n' } })
    t.put('machine', 'off', 'HALTED', { links: { node: 'n' } })
    expect(t.carryOut('ovc.node/n', 'maintain', { machines: 'stop' })).toBe('MAINTENANCE')
    expect(t.statuses('on', 'off')).toEqual(['HALTED', 'HALTED'])
    expect(t.whyNot('on', 'start')).toContain('its node is in service')
    expect(t.carryOut('ovc.node/n', 'enable')).toBe('ENABLED')
    expect(t.statuses('on', 'off')).toEqual(['RUNNING', 'HALTED'])
    expect(t.get('on').properties).toMatchObject({ restart: false })
  })

  test('N1, G4: unowned, nobody knows whether machines were to be moved or stopped: they are moved', () => {
    const t = new CloudTable()
    t.put('node', 'x', 'DEACTIVATING')
    t.put('machine', 'm', 'RUNNING', { links: { node: 'x' } })
    t.heal('ovc.node/x', 'unowned')
    t.finishAll()
    expect(t.statuses('ovc.node/x', 'm')).toEqual(['MAINTENANCE', 'RUNNING'])
    expect(t.get('m').links).toMatchObject({ node: t.get('ovc.node/n2').no })
  })

  test('a machine is not moved to a node in maintenance, and a node that takes one is not put into it', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING', { links: { node: 'n' } })
    t.carryOut('ovc.node/n2', 'maintain')
    const { code, message } = t.refused(t.asking('m', 'migrate', { node: 'n2' }))
    expect(code).toBe('rule_breached')
    expect(message).toContain('a machine moves only to a node that takes machines')
    t.carryOut('ovc.node/n2', 'enable')
    t.request('m', 'migrate', { node: 'n2' })
    expect(t.refused(t.asking('ovc.node/n2', 'maintain')).code).toBe('rule_breached')
  })

  test.each(['running', 'halted', 'paused', 'missing', 'unknown'])(
    'a machine whose move was cut, and that is found %s, moves nowhere any more',
    (answer) => {
      const t = new CloudTable()
      t.put('machine', 'm', 'RUNNING', { links: { node: 'n' } })
      t.request('m', 'migrate', { node: 'n2' })
      expect(t.get('m').links).toMatchObject({ target: t.get('ovc.node/n2').no })
      t.heal('m')
      t.answered('m', answer)
      expect([t.get('m').run, t.get('m').links]).toEqual([null, { node: t.get('ovc.node/n').no }])
    },
  )

  test('a firewall is moved only to a node that there is and that takes machines, and shows where to', () => {
    const t = new CloudTable()
    expect(t.refused(t.asking('c', 'migrate', { node: 'nowhere' }))).toMatchObject({
      code: 'link_invalid',
      message: expect.stringContaining('nowhere'),
    })
    t.carryOut('ovc.node/n2', 'maintain')
    const { code, message } = t.refused(t.asking('c', 'migrate', { node: 'n2' }))
    expect([code, message]).toEqual(['rule_breached', expect.stringContaining('a firewall moves only to a node')])
    t.request('c', 'migrate', { node: 'n' })
    expect([t.status('c'), t.get('c').links]).toEqual(['MIGRATING', { target: t.get('ovc.node/n').no }])
    expect(t.refused(t.asking('ovc.node/n', 'maintain')).code).toBe('rule_breached')
    t.finishAll()
    expect([t.status('c'), t.get('c').links]).toEqual(['DEPLOYED', {}])
  })

  test('decommission needs another node that takes machines; the node itself does not count', () => {
    for (const [found, words] of [
      ['n', 'gives its machines to another node'],
      ['n2', 'gives its machines to another node'],
      ['nowhere', 'there is no such resource'],
    ] as const) {
      const t = new CloudTable()
      t.carryOut('ovc.node/n2', 'maintain')
      t.request('ovc.node/n', 'decommission')
      t.done('ovc.node/n', { node: found })
      expect(t.statuses('ovc.node/n', 'ovc.stack/n')).toEqual(['ENABLED', 'ENABLED'])
      expect(t.get('ovc.node/n').description).toContain(words)
    }
    const none = new CloudTable()
    none.request('ovc.node/n', 'decommission')
    none.failed('ovc.node/n', 'no other node has room', { code: 'no_room' })
    expect(none.get('ovc.node/n')).toMatchObject({ status: 'ENABLED' })
    expect(none.get('ovc.node/n').description).toContain('no other node has room')
  })

  test('decommission moves every machine away first', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING', { links: { node: 'n' } })
    expect(t.carryOut('ovc.node/n', 'decommission')).toBe('DECOMMISSIONED')
    expect(t.get('m')).toMatchObject({ status: 'RUNNING', links: { node: t.get('ovc.node/n2').no } })
  })
})

describe('accounts', () => {
  const owning = (): CloudTable => {
    const t = new CloudTable()
    t.put('cloudspace', 'off', 'DISABLED', { properties: { enabled: false } })
    t.put('image', 'i', 'CREATED')
    t.put('machine', 'm', 'RUNNING', { links: { image: 'i' } })
    t.put('machine', 'clone', 'HALTED', { links: { original: 'm' } })
    t.put('disk', 'd', 'ASSIGNED', onMachine)
    t.put('disk', 'e', 'CREATED')
    return t
  }

  test('disable pauses enabled spaces and halts machines; disabled spaces are not touched', () => {
    const t = owning()
    expect(t.carryOut('a', 'disable')).toBe('DISABLED')
    expect(t.statuses('c', 'off', 'm')).toEqual(['PAUSED', 'DISABLED', 'HALTED'])
    expect(t.get('a').properties).toMatchObject({ enabled: false })
    expect(t.eventsOf('off').filter(({ kind }) => kind === 'accepted')).toEqual([])
  })

  test('disable: a pause that fails brings the account back, and paused spaces are started again by themselves', () => {
    const t = owning()
    t.put('cloudspace', 'c2', 'DEPLOYED')
    t.request('a', 'disable')
    t.finishAllBut('c2')
    t.failed('c2', 'firewall is stubborn')
    t.finishAll()
    expect(t.statuses('a', 'c', 'c2')).toEqual(['CONFIRMED', 'PAUSED', 'DEPLOYED'])
    expect(t.get('a').description).toContain('firewall is stubborn')
    t.advance(300_000)
    t.fireTimers()
    t.finishAll()
    expect(t.status('c')).toBe('DEPLOYED')
  })

  test('enable starts paused spaces; one that fails stays PAUSED and is tried again; machines stay HALTED', () => {
    const t = owning()
    t.put('cloudspace', 'c2', 'DEPLOYED')
    t.carryOut('a', 'disable')
    // While the account is disabled nothing is started.
    t.advance(3_600_000)
    t.fireTimers()
    expect(t.statuses('c', 'c2')).toEqual(['PAUSED', 'PAUSED'])
    expect(t.whyNot('c', 'resume')).toContain('account')
    t.request('a', 'enable')
    t.finishAllBut('c2')
    t.failed('c2', 'no route')
    t.finishAll()
    expect(t.statuses('a', 'c', 'c2', 'off', 'm')).toEqual(['CONFIRMED', 'DEPLOYED', 'PAUSED', 'DISABLED', 'HALTED'])
    t.advance(300_000)
    t.fireTimers()
    t.finishAll()
    expect(t.status('c2')).toBe('DEPLOYED')
  })

  test('delete: machines and images first, then cloudspaces, then detached disks, then the account; clones before originals', () => {
    const t = owning()
    expect(t.carryOut('a', 'delete', { reason: 'unpaid' })).toBe('DELETED')
    expect(t.statuses('i', 'c', 'off', 'm', 'clone', 'd', 'e')).toEqual([
      'DELETED',
      'DELETED',
      'DELETED',
      'DELETED',
      'DELETED',
      'TOBEDELETED',
      'DELETED',
    ])
    const order = t.events.filter(({ to, from }) => to === 'DELETED' && from !== to).map(({ no }) => t.get(no).id)
    expect(order).toEqual(['clone', 'm', 'i', 'c', 'off', 'e', 'a'])
  })

  test('destroy: everything is destroyed, disks are left to the destroyer', () => {
    const t = owning()
    expect(t.carryOut('a', 'destroy')).toBe('DESTROYED')
    expect(t.statuses('i', 'c', 'off', 'm', 'clone', 'd')).toEqual(Array.from({ length: 6 }, () => 'DESTROYED'))
    expect(t.status('e')).toBe('TOBEDESTROYED')
    t.advance(60_000)
    t.fireTimers()
    t.finishAll()
    expect(t.status('e')).toBe('DESTROYED')
  })
})

describe('cloudspaces', () => {
  test('disable stops machines and firewall; any failure brings it back to DEPLOYED', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING')
    expect(t.carryOut('c', 'disable')).toBe('DISABLED')
    expect(t.status('m')).toBe('HALTED')
    const broken = new CloudTable()
    broken.put('machine', 'm', 'RUNNING')
    broken.request('c', 'disable')
    broken.failed('m', 'stuck')
    broken.finishAll()
    expect(broken.statuses('c', 'm')).toEqual(['DEPLOYED', 'RUNNING'])
    const firewall = new CloudTable()
    firewall.request('c', 'disable')
    firewall.failed('c', 'stuck')
    expect(firewall.owedBy('c')).toEqual(['startFirewall'])
    firewall.finishAll()
    expect(firewall.get('c')).toMatchObject({ status: 'DEPLOYED', properties: { enabled: true } })
  })

  test('delete by the user is refused while machines live; by the operator they are deleted first, clones before originals', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING')
    t.put('machine', 'k', 'RUNNING', { links: { original: 'm' } })
    expect(t.whyNot('c', 'delete')).toContain('its machines are deleted, or to be deleted with it')
    expect(t.carryOut('c', 'delete', { withMachines: true })).toBe('DELETED')
    expect(t.statuses('m', 'k')).toEqual(['DELETED', 'DELETED'])
  })

  test('a broken machine is not put into the bin: delete of its cloudspace and account is refused with the reason', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'ERROR')
    expect(t.whyNot('c', 'delete', { withMachines: true })).toContain('no machine is broken: destroy it first')
    t.request('a', 'delete')
    t.finishAll()
    expect(t.get('a')).toMatchObject({ status: 'CONFIRMED' })
    expect(t.get('a').description).toContain('no machine is broken: destroy it first')
    expect(t.carryOut('m', 'destroy')).toBe('DESTROYED')
    expect(t.carryOut('a', 'delete')).toBe('DELETED')
  })

  test('destroy goes on although the firewall cannot be destroyed: that is left to the sweeper', () => {
    const t = new CloudTable({ cloudspace: 'VIRTUAL' })
    t.carryOut('c', 'deploy')
    t.request('c', 'destroy')
    t.failed('c', 'no route')
    expect(t.get('c')).toMatchObject({ status: 'DESTROYED', ledger: [{ kind: 'firewall', state: 'orphaned' }] })
    expect(t.get('c').description).toBe('Destroyed; its firewall is left to the sweeper: no route')
  })
})

describe('machines, disks, clones and images', () => {
  const withDisks = (machine: string): CloudTable => {
    const t = new CloudTable()
    t.put('machine', 'm', machine)
    t.put('disk', 'd1', machine === 'DELETED' ? 'TOBEDELETED' : 'ASSIGNED', onMachine)
    t.put('disk', 'd2', machine === 'DELETED' ? 'TOBEDELETED' : 'ASSIGNED', onMachine)
    return t
  }

  test('delete takes the disks to the bin with it, in the same commits; restore brings them back', () => {
    const t = withDisks('RUNNING')
    t.request('m', 'delete')
    expect(t.statuses('d1', 'd2')).toEqual(['DELETING_ATTACHED_DISK', 'DELETING_ATTACHED_DISK'])
    t.finishAll()
    expect(t.statuses('m', 'd1', 'd2')).toEqual(['DELETED', 'TOBEDELETED', 'TOBEDELETED'])
    t.request('m', 'restore')
    expect(t.statuses('d1', 'd2')).toEqual(['RESTORING_ATTACHED_DISK', 'RESTORING_ATTACHED_DISK'])
    t.finishAll()
    expect(t.statuses('m', 'd1', 'd2')).toEqual(['HALTED', 'ASSIGNED', 'ASSIGNED'])
  })

  test('a delete or restore that fails leaves the disks where they were', () => {
    const t = withDisks('RUNNING')
    t.request('m', 'delete')
    t.failed('m', 'no route')
    expect(t.statuses('m', 'd1')).toEqual(['RUNNING', 'ASSIGNED'])
    const bin = withDisks('DELETED')
    bin.request('m', 'restore')
    bin.failed('m', 'not enough capacity', { code: 'no_capacity' })
    expect(bin.statuses('m', 'd1')).toEqual(['DELETED', 'TOBEDELETED'])
    expect(bin.get('m').description).toContain('not enough capacity')
  })

  test('destroy destroys the disks; one that fails does not stop the others', () => {
    const t = withDisks('DELETED')
    t.request('m', 'destroy')
    t.done('m')
    t.failed('m', 'no route', { item: 'd1' })
    t.finishAll()
    expect(t.statuses('m', 'd1', 'd2')).toEqual(['DESTROYED', 'TOBEDESTROYED', 'DESTROYED'])
  })

  test('a machine that could not be deployed is destroyed, and its disks are left to the destroyer', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'VIRTUAL')
    t.put('disk', 'd', 'ASSIGNED', onMachine)
    t.request('m', 'deploy')
    t.failed('m', 'no image')
    expect(t.owedBy('m')).toEqual(['destroyMachine'])
    t.finishAll()
    expect(t.statuses('m', 'd')).toEqual(['DESTROYED', 'TOBEDESTROYED'])
  })

  test('restore needs a cloudspace that is not in the bin', () => {
    for (const status of ['DELETED', 'VIRTUAL']) {
      const t = new CloudTable({ cloudspace: status })
      t.put('machine', 'm', 'DELETED')
      expect(t.whyNot('m', 'restore')).toContain('cloudspace')
    }
  })

  test('a disk that is attached, added, detached or deleted moves with its machine, which shows it', () => {
    const t = withDisks('RUNNING')
    t.put('disk', 'new', 'CREATED')
    t.request('new', 'attach', { machine: 'm' })
    expect(t.statuses('new', 'm')).toEqual(['ATTACHING', 'ATTACHING_DISK'])
    t.finishAll()
    expect(t.statuses('new', 'm')).toEqual(['ASSIGNED', 'RUNNING'])
    t.request('new', 'detach')
    expect(t.statuses('new', 'm')).toEqual(['DETACHING', 'DETACHING_DISK'])
    t.finishAll()
    expect(t.get('new')).toMatchObject({ status: 'CREATED', links: {} })
    t.request('d1', 'delete')
    expect(t.statuses('d1', 'm')).toEqual(['DELETING_ATTACHED_DISK', 'DELETING_DISK'])
    t.finishAll()
    expect(t.statuses('d1', 'm')).toEqual(['TOBEDELETED', 'RUNNING'])
    t.create('ovc.disk', 'added', {
      operation: 'createOn',
      parent: { no: t.get('a').no },
      links: { machine: 'm' },
      properties: { size: 5 },
    })
    expect(t.status('added')).toBe('ASSIGNING')
    t.done('added')
    expect(t.statuses('added', 'm')).toEqual(['ASSIGNING', 'ADDING_DISK'])
    t.finishAll()
    expect(t.statuses('added', 'm')).toEqual(['ASSIGNED', 'RUNNING'])
    for (const operation of ['addDisk', 'attachDisk', 'detachDisk', 'deleteDisk'])
      expect(t.whyNot('m', operation, { disk: 'added' })).toContain('of the disk')
  })

  test('a clone is copied from a halted original that shows it; a machine with clones is neither deleted nor destroyed', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'HALTED')
    t.put('machine', 'k', 'VIRTUAL', { links: { original: 'm' } })
    t.request('k', 'deploy')
    expect(t.statuses('k', 'm')).toEqual(['DEPLOYING', 'CLONING'])
    t.finishAll()
    expect(t.statuses('k', 'm')).toEqual(['RUNNING', 'HALTED'])
    expect(t.whyNot('m', 'delete')).toContain('it has no living clone')
    expect(t.whyNot('m', 'destroy')).toContain('it has no clone')
    t.put('machine', 'kk', 'VIRTUAL', { links: { original: 'k' } })
    t.request('kk', 'deploy')
    t.finishAll()
    expect(t.status('kk')).toBe('DESTROYED')
    t.carryOut('k', 'delete')
    expect(t.carryOut('m', 'delete')).toBe('DELETED')
    expect(t.whyNot('m', 'destroy')).toContain('it has no clone')
    t.carryOut('k', 'destroy')
    expect(t.carryOut('m', 'destroy')).toBe('DESTROYED')
  })

  test('a clone of a running original fails and is destroyed: the original must be off', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING')
    t.put('machine', 'k', 'VIRTUAL', { links: { original: 'm' } })
    t.request('k', 'deploy')
    t.finishAll()
    expect(t.statuses('k', 'm')).toEqual(['DESTROYED', 'RUNNING'])
    expect(t.get('k').description).toContain('Cannot clone ovc.machine m: it is RUNNING')
  })

  test('an image is made from a halted machine that shows it', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'HALTED')
    t.create('ovc.image', 'i', {
      parent: { no: t.get('a').no },
      links: { source: 'm' },
      properties: { enabled: true, system: false },
    })
    expect(t.statuses('i', 'm')).toEqual(['CREATING', 'CREATING_TEMPLATE'])
    t.finishAll()
    expect(t.statuses('i', 'm')).toEqual(['CREATED', 'HALTED'])
  })
})

describe('bins and models', () => {
  test('what lies in the bin for a week is destroyed; what is refused is tried hourly', () => {
    const t = new CloudTable()
    t.put('account', 'x', 'DELETED')
    t.put('cloudspace', 's', 'DELETED')
    t.put('machine', 'm', 'DELETED')
    t.put('machine', 'k', 'DELETED', { links: { original: 'm' } })
    t.put('disk', 'd', 'DELETED')
    t.put('image', 'i', 'DELETED')
    const all = ['x', 's', 'm', 'k', 'd', 'i']
    t.advance(7 * 86_400_000 - 1)
    t.fireTimers()
    t.finishAll()
    expect(new Set(t.statuses(...all))).toEqual(new Set(['DELETED']))
    t.advance(1)
    t.fireTimers()
    t.finishAll()
    // The original was refused while its clone was there.
    expect(t.statuses(...all)).toEqual(['DESTROYED', 'DESTROYED', 'DELETED', 'DESTROYED', 'DESTROYED', 'DESTROYED'])
    t.advance(3_600_000)
    t.fireTimers()
    t.finishAll()
    expect(t.status('m')).toBe('DESTROYED')
  })

  test('models that nobody went on with are destroyed by their age', () => {
    const t = new CloudTable()
    t.put('cloudspace', 's', 'VIRTUAL')
    t.put('machine', 'm', 'VIRTUAL')
    t.put('image', 'i', 'VIRTUAL')
    t.put('disk', 'd', 'MODELED')
    t.advance(86_400_000)
    t.fireTimers()
    t.finishAll()
    expect(t.statuses('s', 'm', 'i')).toEqual(['DESTROYED', 'DESTROYED', 'DESTROYED'])
    t.advance(6 * 86_400_000)
    t.fireTimers()
    if (t.owed().some(({ resource }) => resource.id === 'd' && resource.status === 'MODELED'))
      t.answered('d', 'missing')
    t.finishAll()
    expect(t.status('d')).toBe('DESTROYED')
  })

  test('a disk that was put into the bin by itself is destroyed after a week, its machine living on', () => {
    const t = new CloudTable()
    t.put('machine', 'm', 'RUNNING')
    t.put('disk', 'd', 'TOBEDELETED', onMachine)
    t.advance(7 * 86_400_000)
    t.send({ kind: 'timerFired', no: t.get('d').no, timer: 'attachedRetention', by: 'clock' })
    t.finishAll()
    expect(t.statuses('d', 'm')).toEqual(['DESTROYED', 'RUNNING'])
  })
})
