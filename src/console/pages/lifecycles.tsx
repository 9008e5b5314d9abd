// All declared lifecycles, each with its size and how many resources live by it.
import { useCall } from '../api.ts'
import { useLifecycles } from '../lifecycle.ts'
import { Loading, PageHead, Tag, useTitle } from '../parts/bits.tsx'
import { address, Link } from '../route.tsx'

export default function Lifecycles() {
  useTitle('Lifecycles')
  const lifecycles = useLifecycles()
  const counts = useCall('countResources', {})
  const countOf = (type: string) =>
    Object.values(counts.data?.items.find((one) => one.type === type)?.counts ?? {}).reduce((all, one) => all + one, 0)
  return (
    <>
      <PageHead
        title="Lifecycles"
        lead="What is declared. A server starts only with declarations that pass the check: every transitional status has a way out, every name is known, every rule can hold."
      />
      {lifecycles.length === 0 ? (
        <Loading />
      ) : (
        <ul className="cards">
          {lifecycles.map(({ type, statuses, operations, heal, rules }) => (
            <li key={type}>
              <Link href={address('lifecycles', type)} className="panel card">
                <b className="mono">{type}</b>
                <span className="num">{countOf(type).toLocaleString('en')} resources</span>
                <span className="quiet">
                  {statuses.length} statuses, {Object.keys(operations).length} operations, {Object.keys(heal).length}{' '}
                  healing rules, {Object.keys(rules).length} rules
                </span>
                <span>
                  <Tag tone="good">checked</Tag>
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
