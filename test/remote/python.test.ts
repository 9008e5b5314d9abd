// The driver in Python's standard library keeps the protocol. Skipped where there is no python3 (3.8 or later): npm test promises only Node.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { remoteDriverSuite } from './driver-suite.ts'

const isThere = spawnSync('python3', ['-c', 'import sqlite3, sys; sys.exit(sys.version_info < (3, 8))']).status === 0
const driver = fileURLToPath(new URL('../../examples/remote-driver-python/driver.py', import.meta.url))

describe.skipIf(!isThere)('the driver in Python (skipped without python3 and its sqlite3)', () => {
  remoteDriverSuite({ command: 'python3', args: [driver] })
})
