// Where the command line finds a server, and whose word it takes for it.
import { chownSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findData, writeServerFile } from './server-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('the file of a server in a folder above is found, unless somebody else has laid it there', () => {
  const data = join(folder, 'data')
  const below = join(folder, 'a', 'b')
  mkdirSync(data)
  mkdirSync(below, { recursive: true })
  writeServerFile(data, { url: 'http://127.0.0.1:4600', pid: process.pid, token: 'x' })
  const file = join(data, 'server.json')
  expect(statSync(file).mode & 0o077).toBe(0)
  const me = statSync(file).uid || 1_000
  if (statSync(file).uid === 0) {
    // Of root.
    expect(findData(below, me)).toBe(data)
    chownSync(file, me, 0)
  }
  expect(findData(below, me)).toBe(data)
  expect(findData(below, 0)).toBe(data)
  expect(findData(below, me + 1)).not.toBe(data)
})
