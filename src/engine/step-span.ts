// A span of OpenTelemetry around a driver call, below the request that its run came from: the trace is kept with the run, so that this
// holds in every process that carries it on, also after a restart. Runs that came without a trace have no spans and cost nothing: not even
// the fifty files of OpenTelemetry, which a process takes a twentieth of its start to load.
import { createRequire } from 'node:module'
import type { Context, Span } from '@opentelemetry/api'
import type { Outcome } from '../decision/command.ts'
import { runId } from '../decision/state.ts'
import type { CallFacts } from './driver-call.ts'

type Api = typeof import('@opentelemetry/api')
let loaded: Api | null = null
/** What is registered with it is the same for all who load it. On the spot: the driver is called right after. */
const api = (): Api => (loaded ??= createRequire(import.meta.url)('@opentelemetry/api') as Api)

/** `version-trace-span-flags`; of later versions only what this one has. */
const shape = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-|$)/

/** As it is kept; null: it is no trace context. */
export function traceOf(header: string | undefined): string | null {
  const found = header === undefined ? null : shape.exec(header.trim().slice(0, 200))
  return found === null ? null : `00-${found[1]}-${found[2]}-${found[3]}`
}

export class StepSpan {
  readonly #span: Span
  readonly #context: Context
  /** To be handed on: of the span where somebody records it, else of the request. */
  readonly traceparent: string

  constructor(span: Span, parent: Context) {
    this.#span = span
    this.#context = api().trace.setSpan(parent, span)
    const { traceId, spanId, traceFlags } = span.spanContext()
    this.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
  }

  within<T>(work: () => T): T {
    return api().context.with(this.#context, work)
  }

  end(outcome: Outcome): void {
    this.#span.setAttribute('homeostat.outcome', outcome.kind)
    if (outcome.kind === 'failed' || outcome.kind === 'unknown') {
      if (outcome.kind === 'failed') this.#span.setAttribute('error.type', outcome.code)
      this.#span.setStatus({ code: api().SpanStatusCode.ERROR, message: outcome.reason })
    }
    this.#span.end()
  }
}

/** Null: the run came without a trace. */
export function beginSpan({ resource, owed }: CallFacts): StepSpan | null {
  const run = resource.run!
  const [, traceId, spanId, flags] = (run.trace === undefined ? null : shape.exec(run.trace)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  const { trace, ROOT_CONTEXT, SpanKind } = api()
  const traceFlags = Number.parseInt(flags, 16)
  const parent = trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
  const attributes = {
    'homeostat.type': resource.type,
    'homeostat.resource': resource.id,
    'homeostat.run': runId({ no: resource.no, begun: run.begun }),
    'homeostat.operation': run.operation,
    'homeostat.phase': owed.name.phase,
    'homeostat.attempt': owed.name.attempt,
  }
  const name = `${resource.type} ${owed.function}`
  const span = trace.getTracer('homeostat').startSpan(name, { kind: SpanKind.CLIENT, attributes }, parent)
  return new StepSpan(span, parent)
}
