// How the language takes schemas: Standard Schema (standardschema.dev), structurally, so that zod, valibot and arktype all fit.
import type { JsonObject } from '../base/json.ts'

/** A Standard Schema: `Out` is what validation answers, `In` what may be given (defaults left out). */
export interface Schema<Out = unknown, In = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Out> | Promise<SchemaResult<Out>>
    readonly types?: { readonly input: In; readonly output: Out } | undefined
  }
}

export type SchemaResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

interface JsonSchemas {
  readonly jsonSchema?: Record<'input' | 'output', (options: { readonly target: string }) => JsonObject>
}

/** The schema as JSON Schema, where its library can say it (Standard JSON Schema); undefined where not. */
export function jsonSchemaOf(schema: Schema | undefined, side: 'input' | 'output'): JsonObject | undefined {
  const standard = schema?.['~standard'] as JsonSchemas | undefined
  try {
    return standard?.jsonSchema?.[side]({ target: 'draft-2020-12' })
  } catch {
    return undefined // The library cannot put this schema into JSON (a transform, a date): nothing is known then.
  }
}

/** Is nothing at all refused as input? False where that is not known at once. */
export function refusesEmpty(schema: Schema | undefined): boolean {
  if (schema === undefined) return false
  const result = schema['~standard'].validate({})
  return !(result instanceof Promise) && result.issues !== undefined
}
