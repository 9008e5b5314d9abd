// Events sent elsewhere: how far each webhook is, what it could not deliver, and its secret, which is shown once.
import { useCall, usePages, type AnswerOf } from '../api.ts'
import { asCli, word } from '../copies.ts'
import { ActButton } from '../parts/act.tsx'
import { At, Copy, Empty, More, PageHead, Panel, Read, Tag, useTitle } from '../parts/bits.tsx'

type Webhook = AnswerOf<'listWebhooks'>['items'][number]

export const Secret = ({ words, secret }: { readonly words: string; readonly secret: string }) => (
  <>
    <p>{words}</p>
    <p className="secret mono">{secret}</p>
    <Copy text={secret} label="Copy" />
  </>
)

export default function Webhooks() {
  useTitle('Webhooks')
  const webhooks = useCall('listWebhooks', {}, { everyMs: 3_000 })
  return (
    <>
      <PageHead title="Webhooks" lead="Events sent to an address: signed, in order, at least once.">
        <ActButton
          className="primary"
          act={{
            route: 'createWebhook',
            title: 'New webhook',
            does: 'Create',
            words: <p>From now on every event is sent to the address. Left out, types and kinds mean all of them.</p>,
            schema: {
              properties: {
                url: { type: 'string' },
                types: { type: 'array', description: 'Such as ["opensds.volume"].' },
                kinds: { type: 'array', description: 'Such as ["landed"].' },
              },
              required: ['url'],
            },
            given: ({ input }) => ({ body: input as never }),
            show: ({ secret }) => (
              <Secret words="The secret its deliveries are signed with. It is shown this once." secret={secret} />
            ),
          }}
        >
          New webhook
        </ActButton>
      </PageHead>
      <Read from={webhooks}>
        {({ items }) =>
          items.length === 0 ? (
            <div className="panel">
              <Empty title="No webhook yet.">
                New webhook takes an address, and sends it every event from then on.
              </Empty>
            </div>
          ) : (
            items.map((one) => <One key={one.id} webhook={one} />)
          )
        }
      </Read>
    </>
  )
}

function One({ webhook }: { readonly webhook: Webhook }) {
  const path = { webhook: webhook.id }
  const isPaused = webhook.state === 'paused'
  return (
    <Panel
      title={webhook.url}
      note={
        <Tag tone={webhook.failures > 0 ? 'bad' : isPaused ? 'warn' : 'good'}>
          {webhook.failures > 0 && !isPaused ? `${webhook.failures} tries failed` : webhook.state}
        </Tag>
      }
      actions={
        <>
          {(isPaused || webhook.nextTryAt !== null) && (
            <ActButton
              className="small"
              act={{
                route: 'resumeWebhook',
                title: 'Go on',
                reason: 'needed',
                does: 'Go on',
                words: <p>It goes on where it was, at once.</p>,
                given: ({ reason }) => ({ path, body: { reason } }),
                cli: ({ reason }) => asCli('webhook resume', word(webhook.id), '--reason', word(reason)),
              }}
            >
              Go on ...
            </ActButton>
          )}
          {!isPaused && (
            <ActButton
              className="small"
              act={{
                route: 'pauseWebhook',
                title: 'Pause',
                reason: 'needed',
                does: 'Pause',
                words: <p>Nothing is sent until it goes on; it then begins where it was.</p>,
                given: ({ reason }) => ({ path, body: { reason } }),
                cli: ({ reason }) => asCli('webhook pause', word(webhook.id), '--reason', word(reason)),
              }}
            >
              Pause ...
            </ActButton>
          )}
          <ActButton
            className="small"
            act={{
              route: 'replayWebhook',
              title: 'Send again',
              does: 'Send again',
              words: <p>From an event number on; left out, the dead letters.</p>,
              schema: { properties: { after: { type: 'integer' } } },
              given: ({ input }) => ({ path, body: input as never }),
            }}
          >
            Send again ...
          </ActButton>
          <ActButton
            className="small"
            act={{
              route: 'rotateWebhook',
              title: 'New secret',
              does: 'Make a new secret',
              words: <p>Deliveries are signed with both until the next rotation.</p>,
              given: () => ({ path }),
              show: ({ secret }) => <Secret words="The new secret. It is shown this once." secret={secret} />,
            }}
          >
            New secret ...
          </ActButton>
          <ActButton
            className="small danger-outline"
            act={{
              route: 'deleteWebhook',
              title: 'Delete the webhook',
              does: 'Delete',
              danger: true,
              confirm: webhook.id,
              words: <p>Nothing more is sent to {webhook.url}.</p>,
              given: () => ({ path }),
            }}
          >
            Delete ...
          </ActButton>
        </>
      }
    >
      <dl className="facts">
        <div>
          <dt>Dealt with up to event</dt>
          <dd className="num">{webhook.delivered}</dd>
        </div>
        <div>
          <dt>Dead letters</dt>
          <dd className="num">{webhook.deadLetters}</dd>
        </div>
        <div>
          <dt>Of</dt>
          <dd>{[...webhook.types, ...webhook.kinds].join(', ') || 'everything'}</dd>
        </div>
        {webhook.nextTryAt !== null && !isPaused && (
          <div>
            <dt>Next try</dt>
            <dd>
              <At time={webhook.nextTryAt} />
            </dd>
          </div>
        )}
        {webhook.lastError !== '' && (
          <div>
            <dt>Last error</dt>
            <dd>{webhook.lastError}</dd>
          </div>
        )}
      </dl>
      {webhook.deadLetters > 0 && <DeadLetters of={webhook} />}
    </Panel>
  )
}

function DeadLetters({ of }: { readonly of: Webhook }) {
  const dead = usePages('listDeadLetters', { path: { webhook: of.id }, query: { pageSize: 20 } }, { everyMs: 10_000 })
  return (
    <>
      <Read from={dead}>
        {({ pages }) => (
          <ul className="rows-of">
            {pages
              .flatMap(({ items }) => items)
              .map(({ n, at, error }) => (
                <li key={n}>
                  <span>
                    Event {n}, <At time={at} />: {error}
                  </span>
                </li>
              ))}
          </ul>
        )}
      </Read>
      <More from={dead}>More dead letters</More>
    </>
  )
}
