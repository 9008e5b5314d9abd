// Type and status as one small number: the dictionary in table `shape`, which also remembers as what each status was judged.
import { assert } from '../../base/assert.ts'
import type { StatementSync } from 'node:sqlite'
import type { StatusKind } from '../../lifecycle/resource-type.ts'
import { isJudgedAnew, noShape, type Shape } from '../shape.ts'
import type { KindOf } from '../store.ts'
import type { Connection } from './connection.ts'

const unknownShape = Symbol('unknown shape')

export class Shapes {
  private readonly all: StatementSync
  private readonly find: StatementSync
  private readonly insert: StatementSync
  private readonly update: StatementSync
  private readonly byId = new Map<number, Shape>()
  private readonly byStatus = new Map<string, Map<string, Shape>>()
  private lastType = ''
  private lastStatuses = new Map<string, Shape>()
  private kindOf: KindOf | null = null
  /** Added in the transaction under way: forgotten again when it fails. */
  private added: Shape[] = []
  private mayLearn = true

  constructor(connection: Connection) {
    this.all = connection.prepare('select id, type, status, kind from shape')
    this.find = connection.prepare('select id, type, status, kind from shape where type = ? and status = ?')
    this.insert = connection.prepare('insert into shape (type, status, kind) values (?, ?, ?)')
    this.update = connection.prepare('update shape set kind = ? where id = ?')
    this.reload()
  }

  reload(): void {
    for (const row of this.all.all()) this.keep(row as unknown as Row)
  }

  /** Inside a writing transaction: a pair that was never seen is written down. */
  of(type: string, status: string): Shape {
    // Most of a batch is of one type.
    if (type !== this.lastType) {
      this.lastType = type
      this.lastStatuses = this.byStatus.get(type) ?? new Map()
    }
    return this.lastStatuses.get(status) ?? this.learn(type, status)
  }

  /** All shapes of a type, or of all types; of some statuses, or of all. */
  among(type: string | undefined, statuses: readonly string[] | undefined): Shape[] {
    this.reload()
    const found = [...this.byId.values()]
    return found.filter(
      (shape) =>
        (type === undefined || shape.type === type) && (statuses === undefined || statuses.includes(shape.status)),
    )
  }

  get(id: number): Shape {
    const shape = this.byId.get(id)
    if (shape) return shape
    // Another process has added it.
    this.reload()
    return this.byId.get(id) ?? noShape
  }

  /** Takes `kindOf` for what is new; whether it judges something that is known differently. */
  differFrom(kindOf: KindOf): boolean {
    this.kindOf = kindOf
    this.reload()
    return [...this.byId.values()].some((shape) => isJudgedAnew(shape, kindOf))
  }

  /** Judges every known pair anew; answers those that changed, as they were. Inside a writing transaction. */
  judge(kindOf: KindOf): Shape[] {
    this.reload()
    const changed = [...this.byId.values()].filter((shape) => isJudgedAnew(shape, kindOf))
    for (const { id, type, status } of changed) this.update.run(kindOf(type, status), id)
    this.reload()
    return changed
  }

  /** The transaction under way failed. */
  forgetAdded(): void {
    for (const shape of this.added) {
      this.byId.delete(shape.id)
      this.byStatus.get(shape.type)?.delete(shape.status)
    }
    this.added = []
  }

  keepAdded(): void {
    if (this.added.length > 0) this.added = []
  }

  /** Null when the work would have to write a pair down that was never seen. */
  withoutLearning<T>(work: () => T): T | null {
    this.mayLearn = false
    try {
      return work()
    } catch (thrown) {
      if (thrown === unknownShape) return null
      throw thrown
    } finally {
      this.mayLearn = true
    }
  }

  private learn(type: string, status: string): Shape {
    const row = this.find.get(type, status) as Row | undefined
    if (row) return this.keep(row)
    // oxlint-disable-next-line no-throw-literal
    if (!this.mayLearn) throw unknownShape
    // '' is the status before creation, which events name.
    const kind = status === '' ? 'stable' : this.kindOf?.(type, status)
    assert(kind !== undefined, 'useKinds is called before anything else')
    const { lastInsertRowid } = this.insert.run(type, status, kind)
    const shape = this.keep([Number(lastInsertRowid), type, status, kind])
    this.added.push(shape)
    return shape
  }

  private keep([id, type, status, kind]: Row): Shape {
    const shape = { id, type, status, kind }
    this.byId.set(id, shape)
    const statuses = this.byStatus.get(type)
    if (statuses) statuses.set(status, shape)
    else {
      this.byStatus.set(type, new Map([[status, shape]]))
      if (type === this.lastType) this.lastStatuses = this.byStatus.get(type)!
    }
    return shape
  }
}

type Row = [id: number, type: string, status: string, kind: StatusKind]
