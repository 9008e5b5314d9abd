// What a name in a declaration may refer to: statuses, relations, operations and, where the schema tells them, properties.
import type { Json, JsonObject } from '../base/json.ts'
import { declarationOf, type Declaration } from './declaration.ts'
import type { AnyLifecycle } from './lifecycle.ts'
import { relatedTypeOf } from './relation.ts'
import { kindsOf, type ResourceType, type StatusKind } from './resource-type.ts'
import { jsonSchemaOf } from './schema.ts'

/** All loaded declarations that can be read. */
export class Declarations {
  readonly all: readonly Declaration[]
  /** Types that are loaded, readable or not. */
  readonly types: ReadonlySet<string>
  private readonly byType: ReadonlyMap<string, Declaration>
  private readonly properties = new Map<ResourceType, ReadonlyMap<string, JsonObject> | undefined>()

  constructor(readable: readonly AnyLifecycle[], set: readonly AnyLifecycle[] = readable) {
    this.all = readable.map(declarationOf)
    this.types = new Set(set.map((one) => declarationOf(one).type))
    this.byType = new Map(this.all.map((one) => [one.type, one]))
  }

  get(type: string): Declaration | undefined {
    return this.byType.get(type)
  }

  /** Nothing is left out: what is not found is not there. */
  get isWhole(): boolean {
    return this.types.size === this.byType.size
  }

  /** The declaration on the other side of a relation; undefined when the relation or its type is unknown. */
  across(declaration: Declaration, relation: string): Declaration | undefined {
    const type = this.typeAcross(declaration, relation)
    return type && this.byType.get(type.type)
  }

  typeAcross({ relations }: Declaration, relation: string): ResourceType | undefined {
    const found = Object.hasOwn(relations, relation) ? relations[relation] : undefined
    return found && relatedTypeOf(found)
  }

  /** The properties with their JSON schemas; undefined when the schema does not tell. */
  propertiesOf(type: ResourceType): ReadonlyMap<string, JsonObject> | undefined {
    if (!this.properties.has(type)) this.properties.set(type, readProperties(type))
    return this.properties.get(type)
  }
}

function readProperties(type: ResourceType): ReadonlyMap<string, JsonObject> | undefined {
  const schema = jsonSchemaOf(type.properties, 'output')
  if (schema?.['type'] !== 'object' || !isObject(schema['properties'])) return undefined
  return new Map(Object.entries(schema['properties']).map(([name, one]) => [name, isObject(one) ? one : {}]))
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Why a property cannot have this value; undefined when it can, or when nobody knows. */
export function valueFault(
  schema: JsonObject,
  value: unknown,
): { fault: string; among: readonly string[] } | undefined {
  const { enum: among, const: only, type } = schema as { enum?: Json[]; const?: Json; type?: Json }
  const allowed = among ?? (only === undefined ? undefined : [only])
  if (allowed) {
    if (allowed.some((one) => one === value)) return undefined
    return { fault: `never has the value ${JSON.stringify(value)}`, among: allowed.map(String) }
  }
  const actual = value === null ? 'null' : typeof value
  const fits =
    type === undefined || type === actual || (type === 'integer' && actual === 'number') || Array.isArray(type)
  return fits ? undefined : { fault: `is of type ${JSON.stringify(type)}, never ${JSON.stringify(value)}`, among: [] }
}

/** Can a number fit this schema? True when nobody knows. */
export function mayBeNumber(schema: JsonObject): boolean {
  const { type, enum: among, anyOf } = schema
  if (Array.isArray(anyOf)) return anyOf.some((one) => !isObject(one) || mayBeNumber(one))
  if (Array.isArray(among)) return among.some((one) => typeof one === 'number')
  const types = type === undefined || Array.isArray(type) ? type : [type]
  return types === undefined || types.some((one) => one === 'number' || one === 'integer')
}

export const isKind = (type: ResourceType, status: string, kind: StatusKind): boolean =>
  kindsOf(type).get(status) === kind
