// The driver in TypeScript keeps the protocol.
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { remoteDriverSuite } from './driver-suite.ts'

const driver = fileURLToPath(new URL('../../examples/remote-driver-typescript/driver.ts', import.meta.url))

describe('the driver in TypeScript', () => {
  remoteDriverSuite({ command: process.execPath, args: ['--conditions=source', driver] })
})
