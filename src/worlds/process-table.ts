// Real processes: started, found, paused and ended. A process is known by its number and the moment it began, so that another one
// that got the same number later is never taken for it. They outlive whoever started them.
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'

export interface ProcessId {
  readonly pid: number
  /** The moment it began, and in which life of this machine. */
  readonly began: string
}

export type ProcessState = 'running' | 'paused' | 'gone'

const isLinux = process.platform === 'linux'

export const processId = (pid: number): ProcessId | null => {
  const seen = look(pid)
  return seen === null ? null : { pid, began: seen.began }
}

export function stateOf({ pid, began }: ProcessId): ProcessState {
  const seen = look(pid)
  // Dead and not yet buried by its parent is gone, too.
  if (seen === null || seen.began !== began || 'ZX'.includes(seen.state)) return 'gone'
  return seen.state === 'T' ? 'paused' : 'running'
}

function look(pid: number): { readonly state: string; readonly began: string } | null {
  try {
    if (!isLinux) {
      const [state, ...began] = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', `${pid}`], { encoding: 'utf8' })
        .trim()
        .split(/\s+/)
      return { state: state!.charAt(0), began: began.join('_') }
    }
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is a name in brackets that may hold anything; state is the third, start time the twenty-second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0]!, began: `${fields[19]}-${bootId()}` }
  } catch {
    return null
  }
}

let boot: string | null = null
const bootId = (): string => (boot ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8))

const waitForEver = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'

/** It sleeps for ever. The small `sleep` is preferred; one that looks at its own name, as busybox does, cannot be renamed. */
function sleeper(): { readonly command: string; readonly args: readonly string[] } {
  try {
    if (basename(realpathSync('/bin/sleep')) === 'sleep') return { command: '/bin/sleep', args: ['2147483647'] }
  } catch {}
  return { command: process.execPath, args: ['--max-old-space-size=16', '-e', waitForEver] }
}

/** Starts a process that `ps` shows under this title. */
export function startProcess(title: string): ProcessId {
  const { command, args } = sleeper()
  const child = spawn(command, args, { argv0: title, detached: true, stdio: 'ignore', cwd: '/', env: {} })
  child.on('error', () => {})
  child.unref()
  const id = child.pid === undefined ? null : processId(child.pid)
  if (id === null) throw new Error(`${command} could not be started`)
  return id
}

/** The processes whose title begins so, by the rest of their titles. */
export function findProcesses(prefix: string): readonly { readonly id: ProcessId; readonly rest: string }[] {
  const found = isLinux ? titlesOnLinux() : titlesByPs()
  return found.flatMap(({ pid, title }) => {
    if (!title.startsWith(prefix)) return []
    const id = processId(pid)
    return id === null || stateOf(id) === 'gone' ? [] : [{ id, rest: title.slice(prefix.length) }]
  })
}

function titlesOnLinux(): { readonly pid: number; readonly title: string }[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return []
    try {
      return [{ pid: Number(entry), title: readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0', 1)[0]! }]
    } catch {
      return []
    }
  })
}

function titlesByPs(): { readonly pid: number; readonly title: string }[] {
  const end = ` ${sleeper().args.join(' ')}`
  return execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8', maxBuffer: 2 ** 26 })
    .split('\n')
    .flatMap((line) => {
      const [, pid, command = ''] = /^\s*(\d+) (.*)$/.exec(line) ?? []
      return command.endsWith(end) ? [{ pid: Number(pid), title: command.slice(0, -end.length) }] : []
    })
}

/** Asks it to end, and ends it if it does not. */
export function endProcess(id: ProcessId): void {
  send(id, 'SIGTERM')
  // A paused one hears nothing but this.
  send(id, 'SIGCONT')
  if (becomes(id, 'gone', 100)) return
  send(id, 'SIGKILL')
  if (!becomes(id, 'gone', 1_000)) throw new Error(`process ${id.pid} does not end`)
}

export function pauseProcess(id: ProcessId): void {
  send(id, 'SIGSTOP')
  if (!becomes(id, 'paused', 1_000)) throw new Error(`process ${id.pid} does not pause`)
}

export function resumeProcess(id: ProcessId): void {
  send(id, 'SIGCONT')
  if (!becomes(id, 'running', 1_000)) throw new Error(`process ${id.pid} does not go on`)
}

function send(id: ProcessId, signal: NodeJS.Signals): void {
  if (stateOf(id) === 'gone') return
  try {
    process.kill(id.pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** The system needs a moment for it, far below a millisecond as a rule; nobody else may come in between. */
function becomes(id: ProcessId, wanted: ProcessState, ms: number): boolean {
  for (let tries = 0; stateOf(id) !== wanted; tries++) {
    if (tries > ms) return false
    if (tries > 0) Atomics.wait(moment, 0, 0, 1)
  }
  return true
}

const moment = new Int32Array(new SharedArrayBuffer(4))
