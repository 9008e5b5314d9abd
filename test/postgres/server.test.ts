// The PostgreSQL that tests run on: it starts, keeps what was committed over a crash, and leaves nothing behind.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ask } from './ask.ts'
import { startPostgres } from './server.ts'

test('a server starts, keeps what was committed over kill -9, and goes away whole', async () => {
  const server = await startPostgres({ durable: true, settings: { work_mem: '5MB' } })
  try {
    expect(await ask(server, 'show work_mem')).toEqual(['5MB'])
    await ask(server, 'create table kept as select 7 as n')
    await server.crash()
    expect(server.isRunning).toBe(false)
    await server.start({ work_mem: '6MB' })
    expect(await ask(server, 'select n from kept')).toEqual([7])
    expect(await ask(server, 'show work_mem')).toEqual(['6MB'])
    await server.stop()
    const copy = await startPostgres({ from: server.data })
    expect(await ask(copy, 'select n from kept')).toEqual([7])
    await copy.remove()
  } finally {
    await server.remove()
  }
  expect(existsSync(server.data)).toBe(false)
})
