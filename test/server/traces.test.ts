// A request's trace goes with its run: to every call of its steps, in whichever process, and to the spans around them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context,
  ROOT_CONTEXT,
  trace,
  type Context,
  type ContextManager,
  type Span,
  type SpanOptions,
  type TracerProvider,
} from '@opentelemetry/api'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openSqliteStore } from '../../src/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { openShop, type Hands, type Shop } from './workshop.ts'

vi.setConfig({ testTimeout: 60_000 })

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parent = `00-${traceId}-b7ad6b7169203331-01`

let folder = ''
let shop: Shop
let store: Store
const open = async () => {
  store = openSqliteStore({ file: join(folder, 'store.db') })
  shop = await openShop({ store })
}
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'homeostat-'))
  await open()
})
afterEach(async () => {
  await shop.close()
  rmSync(folder, { recursive: true })
})
afterAll(() => {
  trace.disable()
  context.disable()
})

const create = (id: string, traceparent?: string) =>
  shop.ask('POST', '/v1/resources/shop.box', {
    body: { id, properties: { size: 1 } },
    ...(traceparent === undefined ? {} : { headers: { traceparent } }),
  })
const ended = (run: string) => shop.ask('GET', `/v1/runs/${run}?wait=30`)
const tracesOf = (hands: Hands) => hands.calls.map(({ step, trace: found }) => `${step} ${found ?? 'none'}`)

test('the calls of a run are told its trace, also after a restart; a run without one has none', async () => {
  shop.hands.held.add('fold')
  const { run } = (await create('b-1', parent)).json
  await vi.waitFor(() => expect(tracesOf(shop.hands)).toEqual([`cut ${parent}`, `fold ${parent}`]), 30_000)
  // The call hangs for ever: it is given up.
  await shop.server.stop()
  await shop.engine.stop()
  await store.close()
  await open()
  await ended(run.id)
  expect(tracesOf(shop.hands)).toEqual([`fold ${parent}`])
  await ended((await create('b-2')).json.run.id)
  // What is no trace context is none.
  await ended((await create('b-3', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`)).json.run.id)
  expect(tracesOf(shop.hands).slice(1)).toEqual(['cut none', 'fold none', 'cut none', 'fold none'])
})

/** Keeps what is told to it, and the span that is active, as a provider of OpenTelemetry does. */
class Recorder implements TracerProvider, ContextManager {
  readonly spans: { name: string; parent: string | undefined; id: string; ended: boolean; attributes: object }[] = []
  readonly #active = new AsyncLocalStorage<Context>()

  getTracer() {
    return {
      startSpan: (name: string, options?: SpanOptions, given?: Context) => this.#span(name, options, given),
      startActiveSpan: (name: string, options: SpanOptions, given: Context, work: (span: Span) => unknown) => {
        const span = this.#span(name, options, given)
        return context.with(trace.setSpan(given, span), () => work(span))
      },
    } as never
  }

  #span(name: string, options: SpanOptions = {}, given: Context = context.active()): Span {
    const id = String(this.spans.length + 1).padStart(16, '0')
    const above = trace.getSpanContext(given)
    const seen = { name, id, parent: above?.spanId, ended: false, attributes: { ...options.attributes } }
    this.spans.push(seen)
    const spanContext = { traceId: above?.traceId ?? 'f'.repeat(32), spanId: id, traceFlags: 1 }
    const span = {
      spanContext: () => spanContext,
      setAttribute: (key: string, value: unknown) => (Object.assign(seen.attributes, { [key]: value }), span),
      setStatus: () => span,
      end: () => void (seen.ended = true),
    }
    return span as unknown as Span
  }

  active = (): Context => this.#active.getStore() ?? ROOT_CONTEXT
  with = ((given: Context, work: (...args: unknown[]) => unknown, self?: object, ...args: unknown[]) =>
    this.#active.run(given, () => work.apply(self, args))) as ContextManager['with']
  bind = ((_: Context, target: unknown) => target) as ContextManager['bind']
  enable = (): this => this
  disable = (): this => this
}

test('each call has a span below that of the request, with how it ended', async () => {
  const recorder = new Recorder()
  trace.setGlobalTracerProvider(recorder)
  context.setGlobalContextManager(recorder)
  shop.hands.failing.add('stretch')
  await ended((await create('b-1')).json.run.id)
  await ended((await shop.ask('POST', '/v1/resources/shop.box/b-1:grow', { body: { size: 2 } })).json.run.id)
  const named = (name: string) => recorder.spans.find((one) => one.name === name)!
  const request = named('POST /v1/resources/{type}')
  expect(named('shop.box cut')).toMatchObject({
    parent: request.id,
    ended: true,
    attributes: { 'homeostat.operation': 'create', 'homeostat.resource': 'b-1', 'homeostat.outcome': 'done' },
  })
  expect(named('shop.box stretch')).toMatchObject({
    parent: named('POST /v1/resources/{type}/{id}:{operation}').id,
    attributes: { 'homeostat.outcome': 'failed' },
  })
  // The driver is told the span of its call, not that of the request.
  expect(shop.hands.calls[0]!.trace).toBe(`00-${'f'.repeat(32)}-${named('shop.box cut').id}-01`)
})
