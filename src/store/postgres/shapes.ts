// Type and status as one small number: the dictionary in table `shape`, which also remembers as what each status was judged. The table
// is what counts, not the declarations of one process: `judged` tells when it was judged anew.
import { assert } from '../../base/assert.ts'
import type { StatusKind } from '../../lifecycle/resource-type.ts'
import { byTypeAndStatus, isJudgedAnew, noShape, type Shape } from '../shape.ts'
import type { Declared, KindOf } from '../store.ts'
import { translating } from './failures.ts'
import { numbersOf, textsFrom, textsOf } from './texts.ts'
import type { Wire } from './wire.ts'
import type { Wires } from './wires.ts'

/** To be learned before a batch that names it can be understood. */
export class UnknownShape extends Error {}

export class Shapes {
  private readonly wires: Wires
  private byId = new Map<number, Shape>()
  private byStatus = new Map<string, Map<string, Shape>>()
  private lastType = ''
  private lastStatuses: Map<string, Shape> | undefined
  private kindOf: KindOf | null = null
  /** How often the table had been judged anew when it was read. */
  judged = 0

  constructor(wires: Wires) {
    this.wires = wires
  }

  reload(): Promise<void> {
    return translating(() => this.wires.use((wire) => this.read(wire)))
  }

  find(type: string, status: string): Shape | undefined {
    // Most of a batch is of one type.
    if (type !== this.lastType || this.lastStatuses === undefined) {
      this.lastType = type
      this.lastStatuses = this.byStatus.get(type)
    }
    return this.lastStatuses?.get(status)
  }

  /** Throws `UnknownShape` for a pair that was never seen. */
  of(type: string, status: string): Shape {
    const shape = this.find(type, status)
    if (shape === undefined) throw new UnknownShape(`${type} ${status}`)
    return shape
  }

  get(id: number): Shape {
    return this.byId.get(id) ?? noShape
  }

  has(id: number): boolean {
    return this.byId.has(id)
  }

  /** All shapes of a type, or of all types; of some statuses, or of all. */
  among(type: string | undefined, statuses: readonly string[] | undefined): Shape[] {
    return [...this.byId.values()].filter(
      (shape) =>
        (type === undefined || shape.type === type) && (statuses === undefined || statuses.includes(shape.status)),
    )
  }

  /** The numbers of those that are not declared; where nothing is, of none. */
  notAmong(declared: readonly Declared[]): number[] {
    if (declared.length === 0) return []
    const known = new Set(declared.map(({ type, status }) => this.find(type, status)?.id))
    return [...this.byId.keys()].filter((id) => !known.has(id))
  }

  /** What of it was never seen, with the status before creation, '', which events name. In one order: two who learn do not wait for each other. */
  unseenOf(declared: readonly Declared[]): readonly Declared[] {
    const types = new Set(declared.map(({ type }) => type))
    const all = [...[...types].map((type) => ({ type, status: '' })), ...declared]
    return all.filter(({ type, status }) => this.find(type, status) === undefined).sort(byTypeAndStatus)
  }

  /** Writes pairs down that were never seen. They stay also when the batch that needs them fails. */
  async learn(pairs: readonly Declared[]): Promise<void> {
    const kinds = pairs.map(({ type, status }) => {
      const kind = status === '' ? 'stable' : this.kindOf?.(type, status)
      assert(kind !== undefined, 'useKinds is called before anything else')
      return kind
    })
    // A text that is empty stands for itself only behind a character that is cut off again.
    const sql = `insert into shape (type, status, kind) select t, substr(s, 2), k
      from unnest(${textsOf(1)}, ${textsOf(2)}, ${textsOf(3)}) v(t, s, k) on conflict do nothing`
    const types = textsFrom(pairs.map(({ type }) => type))
    const statuses = textsFrom(pairs.map(({ status }) => `=${status}`))
    await translating(() =>
      this.wires.use(async (wire) => {
        await wire.query(sql, [types, statuses, textsFrom(kinds)])
        await this.read(wire)
      }),
    )
  }

  /** Takes `kindOf` for what is new; whether it judges something that is known differently. */
  async differFrom(kindOf: KindOf): Promise<boolean> {
    this.kindOf = kindOf
    await this.reload()
    return [...this.byId.values()].some((shape) => isJudgedAnew(shape, kindOf))
  }

  /** Judges every known pair anew; answers those that changed, as they are now. Inside a transaction that holds the feed. */
  async judge(wire: Wire, kindOf: KindOf): Promise<Shape[]> {
    await this.read(wire)
    const changed = [...this.byId.values()].filter((shape) => isJudgedAnew(shape, kindOf))
    const ids = changed.map(({ id }) => id)
    const kinds = changed.map(({ type, status }) => kindOf(type, status))
    await wire.query(
      `update shape set kind = v.kind from unnest($1::int4[], ${textsOf(2)}) v(id, kind) where shape.id = v.id`,
      [numbersOf(ids), textsFrom(kinds)],
    )
    await wire.query('update feed set judged = judged + 1 where one = 1')
    await this.read(wire)
    return ids.map((id) => this.get(id))
  }

  async read(wire: Wire): Promise<void> {
    const rows = await wire.query('select id, type, status, kind, (select judged from feed) from shape')
    const byId = new Map<number, Shape>()
    const byStatus = new Map<string, Map<string, Shape>>()
    for (const [id, type, status, kind, judged] of rows as readonly (readonly string[])[]) {
      const shape: Shape = { id: Number(id), type: type!, status: status!, kind: kind as StatusKind }
      byId.set(shape.id, shape)
      const statuses = byStatus.get(shape.type)
      if (statuses === undefined) byStatus.set(shape.type, new Map([[shape.status, shape]]))
      else statuses.set(shape.status, shape)
      this.judged = Number(judged)
    }
    this.byId = byId
    this.byStatus = byStatus
    this.lastStatuses = undefined
  }
}
