// Filters with their columns that somebody comes back to: kept on the server, for everybody of the tenant.
import { useCall } from '../api.ts'
import { go, Link } from '../route.tsx'
import { useRefusal } from '../session.tsx'
import { useAct } from './act.tsx'
import { AskButton } from './bits.tsx'
import { Icon } from './icon.tsx'

/** A name to begin with: the words of the filter itself. */
const nameOf = (search: string): string =>
  [...new URLSearchParams(search)]
    .filter(([name]) => name !== 'columns')
    .map(([name, value]) => (name === 'stuck' ? 'stuck' : value))
    .join(' · ') || 'all resources'

export function Views({ search }: { readonly search: string }) {
  const views = useCall('listViews', {}, { everyMs: 60_000 }).data?.items ?? []
  const act = useAct()
  const refusal = useRefusal('operate')
  if (views.length === 0 && search === '') return null
  const keep = () =>
    act({
      route: 'saveView',
      title: 'Keep this view',
      does: 'Keep it',
      words: <p>The filters and columns of this page get a name. Everybody of the tenant finds it here.</p>,
      schema: { properties: { name: { type: 'string' } }, required: ['name'] },
      start: { name: nameOf(search) },
      given: ({ input }) => ({ body: { name: input['name'] as string, search } }),
      done: ({ name }) => `Kept as ${name}.`,
    })
  const forget = ({ id, name, by }: (typeof views)[number]) =>
    act({
      route: 'deleteView',
      title: `Forget the view ${name}`,
      does: 'Forget it',
      danger: true,
      words: <p>It was kept by {by}, and goes for everybody of the tenant. The resources stay as they are.</p>,
      given: () => ({ path: { view: id } }),
      done: () => `${name} is forgotten.`,
    })
  return (
    <div className="views" role="group" aria-label="Kept views">
      {views.map((view) => (
        <span key={view.id} className="view">
          <Link
            href={`/resources?${view.search}`}
            aria-current={view.search === search ? 'true' : undefined}
            title={`kept by ${view.by}`}
            onClick={(event) => (event.preventDefault(), go(`/resources?${view.search}`))}
          >
            {view.name}
          </Link>
          <AskButton
            className="ghost small"
            label={`Forget the view ${view.name}`}
            refusal={refusal}
            onClick={() => forget(view)}
          >
            <Icon name="close" />
          </AskButton>
        </span>
      ))}
      {search !== '' && !views.some((view) => view.search === search) && (
        <AskButton className="small" refusal={refusal} onClick={keep}>
          Keep this view ...
        </AskButton>
      )}
    </div>
  )
}
