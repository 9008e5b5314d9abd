// For the conformance of the local world: a process that tells the story in a folder and kills itself before its nth step outside
// of itself: a call of the file system that changes something, the start of a process, a signal to one. Taking and releasing
// locks is the same in every call; it counts in the first one only. Prints a dot for every call that was finished.
import childProcess from 'node:child_process'
import fs, { writeSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import { story } from '../../src/worlds/conformance-story.ts'
import { openLocalWorld } from '../../src/worlds/local-world.ts'

/** Every function through which the local world changes something. */
const changing = [
  'linkSync',
  'mkdirSync',
  'renameSync',
  'rmSync',
  'symlinkSync',
  'truncateSync',
  'unlinkSync',
  'writeFileSync',
] as const

export async function tellAndDie(directory: string, step: number): Promise<void> {
  const world = openLocalWorld({ directory })
  const kill = process.kill.bind(process)
  let steps = 0
  let finished = 0
  const counted = (fn: (...args: never[]) => unknown) =>
    function (this: unknown, ...args: never[]): unknown {
      const isLock = args.some((arg) => typeof arg === 'string' && dirname(arg).endsWith('locks'))
      if ((!isLock || finished === 0) && ++steps === step) {
        kill(process.pid, 'SIGKILL')
        // The signal may need a moment.
        for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
      }
      return Reflect.apply(fn, this, args)
    }
  const patched = fs as unknown as Record<string, (...args: never[]) => unknown>
  for (const name of changing) patched[name] = counted(patched[name]!)
  childProcess.spawn = counted(childProcess.spawn as (...args: never[]) => unknown) as typeof childProcess.spawn
  process.kill = counted(kill as (...args: never[]) => unknown) as typeof process.kill
  syncBuiltinESMExports()
  for (const call of story) {
    await call(world)
    finished++
    writeSync(1, '.')
  }
  writeSync(1, '!')
}
