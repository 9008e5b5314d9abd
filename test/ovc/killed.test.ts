// An engine process is killed (SIGKILL) in the middle of 50 mixed operations on the local world, its records in SQLite. After a
// restart nothing is transitional, and real processes and files agree exactly with the records.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from 'homeostat/sqlite'
import { openLocalWorld } from 'homeostat/worlds'
import { expect, test } from 'vitest'
import { EngineCloud } from './engine-cloud.ts'

const started = new Set<ChildProcess>()
const program = fileURLToPath(new URL('./killed-cloud.ts', import.meta.url))

/** Starts the process and waits for its line. */
async function told(directory: string, part: string): Promise<{ child: ChildProcess; line: string }> {
  const child = spawn(process.execPath, ['--conditions=source', program, directory, part], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.add(child)
  let said = ''
  let wrong = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (wrong += text))
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('\n')) resolve(said.trim())
    })
    child.on('close', () => reject(new Error(`${part} ended early: ${wrong}`)))
  })
  return { child, line }
}

const closed = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('close', () => resolve()))

test('G1, G2: killed in the middle of 50 operations, a cloud heals: nothing is transitional, records and world agree', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'homeostat-ovc-killed-'))
  const world = openLocalWorld({ directory: join(directory, 'world') })
  try {
    await closed((await told(directory, 'prepare')).child)
    const { child, line } = await told(directory, 'operate')
    expect(line).toBe('asked 50')
    child.kill('SIGKILL')
    await closed(child)
    await world.faults.clear()

    const cloud = new EngineCloud(openSqliteStore({ file: join(directory, 'cloud.db') }), world, {
      leaseMs: 1_500,
      inventoryEveryMs: 500,
      strayGraceMs: 500,
    })
    const isOpen = (status: string, type: string) => cloud.engine.plans.kindOf(type, status) === 'transitional'
    const cut = (await cloud.all()).filter(({ status, type }) => isOpen(status, type))
    expect(cut.length).toBeGreaterThan(5)
    await cloud.engine.start()
    let wrong: string[] = ['not looked yet']
    for (let looks = 0; looks < 400 && wrong.length > 0; looks++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
      const open = (await cloud.all()).filter(({ status, type }) => isOpen(status, type))
      // The destroyer comes a minute early.
      for (const { type, id, status } of await cloud.all())
        if (type === 'ovc.disk' && status === 'TOBEDESTROYED' && open.length === 0)
          await cloud.ask(`disk ${id}`, 'sweep')
      wrong = open.length > 0 ? open.map(({ id, status }) => `${id} ${status}`) : await cloud.disagreements()
    }
    expect(wrong).toEqual([])
    // The history tells what was healed.
    for (const { type, id } of cut) {
      const kinds = (await cloud.engine.history(type, id)).map(({ kind }) => kind)
      expect([id, kinds.some((kind) => kind === 'healed' || kind === 'moved' || kind === 'resumed')]).toEqual([
        id,
        true,
      ])
    }
    await cloud.engine.stop()
  } finally {
    for (const child of started) child.kill('SIGKILL')
    await world.destroyEverything()
    rmSync(directory, { recursive: true, force: true })
  }
}, 180_000)
