// Events and webhooks over HTTP.
import { isoTime } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { secretText } from '../base/random.ts'
import { eventKinds } from '../decision/state.ts'
import { z } from 'zod'
import type { webhook as webhookShape } from '../protocol/shapes.ts'
import type { RecordChange } from '../store/store.ts'
import { Reply, Stream, type Call, type Handlers, type Noted } from './call.ts'
import { aboutWebhook, isConflict, padded, type Found, type WebhookRecord } from './objects.ts'
import { checkedUrl } from './outgoing.ts'
import { sees, sha256 } from './principal.ts'
import { tenantFor, tokenNumber } from './reach.ts'

type Names =
  | 'streamEvents'
  | 'createWebhook'
  | 'listWebhooks'
  | 'getWebhook'
  | 'deleteWebhook'
  | 'rotateWebhook'
  | 'replayWebhook'
  | 'pauseWebhook'
  | 'resumeWebhook'
  | 'listDeadLetters'

export const eventHandlers: Handlers<Names> = {
  async streamEvents(call) {
    const { engine, wire, streams } = call.services
    const { query, principal } = call
    const last = call.asked.header('last-event-id')
    if (last !== undefined && !/^\d{1,15}$/.test(last))
      throw new HomeostatError('request_invalid', `Last-Event-ID '${last.slice(0, 50)}' is no number of an event.`)
    const { type, id, kinds } = query
    if (type !== undefined) call.plan(type)
    mustBeKinds(kinds ?? [])
    const latest = await engine.latestEvent()
    const after = mustHaveHappened(last === undefined ? (query.after ?? latest) : Number(last), latest)
    const accept = (call.asked.header('accept') ?? '').toLowerCase()
    if (accept.includes('application/json') && !accept.includes('text/event-stream')) {
      const { events, looked, removedTo } = await engine.eventsFor(principal.tenant, after, query.pageSize)
      const items = await wire.cloudEvents(principal, events)
      const isWanted = ({ data: { resource, kind } }: (typeof items)[number]) =>
        (type === undefined || resource?.type === type) &&
        (id === undefined || resource?.id === id) &&
        (kinds === undefined || kinds.includes(kind))
      return { items: items.filter(isWanted), last: looked, removedTo }
    }
    streams.admit(principal)
    return new Stream((response) => streams.begin(response, principal, { after, type, id, kinds }))
  },

  async createWebhook(call) {
    const { objects, clock, engine, outgoing, webhooks, sealer } = call.services
    const before = call.replayed as { readonly webhook: string } | null
    if (before !== null) return madeReply(await shownAgain(call, before.webhook))
    const { url, types, kinds, tenant, after } = call.body
    checkedUrl(url, outgoing)
    for (const type of types) call.plan(type)
    mustBeKinds(kinds)
    const latest = await engine.latestEvent()
    const secret = secretText()
    const now = clock.now()
    const id = sha256(`${call.asked.id} webhook`).slice(0, 16)
    const of = tenantFor(call.principal, tenant)
    const record: WebhookRecord = {
      id,
      tenant: of,
      url,
      types,
      kinds,
      secrets: [sealer.seal(secret, aboutWebhook({ id, tenant: of }))],
      state: 'active',
      delivered: mustHaveHappened(after ?? latest, latest),
      failures: 0,
      nextAt: 0,
      lastError: '',
      deadLetters: 0,
      createdAt: now,
      sender: 0,
      senderUntil: 0,
    }
    const noted = { target: `webhook/${id}`, detail: { url } }
    await call.write([objects.change('webhook', id, 0, record)], noted, { webhook: id })
    webhooks.wake()
    return madeReply({ webhook: wireWebhook(record), secret })
  },
  async listWebhooks(call) {
    const own = await call.services.objects.all('webhook', call.principal.tenant)
    return { items: own.map(({ value }) => wireWebhook(value)) }
  },
  async getWebhook(call) {
    return wireWebhook((await found(call)).value)
  },
  async deleteWebhook(call) {
    const { objects } = call.services
    if (call.replayed !== null) return new Reply(undefined)
    const lettersGone = async () =>
      (await objects.under('dead letter', `${call.parameters.webhook}/`)).map((letter) =>
        objects.change('dead letter', letter.key, letter.version, null),
      )
    await amend(call, () => null, { more: lettersGone })
    // One commit takes a thousand of them; nobody finds the others without their webhook.
    for (let rest; (rest = await lettersGone()).length > 0;) await objects.write(rest)
    return new Reply(undefined)
  },
  async rotateWebhook(call) {
    const { sealer } = call.services
    if (call.replayed !== null) return { secret: (await shownAgain(call, (await found(call)).key)).secret }
    const secret = secretText()
    await amend(call, (now) => ({ ...now, secrets: [sealer.seal(secret, aboutWebhook(now)), now.secrets[0]!] }))
    return { secret }
  },
  async replayWebhook(call) {
    const { objects, webhooks, engine } = call.services
    const webhook = await found(call)
    const { key, value } = webhook
    if (call.replayed !== null) return wireWebhook(value)
    const after = call.body?.after
    if (after === undefined) {
      const target = `webhook/${key}`
      await call.write([], { target, detail: { deadLetters: value.deadLetters } }, {}, 'begun')
      const next = await webhooks.redeliver(webhook)
      const outcome = next.deadLetters < value.deadLetters || value.deadLetters === 0 ? 'done' : 'failed'
      const { deadLetters, lastError } = next
      await objects.write([], [call.auditEntry(outcome, { target, detail: { deadLetters, lastError } })])
      return wireWebhook(next)
    }
    mustHaveHappened(after, await engine.latestEvent())
    const next = await amend(call, (now) => ({ ...now, ...atOnce, delivered: after }), {
      detail: { after },
    })
    webhooks.wake()
    return wireWebhook(next)
  },
  pauseWebhook: (call) => turn(call, 'paused'),
  resumeWebhook: (call) => turn(call, 'active'),
  async listDeadLetters(call) {
    const { objects, engine, wire } = call.services
    const { value } = await found(call)
    const { pageSize, pageToken } = call.query
    const after = pageToken === undefined ? '' : `${value.id}/${padded(tokenNumber(pageToken))}`
    const letters = await objects.under('dead letter', `${value.id}/`, { after, limit: pageSize })
    const items = []
    for (const { value: letter } of letters) {
      // Where the history was cut, the first that is left would come instead.
      const events = (await engine.events(letter.n - 1, 1)).filter(({ n }) => n === letter.n)
      const [event] = await wire.cloudEvents(call.principal, events)
      items.push({ n: letter.n, at: isoTime(letter.at), error: letter.error, event: event ?? null })
    }
    return { items, nextPageToken: letters.length < pageSize ? null : String(letters.at(-1)!.value.n) }
  },
}

/** Who begins after an event that there is not would hear nothing until there is, and miss all until then. */
function mustHaveHappened(after: number, latest: number): number {
  if (after <= latest) return after
  throw new HomeostatError(
    'event_unknown',
    `There is no event ${after}: the last one is ${latest}. If a back-up was restored, read everything anew and go on after ${latest}.`,
    { details: { latest } },
  )
}

function mustBeKinds(kinds: readonly string[]): void {
  const odd = kinds.find((kind) => !eventKinds.some((known) => known === kind))
  if (odd !== undefined)
    throw new HomeostatError(
      'request_invalid',
      `There are no events of kind '${odd}'. There are: ${eventKinds.join(', ')}.`,
    )
}

/** Whoever sent for it may be gone since: nobody waits for him. If he is not, he meets the change and looks again. */
const atOnce = { failures: 0, nextAt: 0, sender: 0, senderUntil: 0 } as const

async function turn(call: Call<'pauseWebhook' | 'resumeWebhook'>, state: WebhookRecord['state']) {
  if (call.replayed !== null) return wireWebhook((await found(call)).value)
  const next = await amend(call, (now) => ({ ...now, ...atOnce, state }), { reason: call.body?.reason })
  call.services.webhooks.wake()
  return wireWebhook(next)
}

type OfWebhook = Exclude<Extract<Names, `${string}Webhook`>, 'createWebhook'> | 'listDeadLetters'

/** Changes a webhook as it is now. Its sender writes to it after every delivery: whoever meets that looks again. */
async function amend<To extends WebhookRecord | null>(
  call: Call<OfWebhook>,
  change: (now: WebhookRecord) => To,
  { more, ...noted }: Omit<Noted, 'target'> & { readonly more?: () => Promise<readonly RecordChange[]> } = {},
): Promise<To> {
  const { objects } = call.services
  for (let tries = 1; ; tries++) {
    const { key, value, version } = await found(call)
    const next = change(value)
    try {
      const changes = [objects.change('webhook', key, version, next), ...((await more?.()) ?? [])]
      await call.write(changes, { target: `webhook/${key}`, ...noted })
      return next
    } catch (error) {
      if (!isConflict(error) || tries === amendTries) throw error
    }
  }
}

const amendTries = 20

const madeReply = (made: { readonly webhook: z.infer<typeof webhookShape>; readonly secret: string }) =>
  new Reply(made, { headers: { location: `/v1/webhooks/${made.webhook.id}` } })

/** The answer to the same request again: the secret as it is now. */
async function shownAgain(call: Call<'createWebhook' | 'rotateWebhook'>, id: string) {
  const { objects, sealer } = call.services
  const webhook = await objects.get('webhook', id)
  if (webhook === null) throw new HomeostatError('webhook_not_found', `There is no webhook ${id}.`)
  const secret = sealer.open(webhook.value.secrets[0]!, aboutWebhook(webhook.value))
  if (secret === null)
    throw new HomeostatError('secret_key_missing', `The secret of webhook ${id} cannot be opened. Make a new one.`)
  return { webhook: wireWebhook(webhook.value), secret }
}

async function found(call: Call<OfWebhook>): Promise<Found<'webhook'>> {
  const id = call.parameters.webhook
  const webhook = await call.services.objects.get('webhook', id)
  if (webhook !== null && sees(call.principal, webhook.value.tenant)) return webhook
  throw new HomeostatError('webhook_not_found', `There is no webhook ${id}.`)
}

/** Without its secrets. */
function wireWebhook(webhook: WebhookRecord): z.infer<typeof webhookShape> {
  const { id, tenant, url, types, kinds, state, delivered, failures, nextAt, lastError, deadLetters, createdAt } =
    webhook
  return {
    id,
    tenant,
    url,
    types: [...types],
    kinds: [...kinds],
    state,
    delivered,
    failures,
    nextTryAt: nextAt === 0 ? null : isoTime(nextAt),
    lastError,
    deadLetters,
    createdAt: isoTime(createdAt),
  }
}
