// Events and webhooks over HTTP.
import { isoTime } from '../base/clock.ts'
import { HomeostatError } from '../base/errors.ts'
import { secretText } from '../base/random.ts'
import { z } from 'zod'
import type { webhook as webhookShape } from '../protocol/shapes.ts'
import { Reply, Stream, type Call, type Handlers } from './call.ts'
import { aboutWebhook, padded, type Found, type WebhookRecord } from './objects.ts'
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
  | 'listDeadLetters'

export const eventHandlers: Handlers<Names> = {
  async streamEvents(call) {
    const { engine, wire, streams } = call.services
    const { query, principal } = call
    const last = call.asked.header('last-event-id')
    const after =
      last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : (query.after ?? (await engine.latestEvent()))
    if ((call.asked.header('accept') ?? '').includes('application/json')) {
      const { events, looked } = await engine.eventsFor(principal.tenant, after, query.pageSize)
      const items = await wire.cloudEvents(principal, events)
      const isWanted = ({ data: { resource } }: (typeof items)[number]) =>
        (query.type === undefined || resource?.type === query.type) &&
        (query.id === undefined || resource?.id === query.id)
      return { items: items.filter(isWanted), last: looked }
    }
    streams.admit(principal)
    return new Stream((response) => streams.begin(response, principal, { after, type: query.type, id: query.id }))
  },

  async createWebhook(call) {
    const { objects, clock, engine, outgoing, webhooks, sealer } = call.services
    const before = call.replayed as { readonly webhook: string } | null
    if (before !== null) return shownAgain(call, before.webhook)
    const { url, types, kinds, tenant, after } = call.body
    checkedUrl(url, outgoing)
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
      delivered: after ?? (await engine.latestEvent()),
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
    return { webhook: wireWebhook(record), secret }
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
    const { key, version } = await found(call)
    const letters = await objects.under('dead letter', `${key}/`)
    const changes = letters.map((letter) => objects.change('dead letter', letter.key, letter.version, null))
    await call.write([objects.change('webhook', key, version, null), ...changes], { target: `webhook/${key}` })
    return new Reply(undefined)
  },
  async rotateWebhook(call) {
    const { objects, sealer } = call.services
    const { key, value, version } = await found(call)
    if (call.replayed !== null) return { secret: (await shownAgain(call, key)).secret }
    const secret = secretText()
    const next = { ...value, secrets: [sealer.seal(secret, aboutWebhook(value)), value.secrets[0]!] }
    await call.write([objects.change('webhook', key, version, next)], { target: `webhook/${key}` })
    return { secret }
  },
  async replayWebhook(call) {
    const { objects, webhooks } = call.services
    const webhook = await found(call)
    const { key, value, version } = webhook
    if (call.replayed !== null) return wireWebhook(value)
    const { after } = call.body
    if (after === undefined) {
      const target = `webhook/${key}`
      await call.write([], { target, detail: { deadLetters: value.deadLetters } }, {}, 'begun')
      const { value: next } = await webhooks.redeliver(webhook)
      const outcome = next.deadLetters < value.deadLetters || value.deadLetters === 0 ? 'done' : 'failed'
      const { deadLetters, lastError } = next
      await objects.write([], [call.auditEntry(outcome, { target, detail: { deadLetters, lastError } })])
      return wireWebhook(next)
    }
    const next = { ...value, delivered: after, failures: 0, nextAt: 0 }
    await call.write([objects.change('webhook', key, version, next)], { target: `webhook/${key}`, detail: { after } })
    webhooks.wake()
    return wireWebhook(next)
  },
  async listDeadLetters(call) {
    const { objects, engine, wire } = call.services
    const { value } = await found(call)
    const { pageSize, pageToken } = call.query
    const after = pageToken === undefined ? '' : `${value.id}/${padded(tokenNumber(pageToken))}`
    const letters = await objects.under('dead letter', `${value.id}/`, { after, limit: pageSize })
    const items = []
    for (const { value: letter } of letters) {
      const [event] = await wire.cloudEvents(call.principal, await engine.events(letter.n - 1, 1))
      items.push({ n: letter.n, at: isoTime(letter.at), error: letter.error, event: event ?? null })
    }
    return { items, nextPageToken: letters.length < pageSize ? null : String(letters.at(-1)!.value.n) }
  },
}

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

async function found(
  call: Call<'getWebhook' | 'deleteWebhook' | 'rotateWebhook' | 'replayWebhook' | 'listDeadLetters'>,
): Promise<Found<'webhook'>> {
  const id = call.parameters.webhook
  const webhook = await call.services.objects.get('webhook', id)
  if (webhook !== null && sees(call.principal, webhook.value.tenant)) return webhook
  throw new HomeostatError('webhook_not_found', `There is no webhook ${id}.`)
}

/** Without its secrets. */
function wireWebhook(webhook: WebhookRecord): z.infer<typeof webhookShape> {
  const { id, tenant, url, types, kinds, state, delivered, failures, lastError, deadLetters, createdAt } = webhook
  return {
    id,
    tenant,
    url,
    types: [...types],
    kinds: [...kinds],
    state,
    delivered,
    failures,
    lastError,
    deadLetters,
    createdAt: isoTime(createdAt),
  }
}
