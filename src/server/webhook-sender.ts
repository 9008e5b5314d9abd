// Sends events to webhooks: signed, in order, at least once. One that cannot be delivered after many tries becomes a dead letter and
// the next one goes out; a person can have them sent again. How far each webhook is stands in its record.
import { createHmac } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { StoredEvent } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import { Rhythm } from '../engine/rhythm.ts'
import { aboutWebhook, padded, type Found, type Objects, type WebhookRecord } from './objects.ts'
import { post, type OutgoingOptions } from './outgoing.ts'
import type { Sealer } from './sealer.ts'
import { cloudEventOf, type Ref, type Wire } from './wire.ts'

export interface WebhookSenderOptions {
  readonly engine: Engine
  readonly objects: Objects
  readonly wire: Wire
  readonly clock: Clock
  readonly log: Log
  readonly outgoing: OutgoingOptions
  readonly sealer: Sealer
  /** Tries of one event before it becomes a dead letter, and the wait after the first that failed. */
  readonly tries: number
  readonly firstWaitMs: number
}

const lookMs = 5_000
const pageSize = 100
const waitMostMs = 3_600_000
const senderMs = 10_000

/** What a receiver checks: `v1=` and HMAC-SHA-256 over time, id and body, one for each secret that is good. */
export function signatureOf(secrets: readonly string[], at: number, id: string, body: string): string {
  return secrets
    .map((secret) => `v1=${createHmac('sha256', secret).update(`${at}.${id}.${body}`).digest('hex')}`)
    .join(' ')
}

export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #rhythm: Rhythm
  readonly #abort = new AbortController()
  #stopListening: (() => Promise<void>) | null = null
  /** The latest event there is, as far as is known: where a webhook has it, there is nothing to do. */
  #latest = 0

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    const { clock, log } = options
    this.#rhythm = new Rhythm({
      clock,
      log,
      name: 'webhooks',
      pass: () => this.#pass(),
      gapMs: 50,
      afterFailureMs: 1_000,
    })
  }

  async start(): Promise<void> {
    this.#rhythm.start()
    const { engine } = this.#options
    this.#latest = await engine.latestEvent()
    this.#stopListening = engine.subscribe(this.#latest, (events) => {
      this.#latest = events.at(-1)!.n
      this.#rhythm.wake()
    })
    this.#rhythm.wake()
  }

  async stop(): Promise<void> {
    this.#abort.abort()
    await this.#stopListening?.()
    await this.#rhythm.stop()
  }

  wake(): void {
    this.#rhythm.wake()
  }

  /** Sends dead letters again, oldest first, until one fails; answers the webhook as it is then. */
  async redeliver(webhook: Found<'webhook'>): Promise<Found<'webhook'>> {
    const { engine, wire, objects } = this.#options
    let now = webhook
    for (const letter of await objects.under('dead letter', `${webhook.value.id}/`, { limit: pageSize })) {
      const [event] = await engine.events(letter.value.n - 1, 1)
      const ref = event === undefined ? undefined : (await wire.names([event.no])).get(event.no)
      const error = event === undefined || ref === undefined ? null : await this.#deliver(now.value, event, ref)
      if (error !== null) return (await this.#write(now, { ...now.value, lastError: error })) ?? now
      const gone = objects.change('dead letter', letter.key, letter.version, null)
      const next = await this.#write(now, { ...now.value, deadLetters: Math.max(0, now.value.deadLetters - 1) }, [gone])
      if (next === null) return now
      now = next
    }
    return now
  }

  async #pass(): Promise<number> {
    const { objects } = this.#options
    const waits = await Promise.all((await objects.all('webhook')).map((webhook) => this.#serve(webhook)))
    return Math.min(lookMs, ...waits)
  }

  /** Sends a page of events; answers when to come back. */
  async #serve(webhook: Found<'webhook'>): Promise<number> {
    const { engine, wire, clock } = this.#options
    if (webhook.value.state !== 'active') return lookMs
    if (webhook.value.nextAt > clock.now()) return webhook.value.nextAt - clock.now()
    if (webhook.value.delivered >= this.#latest) return lookMs
    let now = await this.#take(webhook)
    if (now === null) return lookMs
    const { events, looked } = await engine.eventsFor(webhook.value.tenant, webhook.value.delivered, pageSize)
    const names = await wire.names(events.map(({ no }) => no))
    let passed = webhook.value.delivered
    for (const event of events) {
      const ref = names.get(event.no)
      if (ref === undefined || !isWanted(webhook.value, event, ref)) {
        passed = event.n
        continue
      }
      const error = await this.#deliver(now.value, event, ref)
      if (this.#abort.signal.aborted) return lookMs
      now = await this.#note(now, event, error)
      // Somebody changed it meanwhile, or it must wait.
      if (now === null || error !== null) return 0
      passed = event.n
    }
    passed = Math.max(passed, looked)
    if (passed > now.value.delivered) await this.#write(now, { ...now.value, delivered: passed })
    return passed >= this.#latest ? lookMs : 0
  }

  /** One process sends for a webhook, so that each event goes out once as a rule; null: another one does. */
  async #take(webhook: Found<'webhook'>): Promise<Found<'webhook'> | null> {
    const { engine, clock } = this.#options
    const { sender, senderUntil } = webhook.value
    const me = engine.incarnation
    const now = clock.now()
    if (sender !== me && senderUntil > now) return null
    if (sender === me && senderUntil > now + senderMs / 2) return webhook
    return this.#write(webhook, { ...webhook.value, sender: me, senderUntil: now + senderMs })
  }

  /** Null: delivered. Else why not. */
  async #deliver(webhook: WebhookRecord, event: StoredEvent, ref: Ref): Promise<string | null> {
    const { clock, outgoing, sealer } = this.#options
    const { url } = webhook
    const secrets = webhook.secrets.flatMap((secret) => sealer.open(secret, aboutWebhook(webhook)) ?? [])
    if (secrets.length === 0) return 'its secret is sealed with a key that this server does not have'
    const body = JSON.stringify(cloudEventOf(event, ref))
    const at = Math.floor(clock.now() / 1_000)
    const id = String(event.n)
    const headers = {
      'content-type': 'application/cloudevents+json',
      'webhook-id': id,
      'webhook-timestamp': String(at),
      'webhook-signature': signatureOf(secrets, at, id, body),
    }
    try {
      const status = await post({ url, headers, body }, { ...outgoing, signal: this.#abort.signal })
      return status >= 200 && status < 300 ? null : `it answered ${status}`
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 300) : 'it did not answer'
    }
  }

  async #note(webhook: Found<'webhook'>, event: StoredEvent, error: string | null): Promise<Found<'webhook'> | null> {
    const { clock, tries, firstWaitMs, objects } = this.#options
    const { value } = webhook
    const failures = value.failures + 1
    if (error === null)
      return this.#write(webhook, { ...value, delivered: event.n, failures: 0, nextAt: 0, lastError: '' })
    if (failures < tries) {
      const nextAt = clock.now() + Math.min(waitMostMs, firstWaitMs * 2 ** Math.min(failures - 1, 20))
      return this.#write(webhook, { ...value, failures, nextAt, lastError: error })
    }
    const letter = objects.change('dead letter', `${value.id}/${padded(event.n)}`, 0, {
      n: event.n,
      at: clock.now(),
      error,
    })
    const isNew = (await objects.get('dead letter', letter.key)) === null
    const gone = { ...value, delivered: event.n, failures: 0, nextAt: 0, lastError: error }
    return this.#write(webhook, { ...gone, deadLetters: value.deadLetters + (isNew ? 1 : 0) }, isNew ? [letter] : [])
  }

  /** Null when another process, or a person, has changed it meanwhile. */
  async #write(
    webhook: Found<'webhook'>,
    given: WebhookRecord,
    more: readonly ReturnType<Objects['change']>[] = [],
  ): Promise<Found<'webhook'> | null> {
    const { objects, engine, clock } = this.#options
    const isMine = given.sender === engine.incarnation
    const value = isMine ? { ...given, senderUntil: clock.now() + senderMs } : given
    try {
      await objects.write([objects.change('webhook', webhook.key, webhook.version, value), ...more])
      return { ...webhook, value, version: webhook.version + 1 }
    } catch {
      return null
    }
  }
}

function isWanted({ tenant, types, kinds }: WebhookRecord, event: StoredEvent, ref: Ref): boolean {
  return (
    (tenant === null || tenant === ref.tenant) &&
    (types.length === 0 || types.includes(ref.type)) &&
    (kinds.length === 0 || kinds.includes(event.kind))
  )
}
