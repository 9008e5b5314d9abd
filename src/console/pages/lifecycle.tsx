// One lifecycle: its picture with live figures, and its tables in words.
import './lifecycle.css'
import { isMissing, useCall } from '../api.ts'
import { asCli } from '../copies.ts'
import { creates, useLifecycle, type Lifecycle } from '../lifecycle.ts'
import {
  Copy,
  Empty,
  Loading,
  NoLifecycle,
  PageHead,
  Panel,
  Read,
  Scroll,
  Status,
  Table,
  Tag,
  useTitle,
} from '../parts/bits.tsx'
import { CreateButton } from '../parts/create.tsx'
import { Diagram } from '../parts/diagram.tsx'
import { Icon } from '../parts/icon.tsx'
import { address, go, Link, toList } from '../route.tsx'

export default function LifecyclePage({ type }: { readonly type: string }) {
  useTitle(type)
  const placed = useCall('placeLifecycle', { path: { type } })
  if (isMissing(placed.error)) return <NoLifecycle type={type} reason={placed.error.message} />
  return <Whole type={type} />
}

function Whole({ type }: { readonly type: string }) {
  const lifecycle = useLifecycle(type)
  const placed = useCall('placeLifecycle', { path: { type } })
  const counts = useCall('countResources', {}).data?.items.find((one) => one.type === type)?.counts ?? {}
  return (
    <>
      <PageHead
        title={<span className="mono">{type}</span>}
        lead={lifecycle === undefined ? '' : <Relations lifecycle={lifecycle} />}
      >
        <a className="button" href={`/v1${address('lifecycles', type)}/diagram.svg`}>
          Picture
        </a>
        <a className="button" href={`/v1${address('lifecycles', type)}/diagram.mmd`}>
          Mermaid
        </a>
        <Link className="button" href={address('lifecycles', type, 'rehearsal')}>
          What if ...
        </Link>
        <Link className="button" href={toList({ type })}>
          Its resources
        </Link>
        <CreateButton type={type} />
      </PageHead>
      <Panel title="Statuses and the ways between them" note={<Legend />}>
        <Read from={placed}>
          {(data) => (
            <Scroll label="Diagram">
              <Diagram
                placed={data}
                label={`Lifecycle of ${type}`}
                counts={counts}
                href={(status) => toList({ type, status })}
                onPick={(status) => go(toList({ type, status }))}
              />
            </Scroll>
          )}
        </Read>
      </Panel>
      <Check type={type} />
      {lifecycle === undefined ? <Loading /> : <Tables lifecycle={lifecycle} />}
    </>
  )
}

const Legend = () => (
  <span className="legend">
    <i className="line way" /> operation <i className="line failure" /> failure <i className="line heal" /> healing{' '}
    <i className="line drift" /> found otherwise
  </span>
)

const Relations = ({ lifecycle }: { readonly lifecycle: Lifecycle }) => {
  const some = Object.entries(lifecycle.relations)
  if (some.length === 0) return <>It stands by itself.</>
  return (
    <>
      {some.map(([name, { kind, type }]) => (
        <span key={name} className="relation">
          {name}: {kind} {type !== null && <Link href={address('lifecycles', type)}>{type}</Link>}{' '}
        </span>
      ))}
    </>
  )
}

function Tables({ lifecycle }: { readonly lifecycle: Lifecycle }) {
  const { statuses, operations, heal, drift, rules, timers } = lifecycle
  return (
    <>
      <Panel title="Statuses" note={`${statuses.length}`}>
        <Table heads={['Status', 'Kind', 'Meaning', 'When it is stuck there']}>
          {statuses.map(({ name, kind, meaning }) => (
            <tr key={name}>
              <td>
                <Status status={name} kind={kind} />
              </td>
              <td className="quiet">{kind}</td>
              <td className="prose">{meaning}</td>
              <td className="prose">
                {heal[name]?.words ?? (
                  <span className="quiet">{kind === 'transitional' ? 'healed with its owner' : ''}</span>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </Panel>
      <Panel title="Operations" note={`${Object.keys(operations).length}`}>
        <Table heads={['Operation', 'What it does']}>
          {Object.entries(operations).map(([name, operation]) => (
            <tr key={name}>
              <td>
                <b className="mono">{name}</b> {creates(operation) && <Tag>creates</Tag>}
              </td>
              <td className="prose">
                {operation.meaning !== '' && <p>{operation.meaning}</p>}
                <ul>
                  {operation.words.map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </Table>
      </Panel>
      <div className="columns">
        <Words title="Rules" note="hold in every committed state" of={rules} />
        <Words title="Timers" note="act by themselves" of={timers} />
        <Words title="Drift" note="when the real world differs" of={drift} />
      </div>
    </>
  )
}

/** What the checker looked at before anything ran, and what it thinks of it. */
function Check({ type }: { readonly type: string }) {
  const report = useCall('checkLifecycle', { path: { type } })
  return (
    <Read from={report}>
      {({ findings, checked }) => (
        <Panel
          title="The check"
          note={
            findings.length === 0 ? (
              <Tag tone="good">passed</Tag>
            ) : (
              <Tag tone="warn">passed with {findings.length === 1 ? 'a warning' : `${findings.length} warnings`}</Tag>
            )
          }
          actions={<Copy text={asCli('check')} label="CLI" />}
        >
          {findings.length > 0 && (
            <ul className="findings">
              {findings.map(({ path, fault, suggestion, severity }) => (
                <li key={path + fault}>
                  <Tag tone={severity === 'error' ? 'bad' : 'warn'}>{severity}</Tag>{' '}
                  <code>{path.slice(type.length + 1) || path}</code> {fault}.{' '}
                  <span className="quiet">{suggestion}</span>
                </li>
              ))}
            </ul>
          )}
          <ul className="checked">
            {checked.map((line) => (
              <li key={line}>
                <Icon name="check" /> <span>{line}</span>
              </li>
            ))}
          </ul>
          <p className="quiet">
            What depends on functions or on several commits, no check can see:{' '}
            <Link href={address('lifecycles', type, 'rehearsal')}>rehearse it under every fault</Link>.
          </p>
        </Panel>
      )}
    </Read>
  )
}

const Words = (given: {
  readonly title: string
  readonly note: string
  readonly of: Readonly<Record<string, { readonly words: string | readonly string[] }>>
}) => (
  <Panel title={given.title} note={given.note}>
    {Object.keys(given.of).length === 0 ? (
      <Empty title="None declared." />
    ) : (
      <dl className="named">
        {Object.entries(given.of).map(([name, { words }]) => (
          <div key={name}>
            <dt className="mono">{name}</dt>
            <dd>{typeof words === 'string' ? words : words.join(' ')}</dd>
          </div>
        ))}
      </dl>
    )}
  </Panel>
)
