// Sends events to webhooks: signed, in order, at least once. One that cannot be delivered after many tries becomes a dead letter and
// the next one goes out; a person can have them sent again. How far each webhook is stands in its record. Each is served for itself: a
// receiver that hangs or is slow holds up nobody else's events.
import { createHmac } from 'node:crypto'
import type { Clock } from '../base/clock.ts'
import type { StoredEvent } from '../decision/state.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../engine/log.ts'
import { Rhythm } from '../engine/rhythm.ts'
import { aboutWebhook, padded, type Found, type Objects, type WebhookRecord } from './objects.ts'
import { KeptConnections, post, type OutgoingOptions } from './outgoing.ts'
import type { Sealer } from './sealer.ts'
import type { RecordChange } from '../store/store.ts'
import { cloudEventOf, type Ref, type Wire } from './wire.ts'

export interface WebhookSenderOptions {
  readonly engine: Engine
  readonly objects: Objects
  readonly wire: Wire
  readonly clock: Clock
  readonly log: Log
  readonly outgoing: OutgoingOptions
  readonly sealer: Sealer
  readonly settings?: WebhookSettings | undefined
}

export interface WebhookSettings {
  /** Tries of one event before it becomes a dead letter. Default 12. */
  readonly tries?: number | undefined
  /** The wait after the first try that failed; it doubles, up to an hour. Default a second. */
  readonly firstWaitMs?: number | undefined
  /** How long a receiver may take for its whole answer. Default five seconds. */
  readonly patienceMs?: number | undefined
  /** Receivers on this machine and in private networks are called too, also with plain http. Default: not. */
  readonly privateAddresses?: boolean | undefined
  /** False: other processes send events; here dead letters are sent again when that is asked for. Default true. */
  readonly sends?: boolean | undefined
}

const lookMs = 5_000
const pageSize = 100
const waitMostMs = 3_600_000
/** How long others leave a webhook alone after its sender was last heard of, beyond the time that a receiver may take. */
const senderSpareMs = 5_000
const amendTries = 20

/** What a receiver checks: `v1=` and HMAC-SHA-256 over time, id and body, one for each secret that is good. */
export function signatureOf(secrets: readonly string[], at: number, id: string, body: string): string {
  return secrets
    .map((secret) => `v1=${createHmac('sha256', secret).update(`${at}.${id}.${body}`).digest('hex')}`)
    .join(' ')
}

export class WebhookSender {
  readonly #options: WebhookSenderOptions
  readonly #tries: number
  readonly #firstWaitMs: number
  readonly #patienceMs: number
  readonly #rhythm: Rhythm
  readonly #abort = new AbortController()
  readonly #kept = new KeptConnections()
  #stopListening: (() => Promise<void>) | null = null
  /** The latest event there is, as far as is known: where a webhook has it, there is nothing to do. */
  #latest = 0
  /** Webhooks that are being sent to, by key. */
  readonly #serving = new Map<string, Promise<void>>()

  constructor(options: WebhookSenderOptions) {
    this.#options = options
    const { clock, log, settings = {} } = options
    this.#tries = settings.tries ?? 12
    this.#firstWaitMs = settings.firstWaitMs ?? 1_000
    this.#patienceMs = settings.patienceMs ?? 5_000
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
    if (this.#options.settings?.sends === false) return
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
    await Promise.all(this.#serving.values())
    this.#kept.close()
  }

  wake(): void {
    this.#rhythm.wake()
  }

  /** Sends dead letters again, oldest first, until one fails; answers the webhook as it is then. */
  async redeliver(webhook: Found<'webhook'>): Promise<WebhookRecord> {
    const { engine, wire, objects } = this.#options
    let { value } = webhook
    for (const letter of await objects.under('dead letter', `${webhook.value.id}/`, { limit: pageSize })) {
      const { n } = letter.value
      const [event] = await engine.events(n - 1, 1)
      const ref = event?.n === n ? (await wire.names([event.no])).get(event.no) : undefined
      const isGone = event === undefined || ref === undefined
      const error = isGone ? `event ${n} is no longer in the history` : await this.#deliver(value, event, ref)
      const gone = error === null ? [objects.change('dead letter', letter.key, letter.version, null)] : []
      const next = await this.#amend(webhook.key, gone, (now) =>
        error === null ? { ...now, deadLetters: Math.max(0, now.deadLetters - 1) } : { ...now, lastError: error },
      )
      if (next === null) break
      value = next
      // What the history has lost stays listed; the others need not wait for it.
      if (error !== null && !isGone) break
    }
    return value
  }

  /** Begins to serve every webhook that has something to be sent; answers when to look again. */
  async #pass(): Promise<number> {
    const { objects, log } = this.#options
    let wait = lookMs
    for (const webhook of await objects.all('webhook')) {
      if (this.#serving.has(webhook.key)) continue
      const restMs = this.#restMs(webhook.value)
      if (restMs > 0) {
        wait = Math.min(wait, restMs)
        continue
      }
      const serving = this.#serve(webhook)
        .catch((error: unknown) => {
          log('warn', 'a webhook could not be served', { webhook: webhook.key, error })
          return lookMs
        })
        .then((rest) => {
          this.#serving.delete(webhook.key)
          // What came while it was at work is told by the number of the latest.
          if (rest === 0) this.#rhythm.wake()
        })
      this.#serving.set(webhook.key, serving)
    }
    return wait
  }

  /** How long there is nothing to be sent to it. */
  #restMs({ state, nextAt, delivered }: WebhookRecord): number {
    if (state !== 'active' || delivered >= this.#latest) return lookMs
    return Math.max(0, nextAt - this.#options.clock.now())
  }

  /** Sends a page of events; answers when to come back. */
  async #serve(webhook: Found<'webhook'>): Promise<number> {
    const { engine, wire, log } = this.#options
    let now = await this.#take(webhook)
    if (now === null) return lookMs
    let passed = webhook.value.delivered
    const { events, looked, removedTo } = await engine.eventsFor(webhook.value.tenant, passed, pageSize)
    if (removedTo !== null) {
      log('warn', 'events were removed before a webhook had them', {
        webhook: webhook.key,
        after: passed,
        to: removedTo,
      })
      passed = removedTo
      now = await this.#write(now, { ...now.value, delivered: passed })
      if (now === null) return 0
    }
    const names = await wire.names(events.map(({ no }) => no))
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

  get #senderMs(): number {
    return this.#patienceMs + senderSpareMs
  }

  /** One process sends for a webhook, so that each event goes out once as a rule; null: another one does. */
  async #take(webhook: Found<'webhook'>): Promise<Found<'webhook'> | null> {
    const { engine, clock } = this.#options
    const { sender, senderUntil } = webhook.value
    const me = engine.incarnation
    const now = clock.now()
    if (sender !== me && senderUntil > now) return null
    if (sender === me && senderUntil > now + this.#senderMs / 2) return webhook
    return this.#write(webhook, { ...webhook.value, sender: me, senderUntil: now + this.#senderMs })
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
      const status = await post(
        { url, headers, body },
        { ...outgoing, signal: this.#abort.signal, timeoutMs: this.#patienceMs, kept: this.#kept },
      )
      if (status >= 200 && status < 300) return null
      const isElsewhere = status >= 300 && status < 400
      return `it answered ${status}${isElsewhere ? ': redirects are not followed, give the address they lead to' : ''}`
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 300) : 'it did not answer'
    }
  }

  async #note(webhook: Found<'webhook'>, event: StoredEvent, error: string | null): Promise<Found<'webhook'> | null> {
    const { clock, objects } = this.#options
    const { value } = webhook
    const failures = value.failures + 1
    if (error === null)
      return this.#write(webhook, { ...value, delivered: event.n, failures: 0, nextAt: 0, lastError: '' })
    if (failures < this.#tries) {
      const nextAt = clock.now() + Math.min(waitMostMs, this.#firstWaitMs * 2 ** Math.min(failures - 1, 20))
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

  /** Changes what is there now, whoever else changes it at the same time. Null: it is gone, or all tries met somebody else. */
  async #amend(
    key: string,
    more: readonly RecordChange[],
    change: (now: WebhookRecord) => WebhookRecord,
  ): Promise<WebhookRecord | null> {
    const { objects } = this.#options
    for (let tries = 0; tries < amendTries; tries++) {
      const now = await objects.get('webhook', key)
      if (now === null) return null
      const next = await this.#write(now, change(now.value), more)
      if (next !== null) return next.value
    }
    return null
  }

  /** Null when another process, or a person, has changed it meanwhile. */
  async #write(
    webhook: Found<'webhook'>,
    given: WebhookRecord,
    more: readonly RecordChange[] = [],
  ): Promise<Found<'webhook'> | null> {
    const { objects, engine, clock } = this.#options
    const isMine = given.sender === engine.incarnation
    const value = isMine ? { ...given, senderUntil: clock.now() + this.#senderMs } : given
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
