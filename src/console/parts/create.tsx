// Creating a resource, with fields from the schemas of its properties and of what the operation that creates it takes besides.
import { asCli, word, words } from '../copies.ts'
import { creates, requiredOf, useLifecycle, type Lifecycle, type Schema } from '../lifecycle.ts'
import { go, toResource } from '../route.tsx'
import { useRefusal, useSession } from '../session.tsx'
import { useAct } from './act.tsx'
import { AskButton } from './bits.tsx'

const own: Readonly<Record<string, Schema>> = {
  id: { type: 'string', description: 'Unique within its type; made up when left out.' },
}

/** Null: it can be created. What only comes with another resource cannot. */
export function whyNotCreated(lifecycle: Lifecycle | undefined): string | null {
  if (lifecycle === undefined || Object.values(lifecycle.operations).some(creates)) return null
  const bringer = Object.values(lifecycle.relations).find(({ kind }) => kind === 'parent' || kind === 'pair')?.type
  return `No ${lifecycle.type} is created by itself: it comes with ${bringer == null ? 'another resource' : `its ${bringer}`}.`
}

const prefixed = (prefix: string, some: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(some).map(([name, one]) => [`${prefix}.${name}`, one]))

/** Where what is made by somebody of all tenants goes when no parent says it. */
const usualTenant = 'default'

function schemaOf(lifecycle: Lifecycle, tenant: string): Schema {
  const { properties, relations, operations } = lifecycle
  const creating = Object.entries(operations).filter(([, one]) => creates(one))
  const names = creating.map(([name]) => name)
  const parent = Object.entries(relations).find(([, { kind }]) => kind === 'parent')
  const links = Object.entries(relations).filter(([, { kind }]) => kind === 'link')
  const inputs = creating.flatMap(([, { input }]) => (input === null ? [] : [input]))
  const required = (prefix: string, some: readonly string[] = []) => some.map((name) => `${prefix}.${name}`)
  const oneOf = ([relation, { type }]: (typeof links)[number]): Schema => ({
    type: 'string',
    resource: type ?? '',
    standsIn: Object.fromEntries(
      creating.flatMap(([name, one]) => {
        const statuses = requiredOf(one, relation)
        return statuses === undefined ? [] : [[name, statuses]]
      }),
    ),
  })
  return {
    properties: {
      ...(names.length < 2
        ? {}
        : { operation: { enum: names, default: names.includes('create') ? 'create' : names[0] } }),
      ...own,
      ...(parent === undefined ? {} : { parent: oneOf(parent) }),
      ...prefixed('properties', properties?.properties ?? {}),
      ...Object.assign({}, ...inputs.map((input) => prefixed('input', input.properties ?? {}))),
      ...prefixed(
        'links',
        Object.fromEntries(links.map((one) => [one[0], parent === undefined ? { ...oneOf(one), tenant } : oneOf(one)])),
      ),
    },
    required: [
      ...(parent === undefined ? [] : ['parent']),
      ...required('properties', properties?.required),
      // Of several operations each takes its own.
      ...(names.length === 1 ? required('input', inputs[0]?.required) : []),
    ],
  }
}

interface Given {
  readonly id?: string
  readonly parent?: string
  readonly operation?: string
}

/** What was filled in, sorted by where it belongs. */
function partsOf(input: Readonly<Record<string, unknown>>) {
  const { id, parent, operation } = input as Given
  const part = (prefix: string) =>
    Object.fromEntries(
      Object.entries(input).flatMap(([name, value]) =>
        name.startsWith(`${prefix}.`) ? [[name.slice(prefix.length + 1), value]] : [],
      ),
    )
  return { id, parent, operation, properties: part('properties'), links: part('links'), input: part('input') }
}

const isGiven = (some: object) => Object.keys(some).length > 0

export function CreateButton({ type }: { readonly type: string }) {
  const act = useAct()
  const refusal = useRefusal('operate')
  const { tenant } = useSession()
  const lifecycle = useLifecycle(type)
  const open = () =>
    act({
      route: 'createResource',
      title: `Create ${type}`,
      does: 'Create',
      words: (
        <p>
          The request is checked, then carried out step by step; if a step fails for good, what was made is undone as
          declared.
        </p>
      ),
      schema: schemaOf(lifecycle!, tenant ?? usualTenant),
      given: ({ input: filled }) => {
        const { id, parent, operation, properties, links, input } = partsOf(filled)
        return {
          path: { type },
          body: {
            ...(id === undefined ? {} : { id }),
            ...(parent === undefined ? {} : { parent }),
            ...(operation === undefined ? {} : { operation }),
            properties: properties as never,
            ...(isGiven(links) ? { links: links as Record<string, string> } : {}),
            ...(isGiven(input) ? { input: input as never } : {}),
          },
        }
      },
      cli: ({ input: filled }) => {
        const { id, parent, operation, properties, links, input } = partsOf(filled)
        return asCli(
          'create',
          word(type),
          words(properties),
          ...(id === undefined ? [] : ['--id', word(id)]),
          ...(parent === undefined ? [] : ['--parent', word(parent)]),
          ...(operation === undefined ? [] : ['--operation', word(operation)]),
          ...(isGiven(links) ? ['--link', words(links)] : []),
          ...(isGiven(input) ? ['--input', words(input)] : []),
        )
      },
      done: ({ resource }) => {
        go(toResource(resource))
        return `${resource.id} is ${resource.status}.`
      },
    })
  return (
    <AskButton
      className="primary"
      refusal={
        refusal ??
        (type === '' ? 'Choose a type first: what is created is of one.' : null) ??
        (lifecycle === undefined ? `What ${type} is has not been read yet.` : null) ??
        whyNotCreated(lifecycle)
      }
      onClick={open}
    >
      Create
    </AskButton>
  )
}
