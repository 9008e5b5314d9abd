// Starts and kills the serving process.
import { fork, type ChildProcess } from 'node:child_process'
import { createServer } from 'node:net'

export interface Serving {
  readonly url: string
  /** With SIGKILL: nothing is said goodbye to. */
  kill(): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

export async function startServing(given: { readonly file: string; readonly port: number }): Promise<Serving> {
  const child: ChildProcess = fork(new URL('./serving-process.ts', import.meta.url), [JSON.stringify(given)], {
    execArgv: ['--conditions=source'],
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
  }
}
