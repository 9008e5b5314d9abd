// A program for the tests of this catalogue: an engine on a real world with fifty mixed operations, that kills itself with SIGKILL
// a moment after so many of them have ended. Says on its output what was accepted, a line each.
import { join } from 'node:path'
import { createEngine } from 'homeostat'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import { createDrivers, createWorldBackend, opensds } from './index.ts'

/** A store and a world in one folder. */
export function openSite(folder: string) {
  const world = openLocalWorld({ directory: join(folder, 'world') })
  const store = openSqliteStore({ file: join(folder, 'store.db') })
  const drivers = createDrivers(createWorldBackend(world))
  const options = { leaseMs: 2_000, healEveryMs: 200 }
  return { world, store, engine: createEngine({ store, lifecycles: opensds, drivers, options }) }
}

/** Ten volumes of five operations each, every kind of operation among them. */
function scripts({ volume, snapshot, attachment }: ReturnType<ReturnType<typeof openSite>['engine']['client']>) {
  const create = (id: string, multiAttach = false) => volume.create({ id, properties: { size: 1, multiAttach } })
  const attach = (id: string, parent: string) => attachment.create({ id, parent, properties: { hostId: `h-${id}` } })
  const take = (id: string, parent: string) => snapshot.create({ id, parent, properties: {} })
  return [1, 2].flatMap((n) => [
    [
      () => create(`a${n}`),
      () => volume.extend(`a${n}`, { size: 3 }),
      () => attach(`aa${n}`, `a${n}`),
      () => take(`as${n}`, `a${n}`),
      () => attachment.delete(`aa${n}`),
    ],
    [
      () => create(`b${n}`),
      () => attach(`ba${n}`, `b${n}`),
      () => attachment.delete(`ba${n}`),
      () => volume.extend(`b${n}`, { size: 2 }),
      () => volume.delete(`b${n}`),
    ],
    [
      () => create(`c${n}`),
      () => take(`cs${n}`, `c${n}`),
      () => volume.create({ id: `cc${n}`, properties: { size: 2 }, links: { source: `cs${n}` } }),
      () => attach(`ca${n}`, `cc${n}`),
      () => snapshot.delete(`cs${n}`),
    ],
    [
      () => create(`d${n}`, true),
      () => attach(`da${n}`, `d${n}`),
      () => attach(`db${n}`, `d${n}`),
      () => attachment.delete(`da${n}`),
      () => take(`ds${n}`, `d${n}`),
    ],
    [
      () => create(`e${n}`),
      () => volume.extend(`e${n}`, { size: 9 }),
      () => take(`es${n}`, `e${n}`),
      () => snapshot.delete(`es${n}`),
      () => volume.delete(`e${n}`),
    ],
  ])
}

const say = (line: string) => process.stdout.write(`${line}\n`)

/** Nothing of this process runs after it. */
const die = () => process.kill(process.pid, 'SIGKILL')

async function main(folder: string, endedMost: number): Promise<void> {
  const { world, engine } = openSite(folder)
  await engine.start()
  // No timer of the engine keeps a process alive.
  const alive = setInterval(() => {}, 1_000)
  // So that it can be caught in the middle of what it does, and after it.
  await world.faults.set({ does: 'slow', ms: 80, rate: 0.8 })
  let ended = 0
  await Promise.all(
    scripts(engine.client('ann')).map(async (script) => {
      for (const ask of script) {
        const { run } = await ask()
        say(`accepted ${run!.id}`)
        await engine.waitForRun(run!.id, { timeoutMs: 60_000 })
        if (++ended === endedMost) setTimeout(die, 5)
      }
    }),
  )
  say('all')
  await engine.stop()
  clearInterval(alive)
}

if (process.argv[1] === import.meta.filename) await main(process.argv[2]!, Number(process.argv[3]))
