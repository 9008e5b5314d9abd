// Starts and kills the serving process.
import { fork, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'

export interface Serving {
  readonly url: string
  /** With SIGKILL: nothing is said goodbye to. */
  kill(): Promise<void>
  /** What is in use after everything that can be forgotten was; needs `--expose-gc`. */
  memory(): Promise<Memory>
}

export interface Memory {
  readonly rss: number
  /** Objects and what they hold outside of the heap. */
  readonly heap: number
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function startServing(given: {
  readonly file: string
  readonly port: number
  readonly execArgv?: readonly string[]
}): Promise<Serving> {
  const child: ChildProcess = fork(new URL('./serving-process.ts', import.meta.url), [JSON.stringify(given)], {
    execArgv: ['--conditions=source', ...(given.execArgv ?? [])],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message: { readonly url: string }) => resolve(message.url))
    child.once('exit', (code) => reject(new Error(`the serving process ended with ${code}`)))
  })
  return {
    url,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    memory() {
      child.send('memory')
      return new Promise((resolve) => child.once('message', (message: Memory) => resolve(message)))
    },
  }
}
