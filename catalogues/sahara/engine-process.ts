// For the crash test: an engine in a process of its own, on a SQLite file and a local world, that asks itself for mixed operations
// until so many are accepted and tells its parent of each. With the last one it kills itself: nothing of it runs after that.
import { HomeostatError } from 'homeostat'
import { seededRandom } from 'homeostat/testing'
import { openCloud } from './local-cloud.ts'

const type = 'sahara.cluster'
/** So many clusters at most; more are made when some are gone. */
const clusters = 12

async function askForMany(folder: string, seed: number, wanted: number): Promise<void> {
  const { engine } = openCloud(folder)
  const random = seededRandom(seed)
  await engine.start()
  const client = engine.client('child')
  const sizes = () => ({ w: 1 + random.below(2), m: random.below(2) })
  for (let accepted = 0, n = 0; accepted < wanted && n < 2_000; n++) {
    const { resources } = await engine.list({ type, limit: 1_000 })
    const living = resources.filter(({ status }) => status !== 'gone')
    const found = living[random.below(clusters)]
    const id = found?.id ?? `c${seed}-${n}`
    const dice = random.below(10)
    try {
      if (found === undefined) await client.cluster.create({ id, properties: { counts: sizes() } })
      else if (dice < 6) await client.cluster.scale(id, { counts: sizes() })
      // A plain delete gives what it interrupts half a minute; here it interrupts nothing.
      else if (dice < 8 && found.run === null) await client.cluster.delete(id)
      else if (dice === 8) await engine.operate(type, id, 'delete', { by: 'child', force: true, reason: 'a die fell' })
      else continue
      process.send!(++accepted)
      if (accepted === wanted) process.kill(process.pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof HomeostatError)) throw error
    } finally {
      await new Promise((go) => setTimeout(go, 5 + random.below(10)))
    }
  }
}

const [, , folder = '', seed, wanted] = process.argv
await askForMany(folder, Number(seed), Number(wanted))
