// Fields for the input of an operation, made from its schema; what has no simple field is given as JSON.
import type { Schema } from '../lifecycle.ts'
import { millis } from '../time.ts'

/** What was typed, by name: text, until it is asked for. */
export type Typed = Readonly<Record<string, string>>

const kindOf = ({
  type,
  format,
  enum: choices,
}: Schema): 'choice' | 'moment' | 'number' | 'switch' | 'text' | 'json' => {
  if (choices !== undefined) return 'choice'
  if (format === 'moment') return 'moment'
  if (type === 'integer' || type === 'number') return 'number'
  if (type === 'boolean') return 'switch'
  return type === 'string' ? 'text' : 'json'
}

/** What fits a schema, as an example of its form. */
function exampleOf({ type, enum: choices, default: usual, properties, required, ...rest }: Schema): unknown {
  if (usual !== undefined) return usual
  if (choices !== undefined) return choices[0]
  if (type === 'array') return [exampleOf(rest.items ?? {})]
  if (type === 'integer' || type === 'number') return 1
  if (type === 'boolean') return false
  if (type === 'string') return '...'
  if (typeof rest.additionalProperties === 'object') return { name: exampleOf(rest.additionalProperties) }
  const parts = Object.entries(properties ?? {}).filter(
    ([name, one]) => one.default !== undefined || required?.includes(name) === true,
  )
  return Object.fromEntries(parts.map(([name, one]) => [name, exampleOf(one)]))
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

export const typedDefaults = (schema: Schema | null): Typed =>
  Object.fromEntries(
    Object.entries(schema?.properties ?? {}).flatMap(([name, one]) =>
      one.default === undefined ? [] : [[name, asText(one.default)]],
    ),
  )

/** The input as the API takes it; a fault in words when it cannot be read. */
export function inputOf(
  schema: Schema | null,
  typed: Typed,
): { readonly input: Record<string, unknown> } | { readonly fault: string } {
  const input: Record<string, unknown> = {}
  for (const [name, one] of Object.entries(schema?.properties ?? {})) {
    const text = typed[name] ?? ''
    const isRequired = schema?.required?.includes(name) ?? false
    if (text === '') {
      if (isRequired && one.default === undefined) return { fault: `${name} is needed.` }
      continue
    }
    switch (kindOf(one)) {
      case 'number':
        if (!Number.isFinite(Number(text))) return { fault: `${name} is to be a number.` }
        input[name] = Number(text)
        break
      case 'moment':
        input[name] = millis(text)
        break
      case 'switch':
        input[name] = text === 'true'
        break
      case 'json':
        try {
          input[name] = JSON.parse(text)
        } catch {
          return { fault: `${name} is to be JSON, such as ${JSON.stringify(exampleOf(one))}.` }
        }
        break
      case 'choice':
      case 'text':
        input[name] = text
    }
  }
  return { input }
}

export function Fields(given: {
  readonly schema: Schema
  readonly typed: Typed
  readonly onType: (typed: Typed) => void
}) {
  const { schema, typed, onType } = given
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, one]) => (
        <Field
          key={name}
          name={name}
          schema={one}
          isRequired={schema.required?.includes(name) ?? false}
          value={typed[name] ?? ''}
          onType={(text) => onType({ ...typed, [name]: text })}
        />
      ))}
    </>
  )
}

function inputTypeOf(kind: string, { format }: Schema): string {
  if (kind === 'moment') return 'datetime-local'
  if (kind === 'number') return 'number'
  return format === 'password' ? 'password' : 'text'
}

function Field(given: {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
  readonly value: string
  readonly onType: (text: string) => void
}) {
  const { name, schema, value, onType } = given
  const kind = kindOf(schema)
  const id = `field-${name}`
  const label = (
    <label htmlFor={id}>
      {name}{' '}
      <span className="quiet">
        {kind === 'json' ? 'JSON' : kind}
        {given.isRequired ? '' : ', may be left out'}
      </span>
    </label>
  )
  return (
    <div className="field">
      {label}
      {kind === 'switch' || kind === 'choice' ? (
        <select id={id} value={value} onChange={(event) => onType(event.target.value)}>
          <option value="">{given.isRequired ? 'choose one' : 'as declared'}</option>
          {(kind === 'switch' ? ['true', 'false'] : (schema.enum ?? [])).map((one) => (
            <option key={String(one)}>{String(one)}</option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          id={id}
          rows={2}
          spellCheck={false}
          className="mono"
          value={value}
          placeholder={JSON.stringify(exampleOf(schema))}
          onChange={(event) => onType(event.target.value)}
        />
      ) : (
        <input
          id={id}
          type={inputTypeOf(kind, schema)}
          step={kind === 'moment' ? 1 : schema.type === 'number' ? 'any' : undefined}
          autoComplete={schema.format === 'password' ? 'new-password' : undefined}
          value={value}
          min={schema.minimum}
          max={schema.maximum !== undefined && schema.maximum < 1e9 ? schema.maximum : undefined}
          onChange={(event) => onType(event.target.value)}
        />
      )}
      {schema.description !== undefined && <small className="quiet">{schema.description}</small>}
    </div>
  )
}
