// A terminal for the tests of the command line: a folder like a fresh clone (sources and packages are those of this checkout, its data
// is its own), and shells in it.
import { execFile, fork, spawn, type ChildProcess } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..', '..')

export interface Said {
  readonly exit: number
  readonly out: string
  readonly err: string
}

/** Nothing of the one who runs the tests: no tokens, no colours, no settings of npm. */
const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  PORT: '0',
  npm_config_update_notifier: 'false',
  npm_config_loglevel: 'error',
  ...more,
})

interface Commands {
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
}

export class Terminal {
  readonly folder: string
  readonly #started: ChildProcess[] = []
  #commands: Commands | null = null

  constructor(folder: string) {
    this.folder = folder
  }

  /** As after `git clone` and one `npm start`. Without package-lock.json, so that nothing is ever installed by a test. */
  static clone(): Terminal {
    const terminal = Terminal.empty()
    for (const name of ['src', 'catalogues', 'scripts', 'templates', 'node_modules', 'homeostat.config.ts', 'bin'])
      symlinkSync(join(root, name), join(terminal.folder, name))
    cpSync(join(root, 'package.json'), join(terminal.folder, 'package.json'))
    return terminal
  }

  static empty(): Terminal {
    return new Terminal(mkdtempSync(join(tmpdir(), 'homeostat-cli-')))
  }

  /** A line in a shell, as a reader types it. */
  run(line: string, more: NodeJS.ProcessEnv = {}): Promise<Said> {
    const options = { cwd: this.folder, env: environment(more), timeout: 120_000, maxBuffer: 2 ** 24 }
    return new Promise((done) => {
      execFile('sh', ['-c', line], options, (error, out, err) => {
        done({ exit: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err })
      })
    })
  }

  /** Without `bin/homeostat`, which flow.test.ts starts for every line of the README: it only finds the right Node, and takes its time. */
  homeostat(line: string, more?: NodeJS.ProcessEnv): Promise<Said> {
    return this.run(`exec ${process.execPath} --conditions=source ${join(root, 'src/bin.ts')} ${line}`, more)
  }

  /** The same in a process that all of them share, one after another: it is not started each time (command-process.ts). */
  async ask(line: string): Promise<Said> {
    this.#commands ??= this.#startCommands()
    const { child, ended } = this.#commands
    const said = new Promise<Said>((done) => child.once('message', done))
    child.send([...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word))
    return Promise.race([said, ended.then((code) => Promise.reject(new Error(`it ended with ${code} at: ${line}`)))])
  }

  #startCommands(): Commands {
    const program = join(import.meta.dirname, 'command-process.ts')
    const child = fork(program, { cwd: this.folder, env: environment(), execArgv: ['--conditions=source'] })
    this.#started.push(child)
    return { child, ended: new Promise((done) => child.once('exit', done)) }
  }

  /** Starts what goes on; resolves when the server answers, or with what is waited for. `exited` resolves with how it ended. */
  async start(line: string, more: NodeJS.ProcessEnv = {}, awaited?: RegExp): Promise<Running> {
    const child = spawn('sh', ['-c', `exec ${line}`], {
      cwd: this.folder,
      env: environment(more),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#started.push(child)
    const running = new Running(child)
    const told = awaited ?? (line.includes(' work') ? /for \d+ lifecycles?/ : /Ctrl-C stops the server|"ticket":/)
    await running.until(() => told.test(running.output))
    return running
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8')
  }

  /** Ends what was started here, and the processes of its world. */
  async close(): Promise<void> {
    for (const child of this.#started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    const pid = existsSync(join(this.folder, 'data/pid')) ? Number(this.read('data/pid')) : 0
    if (pid > 1)
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Gone already.
      }
    const world = join(this.folder, 'data', 'world')
    if (existsSync(world)) {
      const { openLocalWorld } = await import('../../src/worlds/local-world.ts')
      await openLocalWorld({ directory: world }).destroyEverything()
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export class Running {
  readonly child: ChildProcess
  readonly exited: Promise<number | NodeJS.Signals>
  output = ''

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.output += text))
    this.exited = new Promise((done) => child.on('close', (code, signal) => done(code ?? signal!)))
  }

  async until(holds: () => boolean): Promise<void> {
    let isOver = false
    void this.exited.then(() => (isOver = true))
    for (let n = 0; n < 3_000; n++) {
      if (holds()) return
      if (isOver) break
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    throw new Error(`it never came to it:\n${this.output}`)
  }
}
