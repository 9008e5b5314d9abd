// Creating a resource, with fields from the schema of its properties.
import { asCli, word, words } from '../copies.ts'
import { useLifecycle, type Schema } from '../lifecycle.ts'
import { go, toResource } from '../route.tsx'
import { useRefusal } from '../session.tsx'
import { useAct } from './act.tsx'
import { AskButton } from './bits.tsx'

const own: Readonly<Record<string, Schema>> = {
  id: { type: 'string', description: 'Unique within its type; made up when left out.' },
}

export function CreateButton({ type }: { readonly type: string }) {
  const act = useAct()
  const refusal = useRefusal('operate')
  const lifecycle = useLifecycle(type)
  const parent = Object.values(lifecycle?.relations ?? {}).find(({ kind }) => kind === 'parent')
  const properties = lifecycle?.properties?.properties ?? {}
  const schema: Schema = {
    properties: {
      ...own,
      ...(parent === undefined ? {} : { parent: { type: 'string', description: `Id of a ${parent.type}.` } }),
      ...Object.fromEntries(Object.entries(properties).map(([name, one]) => [`properties.${name}`, one])),
    },
    required: (lifecycle?.properties?.required ?? []).map((name) => `properties.${name}`),
  }
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
      schema,
      given: ({ input }) => {
        const { id, parent: above, ...rest } = input as { id?: string; parent?: string }
        const given = Object.fromEntries(
          Object.entries(rest).map(([name, value]) => [name.slice('properties.'.length), value]),
        )
        return {
          path: { type },
          body: {
            ...(id === undefined ? {} : { id }),
            ...(above === undefined ? {} : { parent: above }),
            properties: given as never,
          },
        }
      },
      cli: ({ input }) => {
        const { id, ...rest } = input as { id?: string }
        const given = Object.fromEntries(
          Object.entries(rest).map(([name, value]) => [name.replace('properties.', ''), value]),
        )
        return asCli('create', word(type), words(given), ...(id === undefined ? [] : ['--id', word(id)]))
      },
      done: ({ resource }) => {
        go(toResource(resource))
        return `${resource.id} is ${resource.status}.`
      },
    })
  return (
    <AskButton
      className="primary"
      refusal={refusal ?? (lifecycle === undefined ? `What ${type} is has not been read yet.` : null)}
      onClick={open}
    >
      Create
    </AskButton>
  )
}
