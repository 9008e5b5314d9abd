// Invents values that fit a schema, as far as its library can say the schema as JSON Schema: inputs, properties and results for
// any declaration. The quiet choice is always the plainest value.
import type { JsonObject } from '../base/json.ts'
import { jsonSchemaOf, type Schema } from '../lifecycle/schema.ts'
import type { Stream } from './choices.ts'

interface SchemaData {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly SchemaData[]
  readonly properties?: Readonly<Record<string, SchemaData>>
  readonly required?: readonly string[]
  readonly additionalProperties?: SchemaData | boolean
  readonly items?: SchemaData
  readonly minimum?: number
  readonly exclusiveMinimum?: number
}

const known = new WeakMap<Schema, SchemaData | null>()

function dataOf(schema: Schema): SchemaData | null {
  let data = known.get(schema)
  if (data === undefined) {
    data = (jsonSchemaOf(schema, 'input') as SchemaData | undefined) ?? null
    known.set(schema, data)
  }
  return data
}

/** Undefined when nothing is known about the schema. */
export function sampleFor(schema: Schema | null, stream: Stream): unknown {
  const data = schema === null ? null : dataOf(schema)
  return data === null ? undefined : sample(data, stream)
}

const words = ['a', 'b', 'c', 'large'] as const

function sample(data: SchemaData, stream: Stream): unknown {
  if (data.const !== undefined) return data.const
  if (data.enum !== undefined) return data.enum[stream.below(data.enum.length)]
  if (data.anyOf !== undefined) return sample(data.anyOf[stream.below(data.anyOf.length)]!, stream)
  switch (data.type ?? 'null') {
    case 'boolean':
      return stream.below(2) === 1
    case 'integer':
    case 'number':
      return (data.exclusiveMinimum ?? (data.minimum ?? 1) - 1) + 1 + stream.below(4)
    case 'string':
      return words[stream.below(words.length)]
    case 'array':
      return Array.from({ length: stream.below(3) }, () => sample(data.items ?? {}, stream))
    case 'object':
      return sampleObject(data, stream)
    default:
      return null
  }
}

function sampleObject(data: SchemaData, stream: Stream): JsonObject {
  const object: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(data.properties ?? {})) {
    if ((data.required ?? []).includes(name) || stream.below(2) === 1) object[name] = sample(inner, stream)
  }
  if (typeof data.additionalProperties === 'object') {
    for (const word of words.slice(0, 1 + stream.below(2))) object[word] = sample(data.additionalProperties, stream)
  }
  return object as JsonObject
}
