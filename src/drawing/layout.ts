// Places for the boxes of a picture: in rows from creation down, so ordered within a row that arrows cross little.
import type { Edge } from '../lifecycle/lifecycle-graph.ts'
import type { Box, Picture } from './picture.ts'

export interface Place {
  readonly name: string
  readonly box: Box | undefined
  readonly row: number
  readonly width: number
  readonly height: number
  /** The centre. */
  x: number
  /** The upper side. */
  y: number
}

export interface Layout {
  readonly places: ReadonlyMap<string, Place>
  readonly rows: readonly (readonly Place[])[]
  readonly height: number
}

export const pageWidth = 900
export const nameSize = 12
export const noteSize = 10.5
const margin = 24
const columnGap = 34
const rowGap = 62
const sweeps = 8

export function layoutOf(picture: Picture): Layout {
  const { boxes, edges } = picture
  const ranks = ranksOf(picture)
  const neighbours = neighboursOf(edges)
  /** When a rank needs more than one row, boxes with arrows stand above those that only say where they come from. */
  const hasArrow = ({ name }: Box) => picture.arrows.some(({ from, to }) => from === name || to === name)
  const deepest = Math.max(...ranks.values())
  const rows: Place[][] = []
  for (let rank = 0; rank <= deepest; rank += 1) {
    const members = boxes.filter(({ name }) => ranks.get(name) === rank)
    const before = new Map(rows.flat().map(({ name }, index) => [name, index]))
    const weight = ({ name }: Box) => mean((neighbours.get(name) ?? []).flatMap((one) => before.get(one) ?? [])) ?? 0
    if (rank > 0 && members.length === 0) continue
    members.sort((one, other) => Number(hasArrow(other)) - Number(hasArrow(one)) || weight(one) - weight(other))
    rows.push(...wrap(rank === 0 ? [undefined] : members, rows.length))
  }
  const places = new Map(rows.flat().map((place) => [place.name, place]))
  for (const row of rows) centre(row)
  for (let sweep = 0; sweep < sweeps; sweep += 1) {
    for (const row of sweep % 2 === 0 ? rows : rows.toReversed()) {
      const weights = new Map(
        row.map((place) => {
          const xs = (neighbours.get(place.name) ?? []).flatMap((one) => {
            const other = places.get(one)
            return other && other.row !== place.row ? [other.x] : []
          })
          return [place, mean(xs) ?? place.x]
        }),
      )
      row.sort((one, other) => (weights.get(one) ?? 0) - (weights.get(other) ?? 0))
      centre(row)
    }
  }
  let y = margin
  for (const row of rows) {
    for (const place of row) place.y = y
    y += Math.max(...row.map(({ height }) => height)) + rowGap
  }
  return { places, rows, height: y - rowGap + margin }
}

const mean = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Breadth first from creation along what is drawn; what is only said in its box stands below the settled statuses it comes from.
 * A transitional status on the way back stands between its ends; failed and terminal statuses stand last.
 */
function ranksOf({ boxes, edges, arrows }: Picture): ReadonlyMap<string, number> {
  const usual = edges.filter(({ kind }) => kind !== 'failure' && kind !== 'heal' && kind !== 'drift')
  const drawn = arrows.filter(({ style }) => style === 'way')
  const moving = new Set(boxes.filter(({ kind }) => kind === 'transitional').map(({ name }) => name))
  const ranks = new Map([['', 0]])
  spread(ranks, drawn)
  for (const name of moving) {
    if (ranks.has(name)) continue
    const sources = usual
      .filter(({ from, to }) => to === name && !moving.has(from))
      .flatMap(({ from }) => ranks.get(from) ?? [])
    if (sources.length === 0) continue
    ranks.set(name, Math.max(...sources) + 1)
    spread(ranks, drawn)
  }
  spread(ranks, usual)
  spread(ranks, edges)
  for (const { name } of boxes) if (!ranks.has(name)) ranks.set(name, 1)
  const rankOf = (name: string) => ranks.get(name) ?? 1
  for (const { name, kind } of boxes) {
    if (kind !== 'transitional') continue
    const sources = usual.filter(({ to }) => to === name).map(({ from }) => rankOf(from))
    const targets = usual.filter(({ from, back }) => from === name && !back).map(({ to }) => rankOf(to))
    if (sources.length === 0 || targets.length === 0) continue
    const [source, target] = [Math.min(...sources), Math.max(...targets)]
    if (target < source - 1) ranks.set(name, Math.floor((source + target) / 2))
  }
  const last = Math.max(...ranks.values())
  for (const { name, kind } of boxes) {
    if (kind === 'failed') ranks.set(name, last + 1)
    if (kind === 'terminal') ranks.set(name, last + 2)
  }
  return ranks
}

function spread(ranks: Map<string, number>, edges: readonly Pick<Edge, 'from' | 'to'>[]): void {
  const queue = [...ranks.keys()]
  for (let at = 0; at < queue.length; at += 1) {
    const from = queue[at] ?? ''
    for (const { to } of edges.filter((edge) => edge.from === from)) {
      if (ranks.has(to)) continue
      ranks.set(to, (ranks.get(from) ?? 0) + 1)
      queue.push(to)
    }
  }
}

function neighboursOf(edges: readonly Edge[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>()
  const add = (one: string, other: string) => found.set(one, (found.get(one) ?? new Set()).add(other))
  for (const { from, to, kind } of edges) {
    if (kind === 'heal' || kind === 'drift') continue
    add(from, to)
    add(to, from)
  }
  return new Map([...found].map(([name, others]) => [name, [...others]]))
}

/** As many rows, evenly filled, as the page needs. `undefined` is the dot before creation. */
function wrap(members: readonly (Box | undefined)[], firstRow: number): Place[][] {
  const sizes = members.map((box) => sizeOf(box).width + columnGap)
  const whole = sizes.reduce((sum, size) => sum + size, 0)
  const room = pageWidth - 2 * margin + columnGap
  for (let count = Math.max(1, Math.ceil(whole / room)); ; count += 1) {
    const rows: Place[][] = [[]]
    let filled = 0
    let total = 0
    for (const [index, box] of members.entries()) {
      const size = sizes[index] ?? 0
      if (filled > 0 && (filled + size > room || total + size / 2 > (whole * rows.length) / count)) {
        rows.push([])
        filled = 0
      }
      filled += size
      total += size
      rows.at(-1)?.push({ name: box?.name ?? '', box, row: firstRow + rows.length - 1, ...sizeOf(box), x: 0, y: 0 })
    }
    if (rows.length <= count || count > members.length) return rows
  }
}

function sizeOf(box: Box | undefined): { width: number; height: number } {
  if (!box) return { width: 14, height: 14 }
  const widths = [box.name.length * nameSize * 0.61, ...box.notes.map((note) => note.length * noteSize * 0.56)]
  return { width: Math.round(Math.max(76, ...widths) + 20), height: 30 + box.notes.length * 14 }
}

function centre(row: readonly Place[]): void {
  const taken = row.reduce((sum, { width }) => sum + width, 0)
  const gap = Math.min(90, Math.max(columnGap, (pageWidth - 2 * margin - taken) / (row.length + 1)))
  let x = (pageWidth - taken - gap * (row.length - 1)) / 2
  for (const place of row) {
    place.x = x + place.width / 2
    x += place.width + gap
  }
}
