// How resources are connected. A relation's name is always a key, so that the statuses of the other side are typed by a mapped type.
import type { PropertiesOf, ResourceType, StatusOf } from './resource-type.ts'

export type Scalar = string | number | boolean | null
/** Only those whose properties have these values. */
type Where = Readonly<Record<string, Scalar>>

export type Relation =
  /** The one resource it was created under. */
  | { readonly parent: ResourceType }
  | { readonly children: ResourceType; readonly where?: Where }
  /** The only child of that type (that fits `where`). */
  | { readonly child: ResourceType; readonly where?: Where }
  /** Children of any depth. */
  | { readonly descendants: ResourceType; readonly where?: Where }
  /** Other children of the same parent. */
  | { readonly siblings: ResourceType }
  /** Two resources that always stand in the same status. */
  | { readonly pair: ResourceType }
  /** A resource named by id. */
  | { readonly link: ResourceType }
  /** Those that link to this one under the name `as`. */
  | { readonly linkedBy: ResourceType; readonly as: string }

export type Relations = Readonly<Record<string, Relation>>

const relationKinds = ['parent', 'children', 'child', 'descendants', 'siblings', 'pair', 'link', 'linkedBy'] as const
export type RelationKind = (typeof relationKinds)[number]

const manyKinds: ReadonlySet<RelationKind> = new Set(['children', 'descendants', 'linkedBy', 'siblings'])

export type TargetOf<R> = R extends { readonly [Kind in RelationKind]?: infer T } ? NonNullable<T> : never
export type IsMany<R> = R extends
  | { readonly children: any }
  | { readonly descendants: any }
  | { readonly linkedBy: any }
  | { readonly siblings: any }
  ? true
  : false

/** An object type without keys would accept anything: where there is nothing to name, nothing may be written. */
export type Named<Table> = [keyof Table] extends [never] ? never : Table

/** A resource as the declaration's functions and the driver see it. */
export interface ResourceView<Properties = any, Status extends string = string> {
  readonly id: string
  readonly type: string
  readonly status: Status
  readonly properties: Properties
}
export type ViewOf<T> = ResourceView<PropertiesOf<T>, StatusOf<T>>
export type RelatedViews<R> = {
  readonly [K in keyof R]: IsMany<R[K]> extends true
    ? readonly ViewOf<TargetOf<R[K]>>[]
    : ViewOf<TargetOf<R[K]>> | undefined
}

export function relationKindOf(relation: Relation): RelationKind | undefined {
  return relationKinds.find((kind) => kind in relation)
}

/** The type on the other side; undefined for something that is no relation. */
export function relatedTypeOf(relation: Relation): ResourceType | undefined {
  const kind = relationKindOf(relation)
  return kind && (relation as Readonly<Record<RelationKind, ResourceType | undefined>>)[kind]
}

export function isToMany(relation: Relation): boolean {
  const kind = relationKindOf(relation)
  return kind !== undefined && manyKinds.has(kind)
}
