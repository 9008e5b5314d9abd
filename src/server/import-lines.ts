// Existing objects come in, one JSON object per line, with their present status. Each line is its own change: lines that do not fit are
// told with their number and the others come in; sent again with the same idempotency key, no line comes in twice.
import { HomeostatError } from '../base/errors.ts'
import type { Answer } from '../protocol/route.ts'
import { routes, type Routes } from '../protocol/routes.ts'
import type { Call } from './call.ts'
import { requestInvalid } from './problem.ts'
import { tenantFor } from './reach.ts'
import { parseStrictJson } from './strict-json.ts'
import { refuseUnknown } from './unknown-names.ts'

const atOnce = 200
const linesMax = 100_000

export async function importLines(call: Call<'importResources'>): Promise<Answer<Routes['importResources']>> {
  call.plan(call.parameters.type)
  const lines = (call.body as unknown as string).split('\n')
  if (lines.length > linesMax)
    throw new HomeostatError('limit_exceeded', `At most ${linesMax} lines at a time: send them in parts.`)
  const refused: { line: number; code: string; message: string }[] = []
  let imported = 0
  for (let begin = 0; begin < lines.length; begin += atOnce) {
    const some = lines.slice(begin, begin + atOnce).map(async (text, index) => {
      if (text.trim() === '') return
      try {
        await importLine(call, text, begin + index + 1)
        imported++
      } catch (error) {
        if (!(error instanceof HomeostatError)) throw error
        refused.push({ line: begin + index + 1, code: error.code, message: error.message })
      }
    })
    await Promise.all(some)
  }
  return { imported, refused: refused.sort((a, b) => a.line - b.line) }
}

async function importLine(call: Call<'importResources'>, text: string, line: number): Promise<void> {
  const plan = call.plan(call.parameters.type)
  const checked = routes.importResources.body.safeParse(parseStrictJson(text))
  if (!checked.success) throw requestInvalid(`line ${line}`, checked.error, routes.importResources.body)
  const { parent, ...given } = checked.data
  const what = `The properties of ${plan.type} ${given.id ?? ''} do not`
  refuseUnknown('properties_invalid', what, plan.properties, given.properties)
  const { reason } = call.query
  await call.submit(
    {
      kind: 'importResource',
      type: plan.type,
      ...given,
      tenant: tenantFor(call.principal, given.tenant) ?? undefined,
      within: call.principal.tenant ?? undefined,
      parent: parent === undefined ? undefined : { type: plan.parentType ?? '', id: parent },
      by: call.principal.name,
      // Without a key of the client every line is a new one.
      ...(call.key === null ? {} : { key: `http/${call.key}/${line}` }),
    },
    { reason, detail: { status: given.status } },
  )
}
