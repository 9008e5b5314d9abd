// What exists in the real world and nobody owns: destroy it, give it back, or strike it off.
import { usePages, type AnswerOf } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { useAct } from '../parts/act.tsx'
import {
  AskButton,
  At,
  Empty,
  More,
  PageHead,
  Panel,
  Read,
  ResourceLink,
  Table,
  Tag,
  useTitle,
} from '../parts/bits.tsx'
import { useRefusal } from '../session.tsx'

type Orphan = AnswerOf<'listOrphans'>['items'][number]

export default function Orphans() {
  useTitle('Orphans')
  const orphans = usePages('listOrphans', { query: { pageSize: 500 } }, { everyMs: 5_000 })
  return (
    <>
      <PageHead
        title="Orphans"
        lead="Things that a forced delete or a lost answer left behind. They stay in the ledger until they are confirmed gone."
      />
      <Panel title="Left behind">
        <Read from={orphans}>
          {({ pages }) =>
            pages[0]!.items.length === 0 ? (
              <Empty title="Nothing is left behind.">Everything that exists belongs to a resource.</Empty>
            ) : (
              <Table heads={['Thing', 'Kind', 'State', 'Of', 'Since']} hasActions>
                {pages
                  .flatMap(({ items }) => items)
                  .map((one) => (
                    <tr key={one.id}>
                      <td className="mono">{one.id}</td>
                      <td>{one.entry.kind}</td>
                      <td>
                        <Tag tone="warn">{one.entry.state}</Tag>
                      </td>
                      <td>
                        <ResourceLink of={one.resource} />
                      </td>
                      <td>
                        <At time={one.entry.since} />
                      </td>
                      <td className="right">
                        <Buttons orphan={one} />
                      </td>
                    </tr>
                  ))}
              </Table>
            )
          }
        </Read>
        <More from={orphans}>More orphans</More>
      </Panel>
      <Panel title="Strays" note="seen at the backends, and no ledger names them">
        <Read from={orphans}>
          {({ pages }) =>
            pages[0]!.straysUnknown !== null ? (
              <Empty title="They cannot be told here.">{pages[0]!.straysUnknown}</Empty>
            ) : pages[0]!.strays.length === 0 ? (
              <Empty title="None were seen." />
            ) : (
              <ul className="rows-of">
                {pages[0]!.strays.map(({ type, kind, name, firstSeenAt }) => (
                  <li key={name}>
                    <span>
                      <span className="mono">{name}</span> {kind} of {type}, first seen <At time={firstSeenAt} />
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Read>
      </Panel>
    </>
  )
}

function Buttons({ orphan }: { readonly orphan: Orphan }) {
  const act = useAct()
  const mayNotSteer = useRefusal('steer')
  const mayNotRepair = useRefusal('repair')
  const { id } = orphan
  const path = { orphan: id }
  const sweep = () =>
    act({
      route: 'sweepOrphan',
      title: 'Sweep it',
      does: 'Destroy it',
      danger: true,
      reason: 'needed',
      confirm: id,
      words: (
        <p>
          <span className="mono">{id}</span> is destroyed in the real world now.
        </p>
      ),
      given: ({ reason }) => ({ path, body: { reason } }),
      cli: ({ reason }) => asCli('orphans sweep', word(id), '--reason', word(reason)),
      done: ({ message, swept }) => message || (swept ? 'It is gone.' : 'It could not be destroyed.'),
    })
  const adopt = () =>
    act({
      route: 'adoptOrphan',
      title: 'Give it back',
      does: 'Adopt',
      reason: 'needed',
      words: <p>It belongs to {orphan.resource.id} again.</p>,
      given: ({ reason }) => ({ path, body: { reason } }),
      cli: ({ reason }) => asCli('orphans adopt', word(id), '--reason', word(reason)),
    })
  const writeOff = () =>
    act({
      route: 'writeOffOrphan',
      title: 'Write it off',
      does: 'Write off',
      danger: true,
      reason: 'needed',
      confirm: id,
      words: <p>You vouch that it is gone: it is struck from the ledger, and nobody looks for it any more.</p>,
      given: ({ reason }) => ({ path, body: { reason } }),
      cli: ({ reason }) => asCli('orphans write-off', word(id), '--reason', word(reason)),
    })
  return (
    <span className="row">
      <AskButton className="small" refusal={mayNotSteer} onClick={sweep}>
        Sweep ...
      </AskButton>
      <AskButton className="small" refusal={mayNotSteer} onClick={adopt}>
        Adopt ...
      </AskButton>
      <AskButton className="small" refusal={mayNotRepair} onClick={writeOff}>
        Write off ...
      </AskButton>
    </span>
  )
}
