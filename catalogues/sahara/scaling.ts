// The arithmetic of scaling: what goes, what comes, what is left after a rollback. Pure.
import { TerminalError } from 'homeostat'
import { z } from 'zod'
import type { Counts } from './resource-types.ts'

/** What a scale removes, by id, and what it adds. */
export const plan = z.object({
  removed: z.array(z.string()),
  added: z.array(z.object({ group: z.string(), index: z.number().int().nonnegative() })),
})
export type Plan = z.infer<typeof plan>

export interface Member {
  readonly id: string
  readonly status: string
  readonly properties: { readonly group: string; readonly index: number }
}

/** The name of an instance within its cluster, as Sahara counts them: worker-001, worker-002. */
export const memberName = ({ properties: { group, index } }: Pick<Member, 'properties'>): string =>
  `${group}-${String(index + 1).padStart(3, '0')}`

/** The names of several clusters made at once: name-01, name-02 (as many digits as the last one needs, two at least). */
export const multipleNames = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${name}-${String(at + 1).padStart(Math.max(2, `${count}`.length), '0')}`)

const isCalled = (member: Member, name: string): boolean => member.id === name || memberName(member) === name

/** Those of the given names, ids or names, that no member has. */
export const unknownNames = (members: readonly Member[], named: readonly string[]): string[] =>
  named.filter((name) => !members.some((member) => isCalled(member, name)))

/** Those of the given names that would stay: their group does not shrink by as many as are named. */
export function namedInVain(members: readonly Member[], wanted: Counts, named: readonly string[]): string[] {
  const isNamed = (member: Member): boolean => named.some((name) => isCalled(member, name))
  const groups = Map.groupBy(members, ({ properties }) => properties.group)
  return [...groups].flatMap(([group, inGroup]) => {
    const leaving = inGroup.length - Math.min(inGroup.length, wanted[group] ?? inGroup.length)
    return inGroup.filter(isNamed).slice(leaving).map(memberName)
  })
}

/** Groups that are not named stay as they are; empty ones are left out. */
export const resized = (old: Counts, wanted: Counts): Counts => withoutEmpty({ ...old, ...wanted })

/** A rollback never re-creates what was removed: per group the smaller of old and wanted. */
export const smaller = (old: Counts, wanted: Counts): Counts =>
  withoutEmpty(Object.fromEntries(Object.entries(old).map(([group, n]) => [group, Math.min(n, wanted[group] ?? n)])))

const withoutEmpty = (counts: Counts): Counts => Object.fromEntries(Object.entries(counts).filter(([, n]) => n > 0))

/** Explicitly named instances go first, then those with the highest number. New ones are numbered on from the highest. */
export function planOf(members: readonly Member[], wanted: Counts, named: readonly string[]): Plan {
  const living = members.filter(({ status }) => status === 'Active')
  const unknown = unknownNames(living, named)
  if (unknown.length > 0) throw new TerminalError('NotFound', `there is no instance ${unknown.join(', ')}`)
  const removed: string[] = []
  const added: Plan['added'] = []
  for (const [group, count] of Object.entries(wanted)) {
    const inGroup = living
      .filter(({ properties }) => properties.group === group)
      .sort((a, b) => b.properties.index - a.properties.index)
    const isNamed = (member: Member) => named.some((name) => isCalled(member, name))
    const leaving = [...inGroup.filter(isNamed), ...inGroup.filter((one) => !isNamed(one))]
    for (const { id } of leaving.slice(0, Math.max(0, inGroup.length - count))) removed.push(id)
    const next = (inGroup[0]?.properties.index ?? -1) + 1
    for (let at = 0; at < count - inGroup.length; at++) added.push({ group, index: next + at })
  }
  return { removed, added }
}
