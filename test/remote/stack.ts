// A driver in a process of its own, the engine with its server in another, a client here. Either process can be killed and started again.
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { disks } from '../../examples/remote-disks.ts'
import { createClient } from '../../src/client.ts'
import { signatureHeader, signed, timestampHeader } from '../../src/remote.ts'
import { freePort } from '../server/serving.ts'
import { adminToken } from '../server/workshop.ts'
import { secret } from './call.ts'

/** How the driver's process is started. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
}

export class Stack {
  readonly #program: Program
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-remote-'))
  #driverPort = 0
  #port = 0
  #driver: ChildProcess | null = null
  #serving: ChildProcess | null = null

  constructor(program: Program) {
    this.#program = program
  }

  async start(): Promise<void> {
    this.#driverPort = await freePort()
    this.#port = await freePort()
    await Promise.all([this.startDriver(), this.startEngine()])
  }

  async close(): Promise<void> {
    await this.killEngine()
    await this.killDriver()
    rmSync(this.#folder, { recursive: true })
  }

  get driverUrl(): string {
    return `http://127.0.0.1:${this.#driverPort}/`
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get client() {
    const options = { url: this.url, token: adminToken, retryMs: 50, retries: 40 }
    return createClient({ ...options, lifecycles: { disk: disks } })
  }

  async startDriver(): Promise<void> {
    const { command, args } = this.#program
    const env = {
      ...process.env,
      HOMEOSTAT_SECRETS: `another-secret-0123456789,${secret}`,
      PORT: String(this.#driverPort),
      FOLDER: join(this.#folder, 'driver'),
      BLOCK_SECONDS: '0.05',
    }
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#driver = child
    await new Promise<void>((resolve, reject) => {
      child.stdout.once('data', () => resolve())
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`the driver ended with ${code}`)))
    })
  }

  async startEngine(): Promise<void> {
    const given = { file: join(this.#folder, 'store.db'), port: this.#port, driver: this.driverUrl }
    const child = fork(new URL('./serving-process.ts', import.meta.url), [JSON.stringify(given)], {
      execArgv: ['--conditions=source'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#serving = child
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve())
      child.once('exit', (code) => reject(new Error(`the engine ended with ${code}`)))
    })
  }

  async killDriver(): Promise<void> {
    await kill(this.#driver)
    this.#driver = null
  }

  async killEngine(): Promise<void> {
    await kill(this.#serving)
    this.#serving = null
  }

  /** What is really there: names of disks. */
  get disks(): string[] {
    return readdirSync(join(this.#folder, 'driver', 'disks')).map(decodeURIComponent)
  }

  sizeOf(name: string): number {
    const file = this.#diskFile(name)
    return existsSync(file) ? statSync(file).size : -1
  }

  #diskFile(name: string): string {
    return join(this.#folder, 'driver', 'disks', encodeURIComponent(name))
  }

  /** Somebody makes a disk behind the engine's back. */
  plant(name: string): void {
    writeFileSync(this.#diskFile(name), 'x')
  }

  /** What the driver really did to a disk, in order. */
  effectsOn(name: string): string[] {
    const file = join(this.#folder, 'driver', 'effects.log')
    const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : []
    return lines.filter((line) => line.split(' ')[1] === name)
  }

  /** A call straight to the driver, signed unless said otherwise. */
  async call(
    content: object,
    { at = Date.now(), with: key = secret }: { readonly at?: number; readonly with?: string } = {},
  ): Promise<{ readonly status: number; readonly answer: any }> {
    const body = JSON.stringify(content)
    const timestamp = String(Math.floor(at / 1_000))
    const signature = signed([key], { method: 'POST', path: '/', timestamp, body })
    const headers = { [timestampHeader]: timestamp, [signatureHeader]: signature }
    const response = await fetch(this.driverUrl, { method: 'POST', headers, body })
    return { status: response.status, answer: await response.json() }
  }
}

async function kill(child: ChildProcess | null): Promise<void> {
  if (child === null || child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
