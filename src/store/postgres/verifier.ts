// What has changed under a batch that was undone. Asked only then: a commit verifies itself.
import { unreachable } from '../../base/assert.ts'
import { numberOfGeneratedId, type No } from '../../decision/state.ts'
import type { Batch, Guard, RecordName } from '../store.ts'
import { numbersOf, textsFrom, textsOf, toText } from './texts.ts'
import type { Statements } from './wire.ts'
import type { Wires } from './wires.ts'

export const verifyStatements = {
  fences: 'select s.no, s.revision, s.epoch from unnest($1::int8[]) v(no) join state s on s.no = v.no',
  holders: `select v.place, r.no from unnest($1::int4[], ${textsOf(2)}, ${textsOf(3)}) v(place, id, type)
    join resource r on r.id = v.id and r.type = v.type and r.id is not null`,
  numbered: `select r.no, r.type from unnest($1::int8[]) v(no) join resource r on r.no = v.no and r.id is null`,
  childrenOf: `select r.parent, r.no from unnest($1::int8[]) v(no) join resource r on r.parent = v.no and r.parent is not null and not r.terminal`,
  linkedTo: `select l.target, l.name, l.source from unnest($1::int8[]) v(no) join link l on l.target = v.no`,
  takenKeys: `select k.key from unnest(${textsOf(1)}) v(key) join key k on k.key = v.key`,
  versions: `select r.kind, r.key, r.version from unnest(${textsOf(1)}, ${textsOf(2)}) v(kind, key)
    join record r on r.kind = v.kind and r.key = v.key`,
} as const satisfies Statements

export interface Conflict {
  readonly conflicts: readonly No[]
  readonly keys: readonly string[]
  readonly records?: readonly RecordName[]
}

interface Name {
  readonly type: string
  readonly id: string
}

export class Verifier {
  private readonly wires: Wires

  constructor(wires: Wires) {
    this.wires = wires
  }

  /** What is no longer so, by number and key; null when everything is. */
  async conflictsOf(batch: Batch): Promise<Conflict | null> {
    const facts = await this.read(batch)
    const conflicts = new Set<No>()
    const keys = new Set<string>()
    const names = new Map<string, No>()
    for (const { before, after } of batch.writes) {
      const fence = facts.fences.get(after.no)
      if (before === null) {
        const name = nameOf(after)
        const holder = facts.holder(after) ?? names.get(name)
        if (holder !== undefined) conflicts.add(holder)
        if (holder !== undefined || fence !== undefined) conflicts.add(after.no)
        names.set(name, after.no)
      } else if (fence === undefined || fence[0] !== before.revision || fence[1] !== before.epoch) {
        conflicts.add(after.no)
      }
    }
    for (const guard of batch.guards) {
      const broken = facts.brokenBy(guard)
      if (broken !== null) conflicts.add(broken)
    }
    const seen = new Set<string>()
    for (const { key } of batch.keys) {
      if (seen.has(key) || facts.keys.has(toText(key))) keys.add(key)
      seen.add(key)
    }
    const records = (batch.records ?? [])
      .filter(({ kind, key, from }) => (facts.versions.get(recordName(toText(kind), toText(key))) ?? 0) !== from)
      .map(({ kind, key }) => ({ kind, key }))
    if (conflicts.size === 0 && keys.size === 0 && records.length === 0) return null
    const found = { conflicts: [...conflicts].sort((a, b) => a - b), keys: [...keys].sort() }
    return records.length === 0 ? found : { ...found, records }
  }

  private async read(batch: Batch): Promise<Facts> {
    const names: Name[] = []
    for (const { before, after } of batch.writes) if (before === null) names.push(after)
    for (const guard of batch.guards) if (guard.guard === 'absent') names.push(guard)
    const nos = new Set(batch.writes.map(({ after }) => after.no))
    const families = new Set<No>()
    const targets = new Set<No>()
    for (const guard of batch.guards) {
      if (guard.guard === 'revision') nos.add(guard.no)
      if (guard.guard === 'children') families.add(guard.no)
      if (guard.guard === 'linkedBy') targets.add(guard.no)
    }
    const numbered = names.map(({ id }) => numberOfGeneratedId(id)).filter((no) => no !== null)
    const records = batch.records ?? []
    const results = await this.wires.use((wire) =>
      wire.run([
        { name: 'fences', values: [numbersOf([...nos])] },
        {
          name: 'holders',
          values: [
            numbersOf(names.map((_, place) => place)),
            textsFrom(names.map(({ id }) => toText(id))),
            textsFrom(names.map(({ type }) => toText(type))),
          ],
        },
        { name: 'numbered', values: [numbersOf(numbered)] },
        { name: 'childrenOf', values: [numbersOf([...families])] },
        { name: 'linkedTo', values: [numbersOf([...targets])] },
        { name: 'takenKeys', values: [textsFrom(batch.keys.map(({ key }) => toText(key)))] },
        {
          name: 'versions',
          values: [
            textsFrom(records.map(({ kind }) => toText(kind))),
            textsFrom(records.map(({ key }) => toText(key))),
          ],
        },
      ]),
    )
    return new Facts(names, results as readonly (readonly (readonly string[])[])[])
  }
}

const nameOf = ({ type, id }: Name): string => `${type}\n${id}`
const recordName = (kind: string, key: string): string => `${kind}\n${key}`

class Facts {
  readonly fences = new Map<No, readonly [revision: number, epoch: number]>()
  readonly keys: ReadonlySet<string>
  readonly versions = new Map<string, number>()
  private readonly holders = new Map<string, No>()
  private readonly numbered = new Map<No, string>()
  private readonly children = new Map<string, Set<No>>()

  constructor(names: readonly Name[], results: readonly (readonly (readonly string[])[])[]) {
    const [fences, holders, numbered, children, linked, keys, versions] = results as Required<typeof results>
    for (const [no, revision, epoch] of fences!) this.fences.set(Number(no), [Number(revision), Number(epoch)])
    for (const [place, no] of holders!) this.holders.set(nameOf(names[Number(place)]!), Number(no))
    for (const [no, type] of numbered!) this.numbered.set(Number(no), type!)
    for (const [parent, no] of children!) this.add(`${parent}`, Number(no))
    for (const [target, name, source] of linked!) this.add(`${target} ${name}`, Number(source))
    this.keys = new Set(keys!.map(([key]) => key!))
    for (const [kind, key, version] of versions!) this.versions.set(recordName(kind!, key!), Number(version))
  }

  /** The number of the resource that has this type and id. */
  holder(name: Name): No | undefined {
    const no = numberOfGeneratedId(name.id)
    if (no !== null && this.numbered.get(no) === toText(name.type)) return no
    return this.holders.get(nameOf(name))
  }

  brokenBy(guard: Guard): No | null {
    switch (guard.guard) {
      case 'revision':
        return this.fences.get(guard.no)?.[0] === guard.revision ? null : guard.no
      case 'children':
        return hasExactly(this.children.get(`${guard.no}`), guard.members) ? null : guard.no
      case 'linkedBy':
        return hasExactly(this.children.get(`${guard.no} ${toText(guard.link)}`), guard.members) ? null : guard.no
      case 'absent':
        return this.holder(guard) ?? null
      default:
        return unreachable(guard)
    }
  }

  private add(family: string, no: No): void {
    const members = this.children.get(family)
    if (members === undefined) this.children.set(family, new Set([no]))
    else members.add(no)
  }
}

const hasExactly = (set: ReadonlySet<No> | undefined, members: readonly No[]) =>
  (set?.size ?? 0) === members.length && members.every((no) => set!.has(no))
