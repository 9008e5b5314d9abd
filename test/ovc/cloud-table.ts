// For the tests of this catalogue: a small cloud on a table top, in which single resources are put where a test wants them.
import { driftTimer } from '../../src/decision/timers.ts'
import { TableTop, type Owed } from '../../src/testing/table-top.ts'
import { ovc } from '../../catalogues/ovc/index.ts'

export type Kind = keyof typeof ovc

const properties = {
  account: { enabled: true },
  cloudspace: { enabled: true },
  machine: { verified: true, memory: 512 },
  disk: { size: 10 },
  image: { enabled: true, system: false },
  node: {},
} as const

/** Declarations are compiled once. */
const empty = new TableTop(Object.values(ovc))

export interface Put {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly links?: Readonly<Record<string, string>>
  readonly parent?: string
}

/** account a > cloudspace c; account a > image i; nodes n and n2; more by `put`. */
export class CloudTable extends TableTop {
  constructor(statuses: { readonly account?: string; readonly cloudspace?: string; readonly enabled?: boolean } = {}) {
    super(empty)
    this.put('account', 'a', statuses.account ?? 'CONFIRMED')
    this.put('cloudspace', 'c', statuses.cloudspace ?? 'DEPLOYED', {
      parent: 'a',
      properties: { enabled: statuses.enabled ?? true },
    })
    this.put('node', 'n', 'ENABLED')
    this.put('node', 'n2', 'ENABLED')
  }

  put(kind: Kind, id: string, status: string, more: Put = {}): void {
    const parent = more.parent ?? { machine: 'c', disk: 'a', image: 'a', cloudspace: 'a' }[kind as string]
    this.place(`ovc.${kind}`, id, status, {
      properties: { ...properties[kind as keyof typeof properties], ...more.properties },
      ...(parent === undefined ? {} : { parent: { no: this.get(parent).no } }),
      ...(more.links === undefined ? {} : { links: more.links }),
    })
  }

  /** Asks, and lets every driver call that follows anywhere succeed: what it lands in. */
  carryOut(name: string, operation: string, input?: unknown): string {
    this.request(name, operation, input)
    this.finishAll()
    return this.status(name)
  }

  /** Every call that any run owes is done, in order; `results` by function. */
  finishAll(results: Readonly<Record<string, unknown>> = { findRoom: { node: 'n2' }, settleDisk: { size: 10 } }): void {
    this.finish(() => true, results)
  }

  /** As `finishAll`; what this one owes stays owed. */
  finishAllBut(name: string): void {
    const { no } = this.get(name)
    this.finish(({ resource }) => resource.no !== no, {})
  }

  private finish(fits: (owed: Owed) => boolean, results: Readonly<Record<string, unknown>>): void {
    for (let calls = 0; calls < 2_000; calls++) {
      const owed = this.owed().find(fits)
      if (owed === undefined) return
      const { resource, call } = owed
      this.ok({
        kind: 'callEnded',
        no: resource.no,
        epoch: resource.epoch,
        call: call.name,
        outcome: { kind: 'done', result: results[call.function] },
        by: 'worker',
      })
    }
    throw new Error('the calls never end')
  }

  /** The look at a settled resource is due: its probe is owed. */
  look(name: string): void {
    const { no, timers } = this.get(name)
    this.now = Math.max(this.now, timers[driftTimer] ?? 0)
    this.ok({ kind: 'timerFired', no, timer: driftTimer, by: 'clock' })
  }

  /** The words of a refusal. */
  whyNot(name: string, operation: string, input?: unknown): string {
    return this.refused(this.asking(name, operation, input)).message
  }
}
