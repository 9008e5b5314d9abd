// A process with an engine on a file and a folder, which begins many operations at once and never ends by itself: to be killed.
// Prints a line when everything is asked for.
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import { EngineCloud } from './engine-cloud.ts'

const [directory, part] = process.argv.slice(2) as [string, 'prepare' | 'operate']
const world = openLocalWorld({ directory: `${directory}/world` })
const cloud = new EngineCloud(openSqliteStore({ file: `${directory}/cloud.db` }), world, { leaseMs: 1_500 })
await cloud.engine.start()
const ids = Array.from({ length: 10 }, (_, n) => n)

if (part === 'prepare') {
  await cloud.make('node n1')
  await cloud.make('node n2')
  await cloud.make('account a')
  for (const c of ['c0', 'c1', 'c2', 'c3']) await cloud.make(`cloudspace ${c}`, { parent: 'a' })
  await Promise.all(['c0', 'c1', 'c2'].map((c) => cloud.ask(`cloudspace ${c as 'c0'}`, 'deploy')))
  await Promise.all(
    ids.map(async (n) => {
      await cloud.make(`machine m${n}`, { parent: `c${n % 2}`, links: { node: n % 2 === 0 ? 'n1' : 'n2' } })
      await cloud.ask(`machine m${n}`, 'deploy')
      await cloud.make(`disk d${n}`, { parent: 'a', operation: 'createOn', links: { machine: `m${n}` } })
      await cloud.make(`disk e${n}`, { parent: 'a' })
      await cloud.make(`image i${n}`, { parent: 'a' })
    }),
  )
  await cloud.engine.stop()
  process.stdout.write('prepared\n')
} else {
  // Half of what is done hangs or is slow, so that the kill finds it in the middle.
  await world.faults.set({ does: 'slow', ms: 5_000, rate: 0.5 })
  const machines = ['stop', 'pause', 'reboot', 'reset', 'delete', 'destroy', 'resize', 'stop', 'delete', 'pause']
  const disks = ['attach', 'delete', 'destroy', 'resize', 'attach', 'delete', 'destroy', 'resize', 'attach', 'delete']
  const images = [
    'disable',
    'delete',
    'destroy',
    'delete',
    'destroy',
    'disable',
    'delete',
    'destroy',
    'disable',
    'delete',
  ]
  const inputs: Record<string, unknown> = { machineresize: { memory: 64 }, diskresize: { size: 4 } }
  const asked = [
    ...ids.map((n) => cloud.begin(`machine m${n}`, machines[n]!, inputs[`machine${machines[n]}`])),
    ...ids.map((n) =>
      cloud.begin(`disk e${n}`, disks[n]!, disks[n] === 'attach' ? { machine: `m${n}` } : inputs[`disk${disks[n]}`]),
    ),
    ...ids.map((n) => cloud.begin(`image i${n}`, images[n]!)),
    ...ids.map((n) => cloud.beginMaking(`disk f${n}`, { parent: 'a' })),
    ...ids.slice(0, 6).map((n) => cloud.beginMaking(`image j${n}`, { parent: 'a' })),
    cloud.begin('cloudspace c2', 'delete'),
    cloud.begin('cloudspace c3', 'deploy'),
    cloud.begin('account a', 'update', { name: 'new' }),
    cloud.begin('node n1', 'update'),
  ]
  await Promise.all(asked)
  // Some have ended, others have not.
  while ((await cloud.all()).filter(({ run }) => run === null).length < 30)
    await new Promise((resolve) => setTimeout(resolve, 10))
  process.stdout.write(`asked ${asked.length}\n`)
  await new Promise((resolve) => setTimeout(resolve, 600_000))
}
