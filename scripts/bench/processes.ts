// Starts worker processes from the built package and listens to them.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..', '..')
/** Where the programs of the processes are, as plain JavaScript. */
export const built = join(root, 'dist', 'bench')
const programs = ['child', 'power-cut-child', 'lifecycle', 'load']

/** Builds the package when its sources are newer, and the programs beside it. */
export function build(say: (text: string) => void): void {
  const newest = Math.max(
    ...readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  )
  const mark = join(built, 'child.js')
  if (!existsSync(mark) || statSync(mark).mtimeMs < newest) {
    say('building the package')
    const bundling = spawnSync(process.execPath, [join(root, 'scripts', 'bundle.mjs')], { cwd: root, encoding: 'utf8' })
    if (bundling.status !== 0) throw new Error(`the build failed:\n${bundling.stdout}${bundling.stderr}`)
  }
  mkdirSync(built, { recursive: true })
  for (const name of programs) {
    const text = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8')
    writeFileSync(join(built, `${name}.js`), stripTypeScriptTypes(text).replaceAll(/'(\.\/[\w-]+)\.ts'/g, "'$1.js'"))
  }
}

export interface Reached {
  /** Since the process was asked for, by our clock; and since it began, by its own. */
  readonly ms: number
  readonly ownMs: number
}

export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #began = performance.now()
  readonly #reached = new Map<string, Reached>()
  readonly #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  #look: () => void = () => {}

  constructor(file: string, mode: 'hang' | 'finish' | 'first' | 'idle') {
    this.#child = spawn(process.execPath, [join(built, 'child.js'), file, mode], {
      stdio: ['pipe', 'pipe', 'inherit'],
      // As docs/deployment.md advises for a quick restart.
      env: { ...process.env, NODE_OPTIONS: '', NODE_COMPILE_CACHE: join(built, 'compiled') },
    })
    let text = ''
    this.#child.stdout!.on('data', (chunk: Buffer) => {
      const ms = performance.now() - this.#began
      const lines = (text + chunk.toString()).split('\n')
      text = lines.pop()!
      for (const line of lines) {
        const [word, ownMs] = line.split(' ') as [string, string]
        this.#reached.set(word, { ms, ownMs: Number(ownMs) })
      }
      this.#look()
    })
    this.#ended = new Promise((resolve) => this.#child.once('exit', (code, signal) => resolve({ code, signal })))
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Resolves when the process has said this word. */
  async reached(word: string): Promise<Reached> {
    const said = new Promise<void>((resolve) => {
      this.#look = () => (this.#reached.has(word) ? resolve() : undefined)
      this.#look()
    })
    await Promise.race([
      said,
      this.#ended.then(({ code, signal }) => {
        if (!this.#reached.has(word)) throw new Error(`the process ended (${code ?? signal}) before it was ${word}`)
      }),
    ])
    return this.#reached.get(word)!
  }

  /** kill -9, and that it was this that ended it. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    const { signal } = await this.#ended
    if (signal !== 'SIGKILL') throw new Error('the process was not ended by SIGKILL')
  }

  async stop(): Promise<void> {
    this.#child.stdin!.end('stop\n')
    const { code } = await this.#ended
    if (code !== 0) throw new Error(`the process ended with ${code}`)
  }
}
