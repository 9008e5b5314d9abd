// The local world against the suite of all worlds; and what only real processes and files can show.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { guard, nameOf } from './conformance-story.ts'
import { openLocalWorld } from './local-world.ts'
import { endProcess, processId, type ProcessId, startProcess, stateOf } from './process-table.ts'
import { worldConformance } from './world-conformance.ts'

// Many processes are started: on a busy machine that takes its time.
vi.setConfig({ testTimeout: 300_000 })

const here = import.meta.dirname

/** Each of the many processes needs the same few files: they are compiled once. */
const compiled = mkdtempSync(join(tmpdir(), 'homeostat-compiled-'))
afterAll(() => rmSync(compiled, { recursive: true, force: true }))

/** Runs a line of code in a process of its own, which may import from this folder. */
async function run(
  code: string,
): Promise<{ readonly signal: string | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  })
  const texts = { out: '', err: '' }
  child.stdout.on('data', (data: Buffer) => (texts.out += data.toString()))
  child.stderr.on('data', (data: Buffer) => (texts.err += data.toString()))
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { signal, ...texts }
}

async function tellAndDie(directory: string, step: number): Promise<number | null> {
  const file = JSON.stringify(join(here, '../../test/worlds/dying-process.ts'))
  const { signal, out, err } = await run(
    `const { tellAndDie } = await import(${file}); await tellAndDie(${JSON.stringify(directory)}, ${step})`,
  )
  if (signal !== 'SIGKILL' && !out.endsWith('!')) throw new Error(`the story ended early: ${err}`)
  return out.endsWith('!') ? null : out.length
}

const folder = () => mkdtempSync(join(tmpdir(), 'homeostat-world-'))

worldConformance({
  name: 'local',
  test,
  expect,
  create: () => {
    const directory = folder()
    return {
      open: () => openLocalWorld({ directory }),
      pass: (ms) => sleep(ms),
      now: () => performance.now(),
      killAt: (step) => tellAndDie(directory, step),
      remove: () => openLocalWorld({ directory }).destroyEverything(),
    }
  },
})

async function inWorld(body: (world: ReturnType<typeof openLocalWorld>, directory: string) => Promise<void>) {
  const directory = folder()
  const world = openLocalWorld({ directory })
  try {
    await body(world, directory)
  } finally {
    await world.destroyEverything()
  }
}

const machine = nameOf('machine')

test('what runs is a real process under its own name, and outlives a kill -9 of who started it', () =>
  inWorld(async (world, directory) => {
    const file = JSON.stringify(join(here, 'local-world.ts'))
    const { signal } = await run(`
      const { openLocalWorld } = await import(${file})
      const world = openLocalWorld({ directory: ${JSON.stringify(directory)} })
      const guard = { key: 'k', epoch: 1, resource: 'lab.box/b1', signal: new AbortController().signal }
      await world.create({ kind: 'machine', name: '${machine}' }, guard)
      await world.start('${machine}', guard)
      process.kill(process.pid, 'SIGKILL')
      await new Promise(() => setInterval(() => {}, 1000))`)
    expect(signal).toBe('SIGKILL')
    const [seen] = await world.truth()
    expect(seen).toMatchObject({ name: machine, power: 'running' })
    const shown = execFileSync('ps', ['-o', 'command=', '-p', `${seen!.pid}`], { encoding: 'utf8' })
    expect(shown).toMatch(/^homeostat-[0-9a-f]{12} lab\.box\/b1\/machine\/1 /)
    // Somebody else ends it: nothing says it runs then.
    endProcess(processId(seen!.pid!)!)
    expect((await world.get(machine))?.power).toBe('stopped')
    expect((await world.start(machine, guard('again'))).power).toBe('running')
  }))

/** No number is given twice within one tick of the system's clock; two processes may well begin in one. */
function startInAnotherTick(began: string): ProcessId {
  for (;;) {
    const started = startProcess('an innocent process')
    if (started.began !== began) return started
    endProcess(started)
  }
}

test('a process that got the number of another is never taken for it', () =>
  inWorld(async (world, directory) => {
    await world.create({ kind: 'machine', name: machine }, guard('k'))
    await world.start(machine, guard('k'))
    const [{ pid, path } = {}] = await world.truth()
    const record = join(path!, 'thing.json')
    const { began } = processId(pid!)!
    const innocent = startInAnotherTick(began)
    try {
      endProcess(processId(pid!)!)
      const stored = JSON.parse(readFileSync(record, 'utf8')) as { process: object }
      // As if the number had been given to the innocent one.
      writeFileSync(record, JSON.stringify({ ...stored, process: { ...stored.process, pid: innocent.pid } }))
      expect((await world.get(machine))?.power).toBe('stopped')
      await world.stop(machine, guard('stop'))
      await world.destroy(machine, guard('gone'))
      expect(stateOf(innocent)).toBe('running')
      expect(existsSync(directory)).toBe(true)
    } finally {
      endProcess(innocent)
    }
  }))

test('a process of the world that no thing knows is a leak', () =>
  inWorld(async (world, directory) => {
    const { id } = JSON.parse(readFileSync(join(directory, 'world.json'), 'utf8')) as { id: string }
    await world.create({ kind: 'machine', name: machine }, guard('k'))
    const stray = startProcess(`homeostat-${id} ${machine}`)
    try {
      expect(await world.leaks([machine])).toMatchObject([{ kind: 'process', pid: stray.pid, power: 'running' }])
    } finally {
      endProcess(stray)
    }
    expect(await world.leaks([machine])).toEqual([])
  }))

test('storage is a real file of its size that takes next to no room; a link leads to the other folder', () =>
  inWorld(async (world) => {
    const [disk, copy] = [nameOf('disk'), nameOf('copy')]
    await world.create({ kind: 'disk', name: disk, sizeBytes: 2 ** 40 }, guard('k'))
    await world.copy(disk, { kind: 'copy', name: copy, links: [disk] }, guard('k'))
    await world.link(disk, copy, guard('k'))
    for (const { path } of await world.truth()) {
      const { size, blocks } = statSync(join(path!, 'data'))
      expect(size).toBe(2 ** 40)
      expect(blocks).toBeLessThan(64)
    }
    const [{ path } = {}] = await world.truth()
    expect(statSync(join(path!, 'links', 'lab.box+b1+disk+1', 'data')).size).toBe(2 ** 40)
    // Somebody cuts the file: that is its size then.
    writeFileSync(join(path!, 'data'), 'x')
    expect((await world.get(copy))?.sizeBytes).toBe(1)
  }))

test('only an empty folder or a world is opened; two worlds leave each other alone', async () => {
  const directory = folder()
  writeFileSync(join(directory, 'thesis.txt'), 'precious')
  expect(() => openLocalWorld({ directory })).toThrow('is not empty and no world')
  rmSync(directory, { recursive: true })
  await inWorld((one) =>
    inWorld(async (other) => {
      for (const world of [one, other]) {
        await world.create({ kind: 'machine', name: machine }, guard('k'))
        await world.start(machine, guard('k'))
      }
      await one.destroyEverything()
      expect(existsSync(one.directory)).toBe(false)
      expect((await other.get(machine))?.power).toBe('running')
      mkdirSync(one.directory)
      openLocalWorld({ directory: one.directory })
    }),
  )
})

test('what a killed process left half done is tidied up by the next one', () =>
  inWorld(async (_world, directory) => {
    expect(await tellAndDie(directory, 8)).not.toBe(null)
    const ended = startProcess('half done')
    endProcess(ended)
    mkdirSync(join(directory, 'half-done', `${ended.pid}.${ended.began}.0.1`))
    openLocalWorld({ directory })
    expect(readdirSync(join(directory, 'half-done'))).toEqual([])
  }))

test('a lock is never held by two, though its holders are killed again and again', async () => {
  const directory = folder()
  const [lock, count, log] = ['lock', 'count', 'log'].map((name) => join(directory, name)) as [string, string, string]
  writeFileSync(count, '0')
  appendFileSync(log, '')
  const code = `
    import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
    const { tryLock, unlock } = await import(${JSON.stringify(join(here, 'lock-file.ts'))})
    const moment = new Int32Array(new SharedArrayBuffer(4))
    for (let turn = 0; turn < 1000; ) {
      if (!tryLock(${JSON.stringify(lock)})) { Atomics.wait(moment, 0, 0, Math.random()); continue }
      turn++
      const next = Number(readFileSync(${JSON.stringify(count)}, 'utf8')) + 1
      writeFileSync(${JSON.stringify(count)}, String(next))
      appendFileSync(${JSON.stringify(log)}, next + '\\n')
      if (Math.random() < 0.02) process.kill(process.pid, 'SIGKILL')
      unlock(${JSON.stringify(lock)})
    }`
  try {
    const killed = await Promise.all(
      Array.from({ length: 4 }, async () => {
        let kills = 0
        for (let child = 0; child < 4; child++) if ((await run(code)).signal === 'SIGKILL') kills++
        return kills
      }),
    )
    const values = readFileSync(log, 'utf8').trim().split('\n')
    expect(killed.reduce((a, b) => a + b)).toBeGreaterThan(10)
    expect(values.length).toBeGreaterThan(100)
    expect(new Set(values).size).toBe(values.length)
    expect(readFileSync(count, 'utf8')).toBe(values.at(-1))
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('processes that fight over the same things, and are killed, leave a whole world without leaks', () =>
  inWorld(async (world, directory) => {
    const file = JSON.stringify(join(here, 'local-world.ts'))
    const code = (fighter: number) => `
      const { openLocalWorld } = await import(${file})
      const world = openLocalWorld({ directory: ${JSON.stringify(directory)} })
      const signal = new AbortController().signal
      const pick = (n) => Math.floor(Math.random() * n)
      const awake = setInterval(() => {}, 1000)
      for (let n = 0; n < 60; n++) {
        const id = 'b' + pick(4), name = 'lab.box/' + id + '/machine/1'
        const guard = { key: 'k' + ${fighter} + '-' + n, epoch: pick(3) + 1, resource: 'lab.box/' + id, signal }
        const acts = [
          () => world.create({ kind: 'machine', name, sizeBytes: 100 }, guard),
          () => world.start(name, guard), () => world.start(name, guard), () => world.stop(name, guard),
          () => world.pause(name, guard), () => world.resize(name, pick(1000), guard),
          () => world.link(name, name, guard), () => world.destroy(name, guard), () => world.list(),
        ]
        if (Math.random() < 0.01) queueMicrotask(() => process.kill(process.pid, 'SIGKILL'))
        try { await acts[pick(acts.length)]() } catch (error) {
          if (!['stale_epoch', 'not_found', 'not_running'].includes(error.code)) { console.error(error); process.exit(3) }
        }
      }
      clearInterval(awake)`
    const ends = await Promise.all(
      [1, 2, 3].map(async (fighter) => {
        const seen: string[] = []
        for (let child = 0; child < 4; child++) {
          const { signal, err } = await run(code(fighter * 10 + child))
          seen.push(signal === 'SIGKILL' ? '' : err)
        }
        return seen
      }),
    )
    expect(ends.flat().filter((err) => err !== '')).toEqual([])
    const truth = await world.truth()
    expect(truth.filter(({ kind }) => kind !== 'machine')).toEqual([])
    for (const { name, resource } of truth) await world.destroy(name, { ...guard('end', { epoch: 9 }), resource })
    expect(await world.truth()).toEqual([])
  }))
