// What people have said about healing, damaged in the store: somebody may have switched it off, so nothing is healed until it is said anew.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/sqlite.ts'
import { driverOf, shelves, things } from './shelves.ts'

test('damaged modes hold healing back, with words in the log, until one is set anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'homeostat-damage-'))
  const file = join(folder, 'switches.db')
  const told: string[] = []
  const open = () => {
    const store = openSqliteStore({ file })
    const engine = createEngine({
      store,
      lifecycles: { shelf: shelves, thing: things },
      drivers: { shelf: {}, thing: driverOf(false, new Set()) },
      options: { healEveryMs: 20 },
      log: (_level, _text, facts) => told.push(String((facts as { error?: Error } | undefined)?.error?.message)),
    })
    return { store, engine }
  }
  const before = open()
  await before.engine.start()
  await before.engine.heal.setMode('damage.thing', 'Growing', 'off')
  await before.engine.stop()
  await before.store.close()
  const db = new DatabaseSync(file)
  expect(db.prepare(`update record set value = '{"damage' where key = 'modes'`).run().changes).toBe(1)
  db.close()

  const { store, engine } = open()
  await engine.start()
  const stuck = { kind: 'importResource', type: 'damage.thing', id: 'stuck', status: 'Making', by: 'me' } as const
  await engine.submit({ ...stuck, properties: { size: 1 } })
  await expect.poll(() => told.join()).toContain('The modes of healing are damaged in the store. Set one of them anew')
  expect((await engine.get('damage.thing', 'stuck'))!.status).toBe('Making')
  await engine.heal.setMode('damage.thing', 'Growing', 'off')
  await expect.poll(async () => (await engine.get('damage.thing', 'stuck'))!.status).toBe('Broken')
  expect(Object.values(await engine.heal.modes())).toEqual(['off'])
  await engine.stop()
  await store.close()
  rmSync(folder, { recursive: true })
})
