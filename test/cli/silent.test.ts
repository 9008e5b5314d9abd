// Commands and a server that says nothing: it is told while it is waited for, and given up with the way out.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tellingOf } from '../../src/cli/cli-error.ts'
import { reach } from '../../src/cli/connect.ts'
import { followRun } from '../../src/cli/follow-run.ts'
import { Printer } from '../../src/cli/print.ts'
import { runningServer } from '../../src/cli/server-file.ts'
import { HttpClient } from '../../src/client.ts'
import { startSilent, type Silent } from '../server/silent.ts'

let server: Silent
beforeAll(async () => {
  server = await startSilent('accepts and says nothing')
})
afterAll(() => server.close())

const printer = new Printer({ out: () => {}, err: () => {}, columns: null, isColoured: false, isJson: false })

test('who waits for a run is told that nothing is heard, and how to go on', async () => {
  const told: string[] = []
  const stop = new AbortController()
  const { api } = await reach({ url: server.url, patience: '0.1' }, (words) => {
    told.push(words)
    stop.abort()
  })
  const error: unknown = await followRun(api, '2s-1', printer, { timeoutMs: 60_000, signal: stop.signal }).catch(
    (thrown: unknown) => thrown,
  )
  expect(told).toEqual(['The server has not answered yet; still waiting. Ctrl-C ends it.'])
  expect(tellingOf(error)).toMatchObject({ exit: 75, text: expect.stringContaining('does not answer') })
  expect(tellingOf(error).hint).toMatch(
    /--patience gives it more time.*\nIt goes on without us: homeostat run 2s-1 --wait/,
  )
})

test('who asked for a change is told that it may have been done, unless nobody was there', async () => {
  const hintOf = async (url: string, patienceMs: number) => {
    const api = new HttpClient({ url, retries: 0, patienceMs })
    return tellingOf(await api.call('clearFaults', {}).catch((thrown: unknown) => thrown)).hint
  }
  expect(await hintOf(server.url, 50)).toContain('Whether it was done is not known')
  const gone = await startSilent('accepts and says nothing')
  await gone.close()
  expect(await hintOf(gone.url, 60_000)).not.toContain('Whether')
})

test('a server at a standstill still has its data folder; something else at its address has not', async () => {
  const data = mkdtempSync(join(tmpdir(), 'homeostat-standstill-'))
  const recorded = (url: string) =>
    writeFileSync(join(data, 'server.json'), JSON.stringify({ url, pid: process.ppid, token: 'secret' }))
  recorded(server.url)
  expect(await runningServer(data, 100)).toMatchObject({ pid: process.ppid, isSilent: true })
  const other = await startSilent((to) => to.end('HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n<p>Hello</p>'))
  recorded(other.url)
  expect(await runningServer(data, 60_000)).toBeNull()
  await other.close()
  expect(await runningServer(data, 60_000)).toBeNull()
  rmSync(data, { recursive: true })
})

test('patience is a number of seconds', async () => {
  await expect(reach({ url: server.url, patience: 'long' })).rejects.toThrow("not 'long'")
})
