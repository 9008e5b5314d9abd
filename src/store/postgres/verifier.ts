// What has changed under a batch that was undone. Asked only then: a commit verifies itself.
import { numberOfGeneratedId, type No } from '../../decision/state.ts'
import { conflictsOf, type Conflict, type Kept } from '../conflicts.ts'
import type { Batch } from '../store.ts'
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
    return conflictsOf(batch, await this.read(batch))
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

class Facts implements Kept {
  private readonly fences = new Map<No, readonly [revision: number, epoch: number]>()
  private readonly keys: ReadonlySet<string>
  private readonly versions = new Map<string, number>()
  private readonly holders = new Map<string, No>()
  private readonly numbered = new Map<No, string>()
  private readonly families = new Map<string, No[]>()

  constructor(names: readonly Name[], results: readonly (readonly (readonly string[])[])[]) {
    const [fences, holders, numbered, children, linked, keys, versions] = results as Required<typeof results>
    for (const [no, revision, epoch] of fences!) this.fences.set(Number(no), [Number(revision), Number(epoch)])
    for (const [place, no] of holders!) this.holders.set(nameOf(names[Number(place)]!), Number(no))
    for (const [no, type] of numbered!) this.numbered.set(Number(no), type!)
    for (const [parent, no] of children!) append(this.families, `${parent}`, Number(no))
    for (const [target, name, source] of linked!) append(this.families, `${target} ${name}`, Number(source))
    this.keys = new Set(keys!.map(([key]) => key!))
    for (const [kind, key, version] of versions!) this.versions.set(recordName(kind!, key!), Number(version))
  }

  fence(no: No): readonly [revision: number, epoch: number] | undefined {
    return this.fences.get(no)
  }

  holder(type: string, id: string): No | null {
    const no = numberOfGeneratedId(id)
    if (no !== null && this.numbered.get(no) === toText(type)) return no
    return this.holders.get(nameOf({ type, id })) ?? null
  }

  children(no: No): readonly No[] {
    return this.families.get(`${no}`) ?? []
  }

  linkedBy(no: No, link: string): readonly No[] {
    return this.families.get(`${no} ${toText(link)}`) ?? []
  }

  hasKey(key: string): boolean {
    return this.keys.has(toText(key))
  }

  version(kind: string, key: string): number {
    return this.versions.get(recordName(toText(kind), toText(key))) ?? 0
  }
}

function append(families: Map<string, No[]>, name: string, no: No): void {
  const members = families.get(name)
  if (members === undefined) families.set(name, [no])
  else members.push(no)
}
