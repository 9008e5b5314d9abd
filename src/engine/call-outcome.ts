// Turns whatever a driver function returned or threw into one of the endings that a decision knows. Nothing a driver does gets past here.
import { canonical } from '../base/json.ts'
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
  try {
    const { name, code, message } = partsOf(thrown)
    const reason = keepText(message === '' ? `${fn} failed without saying why` : message)
    if (name === 'UnknownOutcomeError') return { kind: 'unknown', reason }
    return {
      kind: 'failed',
      code: code === '' ? 'failed' : keepText(code, 100),
      reason,
      terminal: name === 'TerminalError',
    }
  } catch {
    return { kind: 'failed', code: 'failed', reason: `${fn} threw something that cannot be read`, terminal: false }
  }
}

function partsOf(thrown: unknown): { name: string; code: string; message: string } {
  if (typeof thrown !== 'object' || thrown === null) {
    return {
      name: '',
      code: '',
      message: typeof thrown === 'string' ? thrown : thrown === undefined ? '' : canonical(thrown),
    }
  }
  const { name, code, message } = thrown as { name?: unknown; code?: unknown; message?: unknown }
  return {
    name: typeof name === 'string' ? name : '',
    code: typeof code === 'string' ? code : '',
    message: typeof message === 'string' ? message : canonical(thrown),
  }
}
