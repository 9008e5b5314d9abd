// What only the server may read is readable by nobody else, from the moment it is made.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { useFolder } from './open-store.ts'
import { secretKeys } from './secret-keys.ts'

let folder = ''
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'homeostat-'))))
afterEach(() => rmSync(folder, { recursive: true }))

test('the folder of the data and the key in it', () => {
  const data = join(folder, 'data')
  useFolder(data)
  const [key] = secretKeys(data, { make: true })
  expect(key!.length).toBeGreaterThanOrEqual(32)
  expect(secretKeys(data, { make: true })).toEqual([key])
  const made = [data, ...readdirSync(data).map((file) => join(data, file))]
  expect(made.length).toBeGreaterThan(1)
  for (const path of made) expect(statSync(path).mode & 0o077, path).toBe(0)
})
