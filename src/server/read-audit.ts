// The audit page by page, in either order, all of it or what contains a text. A bounded number of entries is looked at for each answer:
// the next page goes on where this one stopped, also where nothing was found.
import { nextTurn } from '../base/clock.ts'
import { auditWords } from '../protocol/audit-words.ts'
import type { JournalEntry } from '../store/store.ts'
import type { AuditEntry } from './call.ts'
import type { Services } from './services.ts'

/** Most entries that are looked at for one answer. */
const lookMost = 5_000
const pageMost = 500

export interface AuditAsked {
  readonly order: 'oldest' | 'newest'
  readonly limit: number
  /** After this number, or before it where the newest come first; null: from the first on. */
  readonly from: number | null
  /** A part of who, what, to what, why or how it ended, in any case of letters. */
  readonly text: string
}

interface AuditPage {
  readonly entries: readonly JournalEntry[]
  /** Where the next page begins; null: everything was looked at. */
  readonly next: number | null
}

export async function readAudit({ engine, clock }: Services, asked: AuditAsked): Promise<AuditPage> {
  const { order, limit, text } = asked
  const isFit = fits(text.toLowerCase())
  const size = text === '' ? limit : pageMost
  const entries: JournalEntry[] = []
  let at = asked.from
  for (let looked = 0; looked < lookMost; looked += size) {
    const page = await (order === 'newest' ? engine.journalBack(at, size) : engine.journal(at ?? 0, size))
    for (const entry of page) {
      at = entry.n
      if (isFit(entry)) entries.push(entry)
      if (entries.length === limit) return { entries, next: at }
    }
    if (page.length < size) return { entries, next: null }
    await nextTurn(clock)
  }
  return { entries, next: at }
}

const fits =
  (wanted: string) =>
  ({ value }: JournalEntry): boolean => {
    if (wanted === '') return true
    const entry = value as unknown as AuditEntry
    const { principal, target, reason, outcome } = entry
    return [principal, auditWords(entry), target, reason, outcome].some((part) => part.toLowerCase().includes(wanted))
  }
