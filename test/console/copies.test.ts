// What the console copies is pasted: every command line and every curl of a dialog into a real shell, against the same server, and the
// change is there afterwards.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Shell } from './shell.ts'
import { openStage, patienceMs } from './stage.ts'

const stage = openStage()
let shell: Shell
beforeAll(async () => {
  shell = new Shell(stage.scene)
  await stage.scene.api.call('clearFaults', {})
})
afterAll(() => shell?.close())

/** How something is copied; each on an object of its own, so that both can do it. */
const ways = ['CLI', 'curl'] as const
type Way = (typeof ways)[number]

const api = () => stage.scene.api
const volume = (id: string) => api().call('getResource', { path: { type: 'opensds.volume', id } })
const getRun = (run: string) => api().call('getRun', { path: { run } })

async function create(type: string, id: string, properties: object): Promise<void> {
  const { run } = await api().call('createResource', { path: { type }, body: { id, properties: properties as never } })
  if (run !== null) await api().call('getRun', { path: { run: run.id }, query: { wait: 30 } })
}

const newVolume = (id: string) => create('opensds.volume', id, { size: 5, zone: 'eu-1' })

/** A tape whose run waits for its next try; or is parked. */
async function writing(id: string, until: 'waiting' | 'parked'): Promise<string> {
  await create('archive.tape', id, { shelf: 3 })
  const { run } = await api().call('operate', { path: { type: 'archive.tape', id, operation: 'write' } })
  await expect.poll(async () => (await getRun(run!.id)).nextCallAt).not.toBe(null)
  if (until === 'parked') {
    await api().call('retryRun', { path: { run: run!.id } })
    await expect.poll(async () => (await getRun(run!.id)).parked).not.toBe(null)
  }
  return run!.id
}

/** Machines that an undo could not take back. */
async function orphaned(id: string): Promise<string> {
  for (const step of ['configure', 'terminateInstances'])
    await api().call('setFault', { body: { does: 'fail', terminal: true, on: { type: 'sahara.cluster', step } } })
  await create('sahara.cluster', id, { counts: { worker: 1 } })
  await api().call('clearFaults', {})
  const { items } = await api().call('listOrphans', {})
  return items.find(({ resource }) => resource.id === id)!.id
}
const orphans = async () => (await api().call('listOrphans', {})).items.map(({ id }) => id)
const orphanRow = (id: string) => stage.visitor.page.locator('tr', { hasText: id })

async function newBulk(reason: string): Promise<string> {
  const filter = { type: 'opensds.volume', status: ['Available'] }
  const body = { filter, operation: 'extend', input: { size: 800 }, reason, perSecond: 0.1 }
  return (await api().call('createBulk', { body })).bulk!.id
}
const bulkState = async (bulk: string) => (await api().call('getBulk', { path: { bulk } })).state

const importStuck = (id: string) =>
  api().call('importResources', {
    path: { type: 'opensds.volume' },
    query: { reason: 'stuck for the test' },
    body: [{ id, status: 'Extending', properties: { size: 10, zone: 'eu-1' } }],
  })

interface Case {
  readonly title: string
  /** Makes what it is done to, opens the dialog and fills it in; answers what must become true once the copied line was run. */
  readonly open: (name: string, way: Way) => Promise<() => Promise<boolean>>
  readonly ways?: readonly Way[]
}

const { go, click, type, choose } = {
  go: (address: string) => stage.visitor.go(address),
  click: (name: string) => stage.visitor.click(name),
  type: (label: string | RegExp, text: string) => stage.visitor.type(label, text),
  choose: (label: string | RegExp, value: string) => stage.visitor.choose(label, value),
}
const reason = (text = "it's needed") => type(/Reason/, text)

const cases: readonly Case[] = [
  {
    title: 'extend',
    async open(name) {
      await newVolume(name)
      await go(`/resources/opensds.volume/${name}`)
      await click('extend')
      await type(/^size/, '66')
      return async () => (await volume(name)).properties['size'] === 66
    },
  },
  {
    title: 'delete',
    async open(name) {
      await newVolume(name)
      await go(`/resources/opensds.volume/${name}`)
      await click('delete')
      return async () => (await volume(name)).status === 'Deleted'
    },
  },
  {
    title: 'create',
    async open(name) {
      await go('/resources?type=opensds.volume')
      await click('Create')
      await type(/^id/, name)
      await type(/^properties.size/, '12')
      return async () => (await volume(name)).properties['size'] === 12
    },
  },
  {
    title: 'snapshot',
    async open(name) {
      await newVolume(`${name}-of`)
      await go('/resources?type=opensds.snapshot')
      await click('Create')
      await type(/^id/, name)
      await type(/^parent/, `${name}-of`)
      const path = { type: 'opensds.snapshot', id: name }
      return async () => (await api().call('getResource', { path })).parent?.id === `${name}-of`
    },
  },
  {
    title: 'lease',
    async open(name) {
      await go('/resources?type=blazar.lease')
      await click('Create')
      await type(/^id/, name)
      // A text that looks like a number stays a text.
      await type(/^properties.name/, '007')
      await type(/^properties.startDate/, '2031-05-01T10:00')
      await type(/^properties.endDate/, '2031-05-01T12:00')
      await type(/^input.reservations/, '[{"resourceType": "host", "amount": 2}]')
      const path = { type: 'blazar.lease', id: name }
      return async () => {
        const { items } = await api().call('listResources', { path, query: { q: name } })
        return items[0]?.properties['name'] === '007' && items[0].status === 'PENDING'
      }
    },
  },
  {
    title: 'notes',
    async open(name) {
      await create('archive.tape', name, { shelf: 3 })
      await go(`/resources/archive.tape/${name}`)
      await click('removeNotes')
      const path = { type: 'archive.tape', id: name }
      return async () => {
        const { items } = await api().call('listRunsOf', { path, query: {} })
        expect(items.map(({ operation }) => operation)).not.toContain('delete')
        return items.some(({ operation, state }) => operation === 'removeNotes' && state === 'succeeded')
      }
    },
  },
  {
    title: 'force',
    async open(name) {
      await create('sahara.cluster', name, { counts: { worker: 1 } })
      await go(`/resources/sahara.cluster/${name}`)
      await click('Force delete ...')
      await reason()
      const path = { type: 'sahara.cluster', id: name }
      return async () => (await api().call('getResource', { path })).status === 'gone'
    },
  },
  {
    title: 'status',
    async open(name) {
      await newVolume(name)
      await go(`/resources/opensds.volume/${name}`)
      await click('Set status ...')
      await choose(/^status/, 'Error')
      await reason('the array lost it')
      return async () => (await volume(name)).status === 'Error'
    },
  },
  {
    title: 'retry',
    async open(name) {
      const run = await writing(name, 'waiting')
      await go(`/runs/${run}`)
      await click('Retry now')
      return async () => (await getRun(run)).parked !== null
    },
  },
  {
    title: 'skip',
    async open(name) {
      const run = await writing(name, 'parked')
      await go(`/runs/${run}`)
      await click('Skip step')
      await reason('it is on the tape')
      return async () => (await getRun(run)).state === 'succeeded'
    },
  },
  {
    title: 'cancel',
    async open(name) {
      const run = await writing(name, 'waiting')
      await go(`/runs/${run}`)
      await click('Cancel')
      await reason('not today')
      return async () => (await getRun(run)).state === 'cancelled'
    },
  },
  {
    title: 'token',
    async open(name) {
      await go('/access')
      await click('New token')
      await type(/^name/, name)
      await choose(/^role/, 'viewer')
      return async () => (await api().call('listTokens', {})).items.map((one) => one.name).includes(name)
    },
  },
  {
    title: 'revoke',
    async open(name) {
      await api().call('createToken', { body: { name, role: 'viewer' } })
      await go('/access')
      // What was read before is shown for a while; the list is wanted as it is now.
      await stage.visitor.page.reload()
      await stage.visitor.page.locator('tr', { hasText: name }).getByRole('button', { name: 'Revoke ...' }).click()
      return async () => !(await api().call('listTokens', {})).items.map((one) => one.name).includes(name)
    },
  },
  {
    title: 'pause',
    async open(name) {
      const bulk = await newBulk(name)
      await go(`/bulk/${bulk}`)
      await click('Pause')
      return async () => (await bulkState(bulk)) === 'paused'
    },
  },
  {
    title: 'resume',
    async open(name) {
      const bulk = await newBulk(name)
      await api().call('pauseBulk', { path: { bulk } })
      await go(`/bulk/${bulk}`)
      await click('Resume')
      return async () => (await bulkState(bulk)) === 'running'
    },
  },
  {
    title: 'cancel-bulk',
    async open(name) {
      const bulk = await newBulk(name)
      await go(`/bulk/${bulk}`)
      await click('Cancel')
      await reason('enough')
      return async () => (await bulkState(bulk)) === 'cancelled'
    },
  },
  {
    title: 'start-bulk',
    ways: ['curl'],
    async open() {
      await newVolume('grows')
      await go('/resources?type=opensds.volume&q=grows')
      await stage.visitor.click(/^Bulk over 1 /)
      await choose('Operation', 'extend')
      await type(/^size/, '901')
      await reason('by hand')
      return async () => (await volume('grows')).properties['size'] === 901
    },
  },
  {
    title: 'pass',
    async open() {
      const passes = async () => (await api().call('getHealing', {})).passes
      const before = await passes()
      await go('/healing')
      await click('Run a pass now')
      return async () => (await passes()) > before
    },
  },
  {
    title: 'heal',
    async open(name) {
      await importStuck(name)
      await go(`/resources/opensds.volume/${name}`)
      await click('Heal now ...')
      await reason('looked at it')
      return async () => (await volume(name)).kind !== 'transitional'
    },
  },
  {
    title: 'incident',
    async open(name) {
      await importStuck(name)
      await api().call('approveHealing', { body: { type: 'opensds.volume', id: name, reason: 'now' } })
      const open = async () => (await api().call('listIncidents', {})).items.map(({ resource }) => resource.id)
      await go('/stuck')
      const incident = stage.visitor.page.locator('.incident', { hasText: name })
      await incident.locator('summary').click()
      await incident.getByRole('button', { name: 'Close ...' }).click()
      await reason('ours')
      return async () => !(await open()).includes(name)
    },
  },
  {
    title: 'approve-cause',
    async open(name) {
      const ids = [`${name}-a`, `${name}-b`]
      for (const id of ids) await importStuck(id)
      const { items } = await api().call('listStuck', {})
      const waiting = items.filter(({ resource }) => resource.status === 'Extending').length
      await go('/stuck')
      await click(`Approve all ${waiting} ...`)
      await reason()
      return async () => (await Promise.all(ids.map(volume))).every(({ status }) => status !== 'Extending')
    },
  },
  {
    title: 'mode',
    async open(_, way) {
      const type = way === 'CLI' ? 'opensds.volume' : 'opensds.snapshot'
      await go('/healing')
      await choose(`Mode for ${type} in Creating`, 'off')
      await reason('a drill')
      return async () =>
        (await api().call('getHealing', {})).modes.find(({ type: of, status }) => of === type && status === 'Creating')
          ?.mode === 'off'
    },
  },
  {
    title: 'breaker',
    async open(_, way) {
      const type = way === 'CLI' ? 'opensds.snapshot' : 'opensds.attachment'
      await go('/healing')
      const row = stage.visitor.page.locator('.rows-of li', { hasText: type })
      await row.getByRole('button', { name: 'Open ...' }).click()
      await reason('a drill')
      return async () => (await api().call('getHealing', {})).breakers.some((one) => one.type === type && one.isOpen)
    },
  },
  {
    title: 'sweep',
    async open(name) {
      const orphan = await orphaned(name)
      await go('/orphans')
      await orphanRow(orphan).getByRole('button', { name: 'Sweep ...' }).click()
      await reason('costs money')
      return async () => !(await orphans()).includes(orphan)
    },
  },
  {
    title: 'adopt',
    async open(name) {
      const orphan = await orphaned(name)
      await go('/orphans')
      await orphanRow(orphan).getByRole('button', { name: 'Adopt ...' }).click()
      await reason('wanted')
      return async () => !(await orphans()).includes(orphan)
    },
  },
  {
    title: 'write-off',
    async open(name) {
      const orphan = await orphaned(name)
      await go('/orphans')
      await orphanRow(orphan).getByRole('button', { name: 'Write off ...' }).click()
      await reason('gone')
      return async () => !(await orphans()).includes(orphan)
    },
  },
]

describe.each(cases)('$title', ({ title, open, ways: some = ways }) => {
  test.each(some)(
    '%s does in a shell what the button would have done',
    async (way) => {
      const { visitor } = stage
      const isSo = await open(`${title}-${way.toLowerCase()}`, way)
      const line = await visitor.copy(way, visitor.page.getByRole('dialog'))
      expect(line).toMatch(way === 'CLI' ? /^homeostat / : /^curl /)
      await visitor.page.keyboard.press('Escape')
      await visitor.closes()
      const said = await shell.run(line)
      expect(said.exit, `${line}\n${said.out}${said.err}`).toBe(0)
      await expect.poll(isSo).toBe(true)
      // Nothing was changed by the page itself.
      expect(visitor.made).toEqual([])
    },
    patienceMs,
  )
})

test('what is looked at is copied too: a resource, why it is so, a run', async () => {
  const { visitor } = stage
  await newVolume('looked-at')
  await visitor.go('/resources/opensds.volume/looked-at')
  await visitor.stands('Available')
  const head = visitor.page.locator('.resource-head')
  expect((await shell.run(await visitor.copy('CLI', head))).out).toMatch(/looked-at/)
  expect(JSON.parse((await shell.run(await visitor.copy('curl', head))).out)).toMatchObject({ id: 'looked-at' })
  expect((await shell.run(await visitor.copy('CLI', visitor.page.locator('.panel.why')))).out).toMatch(/Available/)
  const { items } = await api().call('listRunsOf', { path: { type: 'opensds.volume', id: 'looked-at' }, query: {} })
  await visitor.go(`/runs/${items[0]!.id}`)
  await visitor.sees('succeeded')
  const title = visitor.page.locator('.page-head')
  expect((await shell.run(await visitor.copy('CLI', title))).out).toMatch(/createVolume/)
  expect(JSON.parse((await shell.run(await visitor.copy('curl', title))).out)).toMatchObject({ id: items[0]!.id })
})

test('a fault switch is copied as a command', async () => {
  const { visitor } = stage
  await visitor.go('/dev')
  await visitor.choose('of type', 'opensds.volume')
  await visitor.choose('in step', 'createVolume')
  const said = await shell.run(await visitor.copy('CLI', visitor.page.locator('.fault-form')))
  expect(said.exit, said.err).toBe(0)
  await visitor.page.locator('.rows-of li', { hasText: 'createVolume' }).waitFor()
  await api().call('clearFaults', {})
})
