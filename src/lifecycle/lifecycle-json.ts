// A declaration as JSON, for the API and the console: data stays data, functions become their words, schemas JSON Schema.
import type { Json, JsonObject } from '../base/json.ts'
import { declarationOf, healOf, type Declaration, type OperationData } from './declaration.ts'
import type { AnyLifecycle } from './lifecycle.ts'
import { relatedTypeOf, relationKindOf, type Relation } from './relation.ts'
import { statusKinds } from './resource-type.ts'
import { jsonSchemaOf, type Schema } from './schema.ts'
import { driftWords, healWords, operationWords, timerWords } from './words.ts'

export function lifecycleJson(lifecycle: AnyLifecycle): JsonObject {
  const declaration = declarationOf(lifecycle)
  const { type, resource, begins, moves, probes } = declaration
  return {
    type,
    properties: schemaJson(resource.properties, 'input'),
    statuses: statusKinds.flatMap((kind) =>
      Object.entries(resource.statuses[kind] ?? {}).map(([name, meaning]) => ({ name, kind, meaning })),
    ),
    relations: mapTable(declaration.relations, relationJson),
    operations: mapTable(declaration.operations, operationJson),
    heal: mapTable(declaration.heal, (row, status) => ({
      ...healWordsJson(declaration, status),
      declared: plain(row),
    })),
    drift: mapTable(declaration.drift, (row) => ({ words: driftWords(row), declared: plain(row) })),
    rules: mapTable(declaration.rules, (rule) => ({ words: rule.says, declared: plain(rule) })),
    timers: mapTable(declaration.timers, (timer, name) => ({ words: timerWords(name, timer), declared: plain(timer) })),
    probes: plain(probes),
    begins: plain(begins),
    moves: plain(moves),
  }
}

const mapTable = <Value>(
  table: Readonly<Record<string, Value>>,
  to: (value: Value, name: string) => Json,
): JsonObject => Object.fromEntries(Object.entries(table).map(([name, value]) => [name, to(value, name)]))

function relationJson(relation: Relation): Json {
  const kind = relationKindOf(relation) ?? null
  const { where, as } = relation as { where?: Json; as?: string }
  return {
    kind,
    type: relatedTypeOf(relation)?.type ?? null,
    ...(where === undefined ? {} : { where }),
    ...(as === undefined ? {} : { as }),
  }
}

function operationJson(operation: OperationData, name: string): Json {
  return {
    meaning: operation.meaning ?? '',
    words: operationWords(name, operation),
    input: schemaJson(operation.input, 'input'),
    declared: plain({ ...operation, input: undefined, meaning: undefined }),
  }
}

function healWordsJson({ heal }: Declaration, status: string): { words: string } {
  const row = healOf(heal, status)
  return { words: row ? healWords(row) : '' }
}

const schemaJson = (schema: Schema | undefined, side: 'input' | 'output'): Json =>
  schema === undefined ? null : (jsonSchemaOf(schema, side) ?? { vendor: schema['~standard']?.vendor ?? '' })

/** Functions have their words beside them (`says`) or only say that a value is computed. */
function plain(value: unknown): Json {
  if (value === null || typeof value !== 'object') return (value ?? null) as Json
  if (Array.isArray(value)) return value.map(plain)
  if ('~standard' in value) return schemaJson(value as Schema, 'output')
  const entries = Object.entries(value).flatMap(([key, inner]): [string, Json][] => {
    if (inner === undefined || (key === 'test' && typeof inner === 'function')) return []
    return [[key, typeof inner === 'function' ? '(computed)' : plain(inner)]]
  })
  return Object.fromEntries(entries)
}
