// Turns whatever a driver function returned or threw into one of the endings that a decision knows. Nothing a driver does gets past here.
import { inspect } from 'node:util'
import type { Outcome } from '../decision/command.ts'
import type { Phase } from '../decision/state.ts'
import { durationMs, isDuration } from '../lifecycle/duration.ts'
import { keepText, toJson } from './json-result.ts'

const invalid = (reason: string): Outcome => ({ kind: 'failed', code: 'invalid_result', reason, terminal: false })

/** `fn` is the driver's function: it is named in reasons. */
export function outcomeOfValue(phase: Phase, fn: string, value: unknown): Outcome {
  if (value === undefined || value === null) {
    return isProbe(phase) ? invalid(`the probe ${fn} answered nothing`) : done
  }
  const checked = toJson(value)
  if ('fault' in checked) return invalid(`${fn} returned what cannot be kept: ${checked.fault}`)
  const { json } = checked
  const after = againOf(json)
  if (after !== undefined) {
    return after === null ? invalid(`${fn} returned an 'again' that is no duration`) : { kind: 'again', afterMs: after }
  }
  if (!isProbe(phase)) return { kind: 'done', result: json }
  if (typeof json === 'string') return { kind: 'answered', answer: json, observed: null }
  if (typeof json === 'object' && json !== null && 'answer' in json && typeof json.answer === 'string') {
    return { kind: 'answered', answer: json.answer, observed: json.observed ?? null }
  }
  return invalid(`the probe ${fn} answered neither a word nor { answer, observed }`)
}

const done: Outcome = { kind: 'done', result: null }
const isProbe = (phase: Phase): boolean => phase === 'probe' || phase === 'healProbe'

/** Undefined: it is no `again`. Null: it is one with a wrong duration. */
function againOf(json: unknown): number | null | undefined {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined
  if (!('again' in json) || Object.keys(json).length !== 1) return undefined
  const { again } = json
  return isDuration(again) ? durationMs(again) : null
}

/** Told apart by name, not by class: a driver may have its own copy of the package. */
export function outcomeOfThrown(fn: string, thrown: unknown): Outcome {
  const { name, code, message } = partsOf(thrown)
  const said = message ?? `${fn} threw ${shownOf(thrown)}`
  const reason = keepText(said === '' ? `${fn} failed without saying why` : said)
  if (name === 'UnknownOutcomeError') return { kind: 'unknown', reason }
  return {
    kind: 'failed',
    code: code === '' ? 'failed' : keepText(code, 100),
    reason,
    terminal: name === 'TerminalError',
  }
}

interface Parts {
  readonly name: string
  readonly code: string
  /** Null: it has none, or one that cannot be read. */
  readonly message: string | null
}

function partsOf(thrown: unknown): Parts {
  if (thrown === undefined) return { name: '', code: '', message: '' }
  if (typeof thrown === 'string') return { name: '', code: '', message: thrown }
  return { name: textOf(thrown, 'name') ?? '', code: textOf(thrown, 'code') ?? '', message: textOf(thrown, 'message') }
}

function textOf(thrown: unknown, field: string): string | null {
  if (typeof thrown !== 'object' || thrown === null) return null
  try {
    const text = (thrown as Record<string, unknown>)[field]
    return typeof text === 'string' ? text : null
  } catch {
    return null
  }
}

/** What is no error is shown as it is, whatever it is. */
function shownOf(thrown: unknown): string {
  try {
    return inspect(thrown, {
      depth: 3,
      maxArrayLength: 20,
      maxStringLength: 2_000,
      compact: true,
      breakLength: Infinity,
    })
  } catch {
    return 'what cannot be read'
  }
}
