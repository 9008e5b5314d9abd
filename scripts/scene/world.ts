// The real world of the scene: a folder in which a disk is a file that grows kilobyte by kilobyte (one stands for a gigabyte)
// and a server is a folder. It outlives every process, so it can be compared with the records.
import { appendFile, mkdir, rm, truncate } from 'node:fs/promises'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Driver } from 'homeostat'
import { databases } from '../../examples/database.ts'

const bytesPerGb = 1024

export const diskFile = (folder: string, name: string): string => join(folder, 'disks', name)

export function sizeGbOf(folder: string, name: string): number | null {
  const file = diskFile(folder, name)
  return existsSync(file) ? statSync(file).size / bytesPerGb : null
}

/** Names of all disks that exist. */
export function disksIn(folder: string): string[] {
  const disks = join(folder, 'disks')
  if (!existsSync(disks)) return []
  return readdirSync(disks, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(disks.length + 1))
}

export const serversIn = (folder: string): string[] =>
  existsSync(join(folder, 'servers')) ? readdirSync(join(folder, 'servers')) : []

export interface WorldOptions {
  readonly folder: string
  /** How long a gigabyte takes, and a server to start. */
  readonly gbMs: number
  readonly serverMs: number
  /** Its storage does not answer; what was asked of it happens all the same, long after anybody has stopped waiting. */
  readonly slowStorageOf: string
  readonly slowStorageMs: number
}

/** Steps that can be repeated: each looks at what is there and does what is missing. */
export function driverOn({
  folder,
  gbMs,
  serverMs,
  slowStorageOf,
  slowStorageMs,
}: WorldOptions): Driver<typeof databases> {
  const writeUpTo = async (name: string, sizeGb: number, signal: AbortSignal) => {
    const file = diskFile(folder, name)
    await mkdir(dirname(file), { recursive: true })
    for (let gb = Math.floor(sizeGbOf(folder, name) ?? 0); gb < sizeGb; gb++) {
      await sleep(gbMs, undefined, { signal })
      await truncate(file, gb * bytesPerGb).catch(() => {})
      await appendFile(file, 'x'.repeat(bytesPerGb))
    }
  }
  const server = (id: string) => join(folder, 'servers', id)
  return {
    async makeDisk({ name = '', resource, signal }) {
      const { sizeGb } = resource.properties
      if (resource.id === slowStorageOf) {
        signal.addEventListener('abort', () => {
          setTimeout(() => void writeUpTo(name, sizeGb, AbortSignal.timeout(60_000)), slowStorageMs)
        })
        await sleep(3_600_000, undefined, { signal })
      }
      await writeUpTo(name, sizeGb, signal)
    },
    async startServer({ resource, signal }) {
      await sleep(serverMs, undefined, { signal })
      await mkdir(server(resource.id), { recursive: true })
    },
    async growDisk({ ledger, input, signal }) {
      for (const { name } of ledger) await writeUpTo(name, input.sizeGb, signal)
    },
    async stopServer({ resource, signal }) {
      await sleep(serverMs / 2, undefined, { signal })
      await rm(server(resource.id), { recursive: true, force: true })
    },
    async removeDisk({ ledger, signal }) {
      for (const { name } of ledger) {
        for (let gb = Math.ceil(sizeGbOf(folder, name) ?? 0) - 1; gb > 0; gb--) {
          await sleep(gbMs, undefined, { signal })
          await truncate(diskFile(folder, name), gb * bytesPerGb)
        }
        await rm(diskFile(folder, name), { force: true })
      }
    },
    sweeper: {
      inventory: async () => disksIn(folder).map((name) => ({ kind: 'disk', name })),
      destroy: ({ name }) => rm(diskFile(folder, name), { force: true }),
    },
  }
}
