// `npm run scene` keeps what it promises: the scene ends well, leaves no process behind, and neither does Ctrl-C.
import { spawn, type ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { until } from '../../scripts/waiting.ts'

const root = resolve(import.meta.dirname, '../..')
const living = new Set<ChildProcess>()

afterAll(() => {
  for (const child of living) child.kill('SIGKILL')
})

function play(): { child: ChildProcess; output: () => string; ended: Promise<{ code: number | null }> } {
  const child = spawn(process.execPath, ['--conditions=source', 'scripts/scene.ts', '--fast'], {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  living.add(child)
  let output = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output += text))
  const ended = new Promise<{ code: number | null }>((resolve) => {
    child.on('close', (code) => {
      living.delete(child)
      resolve({ code })
    })
  })
  return { child, output: () => output, ended }
}

const workersIn = (output: string): number[] => [...output.matchAll(/is process (\d+)/g)].map(([, pid]) => Number(pid))

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.concurrent('the scene: killed in the middle, healed, and the audit holds', async () => {
  const { output, ended } = play()
  const { code } = await ended
  const text = output()
  expect({ code, text }).toEqual({ code: 0, text })
  expect(text).toMatch(/kill -9 \d+ .* \(ended by SIGKILL\)/)
  expect(text).toMatch(/users +found in Growing, its worker lost: goes on with grow, at growDisk/)
  expect(text).toMatch(/photos +found in Creating, its worker lost: goes on with create, at makeDisk/)
  expect(text).toMatch(/destroyed +shop\.database\/photos\/disk\//)
  expect(text.match(/✓/g)).toHaveLength(5)
  expect(text).not.toContain('✗')
  expect(text).not.toContain('\u001b[')
  expect(workersIn(text)).toHaveLength(2)
  expect(workersIn(text).filter(isAlive)).toEqual([])
})

test.concurrent('Ctrl-C in the middle leaves no process behind', async () => {
  const { child, output, ended } = play()
  await until('a worker runs', 20_000, () => workersIn(output()).length === 1)
  child.kill('SIGINT')
  expect(await ended).toEqual({ code: 130 })
  expect(output()).toContain('No process is left behind')
  await until('the worker is gone', 5_000, () => !isAlive(workersIn(output())[0]!))
})
