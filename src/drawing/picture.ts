// What a drawing shows of a lifecycle: boxes, and arrows merged per pair of statuses. What would make a thicket is said in the boxes.
import { edgesOf, type Edge } from '../lifecycle/lifecycle-graph.ts'
import type { AnyLifecycle } from '../lifecycle/lifecycle.ts'
import { kindsOf, type ResourceType, type StatusKind } from '../lifecycle/resource-type.ts'
import { listWords } from '../lifecycle/words.ts'

export type ArrowStyle = 'way' | 'failure' | 'drift' | 'heal'

export interface Arrow {
  /** '' before it is created. */
  readonly from: string
  readonly to: string
  readonly labels: readonly string[]
  readonly style: ArrowStyle
}

export interface Box {
  readonly name: string
  readonly kind: StatusKind
  /** Small lines under the name. */
  readonly notes: readonly string[]
}

export interface Picture {
  readonly type: string
  readonly boxes: readonly Box[]
  readonly arrows: readonly Arrow[]
  /** All that leads somewhere, also what is not drawn: places are chosen by it. */
  readonly edges: readonly Edge[]
  readonly isBig: boolean
  readonly hasNotes: boolean
}

/** With more pairs of statuses than this, ways that three share are folded (else four); then healing is left out too. */
const pairsBeforeFolding = 20
const pairsBeforeLeavingOut = 40

export function pictureOf(lifecycle: AnyLifecycle, set: readonly AnyLifecycle[]): Picture {
  const resource = lifecycle.resource as ResourceType
  const edges = edgesOf(lifecycle, set)
  const pairs = new Set(edges.map(pairOf)).size
  const isBig = pairs > pairsBeforeLeavingOut
  const isDense = pairs > pairsBeforeFolding
  const shown = isBig ? edges.filter(({ kind }) => kind !== 'heal' && kind !== 'drift') : edges
  const notes = new Map<string, string[]>()
  const write = (status: string, note: string) => {
    const lines = notes.get(status) ?? []
    if (!lines.includes(note)) notes.set(status, [...lines, note])
  }
  const leadsBack = manyBack(shown, isDense ? 2 : 3)
  const rest = shown.filter(({ from, back }) => !back || !leadsBack.has(from))
  const drawn = foldShared(rest, isDense ? 3 : 4, write)
  for (const [status, words] of leadsBack) write(status, words)
  /** What nothing but the ways left out leads to says so. */
  const left = new Map<string, Set<string>>()
  for (const { from, to, kind } of edges) {
    if (shown.some((edge) => edge.to === to) || (kind !== 'heal' && kind !== 'drift')) continue
    left.set(to, (left.get(to) ?? new Set()).add(from))
  }
  for (const [status, froms] of left) write(status, `healing, from ${froms.size} statuses`)
  return {
    type: resource.type,
    boxes: [...kindsOf(resource)].map(([name, kind]) => ({ name, kind, notes: notes.get(name) ?? [] })),
    arrows: arrowsOf(drawn),
    edges,
    isBig,
    hasNotes: notes.size > 0,
  }
}

type Write = (status: string, note: string) => void

const pairOf = ({ from, to }: Edge): string => JSON.stringify([from, to])

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Statuses that lead back to many, with what their boxes say of it. */
function manyBack(edges: readonly Edge[], many: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const back = edges.filter((edge) => edge.back)
  for (const [from, group] of groupBy(back, (edge) => edge.from)) {
    if (new Set(group.map(({ to }) => to)).size < many) continue
    // A follower has the words of its leader: 'with its ovc.node: enable: check failed'.
    const failed = group.some(({ kind, why }) => kind === 'failure' || (kind === 'pair' && why.includes(' failed')))
    const done = group.some(({ kind }) => kind === 'done')
    found.set(from, `${done ? 'then' : failed ? 'failed:' : 'healed:'} back where it came from`)
  }
  return found
}

/** A status that many reach in the same way says so in its box. */
function foldShared(edges: readonly Edge[], many: number, write: Write): readonly Edge[] {
  const kept = new Set(edges)
  for (const group of groupBy(edges, (edge) => JSON.stringify([edge.to, wayOf(edge)])).values()) {
    const [first] = group
    const all = [...new Set(group.map(({ from }) => from))]
    if (!first || first.kind === 'pair' || all.length < many || all.includes('')) continue
    const own = all.filter((from) => first.kind !== 'failure' && isDuring(edges, first.operation, from))
    const froms = own.length > 2 ? all : all.filter((from) => !own.includes(from))
    for (const edge of group) if (froms.includes(edge.from)) kept.delete(edge)
    const names = listWords(froms)
    write(first.to, `${wayOf(first)}, from ${names.length > 28 ? `${froms.length} statuses` : names}`)
  }
  return [...kept]
}

/** Does a step of the operation stand in this status? Then the way from there is its usual one. */
const isDuring = (edges: readonly Edge[], operation: string | undefined, status: string): boolean =>
  operation !== undefined &&
  edges.some((edge) => edge.operation === operation && edge.to === status && edge.kind === 'step')

/** How an arrow is taken, for failures whatever failed. */
const wayOf = (edge: Edge): string => (edge.kind === 'failure' ? 'failures' : labelOf(edge))

function labelOf({ kind, operation, why }: Edge): string {
  if (kind === 'failure') return `${operation} fails`
  if (kind === 'heal') return 'healed'
  if (kind === 'drift') return 'found otherwise'
  return operation ?? (kind === 'move' ? why : kind === 'pair' ? pairWord(why) : 'added')
}

/** 'with its ovc.node: enable done' is enable. */
function pairWord(why: string): string {
  const word = /^with its \S+: (\w+)/.exec(why)?.[1] ?? 'with its pair'
  return word === 'found' ? 'found otherwise' : word
}

const styles: readonly ArrowStyle[] = ['way', 'failure', 'drift', 'heal']

const styleOf = ({ kind }: Edge): ArrowStyle =>
  kind === 'failure' || kind === 'drift' || kind === 'heal' ? kind : 'way'

/** One arrow per pair of statuses, in the style of the most usual way to take it, and with the labels of that style. */
function arrowsOf(edges: readonly Edge[]): readonly Arrow[] {
  return [...groupBy(edges, pairOf).values()].flatMap((group): Arrow[] => {
    const style = styles.find((one) => group.some((edge) => styleOf(edge) === one))
    const [first] = group
    if (!first || !style) return []
    const labels = [...new Set(group.filter((edge) => styleOf(edge) === style).map(labelOf))]
    return [{ from: first.from, to: first.to, labels, style }]
  })
}
