// Healing: what it would do now in words, what waits for approval, the mode of each rule, breakers, and what it has done.
import { useState } from 'react'
import { useCall, type AnswerOf } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { ActButton, useAct } from '../parts/act.tsx'
import { At, Empty, PageHead, Panel, Read, ResourceLink, Table, Tag, useTitle } from '../parts/bits.tsx'
import { ApproveAll } from '../parts/approve-all.tsx'
import { HealNow } from '../parts/why.tsx'
import { foundWords } from '../../protocol/found-words.ts'
import { useRefusal } from '../session.tsx'
import { span } from '../time.ts'

type Healing = AnswerOf<'getHealing'>

export default function HealingPage() {
  useTitle('Healing')
  const healing = useCall('getHealing', {}, { everyMs: 3_000 })
  const refusal = useRefusal('steer')
  const { lastPassAgeMs, passes, healed } = healing.data ?? { lastPassAgeMs: null, passes: 0, healed: 0 }
  return (
    <>
      <PageHead
        title="Healing"
        lead={
          lastPassAgeMs === null
            ? 'No pass has been made yet.'
            : `Last pass ${span(lastPassAgeMs)} ago; ${passes.toLocaleString('en')} passes, ${healed.toLocaleString('en')} healed since the start of this process.`
        }
      >
        <ActButton
          refusal={refusal}
          act={{
            route: 'runHealing',
            title: 'Look for what is stuck now',
            does: 'Run a pass',
            words: <p>A pass is made now instead of at its next time. Modes, budgets and breakers hold as always.</p>,
            given: () => ({}),
            cli: () => asCli('heal'),
            done: () => 'A healing pass was asked for.',
          }}
        >
          Run a pass now
        </ActButton>
      </PageHead>
      <Preview />
      <Read from={healing}>
        {(data) => (
          <>
            <div className="columns">
              <Breakers healing={data} />
              <Scoreboard healing={data} />
            </div>
            <Modes healing={data} />
          </>
        )}
      </Read>
    </>
  )
}

function Preview() {
  const preview = useCall('previewHealing', { query: { pageSize: 500 } }, { everyMs: 3_000 })
  return (
    <Panel
      title="What healing would do now"
      note="in words; nothing is done by looking"
      actions={preview.data !== undefined && <ApproveAll of={preview.data} />}
    >
      <Read from={preview}>
        {({ items, nextPageToken }) =>
          items.length === 0 ? (
            <Empty title="Nothing is to be healed.">Nothing is stuck; what gets stuck is listed here by itself.</Empty>
          ) : (
            <ul className="rows-of">
              {[...alike(items)].map((like) =>
                like.length <= alikeMost ? (
                  like.map((one) => <Proposal key={`${one.resource.type}/${one.resource.id}`} one={one} />)
                ) : (
                  <li key={wordsOf(like[0]!)}>
                    <details>
                      <summary>
                        <b>{like.length}</b> <span className="mono">{like[0]!.resource.type}</span> are{' '}
                        <ProposalWords one={like[0]!} />
                      </summary>
                      <ul className="rows-of">
                        {like.map(({ resource, rule }) => (
                          <li key={resource.id}>
                            <ResourceLink of={resource} />
                            <HealNow resource={resource} rule={rule} />
                          </li>
                        ))}
                      </ul>
                    </details>
                    <ApproveAll
                      of={{ items, nextPageToken }}
                      only={{ type: like[0]!.resource.type, status: like[0]!.status }}
                    />
                  </li>
                ),
              )}
              {nextPageToken !== null && <li className="quiet">And more: these are the first {items.length}.</li>}
            </ul>
          )
        }
      </Read>
    </Panel>
  )
}

type Proposed = AnswerOf<'previewHealing'>['items'][number]

/** So many that would be healed in the same way are listed one by one; more are folded up. */
const alikeMost = 5

const wordsOf = ({ resource, status, found, would, held }: Proposed) =>
  [resource.type, status, found, would, held ?? ''].join(' ')

/** Those that stand in the same way, and would be healed in the same. */
const alike = (items: readonly Proposed[]): Iterable<readonly Proposed[]> => Map.groupBy(items, wordsOf).values()

const ProposalWords = ({ one }: { readonly one: Proposed }) => (
  <>
    <b>{one.status}</b> and {foundWords[one.found]}. {one.acts ? `Healing would ${one.would}.` : one.would}
    {one.held !== null && (
      <>
        {' '}
        <Tag tone="warn">held: {one.held}</Tag>
      </>
    )}
  </>
)

const Proposal = ({ one }: { readonly one: Proposed }) => (
  <li>
    <span>
      <ResourceLink of={one.resource} /> <span className="quiet">{one.resource.type}</span> is{' '}
      <ProposalWords one={one} />
    </span>
    <HealNow resource={one.resource} rule={one.rule} />
  </li>
)

function Breakers({ healing }: { readonly healing: Healing }) {
  const refusal = useRefusal('override')
  return (
    <Panel title="Breakers" note="hold healing of a type when too much of it is healed">
      <ul className="rows-of">
        {healing.breakers.map(({ type, isOpen, openedAt, reason }) => (
          <li key={type}>
            <span>
              <span className="mono">{type}</span> {isOpen ? <Tag tone="bad">open</Tag> : <Tag tone="good">closed</Tag>}{' '}
              {openedAt !== null && <At time={openedAt} />} <span className="quiet">{reason}</span>
            </span>
            <ActButton
              className="small"
              refusal={refusal}
              act={{
                route: 'setBreaker',
                title: `${isOpen ? 'Close' : 'Open'} the breaker of ${type}`,
                does: isOpen ? 'Close breaker' : 'Open breaker',
                danger: !isOpen,
                reason: 'needed',
                words: (
                  <p>
                    {isOpen
                      ? 'Healing of this type goes on.'
                      : 'Nothing of this type is healed by itself until the breaker is closed again.'}
                  </p>
                ),
                given: ({ reason: why }) => ({ path: { type }, body: { isOpen: !isOpen, reason: why } }),
                cli: ({ reason: why }) =>
                  asCli('healing breaker', word(type), isOpen ? 'close' : 'open', '--reason', word(why)),
              }}
            >
              {isOpen ? 'Close ...' : 'Open ...'}
            </ActButton>
          </li>
        ))}
        {healing.breakers.length === 0 && <Empty title="No breaker has opened." />}
      </ul>
    </Panel>
  )
}

const Scoreboard = ({ healing: { scoreboard } }: { readonly healing: Healing }) => (
  <Panel title="What was healed">
    {scoreboard.length === 0 ? (
      <Empty title="Nothing yet.">What is healed is counted here, by the reason it was stuck.</Empty>
    ) : (
      <Table heads={['Type and status', 'Because', { right: 'Times' }, 'Last']}>
        {scoreboard.map((row) => (
          <tr key={`${row.type} ${row.status} ${row.found}`}>
            <td>
              <span className="mono">{row.type}</span> {row.status}
            </td>
            <td>{foundWords[row.found] ?? row.found}</td>
            <td className="right num">{row.count.toLocaleString('en')}</td>
            <td>
              <At time={row.lastAt} />
            </td>
          </tr>
        ))}
      </Table>
    )}
  </Panel>
)

function Modes({ healing }: { readonly healing: Healing }) {
  const act = useAct()
  const refusal = useRefusal('override')
  const [text, setText] = useState('')
  const shown = healing.modes.filter(({ type, status }) =>
    `${type} ${status}`.toLowerCase().includes(text.toLowerCase()),
  )
  const change = (type: string, status: string, mode: 'auto' | 'approve' | 'off', rule: string) =>
    act({
      route: 'setHealingMode',
      title: `Healing of ${type} in ${status}: ${mode}`,
      does: `Set to ${mode}`,
      danger: mode === 'off',
      reason: 'needed',
      words: (
        <>
          <p>{modeWords[mode]}</p>
          <p className="quiet">The rule: {rule}.</p>
        </>
      ),
      given: ({ reason }) => ({ path: { type, status }, body: { mode, reason } }),
      cli: ({ reason }) => asCli('healing mode', word(type), word(status), mode, '--reason', word(reason)),
    })
  return (
    <Panel
      title="Rules"
      note={`${healing.modes.length}${refusal === null ? '' : `; modes stay as they are: ${refusal}`}`}
      actions={
        <input
          type="search"
          aria-label="Filter the rules"
          placeholder="type or status"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      }
    >
      <Table className="stacks" heads={['Type', 'Status', 'When it is stuck there', 'Mode']}>
        {shown.map(({ type, status, mode, rule }) => (
          <tr key={`${type} ${status}`}>
            <td className="mono">{type}</td>
            <td>{status}</td>
            <td className="prose">{rule}</td>
            <td>
              <select
                className={`mode ${mode}`}
                aria-label={`Mode for ${type} in ${status}`}
                disabled={refusal !== null}
                value={mode}
                onChange={(event) => change(type, status, event.target.value as typeof mode, rule)}
              >
                <option>auto</option>
                <option>approve</option>
                <option>off</option>
              </select>
            </td>
          </tr>
        ))}
      </Table>
    </Panel>
  )
}

const modeWords = {
  auto: 'It is healed by itself, as declared.',
  approve: 'It is listed above and healed only when somebody approves it.',
  off: 'It is not healed by itself: what is stuck there stays stuck until somebody acts.',
}
