// Fields for the input of an operation, made from its schema; what has no simple field is given as JSON. What is wrong with one is said
// at it.
import { useState } from 'react'
import { HomeostatError } from '../../base/errors.ts'
import { wordsOf, type Resource } from '../api.ts'
import type { Schema } from '../lifecycle.ts'
import { millis } from '../time.ts'
import { Chooser, type Sought } from './chooser.tsx'

/** What was typed, by name: text, until it is asked for. */
export type Typed = Readonly<Record<string, string>>

/** What is wrong, by the name of the field; under '' what no field is to blame for. */
export type Faults = Readonly<Record<string, string>>

const kindOf = ({
  type,
  format,
  enum: choices,
  resource,
}: Schema): 'choice' | 'resource' | 'moment' | 'number' | 'switch' | 'text' | 'json' => {
  if (choices !== undefined) return 'choice'
  if (type === 'string' && typeof resource === 'string') return 'resource'
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

/** The input as the API takes it; all its faults in words when it cannot be read. */
export function inputOf(
  schema: Schema | null,
  typed: Typed,
): { readonly input: Record<string, unknown> } | { readonly faults: Faults } {
  const input: Record<string, unknown> = {}
  const faults: Record<string, string> = {}
  for (const [name, one] of Object.entries(schema?.properties ?? {})) {
    const text = typed[name] ?? ''
    const isRequired = schema?.required?.includes(name) ?? false
    if (text === '') {
      if (isRequired && one.default === undefined) faults[name] = `${name} is needed.`
      continue
    }
    switch (kindOf(one)) {
      case 'number':
        if (!Number.isFinite(Number(text))) faults[name] = `${name} is to be a number.`
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
          faults[name] = `${name} is to be JSON, such as ${JSON.stringify(exampleOf(one))}.`
        }
        break
      case 'resource':
        input[name] = text.trim()
        break
      case 'choice':
      case 'text':
        input[name] = text
    }
  }
  return Object.keys(faults).length > 0 ? { faults } : { input }
}

/** What each code of the server finds fault with, in the names of our fields. */
const blamed: Readonly<Record<string, readonly string[]>> = {
  properties_invalid: ['properties.'],
  input_invalid: ['input.', ''],
  request_invalid: [''],
  link_invalid: ['links.'],
}

/** What the server refused, at the fields that it names; the whole of it where it names what has no field. */
export function faultsOf(error: unknown, schema: Schema | null): Faults {
  const names = Object.keys(schema?.properties ?? {})
  if (!(error instanceof HomeostatError)) return { '': wordsOf(error) }
  if (error.code === 'parent_invalid' && names.includes('parent')) return { parent: error.message }
  const { details, violations } = (error.details ?? {}) as {
    readonly details?: unknown
    readonly violations?: readonly { readonly path: string; readonly message: string }[]
  }
  const lines = Array.isArray(details)
    ? details.map(String)
    : (violations ?? []).map(({ path, message }) => `${path.replace(/^body\./, '')}: ${message}`)
  const faults: Record<string, string> = {}
  for (const line of lines) {
    const [, first, rest, words] = /^([^:.]+)(\.[^:]+)?: (.+)$/s.exec(line) ?? []
    const name = (blamed[error.code] ?? []).map((prefix) => prefix + first).find((one) => names.includes(one))
    if (name === undefined || words === undefined) return { '': error.message }
    faults[name] ??= rest === undefined ? words : `${rest.slice(1)}: ${words}`
  }
  return lines.length === 0 ? { '': error.message } : faults
}

/** Brings the first that is to be mended into sight. */
export const focusFault = (faults: Faults): void =>
  document.querySelector<HTMLElement>(`[id="field-${Object.keys(faults)[0] ?? ''}"]`)?.focus()

export function Fields(given: {
  readonly schema: Schema
  readonly typed: Typed
  readonly faults?: Faults
  readonly onType: (typed: Typed, name: string) => void
}) {
  const { schema, typed, onType, faults = {} } = given
  const [parent, setParent] = useState<Resource | undefined>(undefined)
  const soughtOf = (name: string, one: Schema): Sought | undefined => {
    const { resource, standsIn = {}, tenant } = one
    if (resource === undefined || kindOf(one) !== 'resource') return undefined
    const operation = typed['operation'] ?? Object.keys(standsIn)[0] ?? ''
    // What is created is of its parent's tenant.
    const tenantHere = tenant ?? (name === 'parent' ? undefined : parent?.tenant)
    return { type: resource, tenant: tenantHere, operation, statuses: standsIn[operation] }
  }
  return (
    <>
      {Object.entries(schema.properties ?? {}).map(([name, one]) => (
        <Field
          key={name}
          name={name}
          schema={one}
          isRequired={schema.required?.includes(name) ?? false}
          value={typed[name] ?? ''}
          fault={faults[name]}
          sought={soughtOf(name, one)}
          onFound={(found) => name === 'parent' && setParent(found)}
          onType={(text) => onType({ ...typed, [name]: text }, name)}
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
  readonly fault: string | undefined
  readonly sought: Sought | undefined
  readonly onFound: (resource: Resource | undefined) => void
  readonly onType: (text: string) => void
}) {
  const { name, schema, value, fault, sought, onType } = given
  const kind = kindOf(schema)
  const id = `field-${name}`
  const [, part = '', own = name] = /^(properties\.|input\.|links\.)(.+)$/.exec(name) ?? []
  const mended = {
    'aria-invalid': fault !== undefined,
    'aria-describedby': fault === undefined ? undefined : `${id}-fault`,
  }
  const label = (
    <label htmlFor={id}>
      <span className="quiet">{part}</span>
      {own}{' '}
      <span className="quiet">
        {kind === 'json' ? 'JSON' : (sought?.type ?? kind)}
        {given.isRequired ? '' : ', may be left out'}
      </span>
    </label>
  )
  return (
    <div className="field">
      {label}
      {sought !== undefined ? (
        <Chooser
          id={id}
          sought={sought}
          value={value}
          isInvalid={mended['aria-invalid']}
          describedBy={mended['aria-describedby']}
          onType={onType}
          onFound={given.onFound}
        />
      ) : kind === 'switch' || kind === 'choice' ? (
        <select id={id} {...mended} value={value} onChange={(event) => onType(event.target.value)}>
          <option value="">{given.isRequired ? 'choose one' : 'left out'}</option>
          {(kind === 'switch' ? ['true', 'false'] : (schema.enum ?? [])).map((one) => (
            <option key={String(one)}>{String(one)}</option>
          ))}
        </select>
      ) : kind === 'json' ? (
        <textarea
          id={id}
          {...mended}
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
          {...mended}
          type={inputTypeOf(kind, schema)}
          step={kind === 'moment' ? 1 : schema.type === 'number' ? 'any' : undefined}
          autoComplete={schema.format === 'password' ? 'new-password' : undefined}
          value={value}
          min={schema.minimum}
          max={schema.maximum !== undefined && schema.maximum < 1e9 ? schema.maximum : undefined}
          onChange={(event) => onType(event.target.value)}
        />
      )}
      {fault !== undefined && (
        <small className="fault" role="alert" id={`${id}-fault`}>
          {fault}
        </small>
      )}
      {schema.description !== undefined && <small className="quiet">{schema.description}</small>}
    </div>
  )
}
