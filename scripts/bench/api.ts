// P10: operations asked for over HTTP, accepted and durable, over 64 connections that are kept. The server is `homeostat serve` as users
// run it: a token from its store, the audit, its worker and its limits; the load comes from another process on the same machine.
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpClient } from '../../src/client.ts'
import type { Round, RoundResult } from './api-load.ts'
import { audit } from './audit.ts'
import { ms, thousands, type Figure, type Options } from './bench.ts'
import { median } from './load.ts'
import { poolCount } from './subject.ts'

const root = resolve(import.meta.dirname, '..', '..')
const connections = 64
/** So many that one is at rest again when its turn comes. */
const volumesEach = 100
const warmUpMs = 6_000
const roundMs = 5_000
const goals = { SQLite: 5_000, PostgreSQL: 3_000 }
const p99Max = 50

export async function api({ runs, folder, ground, say }: Options): Promise<Figure[]> {
  // The name that a PostgreSQL store has by itself; the command line takes it as it is.
  const place = ground.placeOf('homeostat').split('#')[0]!
  const server = await startServer(join(folder, 'data'), place)
  const load = startLoad()
  let asked: Asked
  try {
    asked = await ask({ server, load, runs, say })
    await server.stop()
  } finally {
    // What failed leaves nothing behind that goes on.
    server.kill()
    load.kill()
  }
  const { found, accepted } = asked
  const store = await ground.openStore('homeostat')
  const volumes = connections * volumesEach
  await audit(store, {
    counts: { 'bench.volume/Available': volumes, 'bench.pool/Open': poolCount },
    events: { accepted, stepDone: 3 * accepted, landed: accepted, imported: volumes + poolCount },
  })
  await store.close()
  return [figure(ground.name, found)]
}

interface Asked {
  readonly found: readonly RoundResult[]
  /** With the warming up. */
  readonly accepted: number
}

async function ask({
  server,
  load,
  runs,
  say,
}: Pick<Options, 'runs' | 'say'> & { readonly server: Running; readonly load: Load }): Promise<Asked> {
  const http = new HttpClient({ url: server.url, token: server.token })
  await prepare(http)
  const { secret } = await http.call('createToken', { body: { name: 'bench', role: 'operator' } })
  const port = Number(new URL(server.url).port)
  const round = (length: number) => load.play({ port, token: secret, connections, volumes: volumesEach, ms: length })
  let { accepted } = await round(warmUpMs)
  const found: RoundResult[] = []
  for (let n = 1; n <= runs; n++) {
    await settled(http)
    const one = await round(roundMs)
    accepted += one.accepted
    if (Object.keys(one.others).length > 0)
      throw new Error(`Some were not accepted, by status: ${JSON.stringify(one.others)}`)
    found.push(one)
    say(`P10 round ${n} of ${runs}: ${thousands(rateOf(one))}/s, p50 ${ms(one.p50)}, p99 ${ms(one.p99)}`)
  }
  await load.end()
  await settled(http)
  const chain = await http.call('verifyAudit', {})
  if (!chain.isSound) throw new Error('The chain of the audit is broken.')
  return { found, accepted }
}

function figure(store: 'SQLite' | 'PostgreSQL', found: readonly RoundResult[]): Figure {
  const rate = median(found.map(rateOf))
  const p50 = median(found.map((one) => one.p50))
  const p99 = median(found.map((one) => one.p99))
  return {
    value: rate,
    details: { p50, p99, longest: Math.max(...found.map((one) => one.longest)) },
    what: `P10: operations of 4 steps a second asked for over HTTP on ${store}, accepted and durable, ${connections} connections`,
    found: `${thousands(rate)}, p50 ${ms(p50)}, p99 ${ms(p99)}`,
    goal: `at least ${thousands(goals[store])}, p99 below ${p99Max} ms`,
    isMet: rate >= goals[store] && p99 < p99Max,
  }
}

const rateOf = ({ accepted, ms: took }: RoundResult): number => (accepted / took) * 1000

async function prepare(http: HttpClient): Promise<void> {
  const take = async (type: string, lines: readonly object[]) => {
    const query = { reason: 'bench' }
    const { refused } = await http.call('importResources', { path: { type }, query, body: lines as never })
    if (refused.length > 0) throw new Error(`Not imported: ${JSON.stringify(refused[0])}`)
  }
  const pools = Array.from({ length: poolCount }, (_, n) => ({
    id: `pool-${n}`,
    status: 'Open',
    properties: { region: 'here' },
  }))
  await take('bench.pool', pools)
  for (let connection = 0; connection < connections; connection++) {
    const volumes = Array.from({ length: volumesEach }, (_, n) => ({
      id: `v-${connection}-${n}`,
      status: 'Available',
      parent: `pool-${n % poolCount}`,
      properties: { sizeGb: 10, label: 'measured' },
    }))
    await take('bench.volume', volumes)
  }
}

/** Everything that was asked for has been carried out. */
async function settled(http: HttpClient): Promise<void> {
  const query = { kind: 'transitional', pageSize: 1 } as const
  while ((await http.call('listAllResources', { query })).items.length > 0) await sleep(50)
}

interface Running {
  readonly url: string
  readonly token: string
  stop(): Promise<void>
  kill(): void
}

async function startServer(data: string, place: string): Promise<Running> {
  const program = ['--conditions=source', join(root, 'src', 'bin.ts'), 'serve', '--port', '0']
  const config = join(import.meta.dirname, 'api-config.ts')
  // As docs/deployment.md advises for much load. BENCH_NODE: more for Node, such as --cpu-prof.
  const node = ['--max-semi-space-size=64', ...(process.env['BENCH_NODE'] ?? '').split(' ').filter(Boolean)]
  const child = spawn(process.execPath, [...node, ...program, '--config', config, '--data', data, '--store', place], {
    cwd: root,
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = endOf(child)
  const file = join(data, 'server.json')
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await sleep(20)
  }
  const { url, token } = JSON.parse(readFileSync(file, 'utf8')) as { readonly url: string; readonly token: string }
  return {
    url,
    token,
    async stop() {
      child.kill('SIGTERM')
      const code = await ended
      if (code !== 0) throw new Error(`the server ended with ${code}`)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

interface Load {
  play(round: Round): Promise<RoundResult>
  end(): Promise<void>
  kill(): void
}

function startLoad(): Load {
  const program = join(import.meta.dirname, 'api-load.ts')
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = endOf(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async play(round) {
      child.stdin.write(`${JSON.stringify(round)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`the load has ended with ${await ended}`)
      return JSON.parse(value) as RoundResult
    },
    async end() {
      child.stdin.end()
      const code = await ended
      if (code !== 0) throw new Error(`the load has ended with ${code}`)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}

const endOf = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolved) => child.once('exit', (code) => resolved(code)))
