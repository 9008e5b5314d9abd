// A small shop to serve: two types of resources, drivers that do as they are told, an engine on a store, and a server on loopback.
import { z } from 'zod'
import { codes, type ErrorCode } from '../../src/base/errors.ts'
import { again, createEngine, resourceType, type Again, type Engine } from '../../src/index.ts'
import { Judge } from '../../scripts/fuzz/judge.ts'
import { openApi } from '../../src/protocol/openapi.ts'
import { problem } from '../../src/protocol/shapes.ts'
import { createServer, type HomeostatServer, type ServerOptions } from '../../src/server.ts'
import { createMemoryBackend } from '../../src/store/memory-store.ts'
import type { Store } from '../../src/store/store.ts'

const shelf = resourceType('shop.shelf', {
  properties: z.object({ boards: z.number().int().positive().default(5) }),
  statuses: {
    stable: { Standing: 'Holds boxes.' },
    transitional: { Building: 'Being put up.', Clearing: 'Being taken down.' },
    failed: { Crooked: 'Could not be put up.' },
    terminal: { Gone: 'Removed.' },
  },
})
const tray = resourceType('shop.tray', {
  properties: z.object({}),
  statuses: {
    stable: { There: 'Can be used.' },
    transitional: { Placing: 'Being placed.' },
    terminal: { Gone: 'Removed.' },
  },
})
const box = resourceType('shop.box', {
  properties: z.object({ size: z.number().int().positive(), label: z.string().max(500).default('') }),
  statuses: {
    stable: { Ready: 'Can be used.', Sealed: 'Cannot be used until it is opened.' },
    transitional: {
      Making: 'Being made.',
      Growing: 'Being enlarged.',
      Sealing: 'Being sealed.',
      Deleting: 'Being removed.',
    },
    failed: { Broken: 'Could not be made.' },
    terminal: { Gone: 'Removed.' },
  },
})

export const shelves = shelf.relations({ trays: { children: tray } }).lifecycle({
  operations: {
    create: { from: [], to: 'Standing', onFailure: 'Crooked', steps: { build: { during: 'Building' } } },
    /** One that stands already. */
    inherit: { from: [], to: 'Standing', onFailure: 'Crooked', steps: {} },
    delete: {
      from: ['*'],
      input: z.object({ reason: z.string().max(50).default('') }),
      to: 'Gone',
      onFailure: { again: '1s' },
      steps: { clear: { during: 'Clearing' } },
    },
  },
  heal: { Building: { resume: true, unowned: { status: 'Standing' } }, Clearing: { attempt: 'delete' } },
})

export const trays = tray.relations({ shelf: { parent: shelf } }).lifecycle({
  operations: {
    create: { from: [], to: 'There', onFailure: 'Gone', steps: { place: { during: 'Placing' } } },
    polish: {
      from: ['There'],
      to: 'There',
      ifBusy: 'queue',
      onFailure: 'There',
      steps: { rub: { during: 'Placing' } },
    },
    delete: {
      from: ['*'],
      to: 'Gone',
      ifTerminal: 'succeed',
      onFailure: { again: '1s' },
      steps: { take: { during: 'Placing', retry: { times: 1, first: '10ms' } } },
    },
  },
  heal: { Placing: { resume: true, unowned: { status: 'There' } } },
})

export const boxes = box.relations({ near: { link: box } }).lifecycle({
  operations: {
    create: {
      from: [],
      to: 'Ready',
      onFailure: { undo: true, status: 'Broken' },
      steps: {
        cut: { during: 'Making', creates: 'wood', undo: 'uncut' },
        fold: { during: 'Making', deadline: '1m' },
      },
    },
    grow: {
      from: ['Ready'],
      input: z.object({ size: z.number().int().positive() }),
      to: { status: 'Ready', set: { size: ({ input }) => input.size } },
      onFailure: 'Ready',
      steps: { stretch: { during: 'Growing' } },
    },
    seal: { from: ['Ready'], to: 'Sealed', onFailure: 'Ready', steps: { glue: { during: 'Sealing' } } },
    unseal: { from: ['Sealed'], to: 'Ready', onFailure: 'Sealed', steps: { open: { during: 'Sealing' } } },
    delete: {
      from: ['*'],
      to: 'Gone',
      ifBusy: 'preempt',
      onFailure: { again: '1s' },
      force: '1s',
      steps: { burn: { during: 'Deleting', destroys: 'wood' } },
    },
  },
  heal: {
    Making: { resume: true, unowned: { status: 'Broken' } },
    Growing: { resume: true, unowned: { status: 'Ready' } },
    Sealing: { resume: true, unowned: { status: 'Ready' } },
    Deleting: { attempt: 'delete' },
  },
})

export const shop = { shelf: shelves, tray: trays, box: boxes }

/** Steps by name that hang until they are let go. */
export class Hands {
  readonly held = new Set<string>()
  readonly failing = new Set<string>()
  /** Steps whose end is told from outside, later. */
  readonly later = new Set<string>()
  #waiting: (() => void)[] = []
  /** Calls by step, with the key that each was given. */
  readonly calls: { readonly step: string; readonly key: string; readonly trace: string | undefined }[] = []

  let(step: string): void {
    this.held.delete(step)
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
  }

  async do(step: string, key: string, trace?: string): Promise<Again | undefined> {
    this.calls.push({ step, key, trace })
    while (this.held.has(step)) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (this.failing.has(step)) throw new Error(`${step} went wrong`)
    return this.later.has(step) ? again('1h') : undefined
  }
}

export function driversFor(hands: Hands) {
  const step = (name: string) => (call: { readonly key: string; readonly traceparent?: string | undefined }) =>
    hands.do(name, call.key, call.traceparent)
  return {
    shelf: { build: step('build'), clear: step('clear') },
    tray: { place: step('place'), rub: step('rub'), take: step('take') },
    box: {
      cut: step('cut'),
      uncut: step('uncut'),
      fold: step('fold'),
      stretch: step('stretch'),
      glue: step('glue'),
      open: step('open'),
      burn: step('burn'),
      sweeper: {
        destroy: async ({ key }: { readonly key: string }) => {
          await hands.do('sweep', key)
        },
      },
    },
  }
}

export const adminToken = 'admin-token-of-the-tests-0123456789'

export const secretKey = 'key-for-secrets-of-the-tests-0123456789'

export interface Shop {
  readonly engine: Engine
  readonly server: HomeostatServer
  readonly hands: Hands
  readonly url: string
  /** With the admin token, unless said otherwise. */
  ask(method: string, path: string, options?: AskOptions): Promise<Answered>
  close(): Promise<void>
}

export interface AskOptions {
  readonly token?: string | null
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly text?: string
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line no-explicit-any
  readonly json: any
}

export async function ask(url: string, method: string, path: string, options: AskOptions = {}): Promise<Answered> {
  const { token = adminToken, body, text, headers = {} } = options
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  })
  const answered = await response.text()
  const isJson = (response.headers.get('content-type') ?? '').includes('json')
  const json = isJson && answered !== '' ? JSON.parse(answered) : null
  mustKeepContract(method, path, response, answered)
  return { status: response.status, headers: response.headers, text: answered, json }
}

const judge = new Judge(openApi({ version: '0.1.0', dev: true }))

/** Every answer in every test is one that the document tells of. */
function mustKeepContract(method: string, path: string, response: Response, text: string): void {
  const { status, headers } = response
  const isAbsent = path.startsWith('/v1/dev/') && status === 404
  const fault = judge.faultOf({ method, path }, { status, headers: Object.fromEntries(headers), text })
  if (fault !== null && !isAbsent) throw new Error(`${method} ${path}: ${fault}: ${text.slice(0, 500)}`)
  if (status < 400) return
  const { code } = problem.parse(JSON.parse(text))
  if (codes[code as ErrorCode].http !== status) throw new Error(`${code} was answered with ${status}`)
}

export async function openShop(
  options: {
    readonly store?: Store
    readonly server?: Partial<ServerOptions>
    readonly hands?: Hands
    readonly stopPatienceMs?: number
    readonly worker?: boolean
  } = {},
): Promise<Shop> {
  const hands = options.hands ?? new Hands()
  const store = options.store ?? (createMemoryBackend().open() as Store)
  const engine = createEngine({
    store,
    lifecycles: shop,
    drivers: driversFor(hands),
    options: {
      name: 'shop',
      stopPatienceMs: options.stopPatienceMs ?? 200,
      sweep: { 'shop.box': 'list' },
      worker: options.worker ?? true,
    },
  }) as unknown as Engine
  await engine.start()
  const server = createServer({
    engine,
    port: 0,
    adminToken,
    secretKeys: [secretKey],
    version: '0.1.0',
    ...options.server,
  })
  const url = await server.start()
  return {
    engine,
    server,
    hands,
    url,
    ask: (method, path, given) => ask(url, method, path, given),
    async close() {
      for (const step of hands.held) hands.let(step)
      await server.stop()
      await engine.stop()
      await store.close()
    },
  }
}
