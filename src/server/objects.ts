// The server's own objects (tokens, accounts, sessions, webhooks, bulk operations) as typed records of the store.
import { assert } from '../base/assert.ts'
import { HomeostatError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Engine } from '../engine/engine.ts'
import { changedMeanwhile } from '../engine/rejections.ts'
import type { Permission, Role } from '../protocol/permissions.ts'
import type { RecordChange, StoredRecord } from '../store/store.ts'

export interface TokenRecord {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly scopes: readonly Permission[]
  readonly tenant: string | null
  readonly createdAt: number
  readonly createdBy: string
  readonly expiresAt: number
}

export interface AccountRecord {
  readonly name: string
  readonly role: Role
  readonly tenant: string | null
  readonly password: string
  readonly createdAt: number
}

export interface SessionRecord {
  readonly account: string
  readonly role: Role
  readonly tenant: string | null
  readonly createdAt: number
  readonly seenAt: number
  readonly expiresAt: number
}

export interface TicketRecord {
  readonly account: string
  readonly role: Role
  readonly tenant: string | null
  readonly expiresAt: number
}

export interface WebhookRecord {
  readonly id: string
  readonly tenant: string | null
  readonly url: string
  readonly types: readonly string[]
  readonly kinds: readonly string[]
  /** Sealed (`sealer.ts`). The present one first; the one before it is still used for signing. */
  readonly secrets: readonly string[]
  readonly state: 'active' | 'paused'
  readonly delivered: number
  readonly failures: number
  readonly nextAt: number
  readonly lastError: string
  readonly deadLetters: number
  readonly createdAt: number
  /** The incarnation whose process sends for it, and until when others leave it alone. */
  readonly sender: number
  readonly senderUntil: number
}

/** What its secrets are bound to: they cannot be moved to another webhook. */
export const aboutWebhook = ({ id, tenant }: Pick<WebhookRecord, 'id' | 'tenant'>): Json => [
  'webhook',
  id,
  tenant,
  'secrets',
]

export interface DeadLetterRecord {
  readonly n: number
  readonly at: number
  readonly error: string
}

export interface BulkRecord {
  readonly id: string
  readonly tenant: string | null
  readonly filter: Json
  readonly operation: string
  readonly input: Json
  readonly reason: string
  readonly by: string
  readonly state: 'running' | 'paused' | 'cancelled' | 'done'
  readonly perSecond: number
  readonly total: number
  readonly createdAt: number
  readonly endedAt: number | null
}

export interface BulkItemRecord {
  readonly no: number
  readonly state: 'waiting' | 'accepted' | 'refused'
  readonly run: string | null
  readonly code: string | null
  readonly message: string
}

/** Which process works a bulk operation off, and until when others leave it alone. */
export interface BulkRunnerRecord {
  readonly runner: string
  readonly until: number
}

export interface OnceRecord {
  /** Of what was asked. */
  readonly hash: string
  readonly at: number
  /** What the answer is made from again. */
  readonly ref: Json
}

export interface ViewRecord {
  readonly tenant: string | null
  readonly name: string
  readonly search: string
  readonly by: string
  readonly at: number
}

export interface DrainRecord {
  readonly by: string
  readonly at: number
  readonly reason: string
}

interface Kinds {
  /** By the hash of the secret. */
  readonly token: TokenRecord
  readonly account: AccountRecord
  /** By the hash of the cookie. */
  readonly session: SessionRecord
  readonly ticket: TicketRecord
  readonly webhook: WebhookRecord
  /** `webhook/number`. */
  readonly 'dead letter': DeadLetterRecord
  readonly bulk: BulkRecord
  /** `bulk/index`. */
  readonly 'bulk item': BulkItemRecord
  readonly 'bulk runner': BulkRunnerRecord
  readonly once: OnceRecord
  readonly view: ViewRecord
  /** By the padded number of the incarnation. */
  readonly drain: DrainRecord
}
export type Kind = keyof Kinds

export interface Found<K extends Kind> {
  readonly key: string
  readonly value: Kinds[K]
  readonly version: number
}

interface ListOptions {
  readonly after?: string
  readonly limit?: number
  readonly tenant?: string | undefined
}

/** Numbers in keys, so that the order of keys is that of the numbers. */
export const padded = (n: number): string => String(n).padStart(15, '0')

/** One that cannot be read counts as gone: those beside it are still wanted. */
const isWhole = (record: StoredRecord | null): boolean => record !== null && record.value !== null

export class Objects {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  async get<K extends Kind>(kind: K, key: string): Promise<Found<K> | null> {
    const found = isKey(key) ? await this.#engine.record(kind, key) : null
    return isWhole(found) ? (found as unknown as Found<K>) : null
  }

  async list<K extends Kind>(kind: K, options: ListOptions = {}): Promise<readonly Found<K>[]> {
    return (await this.#engine.records(kind, options)).filter(isWhole) as unknown as readonly Found<K>[]
  }

  /** Of keys that begin with this, in order. */
  async under<K extends Kind>(
    kind: K,
    prefix: string,
    { after = '', limit = 1_000 } = {},
  ): Promise<readonly Found<K>[]> {
    const found = await this.list(kind, { after: after === '' ? prefix : after, limit })
    return found.filter(({ key }) => key.startsWith(prefix))
  }

  /** Of this tenant; null: of all. */
  async all<K extends Kind>(kind: K, tenant: string | null = null): Promise<readonly Found<K>[]> {
    const all: Found<K>[] = []
    for (let after = ''; ;) {
      const page = await this.#engine.records(kind, { after, limit: 1_000, tenant: tenant ?? undefined })
      all.push(...(page.filter(isWhole) as unknown as readonly Found<K>[]))
      if (page.length < 1_000) return all
      after = page.at(-1)!.key
    }
  }

  change<K extends Kind>(kind: K, key: string, from: number, to: Kinds[K] | null): RecordChange {
    assert(isKey(key), `'${key.slice(0, 50)}' can be no key of a ${kind}`)
    return { kind, key, from, to: to as unknown as Json }
  }

  /** Throws `record_conflict` when something has changed since it was read. */
  async write(records: readonly RecordChange[], journal: readonly Json[] = []): Promise<void> {
    if (await this.#engine.writeBeside({ records, journal })) return
    throw recordConflict()
  }
}

export const recordConflict = (): HomeostatError => new HomeostatError('record_conflict', changedMeanwhile)

/** Whether somebody else was quicker: whoever meets that looks again. */
export const isConflict = (error: unknown): boolean =>
  error instanceof HomeostatError && error.code === 'record_conflict'

/** Keys are ASCII and short: what is not is nobody's. */
const isKey = (key: string): boolean => /^[\x20-\x7e]{1,300}$/.test(key)
