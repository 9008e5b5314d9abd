// The simulator is itself tested: each planted bug must be found, and by a promise that it breaks.
import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { plantedBugs } from './planted-bugs.ts'

const root = resolve(import.meta.dirname, '..', '..')
const numbers = [...plantedBugs.keys()]

interface Found {
  readonly number: number
  readonly promise: string | null
  readonly text: string
  readonly ms: number
  readonly schedules: number
}

/** Several bugs are looked for in one process, one after another; each is told when it is found. */
function lookFor(some: readonly number[]): ReadonlyMap<number, Promise<Found>> {
  const tell = new Map<number, (found: Found) => void>()
  const found = new Map(some.map((number) => [number, new Promise<Found>((resolve) => tell.set(number, resolve))]))
  const file = join(root, 'test', 'simulation', 'find-bug.ts')
  const child = spawn(process.execPath, ['--conditions=source', file, ...some.map(String)], { cwd: root })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  createInterface(child.stdout).on('line', (line) => {
    const one = JSON.parse(line) as Found
    tell.get(one.number)!(one)
  })
  child.on('close', () => {
    for (const [number, resolve] of tell) resolve({ number, promise: null, text: errors, ms: 0, schedules: 0 })
  })
  return found
}

describe.concurrent('planted bugs', { timeout: 300_000 }, () => {
  const found = new Map([0, 1].flatMap((half) => [...lookFor(numbers.filter((number) => number % 2 === half))]))
  plantedBugs.forEach((bug, number) => {
    test(`found: ${bug.name}`, async () => {
      const { promise, text, schedules, ms } = await found.get(number)!
      expect(bug.breaks, `${text} (${schedules} schedules, ${ms} ms)`).toContain(promise)
      expect(ms).toBeLessThan(60_000)
    })
  })
})
