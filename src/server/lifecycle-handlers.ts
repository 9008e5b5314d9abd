// What is said about declarations themselves: their check, and rehearsals of what would happen.
import { didYouMeanOf } from '../base/did-you-mean.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { checkLifecycles } from '../lifecycle/check-lifecycle.ts'
import { checkReport } from '../lifecycle/check-report.ts'
import { typeOf } from '../lifecycle/lifecycle.ts'
import type { Call, Handlers } from './call.ts'
import { madeOnce } from './made-once.ts'
import type { RehearsalQuestion, Strike } from './rehearsals.ts'
import { parseStrictJson } from './strict-json.ts'
import { refuseUnknownStatus } from './unknown-names.ts'

export const lifecycleHandlers: Handlers<'checkLifecycle' | 'rehearse' | 'rehearseAll'> = {
  checkLifecycle(call) {
    const { services } = call
    const { type } = call.plan(call.parameters.type)
    const { lifecycles } = services.engine
    const lifecycle = lifecycles.find((one) => typeOf(one) === type)!
    const { findings, checked } = madeOnce(services, `check ${type}`, () =>
      checkReport(
        lifecycle,
        lifecycles,
        madeOnce(services, 'check', () => checkLifecycles(lifecycles)),
      ),
    )
    return { findings: findings.map((finding) => ({ ...finding })), checked: [...checked] }
  },
  async rehearse(call) {
    const { strike } = call.query
    const played = await call.services.rehearsals.play(questionOf(call), strike === undefined ? [] : [strikeOf(strike)])
    return {
      ...played,
      violation: played.violation === null ? null : { promise: played.violation.promise, text: played.violation.text },
    }
  },
  async rehearseAll(call) {
    const { violation, ...found } = await call.services.rehearsals.search(questionOf(call))
    if (violation === null) return { ...found, violation }
    const { promise, text, strike } = violation
    return { ...found, violation: { promise, text, strike } }
  },
}

function questionOf(call: Call<'rehearse'> | Call<'rehearseAll'>): RehearsalQuestion {
  const { type } = call.parameters
  const { operation = null, from = null, properties, input } = call.query
  const plan = call.plan(type)
  if (operation !== null && !plan.operations.has(operation))
    throw new HomeostatError(
      'operation_unknown',
      `${type} has no operation '${operation}'. ${didYouMeanOf(operation, plan.operations.keys())}`,
    )
  refuseUnknownStatus([plan], from === null ? [] : [from])
  return {
    type,
    operation,
    from,
    ...(properties === undefined ? {} : { properties: objectIn('properties', properties) }),
    ...(input === undefined ? {} : { input: jsonIn('input', input) }),
  }
}

const jsonIn = (name: string, text: string): Json => parseStrictJson(text, `'${name}'`) as Json

function objectIn(name: string, text: string): JsonObject {
  const value = jsonIn(name, text)
  if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as JsonObject
  throw new HomeostatError('request_invalid', `'${name}' is no JSON object.`)
}

function strikeOf(text: string): Strike {
  const [at, n, fault] = text.split(':') as ['commit' | 'call', string, string]
  return { at, n: Number(n), fault }
}
