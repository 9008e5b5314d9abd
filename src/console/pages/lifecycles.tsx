// All declared lifecycles, each with its size and how many resources live by it.
import { useCall } from '../api.ts'
import type { Lifecycle } from '../lifecycle.ts'
import { Empty, PageHead, Read, Tag, useTitle } from '../parts/bits.tsx'
import { address, Link } from '../route.tsx'

export default function Lifecycles() {
  useTitle('Lifecycles')
  const lifecycles = useCall('listLifecycles', {})
  const counts = useCall('countResources', {})
  const countOf = (type: string) =>
    Object.values(counts.data?.items.find((one) => one.type === type)?.counts ?? {}).reduce((all, one) => all + one, 0)
  return (
    <>
      <PageHead
        title="Lifecycles"
        lead="What is declared. A server starts only with declarations that pass the check: every transitional status has a way out, every name is known, every rule can hold."
      />
      <Read from={lifecycles}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing is declared.">
              Add a module with a lifecycle to homeostat.config.ts, and start anew.
            </Empty>
          ) : (
            <ul className="cards">
              {items
                .map(({ lifecycle }) => lifecycle as unknown as Lifecycle)
                .map((one) => (
                  <Card key={one.type} of={one} count={countOf(one.type)} />
                ))}
            </ul>
          )
        }
      </Read>
    </>
  )
}

const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

const Card = ({ of, count }: { readonly of: Lifecycle; readonly count: number }) => (
  <li>
    <Link href={address('lifecycles', of.type)} className="panel card">
      <b className="mono">{of.type}</b>
      <span className="num">{counted(count, 'resource')}</span>
      <span className="quiet">
        {counted(of.statuses.length, 'status', 'statuses')}, {counted(Object.keys(of.operations).length, 'operation')},{' '}
        {counted(Object.keys(of.heal).length, 'healing rule')}, {counted(Object.keys(of.rules).length, 'rule')}
      </span>
      <span>
        <Tag tone="good">checked</Tag>
      </span>
    </Link>
  </li>
)
