// A shell to paste into what the console copies: `homeostat` is this checkout's, and where the machine has no curl a small one stands in,
// so that every line is read by a real shell and asked over real HTTP.
import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import type { Scene } from './scene.ts'

export interface Said {
  readonly exit: number
  readonly out: string
  readonly err: string
}

/** What our lines use of curl: -fsS, -X, -H, -d and an address. */
const smallCurl = `#!${process.execPath}
const given = process.argv.slice(2)
const request = { method: 'GET', headers: {} }
let url = ''
while (given.length > 0) {
  const one = given.shift()
  if (one === '-X') request.method = given.shift()
  else if (one === '-d') request.body = given.shift()
  else if (one === '-H') { const [, name, value] = /^([^:]+): *(.*)$/.exec(given.shift()); request.headers[name] = value }
  else if (!one.startsWith('-')) url = one
}
fetch(url, request).then(async (response) => {
  process.stdout.write(await response.text())
  process.exitCode = response.ok ? 0 : 22
})
`

export class Shell {
  readonly #folder = mkdtempSync(join(tmpdir(), 'homeostat-shell-'))
  readonly #environment: NodeJS.ProcessEnv

  constructor({ url, adminToken }: Scene) {
    const hasCurl = spawnSync('curl', ['--version']).status === 0
    if (!hasCurl) {
      writeFileSync(join(this.#folder, 'curl'), smallCurl)
      chmodSync(join(this.#folder, 'curl'), 0o755)
    }
    this.#environment = {
      HOME: this.#folder,
      HOMEOSTAT_TOKEN: adminToken,
      HOMEOSTAT_URL: url,
      PATH: [resolve('bin'), this.#folder, process.env['PATH']].join(delimiter),
    }
  }

  run(line: string): Promise<Said> {
    const options = { cwd: this.#folder, env: this.#environment, timeout: 60_000 }
    return new Promise((done) => {
      execFile('sh', ['-c', line], options, (error, out, err) => {
        done({ exit: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err })
      })
    })
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
